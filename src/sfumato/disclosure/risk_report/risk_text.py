"""The sentences of the risk report: the result, the attackers, and the assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.plurals import count_of
from sfumato.reports.plots.figure import percent

Content = Mapping[str, Any]

_FEW = 6
"""Pairs of dictionaries up to which the report also says why one does not bound the other."""


def page_text(content: Content) -> dict[str, Any]:
    """Return all sentences of the page that depend on the figures."""
    return {
        "verdict": verdict(content),
        "facts": facts(content),
        "attackers": attackers(content),
        "all_attackers": all_attackers(content),
        "records": records(content),
        "worst": worst(content),
        "bounds": bounds(content),
        "joint": joint(content),
        "levels": levels(content),
        "cells": cells(content),
        "whole": whole(content),
        "independence": independence(content),
        "assumptions": assumptions(content),
        "provenance": provenance(content),
    }


def verdict(content: Content) -> str:
    """The result in two sentences; never that nobody can be identified."""
    highest = content["worst"]
    against = {one["name"]: one for one in content["dictionaries"]}[highest["dictionary"]]
    unique, count = against["attackers"]["unique"], content["records"]
    sentences = []
    if content["limit"] is not None:
        sentences.append(
            f"The risk is {amount(content['risk'])}, {'at most' if content['holds'] else 'more than'} the limit, "
            f"{content['limit']}."
        )
    sentences.append(
        f"Against an attacker with “{highest['dictionary']}” a record loses {amount(highest['risk'])} on average, and "
        f"{unique:,} of {count_of(count, 'record')} ({percent(unique / count)}) are consistent with exactly one individual."
    )
    return " ".join(sentences)


def facts(content: Content) -> list[tuple[str, str]]:
    """The figures at the top."""
    over = "Risk under the prior" if content["over"] == "prior" else "Risk in the worst case"
    withheld = content["cells"] - content["disclosed"]
    return [
        ("Risk" if len(content["dictionaries"]) == 1 else over, amount(content["risk"])),
        ("Highest chance of a record", percent(max(_highest(one["attackers"]) for one in content["dictionaries"]))),
        ("Mean chance", percent(max(one["attackers"]["marketer"] for one in content["dictionaries"]))),
        ("Records", f"{content['records']:,}"),
        ("Cells disclosed", f"{content['disclosed']:,}"),
        ("Cells withheld", f"{withheld:,}"),
    ]


def _highest(figures: Content) -> float:
    return float(figures["journalist"] if figures["prosecutor"] is None else figures["prosecutor"])


def attackers(content: Content) -> list[tuple[str, str, list[str]]]:
    """The table of attackers: the name of a line, its meaning, and a cell for each dictionary."""
    dictionaries = content["dictionaries"]
    lines: list[tuple[str, str, list[str]]] = [
        ("Individuals", "in the dictionary", [f"{one['individuals']:,}" for one in dictionaries]),
        ("Risk", "the mean loss, with the sensitivity", [amount(one["risk"]) for one in dictionaries]),
    ]
    if any(one["prior"] is not None for one in dictionaries):
        lines.append(("Prior", "the probability that the attacker has it", [one["prior"] for one in dictionaries]))
    lines += [
        (
            "Prosecutor",
            "knows that the person is in the records: the highest chance of a record",
            [_chance(one["attackers"]["prosecutor"]) for one in dictionaries],
        ),
        (
            "Journalist",
            "has a register of more people: the highest chance of a record",
            [_chance(one["attackers"]["journalist"]) for one in dictionaries],
        ),
        (
            "Marketer",
            "tries every record: the expected share of correct guesses",
            [percent(one["attackers"]["marketer"]) for one in dictionaries],
        ),
        (
            "One match",
            "records with one consistent individual",
            [_of(one["attackers"]["unique"], content["records"]) for one in dictionaries],
        ),
        (
            "No match",
            "records without a consistent individual; their loss counts as 0",
            [_of(one["consistent"]["nobody"], content["records"]) for one in dictionaries],
        ),
    ]
    for threshold in dictionaries[0]["attackers"]["above"]:
        lines.append(
            (
                f"Chance above {threshold}",
                "",
                [percent(one["attackers"]["above"][threshold]) for one in dictionaries],
            )
        )
    return lines


def _chance(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _of(count: int, records: int) -> str:
    return f"{count:,} ({percent(count / records)})"


def all_attackers(content: Content) -> list[str]:
    """Why a dictionary is a prosecutor's or a journalist's, and the risk over all dictionaries."""
    sentences = []
    for one in content["dictionaries"]:
        who = "journalist" if one["attackers"]["prosecutor"] is None else "prosecutor"
        sentences.append(f"“{one['name']}” is the dictionary of a {who}: {one['attackers']['why']}.")
    if content["bayes"] is not None and len(content["dictionaries"]) > 1:
        sentences.append(f"The mean of the risks under the prior is {amount(content['bayes'])} (the Bayes risk).")
    elif len(content["dictionaries"]) > 1:
        highest = content["worst"]
        sentences.append(
            f"There is no prior, so the risk is that of the worst dictionary: “{highest['dictionary']}”, "
            f"{amount(highest['risk'])}."
        )
    return sentences


def records(content: Content) -> str:
    """The first sentence of the section on records."""
    name = f"“{content['worst']['dictionary']}”"
    one_of = f"{name}, the dictionary of highest risk" if len(content["dictionaries"]) > 1 else name
    return f"All losses are against {one_of}."


def worst(content: Content) -> list[list[str]]:
    """The records with the highest loss, as rows of a table."""
    rows = []
    for one in content["worst_records"]:
        whose = [] if content["identity"] is None else ["(missing)" if one["identity"] is None else str(one["identity"])]
        rows.append(
            [
                f"{one['row']:,}",
                *whose,
                amount(one["loss"]),
                amount(one["sensitivity"]),
                f"{one['consistent']:,}",
                percent(one["probability"]),
            ]
        )
    return rows


def cells(content: Content) -> list[str]:
    """The sentences about the curve over the number of cells."""
    curve = content["curves"]["cells"]
    if curve is None:
        return []
    sentences = []
    for line in curve["lines"]:
        whole, risks = line["risks"][-1], line["risks"]
        if whole in ("inf", 0):
            continue
        half = max((k for k, risk in enumerate(risks) if risk != "inf" and risk <= whole / 2), default=None)
        if half is None:
            continue
        start = f"{line['against'][:1].upper()}{line['against'][1:]}"
        sentences.append(
            f"{start}: {amount(whole)} if everything is disclosed, {amount(risks[half])} if each record discloses at "
            f"most its best {count_of(half, 'cell')}."
        )
    if len(curve["lines"]) > 1 and content["over"] == "worst":
        sentences.append(
            "A single rule for all dictionaries has, against the worst, at least the highest of these risks at its k."
        )
    return sentences


def independence(content: Content) -> list[list[str]]:
    """The cost of MinRisk, as rows of a table; empty if it does not apply."""
    return [
        [
            one["dictionary"],
            f"{one['cells']}",
            amount(one["least"]),
            amount(one["risk"]),
            "∞" if one["excess"] == "inf" else percent(one["excess"]),
            _of(one["worse"], content["records"]),
            amount(one["factor"]),
        ]
        for one in content["independence"]
    ]


def bounds(content: Content) -> list[dict[str, Any]]:
    """Which dictionary's risk bounds which; why not, if they are few."""
    sentences = []
    for one in content["bounds"]:
        if not one["holds"] and len(content["bounds"]) > _FEW:
            continue
        failing = [f"{each['name']}: {each['why']}" for each in one["conditions"] if not each["holds"]]
        true, estimated = amount(one["true"]), amount(one["estimated"])
        risks = f"Here the risks are {true} against “{one['attacker']}” and {estimated} against “{one['estimate']}”."
        why = f"These conditions fail: {'; '.join(failing)}." if failing else "Every condition holds."
        pair = f"“{one['estimate']}” for “{one['attacker']}”"
        sentences.append({"pair": pair, "holds": one["holds"], "says": f"{why} {risks}"})
    return sentences


