"""Disclosure risk: what an attacker with a dictionary gains from what is disclosed, and what to hold back (paper 002)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
