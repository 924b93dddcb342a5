"""Screen 5, the release: choose a method, make releases, compare them, and look at what would be published."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.config import MethodSection
from sfumato.config_edits import remove_value, set_values
from sfumato.errors import FileError, ParameterError
from sfumato.parameters import check_share
from sfumato.ui.file_answers import report_answer
from sfumato.ui.screen import Change, Part, Screen, Snippets, Values
from sfumato.ui.session import Session
from sfumato.ui.work import MadeRelease, work_of

if TYPE_CHECKING:
    from sfumato.comparison import AlignedRows
    from sfumato.principles import Principle

WIDTH, HEIGHT, MARGIN = 400, 220, 40
"""The size of a plot, in units of its view box."""

WINDOW = 50
"""The number of rows that are shown at a time."""

METHODS = {
    "auto": ("Automatic", "sfumato chooses: glaze for nearly all requirements"),
    "glaze": ("Glaze", "least loss; searches longer with more effort"),
    "mondrian": ("Mondrian", "quick; cuts the table into boxes"),
    "lattice": ("Lattice", "every column at one level of its hierarchy, as other tools publish"),
    "deal": ("Deal", "withstands attackers who know the method; loses more"),
    "xcolor": ("XColor", "for one (ε,δ)^k-dissimilarity, as in its publication"),
}
"""The methods that can be chosen, each with what it is for. Others can be written into the config."""

VIEWS = {
    "rows": "Row by row",
    "columns": "Distributions",
    "attacks": "Attackers",
    "report": "Report",
    "internal": "Internal report",
    "checks": "Verification",
}
"""What can be looked at of a release."""


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    work, config = work_of(session), session.config
    assert config is not None, "without a config nothing is shown"
    section = config.method or MethodSection()
    candidates = list(work.candidates)
    grouped = [one for one in candidates if one.kind == "release"]
    tried = work.results.get("preview")
    chosen = _chosen(grouped, query)
    return {
        "work": work,
        "method": section.name,
        "methods": METHODS if section.name in METHODS else {**METHODS, section.name: (section.name, "as the config states")},
        "effort": section.parameters.get("effort", 1),
        "suppress": section.suppress,
        "principles": [_wanted(principle) for principle in config.requested_principles],
        "preview": tried.result if tried is not None and tried.key == work.key_for("preview") else None,
        "lattice": None if _lattice(session) is None else _lattice_plot(_lattice(session) or {}),
        "levels": tuple(section.parameters.get("levels") or ()),
        "candidates": grouped,
        "comparison": compared(grouped),
        "chosen": chosen,
        "words": None if chosen is None else in_words(chosen.figures),
        "view": query.get("view", "rows") if query.get("view", "rows") in VIEWS else "rows",
        "views": VIEWS,
        "current": next((one for one in reversed(grouped) if one.text == session.text), None),
    }


def _wanted(principle: Principle) -> str:
    """Return a requirement with the column that it is about."""
    on = getattr(principle, "on", None)
    return principle.label if on is None else f"{principle.label} of {on}"


def _lattice(session: Session) -> Mapping[str, Any] | None:
    """Return the transformations that were examined for the current config; None if they were not."""
    job = work_of(session).results.get("lattice")
    return job.result if job is not None and job.key == work_of(session).key_for("lattice") else None


def _lattice_plot(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return transformations with their places in a plot of the loss against the risk."""
    examined = result["examined"]
    riskiest = max((one["risk"] for one in examined), default=0) or 1
    points = []
    for one in examined:
        x = MARGIN + one["loss"] * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - one["risk"] / riskiest * (HEIGHT - 2 * MARGIN)
        points.append({**one, "x": round(x, 1), "y": round(y, 1)})
    front = sorted((one for one in points if one["front"]), key=lambda one: one["loss"])
    others = [one for one in points if not one["front"]]
    return {
        "front": front, "others": others, "total": result["total"], "count": len(examined), "riskiest": riskiest,
        "line": " ".join(f"{one['x']},{one['y']}" for one in front), "width": WIDTH, "height": HEIGHT, "margin": MARGIN,
    }  # fmt: skip


def _chosen(candidates: Sequence[MadeRelease], query: Values) -> MadeRelease | None:
    """Return the release that the address names; the last one by default."""
    found = [one for one in candidates if str(one.number) == query.get("release")]
    return found[0] if found else candidates[-1] if candidates else None


