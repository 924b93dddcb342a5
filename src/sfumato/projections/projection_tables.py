"""The tables that the figures of a projected release are drawn from, collected from its typed document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.releases.models import ProjectedDocument
from sfumato.reports.grouped_text import heading, level


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


def principle_findings(
    document: ProjectedDocument, before: Sequence[Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return each principle once, with its levels in each table and on each attribute.

    `before`: the internal figures of each table; with them, every row also contains the level of the original.
    """
    findings: dict[str, dict[str, Any]] = {}
    for number, table in enumerate(document.tables):
        for index, (claim, words) in enumerate(zip(table.principles, table.figures.words, strict=True)):
            plain = claim.to_dict()
            title = heading({**plain, "attribute": None})
            finding = findings.setdefault(title, {"heading": title, "words": words.to_dict(), "parts": {}})
            original = None if before is None else before[number]["principles"][index]
            for part, wanted in claim.wanted.items():
                row = {
                    "table": number + 1,
                    "attribute": _attribute_label(claim.attribute, document.sets),
                    "measured": claim.measured[part],
                    "shown": level(plain, part)["measured"],
                    "holds": claim.holds,
                }
                if original is not None:
                    row |= {"before": original["measured"][part], "was": level(original, part)["measured"]}
                finding["parts"].setdefault((part, wanted), []).append(row)
    return [
        {
            "heading": finding["heading"],
            "words": finding["words"],
            "holds": all(row["holds"] for rows in finding["parts"].values() for row in rows),
            "parts": [{"part": part, "wanted": wanted, "rows": rows} for (part, wanted), rows in finding["parts"].items()],
        }
        for finding in findings.values()
    ]