def joint(content: Content) -> list[dict[str, Any]]:
    """What a joint matching leaves, dictionary by dictionary."""
    return [
        {
            "name": one["dictionary"],
            "why": one["why"],
            "cells": [] if one["why"] else [f"{one[key]:,}" for key in ("least", "one", "more")],
        }
        for one in content["joint"]
    ]


def levels(content: Content) -> list[tuple[str, str]]:
    """The three readings of k-anonymity, and up to which k each holds."""
    figures = content["k_anonymity"]
    return [
        ("Every record is consistent with at least k individuals", f"{figures['consistent']:,}"),
        (
            "A joint matching leaves at least k individuals to every record",
            f"({figures['why']})" if figures["why"] else f"{figures['joint']:,}",
        ),
        ("Every disclosed row occurs at least k times", f"{figures['release']:,}"),
    ]


def whole(content: Content) -> list[str]:
    """The dictionaries of which no smaller part can be drawn."""
    return [
        f"“{curve['dictionary']}” has no smaller part that contains the individuals of the records."
        for curve in content["curves"]["sizes"]
        if len(curve["individuals"]) < 2
    ]


def assumptions(content: Content) -> list[tuple[str, str]]:
    """The assumptions of the figures."""
    lines = []
    for one in content["dictionaries"]:
        picks = (
            "picks one of those consistent with a record, by their weights"
            if one["weighted"]
            else "picks one of those consistent with a record, each with the same chance"
        )
        lines.append(
            (
                f"Dictionary: {one['name']}",
                f"{count_of(one['individuals'], 'individual')}. The attacker has all of it, without errors, and {picks}.",
            )
        )
    lines += consistency_lines(content.get("consistency") or {}, content["attributes"])
    if content["misfits"]:
        lines.append(
            (
                "Misfits",
                f"An individual may be inconsistent in {count_of(content['misfits'], 'disclosed value')} and still count "
                "as consistent.",
            )
        )
    lines.append(("Sensitivity", sensitivity_text(content["sensitivity"])))
    if "false_identification" in content["sensitivity"]:
        lines.append(("False identification", false_identification_text(content["sensitivity"])))
    if all(one["prior"] is not None for one in content["dictionaries"]):
        shares = ", ".join(f"{one['name']} {one['prior']}" for one in content["dictionaries"])
        lines.append(("Prior", shares))
    else:
        lines.append(("Prior", "None: the risk is that against the worst dictionary."))
    lines.append(
        (
            "Identity of the records",
            "Not declared: the chance of identification is one divided by the number of consistent individuals."
            if content["identity"] is None
            else f"The column {content['identity']}, which is not disclosed.",
        )
    )
    return lines


