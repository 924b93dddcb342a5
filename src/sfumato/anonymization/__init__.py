"""Anonymization: methods that find groups, recodings of groups, feasibility, utility, and the release they make."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
