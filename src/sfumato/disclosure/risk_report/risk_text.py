"""What the report of a disclosure risk says in words: what was found, against whom, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.plurals import count_of
from sfumato.reports.plots.figure import percent

Content = Mapping[str, Any]

_FEW = 6
"""Pairs of dictionaries of which it is told too why one does not bound the other."""


def told(content: Content) -> dict[str, Any]:
    """All the words of the page that depend on the figures."""
    return {
        "verdict": verdict(content),
        "facts": facts(content),
        "attackers": attackers(content),
        "together": together(content),
        "records": records(content),
        "worst": worst(content),
        "bounds": bounds(content),
        "joint": joint(content),
        "levels": levels(content),
        "cells": cells(content),
        "whole": whole(content),
        "independence": independence(content),
        "assumed": assumed(content),
        "provenance": provenance(content),
    }


def verdict(content: Content) -> str:
    """What was found, in two sentences; never that nobody can be identified."""
    highest = content["worst"]
    against = {one["name"]: one for one in content["dictionaries"]}[highest["dictionary"]]
    unique, count = against["attackers"]["unique"], content["records"]
    said = []
    if content["limit"] is not None:
        said.append(
            f"The risk is {amount(content['risk'])}, {'at most' if content['holds'] else 'more than'} the "
            f"{content['limit']} "
            "that was asked for."
        )
    said.append(
        f"To an attacker who has “{highest['dictionary']}” a record loses {amount(highest['risk'])} on average, and "
        f"{unique:,} of {count_of(count, 'record')} ({percent(unique / count)}) fit one individual only."
    )
    return " ".join(said)


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


def _highest(found: Content) -> float:
    return float(found["journalist"] if found["prosecutor"] is None else found["prosecutor"])


def attackers(content: Content) -> list[tuple[str, str, list[str]]]:
    """The table of attackers: what a line is, what it means, and a cell for each dictionary."""
    known = content["dictionaries"]
    lines: list[tuple[str, str, list[str]]] = [
        ("Individuals", "in the dictionary", [f"{one['individuals']:,}" for one in known]),
        ("Risk", "the mean loss, with the sensitivity", [amount(one["risk"]) for one in known]),
    ]
    if any(one["prior"] is not None for one in known):
        lines.append(("Prior", "how likely the attacker has it", [one["prior"] for one in known]))
    lines += [
        (
            "Prosecutor",
            "knows that the person is among the records: the highest chance of a record",
            [_chance(one["attackers"]["prosecutor"]) for one in known],
        ),
        (
            "Journalist",
            "has a register of more people: the highest chance of a record",
            [_chance(one["attackers"]["journalist"]) for one in known],
        ),
        (
            "Marketer",
            "tries every record: the share that is right on average",
            [percent(one["attackers"]["marketer"]) for one in known],
        ),
        (
            "One fits",
            "records with one consistent individual",
            [_of(one["attackers"]["unique"], content["records"]) for one in known],
        ),
        (
            "Nobody fits",
            "records that count as no loss",
            [_of(one["consistent"]["nobody"], content["records"]) for one in known],
        ),
    ]
    for threshold in known[0]["attackers"]["above"]:
        lines.append(
            (
                f"Chance above {threshold}",
                "",
                [percent(one["attackers"]["above"][threshold]) for one in known],
            )
        )
    return lines


def _chance(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _of(count: int, records: int) -> str:
    return f"{count:,} ({percent(count / records)})"


def together(content: Content) -> list[str]:
    """Why a dictionary is the prosecutor's or the journalist's, and what they amount to together."""
    said = []
    for one in content["dictionaries"]:
        who = "journalist" if one["attackers"]["prosecutor"] is None else "prosecutor"
        said.append(f"“{one['name']}” is the dictionary of a {who}: {one['attackers']['why']}.")
    if content["bayes"] is not None and len(content["dictionaries"]) > 1:
        said.append(
            f"Under the prior, the mean of the risks over the dictionaries is {amount(content['bayes'])} (the Bayes risk)."
        )
    elif len(content["dictionaries"]) > 1:
        highest = content["worst"]
        said.append(
            f"Nothing is said of how likely each is, so the risk is that of the worst: “{highest['dictionary']}”, "
            f"{amount(highest['risk'])}."
        )
    return said


def records(content: Content) -> str:
    """What the section on records starts with."""
    name = f"“{content['worst']['dictionary']}”"
    one_of = f"{name}, the dictionary of highest risk" if len(content["dictionaries"]) > 1 else name
    return f"Losses are against {one_of}."


def worst(content: Content) -> list[list[str]]:
    """The records worst off, as rows of a table."""
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
    """What the curve over the number of cells says."""
    curve = content["curves"]["cells"]
    if curve is None:
        return []
    said = []
    for line in curve["lines"]:
        whole, risks = line["risks"][-1], line["risks"]
        if whole in ("inf", 0):
            continue
        half = max((k for k, risk in enumerate(risks) if risk != "inf" and risk <= whole / 2), default=None)
        if half is None:
            continue
        start = f"{line['against'][:1].upper()}{line['against'][1:]}"
        said.append(
            f"{start}: {amount(whole)} if everything is disclosed, {amount(risks[half])} if each record discloses no "
            "more than "
            f"its best {count_of(half, 'cell')}."
        )
    if len(curve["lines"]) > 1 and content["over"] == "worst":
        said.append(
            "One choice for all dictionaries has, against the worst of them, at least the highest of these risks at its k."
        )
    return said


def independence(content: Content) -> list[list[str]]:
    """What MinRisk would leave, as rows of a table; none where it does not apply."""
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
    said = []
    for one in content["bounds"]:
        if not one["holds"] and len(content["bounds"]) > _FEW:
            continue
        failing = [f"{each['name']}: {each['why']}" for each in one["conditions"] if not each["holds"]]
        true, estimated = amount(one["true"]), amount(one["estimated"])
        risks = f"Here the risks are {true} against “{one['attacker']}” and {estimated} against “{one['estimate']}”."
        why = f"It fails that {'; '.join(failing)}." if failing else "Every condition holds."
        pair = f"“{one['estimate']}” for “{one['attacker']}”"
        said.append({"pair": pair, "holds": one["holds"], "says": f"{why} {risks}"})
    return said


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
    found = content["k_anonymity"]
    return [
        ("Every record fits k individuals", f"{found['consistent']:,}"),
        ("Matched together, k are left to every record", f"({found['why']})" if found["why"] else f"{found['joint']:,}"),
        ("Every row as it is disclosed is there k times", f"{found['release']:,}"),
    ]


def whole(content: Content) -> list[str]:
    """Of which dictionaries no smaller part can be drawn."""
    return [
        f"“{curve['dictionary']}” has no smaller part that holds the individuals whose the records are."
        for curve in content["curves"]["sizes"]
        if len(curve["individuals"]) < 2
    ]


def assumed(content: Content) -> list[tuple[str, str]]:
    """What the figures rest on."""
    lines = []
    for one in content["dictionaries"]:
        picks = "leans to some by their weight" if one["weighted"] else "picks any of those who fit alike"
        lines.append(
            (
                f"Dictionary: {one['name']}",
                f"{count_of(one['individuals'], 'individual')}. The attacker has it whole and without errors, and {picks}.",
            )
        )
    lines += compared(content.get("consistency") or {}, content["attributes"])
    if content["misfits"]:
        lines.append(
            ("Misfits", f"An individual may misfit in {count_of(content['misfits'], 'disclosed value')} and still fit.")
        )
    lines.append(("Sensitivity", sensitivity(content["sensitivity"])))
    if all(one["prior"] is not None for one in content["dictionaries"]):
        shares = ", ".join(f"{one['name']} {one['prior']}" for one in content["dictionaries"])
        lines.append(("Prior", shares))
    else:
        lines.append(("Prior", "None: the worst of the dictionaries counts."))
    lines.append(
        (
            "Whose the records are",
            "Not told: a record counts as identified with a chance of one over those who fit, whoever they are."
            if content["identity"] is None
            else f"The column {content['identity']}, which is not disclosed.",
        )
    )
    return lines


def compared(consistency: Content, attributes: Sequence[str]) -> list[tuple[str, str]]:
    """How attributes are compared: one line for those that are compared alike."""
    alike: dict[str, list[str]] = {}
    for name, how in consistency.items():
        alike.setdefault(_kind(how, str(how["kind"])), []).append(name)
    alike.setdefault("equal values.", []).extend(name for name in attributes if name not in consistency)
    lines = [("Consistency", f"{', '.join(names)}: {how}") for how, names in alike.items() if names]
    return [*lines, ("Missing values", "Consistent with anything, as withheld ones are.")]


def sensitivity(given: Content) -> str:
    """How sensitive what is disclosed is taken to be."""
    kinds = {
        "additive": "The sum of the weights of what is disclosed",
        "multiplicative": "e to the power of the sum of the weights of what is disclosed",
        "constant": "The same whatever is disclosed: identification alone counts",
        "function": "A function of the publisher’s own",
    }
    return _kind(given, kinds.get(given["kind"], str(given["kind"])))


def _kind(given: Content, name: str) -> str:
    """A kind with its parameters."""
    rest = [f"{key}: {_written(value)}" for key, value in given.items() if key != "kind"]
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
        lines.append(("Beneath it", ", ".join(beneath)))
    return lines
