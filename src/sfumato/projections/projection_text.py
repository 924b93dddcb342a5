"""What the report of several tables says in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.plurals import count_of
from sfumato.reports.plots.figure import percent

Content = Mapping[str, Any]

_CHOSEN = {
    "given": "The plan was given by the publisher.",
    "greedy": "The plan was found by merging, two tables at a time, those whose attributes tell most of each other.",
    "exhaustive": "Every plan was weighed.",
}
_LEAST = "Of those that meet the wish, the one that loses least was taken."


def verdict(content: Content) -> str:
    """What holds, in one sentence; never that nobody can be identified."""
    tables = count_of(len(content["tables"]), "table")
    where = "the one table" if len(content["tables"]) == 1 else f"every one of the {tables}"
    if content["holds"]:
        asked = any(one["origin"] == "given" for one in content["thresholds"])
        met = ", and the thresholds on the plan are met" if asked else ""
        return f"Every principle that was asked for holds in {where}{met}."
    failing = [one["name"] for one in content["thresholds"] if not one["holds"]]
    some = [str(number) for number, table in enumerate(content["tables"], 1) if not table["holds"]]
    told = [f"a principle does not hold in table {', '.join(some)}"] if some else []
    told += [f"the threshold on {name} is not met" for name in failing]
    text = "; ".join(told) or "what was asked for does not hold"
    return f"{text[:1].upper()}{text[1:]}."


def chosen(content: Content) -> str:
    """How the plan came about."""
    said = _CHOSEN.get(content["chosen"], str(content["chosen"]))
    wished = all(one["origin"] == "given" for one in content["thresholds"])
    return f"{said} {_LEAST}" if wished and content["chosen"] == "exhaustive" else said


def facts(content: Content) -> list[list[str]]:
    """Each table in figures: rows of a table."""
    return [
        [
            f"{number}: {', '.join(table['attributes'])}",
            f"{table['rows']:,}",
            f"{table['groups']:,}",
            f"{table['suppressed']:,}",
            percent(table["utility"]["loss"]["mean"]),
            percent(table["figures"]["risk"]["after"]["highest"]),
            percent(table["figures"]["risk"]["after"]["mean"]),
        ]
        for number, table in enumerate(content["tables"], 1)
    ]


FACTS = ("table", "rows", "groups", "suppressed", "loss", "highest risk", "mean risk")


def limits(content: Content) -> list[tuple[str, str]]:
    """What the release does not protect against, each with a name."""
    several = [block for block in content["plan"] if len(block) > 1]
    said = []
    if several:
        one, other = several[0][:2]
        said.append(
            (
                "Background knowledge, within a table.",
                f"Attributes of one table stand beside each other. Who knows a person’s {one}, say, looks among the rows of "
                f"the person’s group that have it, and may read {other} from them. A principle on each attribute alone does "
                "not bound that; the information exposure above says how much of it the plan leaves.",
            )
        )
    if len(content["plan"]) > 1:
        said.append(
            (
                "Dependent attributes, in different tables.",
                "That attributes stand in different tables hides which value of one goes with which of the other. Who knows "
                "from elsewhere how they depend, as a profession and an income do, can look up a person’s group in both "
                "tables and combine what they tell. The bounds on joining tables that are known hold only where attributes "
                "of different tables are independent.",
            )
        )
        said.append(
            (
                "Several groups of one person.",
                "Every table has its own groups. A person whose quasi-identifiers are known is found in one group of each, "
                "and what those groups tell is known together. No column links the tables, and the rows of each were "
                "shuffled on their own.",
            )
        )
    table = {name: number for number, block in enumerate(content["plan"]) for name in block}
    torn_apart = [name for name, bits in content["sets"].items() if len({table[bit] for bit in bits}) > 1]
    if torn_apart:
        said.append(
            (
                "Sets whose items stand in different tables.",
                f"Each item of {', '.join(torn_apart)} is a column of its own. Those of one table were measured together "
                "too; those of different tables were not, and a set can be told by its items together where none of them "
                "tells much.",
            )
        )
    if content["harmless"]:
        said.append(
            (
                "Values that were called harmless.",
                f"Some values of {', '.join(content['harmless'])} were declared not to be sensitive, and what they reveal "
                "does not count in the information exposure.",
            )
        )
    said += [
        (
            "The choice of the plan.",
            "Which attributes stand together, and the two ratios, follow from how the attributes depend in the original. "
            "The ratios are told in hundredths for that reason."
            if content["chosen"] != "given"
            else "The two ratios follow from how the attributes depend in the original; so they are told in hundredths.",
        ),
        (
            "Other releases, and who is in the table.",
            "Two releases about the same people can tell together what neither tells alone; and whoever fits no group was "
            "not in the table. Columns that were not declared as quasi-identifiers or sensitive, and identify people after "
            "all, are not seen.",
        ),
    ]
    return said


def links(internal: Content) -> list[list[str]]:
    """The confidence in values joined from several tables, beside what Theorem 2 says; rows of a table."""
    return [
        [
            str(one["tables"]),
            percent(one["largest"]),
            percent(one["mean"]),
            percent(one["bound"]) + (" (exceeded)" if one["exceeds"] else ""),
            percent(one["corrected_bound"]),
        ]
        for one in internal["attacks"]["attacks"]["intersection"]["links"]
    ]


LINKS = ("values from how many tables", "highest confidence", "on average", "bound for groups of exactly k", "for any sizes")


def certain(internal: Content) -> list[str]:
    """What the attacks come to, in sentences: the worst of each kind."""
    attacks, said = internal["attacks"]["attacks"], []
    for worst in attacks["background-join"]["joins"][:1]:
        said.append(f"By knowing a person’s {' and '.join(worst['known'])}, {_learns(worst)}")
    for worst in attacks["intersection"]["inferences"][:1]:
        said.append(f"By knowing how {worst['helper']} and {worst['target']} depend in general, {_learns(worst)}")
    return said


def _learns(worst: Content) -> str:
    more = worst["gain"]["newly_certain"]
    return (
        f"an attacker becomes certain of the {worst['target']} of "
        f"{count_of(more, 'person', 'people') if more else 'nobody'} more ({worst['after']['certain']:,} of "
        f"{worst['people']:,} in all); his confidence rises from {percent(worst['before']['mean'])} to "
        f"{percent(worst['after']['mean'])} on average. Nothing else of this kind gives away more."
    )


def warned(internal: Content) -> list[list[str]]:
    """Dependent attributes that stand in different tables, strongest first; rows of a table."""
    return [
        [
            " and ".join(one["attributes"]),
            " and ".join(str(table + 1) for table in one["tables"]),
            f"{one['information']:.3g}",
            percent(one["share"]),
        ]
        for one in internal["attacks"]["warnings"]
    ]


WARNED = ("attributes", "tables", "bits shared", "part of the lesser entropy")
