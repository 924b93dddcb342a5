"""Downcoding and tight ends: infer exact quasi-identifiers from the fact that published cells are as small as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, Integers
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.cell_claims import NOBODY, CellClaims
from sfumato.attacks.rates import Rate
from sfumato.releases.cell_coverage import CellReader

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Downcoding(Attack):
    """Claim that each end of an interval, each member of a set, and each of the two children of a node occurs in the group.

    The attacker knows the release, the hierarchies and how cells are made: as the smallest ones that cover their group.
    They know nobody's quasi-identifiers.

    Compare with the chance of the same claims where cells are not the smallest: if the people of each group had values of
    the cell as frequent as in the table, or all equally frequent.

    A claim is about one group and one quasi-identifier. "Certain" are the rows whose exact value in a column follows in this
    way, if the release was made with the smallest cells; the figures have, for each column, the cells with several values,
    and those of which the exact content follows: intervals and pairs of leaves in groups of two, and sets with as many
    members as the group has rows. They also have how often a person of the group has the value at one end, drawn at random,
    or a value of the interval drawn at random.

    Does not use that a method chose these groups and no others, which Cohen's attack may do. Where ends are rounded to a
    grid, the claims are right as often as by chance.

    Source: Cohen (2022), Attacks on deidentification's defenses, who describes downcoding under hierarchies.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [20, 24, 29, 33, 38, 41]})
    >>> release = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(3), method="mondrian", seed=0)
    >>> sf.attack(release, attacks=["downcoding"])[0]
    downcoding: 100.0 % (51.0 % to 100.0 %) of 4
      values as frequent as in the table: 70.4 % (26.9 % to 93.9 %) of 4
      all values equally frequent: 70.4 % (26.9 % to 93.9 %) of 4
      certain of 4, of whom 4 rightly
      note: what is counted are claims about a group and a column, not people
    """

    name: ClassVar[str] = "downcoding"
    counts_rows: ClassVar[bool] = True
    needs_secret: ClassVar[bool] = False

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack all quasi-identifiers."""
        columns = {name: _Column.of(release, name) for name in release.cells}
        if not any(len(column.right) for column in columns.values()):
            raise NotMeasured("no published cell is an interval, a set, or a node with two children")
        right = np.concatenate([column.right for column in columns.values()])
        single = np.concatenate([column.single for column in columns.values()])
        minimal, notes = _minimality(release)
        return [
            AttackResult(
                self.name,
                None,
                Rate.of(int(right.sum()), len(right)),
                {
                    "values as frequent as in the table": Rate.mean(
                        np.concatenate([column.by_table for column in columns.values()])
                    ),
                    "all values equally frequent": Rate.mean(
                        np.concatenate([column.uniform for column in columns.values()])
                    ),
                },
                certain=int(single.sum()) if minimal else 0,
                right=int((single & right).sum()) if minimal else 0,
                figures={name: column.figures for name, column in columns.items()},
                notes=(*release.notes, *notes, "what is counted are claims about a group and a column, not people"),
            )
        ]


def _minimality(release: AttackedRelease) -> tuple[bool, tuple[str, ...]]:
    """Return whether the cells are known to be the smallest ones, and a note if they are not."""
    method = release.method.get("name")
    if method is None:
        return False, ("it is not known whether the cells are the smallest ones, so nothing is certain",)
    if method == "lattice":
        return False, ("all cells of a column are on one level, so they are not the smallest ones and nothing is certain",)
    return True, ()


@dataclass(frozen=True, eq=False)
class _Column:
    """The claims about one quasi-identifier, group by group."""

    right: NDArray[np.bool_]
    single: NDArray[np.bool_]
    """Whether a claim is about a single value."""
    by_table: Floats
    uniform: Floats
    figures: dict[str, Any]

    @classmethod
    def of(cls, release: AttackedRelease, name: str) -> _Column:
        assert release.original is not None
        column, published = release.original.column(name), release.published.column(name)
        texts = [None if code == published.size else published.label(code) for code in range(published.domain)]
        claims = CellClaims.of(texts, column, release.recodings[name], release.schema.hierarchies.get(name))
        sizes = np.bincount(release.group_of_person, minlength=release.groups.count)
        # the claims of each group are those of its cell
        per_cell = np.bincount(claims.cell, minlength=len(texts))
        cell = release.cells[name]
        times = per_cell[cell]
        group = np.repeat(np.arange(len(cell)), times)
        starts = np.cumsum(per_cell) - per_cell
        within = np.arange(len(group)) - np.repeat(np.cumsum(times) - times, times)
        claim = starts[cell[group]] + within
        held = _held(release, column.paths, column.codes.astype(np.int64), claims, group, claim)
        in_cell, values = _extent(CellReader(texts, column, release.recodings[name]), column.codes, column.domain)
        among, possible = _claimed(column.paths, column.codes, column.domain, claims)
        chosen = claims.cell
        share = among / np.maximum(1, in_cell[chosen])
        evenly = possible / np.maximum(1, values[chosen])
        single = claims.level[claim] == 0
        figures = _figures(claims, claim, group, held, sizes, values, single, cell, release.recodings[name])
        return cls(
            held > 0,
            single,
            1 - (1 - np.minimum(1.0, share[claim])) ** sizes[group],
            1 - (1 - np.minimum(1.0, evenly[claim])) ** sizes[group],
            figures,
        )


