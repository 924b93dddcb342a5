"""Small tables in given groups, as another tool would publish them, for tests of attacks."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf
from sfumato.attacks.attacked_sources import attacked_release


def grouped(groups, secrets, known=None, original=True, cells=None, sample=20_000, who=None, **schema):
    """Return a release whose rows are in these groups; `known`: further quasi-identifiers of the original by name.

    `cells`: the published cells of quasi-identifiers, by name; by default each group has a cell of its own in "q", and all
    others are withheld. `who`: whose row each row is, if people have several.
    """
    known = {} if known is None else known
    names = ["q", *known] if cells is None else list(cells)
    if cells is None:
        cells = {"q": [f"group {group}" for group in groups], **{name: ["*"] * len(groups) for name in known}}
        known = {"q": [f"group {group}" for group in groups], **known}
    declared = sf.Schema(names, list(secrets), person_id=None if who is None else "who", **schema)
    people = pa.table({**known, **secrets, **({} if who is None else {"who": who})}) if original else None
    return attacked_release(pa.table({**cells, **secrets}), people, schema=declared, sample=sample)


def one(results):
    """Return the only result."""
    (result,) = results
    return result
