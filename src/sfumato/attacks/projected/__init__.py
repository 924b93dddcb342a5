"""Attacks on a release of projected tables, with their measured success.

An attack is one file with one function of `(table, views)`, registered by name in `sfumato.registry.PROJECTED_ATTACKS`.
`table` holds the published people with their original values, `views` what the attacker sees of each projected table. It
returns a value with `to_dict()` and with `assumptions`: what the attacker is assumed to know. Distributions add attacks
through entry points of the group "sfumato.projected_attacks".

The built-in attacks are those of Fang, Ashrafi & Ng (2011): background joins and intersections.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