def _nodes(paths: NDArray[np.int32] | None, level: int, codes: Integers) -> Integers:
    """Return the nodes of codes on a level; on level 0 each value is its own."""
    if level == 0:
        return codes
    assert paths is not None
    return np.asarray(paths[codes, level], np.int64)


def _held(
    release: AttackedRelease,
    paths: NDArray[np.int32] | None,
    codes: Integers,
    claims: CellClaims,
    group: Integers,
    claim: Integers,
) -> Integers:
    """Return for each claim about a group how many of its people have one of the values."""
    held = np.zeros(len(claim), np.int64)
    for level in np.unique(claims.level).tolist():
        own = _nodes(paths, level, codes)
        width = int(max(own.max(initial=0), claims.value.max(initial=0))) + 1
        keys, counts = np.unique(release.group_of_person * width + own, return_counts=True)
        at = np.flatnonzero((claims.level[claim] == level) & (claims.value[claim] != NOBODY))
        wanted = group[at] * width + claims.value[claim[at]]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        held[at] = np.where(keys[place] == wanted, counts[place], 0)
    return held


def _extent(reader: CellReader, codes: NDArray[Any], domain: int) -> tuple[Integers, Integers]:
    """Return for each cell how many people of the table have a value that it covers, and how many values it covers."""
    people = np.bincount(codes, minlength=domain)
    before = np.concatenate([[0], np.cumsum(people)])
    low, high = np.minimum(reader.low, domain), np.minimum(reader.high + 1, domain)
    ranged = low < high
    count = np.where(ranged, before[np.maximum(low, high)] - before[low], 0)
    values = np.where(ranged, high - low, 0)
    listed, listed_codes = reader.listed
    count = count + np.bincount(listed, people[listed_codes], minlength=len(count)).astype(np.int64)
    values = values + np.bincount(listed, minlength=len(count))
    return np.where(reader.withheld, len(codes), count), np.where(reader.withheld, domain, values)


def _claimed(
    paths: NDArray[np.int32] | None, codes: NDArray[Any], domain: int, claims: CellClaims
) -> tuple[Integers, Integers]:
    """Return for each claim how many people of the table have one of its values, and how many values it has."""
    people, values = np.zeros(len(claims.cell), np.int64), np.zeros(len(claims.cell), np.int64)
    for level in np.unique(claims.level).tolist():
        node = _nodes(paths, level, np.arange(domain))
        width = int(max(node.max(initial=0), claims.value.max(initial=0))) + 1
        of_node = np.bincount(node, np.bincount(codes, minlength=domain), minlength=width).astype(np.int64)
        at = np.flatnonzero((claims.level == level) & (claims.value != NOBODY))
        people[at] = of_node[claims.value[at]]
        values[at] = np.bincount(node, minlength=width)[claims.value[at]]
    return people, values


def _figures(
    claims: CellClaims,
    claim: Integers,
    group: Integers,
    held: Integers,
    sizes: Integers,
    values: Integers,
    single: NDArray[np.bool_],
    cell: Integers,
    recoding: str,
) -> dict[str, Any]:
    """Return the figures of one column."""
    count = np.bincount(group, minlength=len(cell))
    alone = np.bincount(group, single, minlength=len(cell)).astype(np.int64)
    # as many different values must occur as there are rows, and they are named
    exact = (count > 0) & (alone == sizes) & (alone == count)
    several = values[cell] > 1
    figures: dict[str, Any] = {
        "cells with several values": int(several.sum()),
        "cells with claims": int((count > 0).sum()),
        "cells whose exact content follows": int(exact.sum()),
        "right claims": int((held > 0).sum()),
        "claims": len(claim),
    }
    if recoding == "interval" and len(claim):
        people = sizes[np.unique(group)]
        each = np.bincount(group, held, minlength=len(cell))[np.unique(group)] / 2
        figures["a person has the value of a random end"] = float(each.sum() / people.sum())
        figures["a person has a random value"] = float(
            (people / np.maximum(1, values[cell[np.unique(group)]])).sum() / people.sum()
        )
    return figures