def compared(candidates: Sequence[MadeRelease]) -> list[dict[str, Any]]:
    """Return the figures of releases side by side: rows with a name, a text for each release, and which is best."""
    if not candidates:
        return []
    from sfumato.comparison.release_comparison import COMPARED  # large: only when there is something to compare

    figures = [one.figures for one in candidates]
    rows = [_row("Method", [str(one["method"]) for one in figures])]
    held = ["; ".join(_levels_reached(one)) for one in figures]
    if len({tuple(one["principles"]) for one in figures}) > 1:  # figures of different requirements are no fair comparison
        rows.append(_row("Requirements, and the level reached", held))
    rows.append(_ranked("Loss", [one.get("loss") for one in figures], percent))
    bounds = [one.get("bound") for one in figures]
    if any(bounds):
        rows.append(_row("No method loses less than", ["–" if bound is None else percent(bound) for bound in bounds]))
    rows.append(_ranked("Error of counts", [one.get("query_error") for one in figures], percent))
    rows.append(_ranked("Groups", [one.get("groups") for one in figures], "{:,}".format, most=True))
    rows.append(_ranked("Suppressed rows", [one.get("suppressed") for one in figures], "{:,}".format))
    for column in dict.fromkeys(name for one in figures for name in one.get("columns", ())):
        losses = [one["columns"].get(column) for one in figures]
        rows.append(_ranked(f"Loss of {column}", losses, percent, minor=True))
    for about in dict.fromkeys(
        _about(row) for one in figures for row in one.get("attacks", ()) if row["attack"] in COMPARED
    ):
        found = [next((row for row in one.get("attacks", ()) if _about(row) == about), None) for one in figures]
        rates = [None if row is None else row["success"] for row in found]
        rows.append(_row(f"Attack: {about}", [_rate(rate) for rate in rates], _clearly_least(rates), minor=True))
    return rows


def in_words(figures: Mapping[str, Any]) -> list[str]:
    """Return what the figures of a release mean for those who analyse it, as sentences.

    >>> in_words({"loss": 0.1, "columns": {"age": 0.13, "sex": 0.07}, "query_error": 0.2, "suppressed": 1, "rows": 99})
    ['10 % of the detail in the quasi-identifiers is lost, most in age: 13 %', 'Half of the counts over three \
quasi-identifiers are off by 20 % or less', '1 of 100 rows is not published']
    """
    columns, error, dropped = figures["columns"], figures["query_error"], figures["suppressed"]
    worst = max(columns, key=columns.__getitem__, default=None)
    most = (
        f", most in {worst}: {percent(columns[worst])}" if worst is not None and len(columns) > 1 and figures["loss"] else ""
    )
    found = [f"{percent(figures['loss'])} of the detail in the quasi-identifiers is lost{most}"]
    if error is not None:
        found.append(f"Half of the counts over three quasi-identifiers are off by {percent(error)} or less")
    if dropped:
        found.append(f"{dropped:,} of {figures['rows'] + dropped:,} rows {'is' if dropped == 1 else 'are'} not published")
    return found


def percent(share: float) -> str:
    """Return a share in percent, with four digits."""
    return f"{100 * share:.4g} %"


def _row(name: str, cells: Sequence[str], best: int | None = None, minor: bool = False) -> dict[str, Any]:
    return {"name": name, "cells": list(cells), "best": best, "minor": minor}


def _ranked(name: str, values: Sequence[Any], shown: Any, most: bool = False, minor: bool = False) -> dict[str, Any]:
    """Return a row of numbers; the best one is marked if there are several different ones."""
    known = [value for value in values if value is not None]
    best = None
    if len(set(known)) > 1:
        best = values.index(max(known) if most else min(known))
    return _row(name, ["–" if value is None else shown(value) for value in values], best, minor)


def _levels_reached(figures: Mapping[str, Any]) -> list[str]:
    """Return each requirement with the level that the release reaches."""
    return [
        f"{label}: {', '.join(f'{part} {level}' for part, level in levels.items())}"
        for label, levels in figures["principles"].items()
    ]


def _rate(rate: Mapping[str, Any] | None) -> str:
    return "–" if rate is None else f"{percent(rate['share'])} right"


