"""Disclosure risk: what an attacker with a dictionary gains from disclosed records, and what to withhold.

Source: Lebanon, Scannapieco, Fouad & Bertino (2006).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
