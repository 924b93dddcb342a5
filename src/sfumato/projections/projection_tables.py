"""What the figures of several tables are drawn from, gathered from what release.json says of each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.reports.grouped_text import heading, level

Content = Mapping[str, Any]


def told_dependence(content: Content) -> dict[str, Any]:
    """The dependence of all attributes as far as release.json tells it; None for two that stand in different tables.

    >>> apart = [{"dependence": {"names": [name], "entropy": [1.0], "information": [[0.0]]}} for name in "ab"]
    >>> told_dependence({"attributes": ["a", "b"], "tables": apart})["information"]
    [[0.0, None], [None, 0.0]]
    """
    place = {name: at for at, name in enumerate(content["attributes"])}
    entropy: list[float] = [0.0] * len(place)
    information: list[list[float | None]] = [[None] * len(place) for _ in place]
    for table in content["tables"]:
        told = table["dependence"]
        at = [place[name] for name in told["names"]]
        for i, own, row in zip(at, told["entropy"], told["information"], strict=True):
            entropy[i] = own
            for j, shared in zip(at, row, strict=True):
                information[i][j] = shared
    return {"names": list(place), "entropy": entropy, "information": information}


def pairs(dependence: Content, plan: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Each two attributes: how many bits they share, what part of the lesser entropy that is, and the table they stand in.

    Those that share the largest part come first, and those that are not told (None) last.

    >>> shared = {"names": ["a", "b"], "entropy": [1.0, 2.0], "information": [[0.0, 0.5], [0.5, 0.0]]}
    >>> pairs(shared, [["a", "b"]])
    [{'one': 'a', 'other': 'b', 'bits': 0.5, 'share': 0.5, 'table': 1}]
    """
    table = {name: number for number, block in enumerate(plan, 1) for name in block}
    names, entropy = dependence["names"], dependence["entropy"]
    found = []
    for i, one in enumerate(names):
        for j, other in list(enumerate(names))[i + 1 :]:
            bits = dependence["information"][i][j]
            within = table[one] if table[one] == table[other] else None
            share = None if bits is None else shared_part(bits, entropy[i], entropy[j])
            found.append({"one": one, "other": other, "bits": bits, "share": share, "table": within})
    return sorted(found, key=lambda pair: (pair["share"] is None, -(pair["share"] or 0.0)))


def shared_part(bits: float, one: float, other: float) -> float:
    """What part of the lesser of two entropies they share: 0 if neither tells of the other, 1 if one follows from the other.

    >>> shared_part(0.5, 1.0, 2.0), shared_part(0.0, 0.0, 2.0)
    (0.5, 0.0)
    """
    lesser = min(one, other)
    return 0.0 if lesser <= 0 else max(0.0, min(1.0, bits / lesser))


def _named(attribute: str | None, sets: Mapping[str, Sequence[str]]) -> str | None:
    """What a principle was measured on; the items of one set, taken together, by the name of the set.

    >>> _named("dx=a + dx=b", {"dx": ["dx=a", "dx=b", "dx=c"]}), _named("dx=a", {"dx": ["dx=a"]}), _named(None, {})
    ('dx (set)', 'dx=a', None)
    """
    if attribute is None:
        return None
    parts = attribute.split(" + ")
    whole = [name for name, bits in sets.items() if len(parts) > 1 and set(parts) <= set(bits)]
    return f"{whole[0]} (set)" if whole else attribute


def reached(content: Content, before: Sequence[Content] | None = None) -> list[dict[str, Any]]:
    """Each principle once, with what it reached in each table and on each attribute.

    `before`: for each table what the internal report tells of it; then every row holds the level on the original too.
    """
    found: dict[str, dict[str, Any]] = {}
    for number, table in enumerate(content["tables"]):
        for at, (claim, words) in enumerate(zip(table["principles"], table["figures"]["words"], strict=True)):
            title = heading({**claim, "attribute": None})
            entry = found.setdefault(title, {"heading": title, "words": words, "parts": {}})
            old = None if before is None else before[number]["principles"][at]
            for part, wanted in claim["wanted"].items():
                row = {
                    "table": number + 1,
                    "attribute": _named(claim["attribute"], content["sets"]),
                    "measured": claim["measured"][part],
                    "shown": level(claim, part)["measured"],
                    "holds": claim["holds"],
                    **({} if old is None else {"before": old["measured"][part], "was": level(old, part)["measured"]}),
                }
                entry["parts"].setdefault((part, wanted), []).append(row)
    return [
        {
            "heading": entry["heading"],
            "words": entry["words"],
            "holds": all(row["holds"] for rows in entry["parts"].values() for row in rows),
            "parts": [{"part": part, "wanted": wanted, "rows": rows} for (part, wanted), rows in entry["parts"].items()],
        }
        for entry in found.values()
    ]