def _clearly_least(rates: Sequence[Mapping[str, Any] | None]) -> int | None:
    """Return which attack succeeds least, if its interval is below all others; differences within chance are no merit."""
    known = [(rate["share"], at) for at, rate in enumerate(rates) if rate is not None]
    if len(known) < 2:
        return None
    _, least = min(known)
    high = rates[least]["high"]  # type: ignore[index]
    return least if all(rate is None or at == least or rate["low"] > high for at, rate in enumerate(rates)) else None


def _about(row: Mapping[str, Any]) -> str:
    return str(row["attack"]) if row["about"] is None else f"{row['attack']} on {row['about']}"


# --- parts: what takes time to read


def _part_key(session: Session, query: Values) -> Hashable:
    chosen = _chosen([one for one in work_of(session).candidates if one.kind == "release"], query)
    work = work_of(session)
    own = None if chosen is None else (chosen.number, chosen.complete, work.is_measured(chosen), session.data_key)
    return own, query.get("view", "rows"), query.get("row", "1")


def _details(session: Session, query: Values) -> Mapping[str, Any]:
    chosen = _chosen([one for one in work_of(session).candidates if one.kind == "release"], query)
    view = query.get("view", "rows") if query.get("view", "rows") in VIEWS else "rows"
    if chosen is None:
        return {"chosen": None, "view": view}
    found: dict[str, Any] = {"chosen": chosen, "view": view, "measuring": work_of(session).is_measured(chosen)}
    if view == "rows":
        found |= _rows(session, chosen, query)
    elif view == "columns":
        found["distributions"] = _distributions(chosen)
    return found


def aligned(session: Session, chosen: MadeRelease) -> AlignedRows:
    """Return the rows of a release beside the original; read once."""
    from sfumato.comparison import aligned_rows

    raw = session.raw
    if chosen.data_key != session.data_key:
        raise FileError(
            "another table is open than the one that this release was made from",
            remedy="Open that table again to see its rows; the release itself can be saved.",
        )
    key = ("aligned", str(chosen.folder), session.data_key)
    found: AlignedRows = session.answer("aligned", key, lambda: aligned_rows(chosen.release, raw, key=chosen.key))
    return found


def _rows(session: Session, chosen: MadeRelease, query: Values) -> dict[str, Any]:
    """Return a window of rows: for each column what it was, and what is published."""
    rows = aligned(session, chosen)
    total = len(rows.place)
    text = query.get("row", "1")
    start = min(max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 12 else 1, total)
    frame = rows.frame(start - 1, WINDOW)
    names = [name for name in frame.column_names if not name.endswith(" →") and name not in ("row", rows.group)]
    columns = {name: frame.column(name).to_pylist() for name in frame.column_names}
    lines = []
    for at in range(frame.num_rows):
        cells = [(columns[name][at], columns.get(f"{name} →", columns[name])[at]) for name in names]
        lines.append({"row": columns["row"][at], "group": columns[rows.group][at], "cells": cells})
    return {
        "names": names, "changed": set(rows.changed), "lines": lines, "start": start, "end": start + len(lines) - 1,
        "rows": total, "window": WINDOW, "suppressed": len(rows.suppressed),
    }  # fmt: skip


def _distributions(chosen: MadeRelease) -> list[dict[str, Any]]:
    """Return the distribution of each column before and after, as the public report draws it."""
    from sfumato.releases.reader import Manifest  # large: only when there is a release

    document = Manifest.load(chosen.release).grouped
    found = []
    for column in document.figures.columns:
        after, before = [float(x) for x in column.after], [float(x) for x in column.before or ()]
        largest = max([*after, *before, 1e-9])
        bars = [
            {
                "label": label,
                "after": value,
                "before": before[at] if before else None,
                "after_width": round(100 * value / largest, 2),
                "before_width": round(100 * before[at] / largest, 2) if before else None,
            }
            for at, (label, value) in enumerate(zip(column.labels, after, strict=True))
        ]
        found.append({"name": column.name, "loss": column.loss, "bars": bars, "has_before": bool(before)})
    return found


# --- actions


