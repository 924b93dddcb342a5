"""The tables that the figures of a projected release are drawn from, collected from its typed document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.releases.figure_models import PrincipleWords
from sfumato.releases.models import PrincipleClaim, ProjectedDocument
from sfumato.reports.grouped_text import heading, level_text


def published_dependence(document: ProjectedDocument) -> dict[str, Any]:
    """Return the dependence of all attributes as far as it is published; None for attributes in different tables."""
    index = {name: position for position, name in enumerate(document.attributes)}
    entropy: list[float] = [0.0] * len(index)
    information: list[list[float | None]] = [[None] * len(index) for _ in index]
    for table in document.tables:
        claim = table.dependence
        positions = [index[name] for name in claim.names]
        for i, bits, row in zip(positions, claim.entropy, claim.information, strict=True):
            entropy[i] = bits
            for j, shared in zip(positions, row, strict=True):
                information[i][j] = shared
    return {"names": list(index), "entropy": entropy, "information": information}


def attribute_pairs(dependence: Mapping[str, Any], plan: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Return each pair of attributes: the bits they share, the share of the smaller entropy, and their table.

    Pairs are sorted by that share, largest first; those that are not published (None) come last.

    >>> shared = {"names": ["a", "b"], "entropy": [1.0, 2.0], "information": [[0.0, 0.5], [0.5, 0.0]]}
    >>> attribute_pairs(shared, [["a", "b"]])
    [{'one': 'a', 'other': 'b', 'bits': 0.5, 'share': 0.5, 'table': 1}]
    """
    table_of = {name: number for number, block in enumerate(plan, 1) for name in block}
    names, entropy = dependence["names"], dependence["entropy"]
    pairs = []
    for i, one in enumerate(names):
        for j, other in list(enumerate(names))[i + 1 :]:
            bits = dependence["information"][i][j]
            table = table_of[one] if table_of[one] == table_of[other] else None
            share = None if bits is None else shared_fraction(bits, entropy[i], entropy[j])
            pairs.append({"one": one, "other": other, "bits": bits, "share": share, "table": table})
    return sorted(pairs, key=lambda pair: (pair["share"] is None, -(pair["share"] or 0.0)))


def shared_fraction(bits: float, one: float, other: float) -> float:
    """Return mutual information as a share of the smaller entropy: 0 if independent, 1 if one determines the other.

    >>> shared_fraction(0.5, 1.0, 2.0), shared_fraction(0.0, 0.0, 2.0)
    (0.5, 0.0)
    """
    smaller = min(one, other)
    return 0.0 if smaller <= 0 else max(0.0, min(1.0, bits / smaller))


def _attribute_label(attribute: str | None, sets: Mapping[str, Sequence[str]]) -> str | None:
    """Return the attribute that a principle was measured on; several bits of one set by the name of the set.

    >>> _attribute_label("dx=a + dx=b", {"dx": ["dx=a", "dx=b", "dx=c"]}), _attribute_label("dx=a", {"dx": ["dx=a"]})
    ('dx (set)', 'dx=a')
    """
    if attribute is None:
        return None
    parts = attribute.split(" + ")
    names = [name for name, bits in sets.items() if len(parts) > 1 and set(parts) <= set(bits)]
    return f"{names[0]} (set)" if names else attribute


@dataclass(frozen=True)
class LevelRow:
    """The level of one part of a principle in one table, on one attribute."""

    table: int
    attribute: str | None
    measured: float | None
    """The level; None if it is infinite."""
    shown: str
    """The level as text."""
    holds: bool
    before: float | None = None
    """The level of the original, in an internal report."""
    before_shown: str = ""


@dataclass(frozen=True)
class LevelTable:
    """The levels of one part of a principle, and the requirement."""

    part: str
    required: str
    rows: list[LevelRow]


@dataclass(frozen=True)
class PrincipleFinding:
    """A principle with its levels in every table."""

    heading: str
    words: PrincipleWords
    levels: list[LevelTable]

    @property
    def holds(self) -> bool:
        """Whether it holds in every table and on every attribute."""
        return all(row.holds for table in self.levels for row in table.rows)


def principle_findings(
    document: ProjectedDocument, before: Sequence[Mapping[str, Any]] | None = None
) -> list[PrincipleFinding]:
    """Return each principle once, with its levels in each table and on each attribute.

    `before`: the internal figures of each table; with them, every row also contains the level of the original.
    """
    findings: dict[str, PrincipleFinding] = {}
    for number, table in enumerate(document.tables):
        for index, (claim, words) in enumerate(zip(table.principles, table.figures.words, strict=True)):
            title = heading(claim, with_attribute=False)
            finding = findings.setdefault(title, PrincipleFinding(title, words, []))
            original = None if before is None else PrincipleClaim.model_validate(before[number]["principles"][index])
            for part, required in claim.wanted.items():
                row = LevelRow(
                    number + 1,
                    _attribute_label(claim.attribute, document.sets),
                    claim.measured[part],
                    level_text(claim, part),
                    claim.holds,
                )
                if original is not None:
                    row = replace(row, before=original.measured[part], before_shown=level_text(original, part))
                _level_table(finding, part, required).rows.append(row)
    return list(findings.values())


def _level_table(finding: PrincipleFinding, part: str, required: str) -> LevelTable:
    """Return the table of a part and its requirement, which is added to the finding if it is not there."""
    for table in finding.levels:
        if (table.part, table.required) == (part, required):
            return table
    finding.levels.append(LevelTable(part, required, []))
    return finding.levels[-1]