def consistency_lines(consistency: Content, attributes: Sequence[str]) -> list[tuple[str, str]]:
    """How attributes are compared: one line for those with the same consistency."""
    alike: dict[str, list[str]] = {}
    for name, how in consistency.items():
        alike.setdefault(_kind(how, str(how["kind"])), []).append(name)
    alike.setdefault("equal values.", []).extend(name for name in attributes if name not in consistency)
    lines = [("Consistency", f"{', '.join(names)}: {how}") for how, names in alike.items() if names]
    return [*lines, ("Missing values", "Consistent with anything, like withheld values.")]


def sensitivity_text(declared: Content) -> str:
    """The sensitivity in words."""
    kinds = {
        "additive": "The sum of the weights of what is disclosed",
        "multiplicative": "e to the power of the sum of the weights of what is disclosed",
        "constant": "Constant, whatever is disclosed: only identification counts",
        "function": "A function of the publisher",
    }
    weights = {key: value for key, value in declared.items() if key != "false_identification"}
    return _kind(weights, kinds.get(declared["kind"], str(declared["kind"])))


def false_identification_text(declared: Content) -> str:
    """What counts if the attacker names another individual; empty if nothing does."""
    share = declared.get("false_identification")
    return "" if share is None else f"If the attacker names another individual, {share} of the sensitivity counts as loss."


def _kind(declared: Content, name: str) -> str:
    """A kind with its parameters."""
    rest = [f"{key}: {_written(value)}" for key, value in declared.items() if key != "kind"]
    return f"{name} ({'; '.join(rest)})." if rest else f"{name}."


def _written(value: Any) -> str:
    """Parameters as text; a long list is only counted."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_written(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_written, value)) if len(value) <= 30 else count_of(len(value), "value")
    return str(value)


def provenance(content: Content) -> list[tuple[str, str]]:
    """What was measured, and with what."""
    source = "" if content["source"] is None else f" of {content['source']}"
    lines = [("Records", f"{content['records']:,}{source}")]
    lines.append(("Attributes", f"{len(content['attributes'])}: {', '.join(content['attributes'])}"))
    lines.append(("sfumato", content["sfumato"]))
    beneath = [f"{name} {content[name]}" for name in ("python", "numpy", "pyarrow", "jinja2") if name in content]
    if beneath:
        lines.append(("Libraries", ", ".join(beneath)))
    return lines
