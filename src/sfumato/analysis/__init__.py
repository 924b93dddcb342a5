"""The side of the analyst: read a release, and estimate what the original table would have answered."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