def _method(session: Session, form: Values, version: int) -> Change:
    name, effort, suppress = form.get("method", "auto"), form.get("effort", "1"), form.get("suppress", "0").strip() or "0"
    values: dict[str, Any] = {"name": None if name == "auto" else name}
    values["effort"] = int(effort) if name == "glaze" and effort.isdigit() and effort != "1" else None
    share = check_share(suppress)
    values["suppress"] = suppress if share else None
    if name != "lattice":
        values |= dict.fromkeys(("levels", "loss", "checks", "seconds"))

    def change(text: str) -> str:
        changed = set_values(text, ["method"], values)
        return remove_value(changed, ["method"]) if _is_empty(changed) else changed

    session.edit(
        f"Method {name}" + (f", up to {percent(float(share))} suppressed" if share else ""), change, version, "method"
    )
    return Change("The method was changed.")


def _is_empty(text: str) -> bool:
    from sfumato.config.toml_text import read_toml

    return read_toml(text, None).get("method") == {}


def _make(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    config = session.config
    if config is not None:
        config.require_principles()
        _ = config.grouping_method
    work_of(session).start("release", "Making a release")
    return Change("The release is being made.")


def _try(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    if session.config is not None:
        session.config.require_principles()
    work_of(session).start("preview", "Trying a sample")
    return Change("A sample is being tried.")


def _lattice_job(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    if session.config is not None:
        session.config.require_principles()
    work_of(session).start("lattice", "Examining full-domain generalizations")
    return Change("The generalizations are being examined.")


def _levels(session: Session, form: Values, version: int) -> Change:
    """Take the levels of an examined transformation into the config."""
    result = _lattice(session)
    front = [] if result is None else _lattice_plot(result)["front"]
    number = form.get("at", "")
    if not (number.isascii() and number.isdigit() and int(number) < len(front)):
        raise ParameterError("there is no such generalization", remedy="Examine them again, and choose one of the list.")
    levels = front[int(number)]["levels"]
    values = {"name": "lattice", "levels": list(levels.values()), "effort": None}
    label = ", ".join(f"{name} {level}" for name, level in levels.items())
    session.edit(f"Levels {label}", lambda text: set_values(text, ["method"], values), version)
    return Change("The levels were chosen.")


def cancel(session: Session, form: Values, version: int) -> Change:
    """End the work in progress."""
    del form, version  # what is cancelled is what is in progress, whatever the page shows
    work_of(session).cancel()
    return Change("The work was cancelled.")


def number_of(form: Values) -> int:
    """Return the number of the release that a form names."""
    text = form.get("release", "")
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise ParameterError("no release is named", remedy="Choose one of the list.")
    return int(text)


def back(session: Session, form: Values, version: int) -> Change:
    """Make the config of a release the current one again."""
    chosen = work_of(session).candidate(number_of(form))
    session.edit(f"Back to release {chosen.number}", lambda _: chosen.text, version)
    return Change(f"The config is that of release {chosen.number} again.")


def forget(session: Session, form: Values, version: int) -> Change:
    """Remove a release that was made."""
    session.check_version(version)
    number = number_of(form)
    work_of(session).forget(number)
    return Change(f"Release {number} was removed.")


def release_call(session: Session) -> str:
    """Return Python that makes the release of the config, as the command line does."""
    config = session.config
    assert config is not None, "without a config nothing is shown"
    section = config.method or MethodSection()
    options = "".join(f", {key}=config.method.{key}" for key in ("seed", "suppress", "resist") if getattr(section, key))
    follows = ", **config.follows" if config.follows else ""
    return (
        f"import sfumato as sf\n\nconfig = sf.Config.load({str(session.place)!r})\n"
        "table, wanted = config.table(), config.requested_principles\n"
        f"release = sf.anonymize(table, None, wanted, method=config.grouping_method{options}{follows})\n"
    )


def _snippets(session: Session) -> Snippets:
    name = shlex.quote(str(session.place))
    return Snippets(
        f"sfumato anonymize {name} --output release --key release-key.json\n"
        f"sfumato verify release --original {name} --key release-key.json\n"
        f"sfumato attack release --original {name} --key release-key.json\n",
        release_call(session) + 'release.save("release", key="release-key.json")\n'
        "print(sf.comparison.aligned_rows(release).frame(count=20))\n",
    )


RELEASE = Screen(
    name="release",
    title="Release",
    content=_content,
    snippets=_snippets,
    actions={
        "method": _method,
        "make": _make,
        "try": _try,
        "lattice": _lattice_job,
        "levels": _levels,
        "cancel": cancel,
        "back": back,
        "forget": forget,
    },
    parts={"details": Part(_part_key, _details)},
    files={"report": report_answer("release"), "internal": report_answer("internal")},
)
