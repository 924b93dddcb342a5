"""Screen 7, several secrets: publish sensitive columns in several tables, so that one does not reveal another."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from sfumato.anonymization.methods import AUTO
from sfumato.config import MethodSection
from sfumato.config.project_section import ProjectSection
from sfumato.config_edits import set_values
from sfumato.errors import ParameterError
from sfumato.ui.file_answers import report_answer
from sfumato.ui.screen import Change, Screen, Snippets, Values
from sfumato.ui.screens.release_screen import HEIGHT, MARGIN, WIDTH, cancel, forget
from sfumato.ui.session import Session
from sfumato.ui.work import work_of


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    work, config = work_of(session), session.config
    assert config is not None, "without a config nothing is shown"
    section = config.project or ProjectSection()
    measured = work.results.get("curve")
    made = [one for one in work.candidates if one.kind == "project"]
    chosen = next((one for one in made if str(one.number) == query.get("release")), made[-1] if made else None)
    return {
        "work": work,
        "section": section,
        "plan": section.plan,
        "sensitive": list(config.schema.sensitive),
        "measured": measured,
        "current": measured is not None and measured.key == work.key_for("curve"),
        "plot": None if measured is None else _plot(measured.result or {}),
        "chosen": chosen,
    }


def _plot(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plans of the trade-off with their places in the plot."""
    points = []
    for point in result["points"]:
        x = MARGIN + float(point["association_loss"]) * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - float(point["information_exposure"]) * (HEIGHT - 2 * MARGIN)
        points.append({**point, "x": round(x, 1), "y": round(y, 1), "knee": point["plan"] == result["knee"]["plan"]})
    return {
        "points": points,
        "line": " ".join(f"{point['x']},{point['y']}" for point in points),
        "explanation": result["explanation"],
        "knee": result["knee"],
        "width": WIDTH,
        "height": HEIGHT,
        "margin": MARGIN,
    }


def _curve(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    work_of(session).start("curve", "Measuring how the columns depend on one another")
    return Change("The columns are being measured.")


def _plan(session: Session, form: Values, version: int) -> Change:
    """Take a plan of the trade-off into the config; an empty one lets sfumato search for the knee."""
    number, measured = form.get("plan", ""), work_of(session).results.get("curve")
    points = [] if measured is None or measured.result is None else measured.result["points"]
    known = number.isascii() and number.isdigit() and int(number) < len(points)
    if number and not known:
        raise ParameterError("there is no such plan", remedy="Measure the trade-off again, and choose one of its plans.")
    plan = points[int(number)]["plan"] if known else None
    label = " | ".join(" + ".join(block) for block in plan) if plan else "searched for"
    session.edit(f"Tables: {label}", lambda text: set_values(text, ["project"], {"plan": plan}), version, "plan")
    return Change(f"The tables are {label}.")


def _limit(session: Session, form: Values, version: int) -> Change:
    """Limit the discernibility of every table; an empty limit is none."""
    stated = form.get("discernibility", "").strip() or None

    def change(text: str) -> str:
        return set_values(text, ["project"], {"discernibility": stated})

    session.edit(f"Discernibility of each table: {stated or 'no limit'}", change, version, "discernibility")
    return Change(f"The discernibility of each table: {stated or 'no limit'}.")


def _make(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    if session.config is not None:
        session.config.require_principles()
    work_of(session).start("project", "Making the tables")
    return Change("The tables are being made.")


def _snippets(session: Session) -> Snippets:
    name, config = shlex.quote(str(session.place)), session.config
    assert config is not None, "without a config nothing is shown"
    method = config.method or MethodSection()
    options = "" if config.project is None else ", **config.project.options()"
    options += "" if method.name == AUTO else ", method=config.grouping_method"
    options += "".join(f", {key}=config.method.{key}" for key in ("seed", "suppress") if getattr(method, key))
    return Snippets(
        f"sfumato project {name} --curve\nsfumato project {name} --output release --key release-key.json\n",
        "import sfumato as sf\n\n"
        f"config = sf.Config.load({str(session.place)!r})\n"
        f"projection = sf.project(config.table(), None, config.requested_principles{options})\n"
        'projection.save("release", key="release-key.json")\n',
    )


SECRETS = Screen(
    name="secrets",
    title="Several secrets",
    content=_content,
    snippets=_snippets,
    actions={"curve": _curve, "plan": _plan, "limit": _limit, "make": _make, "cancel": cancel, "forget": forget},
    files={"report": report_answer("release"), "internal": report_answer("internal")},
)
