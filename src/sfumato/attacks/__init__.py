"""What an attacker does with a release of projected tables (paper 004): background joins and intersections."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
