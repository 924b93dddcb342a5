"""The sentences and the tables of text in the reports of a projected release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.plurals import count_of
from sfumato.releases.models import ProjectedDocument
from sfumato.reports.plots.figure import percent

Content = Mapping[str, Any]
"""What only the internal report contains, as plain data; see `projection_document.internal_content`."""

Limitation = tuple[str, str]
"""The name of something that the release does not protect against, and an explanation."""

_SEARCHES = {
    "given": "The plan was given by the publisher.",
    "greedy": "The plan was found by repeatedly merging the two tables whose attributes share most information.",
    "exhaustive": "All plans were examined.",
}

FACT_HEADINGS = ("table", "rows", "groups", "suppressed", "loss", "highest risk", "mean risk")
LINK_HEADINGS = (
    "number of joined tables",
    "highest confidence",
    "on average",
    "bound for groups of exactly k",
    "for any sizes",
)
WARNING_HEADINGS = ("attributes", "tables", "shared bits", "share of the smaller entropy")


def verdict_sentence(document: ProjectedDocument) -> str:
    """Return what holds, in one sentence; never that nobody can be identified."""
    count = len(document.tables)
    where = "the one table" if count == 1 else f"each of the {count_of(count, 'table')}"
    if document.holds:
        thresholds = any(claim.origin == "given" for claim in document.thresholds)
        met = ", and the thresholds on the plan are met" if thresholds else ""
        return f"Every required principle holds in {where}{met}."
    tables = [str(number) for number, table in enumerate(document.tables, 1) if not table.holds]
    failures = [f"a principle does not hold in table {', '.join(tables)}"] if tables else []
    failures += [f"the threshold on {claim.name} is not met" for claim in document.thresholds if not claim.holds]
    text = "; ".join(failures) or "the requirements do not hold"
    return f"{text[:1].upper()}{text[1:]}."


def search_sentence(document: ProjectedDocument) -> str:
    """Return how the plan was found."""
    text = _SEARCHES[document.chosen]
    if document.quality is not None:
        limit = document.quality.wanted
        text += f" The discernibility of each table (the sum of the squared sizes of its groups) is at most {limit}."
    both_given = all(claim.origin == "given" for claim in document.thresholds)
    if both_given and document.chosen == "exhaustive":
        text += " Of those that meet the requirements, the one with the smallest association loss was chosen."
    return text


def fact_rows(document: ProjectedDocument) -> list[list[str]]:
    """Return the figures of each table, as the rows of a table with `FACT_HEADINGS`."""
    return [
        [
            f"{number}: {', '.join(table.attributes)}",
            f"{table.rows:,}",
            f"{table.groups:,}",
            f"{table.suppressed:,}",
            percent(table.utility.loss.mean),
            percent(table.figures.risk.after.highest),
            percent(table.figures.risk.after.mean),
        ]
        for number, table in enumerate(document.tables, 1)
    ]


def limitations(document: ProjectedDocument) -> list[Limitation]:
    """Return what the release does not protect against."""
    return [
        *_limits_within_tables(document),
        *_limits_between_tables(document),
        *_limits_of_values(document),
        *_limits_of_any_release(document),
    ]


def _limits_within_tables(document: ProjectedDocument) -> list[Limitation]:
    several = [block for block in document.plan if len(block) > 1]
    if not several:
        return []
    one, other = several[0][:2]
    return [
        (
            "Background knowledge, within a table.",
            f"The attributes of one table are published row by row. An attacker who knows a person’s {one}, for example, "
            f"finds the rows of the person’s group with this value, and may read {other} from them. A principle on each "
            "attribute alone does not limit this; the information exposure above measures how much of it the plan leaves.",
        )
    ]


def _limits_between_tables(document: ProjectedDocument) -> list[Limitation]:
    limits: list[Limitation] = []
    if len(document.plan) > 1:
        limits = [
            (
                "Dependent attributes, in different tables.",
                "Attributes in different tables do not show which value of one belongs to which value of the other. An "
                "attacker who knows from elsewhere how they depend, such as a profession and an income, can look up a "
                "person’s group in both tables and combine them. The known bounds on joining tables hold only if attributes "
                "of different tables are independent.",
            ),
            (
                "Several groups of one person.",
                "Every table has its own groups. An attacker who knows a person’s quasi-identifiers finds the person’s "
                "group in each table, and can use all of them together. No column links the tables, and the rows of each "
                "table were shuffled independently.",
            ),
        ]
    table_of = {name: number for number, block in enumerate(document.plan) for name in block}
    separated = [name for name, bits in document.sets.items() if len({table_of[bit] for bit in bits}) > 1]
    if separated:
        limits.append(
            (
                "Sets whose items are in different tables.",
                f"Each item of {', '.join(separated)} is a column of its own. Items in one table were also measured "
                "together; items in different tables were not, and together they may reveal a set although none of them "
                "reveals much.",
            )
        )
    return limits


def _limits_of_values(document: ProjectedDocument) -> list[Limitation]:
    if not document.harmless:
        return []
    return [
        (
            "Values that were declared harmless.",
            f"Some values of {', '.join(document.harmless)} were declared not to be sensitive, and what they reveal does "
            "not count in the information exposure.",
        )
    ]


def _limits_of_any_release(document: ProjectedDocument) -> list[Limitation]:
    return [
        (
            "The choice of the plan.",
            "The plan and the two ratios depend on how the attributes depend in the original. The ratios are published in "
            "hundredths for this reason."
            if document.chosen != "given"
            else "The two ratios depend on how the attributes depend in the original; so they are published in hundredths.",
        ),
        (
            "Other releases, and membership in the table.",
            "Two releases about the same people can reveal together what neither reveals alone; and anybody who matches no "
            "group was not in the table. Columns that were not declared as quasi-identifiers or sensitive, but identify "
            "people nevertheless, are not considered.",
        ),
    ]


def link_rows(internal: Content) -> list[list[str]]:
    """Return the confidence in values joined from several tables, and the bounds of Theorem 2, as rows of a table."""
    links = internal["attacks"]["attacks"].get("intersection", {}).get("links", [])
    return [
        [
            str(link["tables"]),
            percent(link["largest"]),
            percent(link["mean"]),
            percent(link["bound"]) + (" (exceeded)" if link["exceeds"] else ""),
            percent(link["corrected_bound"]),
        ]
        for link in links
    ]


def attack_sentences(internal: Content) -> list[str]:
    """Return the worst result of each built-in attack in words."""
    attacks, sentences = internal["attacks"]["attacks"], []
    for worst in attacks.get("background-join", {}).get("joins", [])[:1]:
        sentences.append(f"An attacker who knows a person’s {' and '.join(worst['known'])} {_success(worst)}")
    for worst in attacks.get("intersection", {}).get("inferences", [])[:1]:
        knowledge = f"how {worst['helper']} and {worst['target']} depend in general"
        sentences.append(f"An attacker who knows {knowledge} {_success(worst)}")
    return sentences


def _success(worst: Content) -> str:
    more = worst["gain"]["newly_certain"]
    people = count_of(more, "more person", "more people") if more else "no further person"
    return (
        f"becomes certain of the value of {worst['target']} of {people} ({worst['after']['certain']:,} of "
        f"{worst['people']:,} in all); the confidence rises from {percent(worst['before']['mean'])} to "
        f"{percent(worst['after']['mean'])} on average. No other attack of this kind reveals more."
    )


def warning_rows(internal: Content) -> list[list[str]]:
    """Return dependent attributes in different tables, strongest first, as rows of a table with `WARNING_HEADINGS`."""
    return [
        [
            " and ".join(pair["attributes"]),
            " and ".join(str(table + 1) for table in pair["tables"]),
            f"{pair['information']:.3g}",
            percent(pair["share"]),
        ]
        for pair in internal["attacks"]["warnings"]
    ]
