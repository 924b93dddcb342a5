"""Plans over several sensitive attributes: which to publish together, so that they do not betray one another (paper 004)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
