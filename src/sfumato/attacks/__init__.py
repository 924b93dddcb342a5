"""Attacks: procedures that guess something about people from a release, with their measured success.

An attack is one file with one class that inherits from `Attack`, registered by name in `sfumato.registry.ATTACKS`;
`sf.attack` runs them. Distributions add attacks through entry points of the group "sfumato.attacks".

Releases of projected tables have attacks of their own, those of Fang, Ashrafi & Ng (2011): background joins and
intersections. `attack_projected` and `Projection.attacks` run them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
