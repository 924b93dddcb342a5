"""What the report says in words: verdicts, levels, and what reviewers look for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from sfumato.plurals import count_of
from sfumato.reports.plots.figure import percent

Content = Mapping[str, Any]


def verdict(content: Content) -> str:
    """What holds, in one sentence; never that nobody can be identified."""
    principles, groups = content["config"]["principles"], count_of(content["groups"], "group")
    if content["holds"]:
        many = {1: "The principle that was asked for holds", 2: "Both principles that were asked for hold"}
        all_of = many.get(len(principles), f"All {len(principles)} principles that were asked for hold")
        return f"{all_of} in {'the one group' if content['groups'] == 1 else f'every one of the {groups}'}."
    failing = sum(not claim["holds"] for claim in content["principles"])
    return (
        f"{count_of(failing, 'principle')} that {'was' if failing == 1 else 'were'} asked for does not hold in every group."
    )


def heading(claim: Content) -> str:
    """A principle with its parameters, and what it was measured on."""
    on = claim.get("attribute")
    distance = f" ({claim['distance']})" if claim.get("distance") else ""
    return f"{claim['label']}{f' on {on}' if on else ''}{distance}".replace("^k", "ᵏ")


def level(claim: Content, part: str) -> dict[str, str]:
    """What one requirement wants and what was measured, as text."""
    measured, exact = claim["measured"][part], claim["exact"][part]
    shown = "∞" if measured is None else f"{measured:,}" if isinstance(measured, int) else f"{measured:.4g}"
    if "/" in exact:
        shown += f" ({exact})"
    return {"part": part, "measured": shown, "wanted": claim["wanted"][part]}


def configured(config: Content) -> str:
    """The config as TOML; hierarchies that stand in release.json row by row are only named."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            if isinstance(value.get("rows"), list):
                return f"{count_of(len(value['rows']), 'leaf', 'leaves')}, listed in release.json"
            return {str(key): plain(inner) for key, inner in value.items() if inner is not None}
        if isinstance(value, list):
            return [plain(inner) for inner in value if inner is not None]
        return value

    told = plain(config)
    principles = told.pop("principles", [])
    return str(tomli_w.dumps(told)) + "".join(f"\n[[principles]]\n{tomli_w.dumps(one)}" for one in principles)


def cited(words: Sequence[Content]) -> list[str]:
    """The sources of the principles, each once."""
    return list(dict.fromkeys(said["source"] for said in words if said["source"]))


def criteria(content: Content) -> list[dict[str, Any]]:
    """The three criteria of WP216: what each asks, which figures speak to it, what they say, and what they leave open."""
    risk = content["figures"]["risk"]
    before, after = risk["before"], risk["after"]
    return [
        {
            "name": "Singling out",
            "asks": "Can records that belong to one person be isolated?",
            "figures": ["gauge-unique", "class-sizes"],
            "says": f"{percent(before['unique'])} of the rows were alone with their quasi-identifiers before; after, "
            f"{percent(after['unique'])} are, and no row has a risk above {percent(after['highest'])}.",
            "open": "This is about the columns that were declared quasi-identifiers. Whoever knows a sensitive value, or a "
            "column published as it is, may single out a row by that.",
        },
        {
            "name": "Linkability",
            "asks": "Can records about one person be linked, within the table or with another?",
            "figures": ["gauge-prosecutor", "gauge-marketer"],
            "says": f"A person who is known to be in the table is linked to the right row with a chance of at most "
            f"{percent(after['highest'])}, and on average {percent(after['mean'])} (before: {percent(before['highest'])} "
            f"and {percent(before['mean'])}).",
            "open": "Several releases about the same people can be intersected; nothing here speaks of other releases.",
        },
        {
            "name": "Inference",
            "asks": "Can a sensitive value be deduced with significant probability?",
            "figures": list(dict.fromkeys(f"level-{table['finding']}-" for table in content["figures"]["levels"])),
            "says": _inference(content),
            "open": "What is common to the whole table can be inferred of everybody in it, and of people who are not. "
            "Correlations between sensitive and other published columns are not looked at unless a principle says so.",
        },
    ]


def _inference(content: Content) -> str:
    about = [claim for claim in content["principles"] if claim.get("attribute") is not None]
    if not about:
        return "No principle about sensitive values was asked for: a group whose members share a value tells it."
    told = [f"{heading(claim)} {'holds' if claim['holds'] else 'does not hold'}" for claim in about]
    return f"{'; '.join(told)}."
