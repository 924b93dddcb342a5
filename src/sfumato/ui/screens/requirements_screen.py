"""Screen 4, the requirements: each with its controls, what holds now and what is possible, and all of them together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from sfumato._audit import audit
from sfumato.anonymization import JointFeasibility, joint_feasibility
from sfumato.anonymization.feasibility import FrontierCell, feasibility, frontier
from sfumato.anonymization.feasibility.parameter_grid import grid_around
from sfumato.anonymization.feasibility.varied_requirement import varied_requirement
from sfumato.audits.audit_result import Finding, worst_shown
from sfumato.config_edits import add_principle, set_values
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction, written
from sfumato.principles import Dissimilarity, Principle, exactly
from sfumato.profiling import Profile
from sfumato.registry import PRINCIPLES
from sfumato.ui.requirement_edits import (
    add_requirement,
    cards,
    config_of,
    drop_requirement,
    population_of,
    set_parameter,
    set_population,
    slider,
)
from sfumato.ui.screen import Change, Part, Screen, Snippets, Values
from sfumato.ui.screens.release_screen import cancel
from sfumato.ui.session import Session
from sfumato.ui.singled_out import roles_key
from sfumato.ui.work import started_work, work_of

_SAMPLE = 2000
"""The rows on which cells of the frontier are tried."""

_WORDS = {
    "guaranteed": ("holds", "possible"),
    "one group": ("open", "one group only"),
    "open": ("open", "not known"),
    "impossible": ("fails", "impossible"),
}
"""For each verdict its class of colour and its word. One group publishes nothing, so it is no success."""


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    sensitive = session.table.schema.sensitive
    return {
        "cards": cards(session), "slider": slider, "sensitive": sensitive, "principles": _choices(),
        "work": started_work(session), "population": population_of(session),
    }  # fmt: skip


def _choices() -> list[tuple[str, str]]:
    return [(name, PRINCIPLES.find(name).title) for name in PRINCIPLES]


def _position(query: Values) -> int | None:
    text = query.get("at", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _requirement_key(session: Session, query: Values) -> Hashable:
    """Return what the verdict on one requirement depends on; without a position, on all."""
    config, at = session.config, _position(query)
    stated = None if config is None else config.principles
    one = stated if stated is None or at is None else stated[at : at + 1]
    return roles_key(session, query), repr(one)


def _one(session: Session, query: Values) -> Principle:
    requested = config_of(session).requested_principles
    return requested[min(_position(query) or 0, len(requested) - 1)]


def _verdict(session: Session, query: Values) -> Mapping[str, Any]:
    """Return what holds now and what is possible, for one requirement."""
    principle = _one(session, query)
    possible = joint_feasibility(session.table, None, [principle], nearby=False)
    try:
        found = audit(session.table, None, [principle])
    except ParameterError as error:  # it asks for more people than there are
        now, groups = [{"on": None, "holds": False, "levels": [error.problem], "groups": None, "rows": None}], 0
    else:
        now, groups = [_finding(finding) for finding in found], found.groups.count
    return {
        "now": now,
        "groups": groups,
        "rows": session.table.rows,
        "reason": possible.reason,
        "word": word_of(possible),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "on": finding.attribute,
        "holds": finding.holds,
        "levels": [f"{worst_shown(part)}, required: {part.wanted}" for part in finding.measurement.parts],
        "groups": finding.violating_groups,
        "rows": finding.violating_rows,
    }


def word_of(found: JointFeasibility) -> tuple[str, str]:
    """Return the class of colour and the word for a verdict."""
    return _WORDS["one group" if found.verdict == "guaranteed" and found.only_one_group else found.verdict]


def _nearest(session: Session, query: Values) -> Mapping[str, Any]:
    """Return the nearest reachable parameters of one requirement, as changes of one parameter each."""
    principle = _one(session, query)
    found = feasibility(session.table, None, principle)
    buttons = []
    for one in found.attributes:
        if one.nearest is None:
            continue
        for parameters, how in ((one.nearest.guaranteed, "guaranteed"), (one.nearest.not_excluded, "not ruled out")):
            for name in ("epsilon", "delta", "k"):
                value = getattr(parameters, name)
                if value is None or not hasattr(principle, name):
                    continue
                shown = str(value) if name == "k" else written(_rounded_down(value) if name == "delta" else value)
                if shown != str(principle.parameters().get(name)):
                    buttons.append({"name": name, "value": shown, "how": how, "on": one.attribute})
    return {"buttons": buttons, "position": _position(query) or 0, "verdict": found.verdict}


def _rounded_down(value: Fraction) -> Fraction:
    """Return δ with four decimals, rounded down so that it stays reachable."""
    return Fraction(int(value * 10_000), 10_000)


def _together_key(session: Session, query: Values) -> Hashable:
    return roles_key(session, query), session.key_of("principles", "method")


def _joint(session: Session) -> JointFeasibility:
    """Return whether all requirements can be met by the same groups; computed once for all parts that show it."""
    config = config_of(session)
    suppress = 0 if config.method is None else config.method.suppress

    def compute() -> JointFeasibility:
        wanted = config.requested_principles
        return joint_feasibility(session.table, None, wanted, suppress=suppress, nearby="quick")

    found: JointFeasibility = session.answer("joint", ("joint", _together_key(session, {})), compute)
    return found


def _together(session: Session, query: Values) -> Mapping[str, Any]:
    if not config_of(session).requested_principles:
        return {"found": None}
    found = _joint(session)
    return {"found": found, "word": word_of(found), "nearest": [_step_to(one) for one in found.nearest]}


def _step_to(one: Any) -> dict[str, Any]:
    return {"position": one.position, "name": one.parameter, "value": one.value, "label": one.principle.label}


Losses = Mapping[tuple[str, str, int], float | None]
"""The loss of each cell that was tried, by its ε, δ and k; None where it was not reached."""


def _losses(session: Session) -> Losses | None:
    """Return the losses of cells that were tried under this config; None if they were not."""
    work = started_work(session)
    measured = None if work is None else work.results.get("losses")
    if work is None or measured is None or measured.key != work.key_for("losses"):
        return None
    cells = (measured.result or {}).get("cells", ())
    return {(cell["epsilon"], cell["delta"], cell["k"]): cell["loss"] for cell in cells}


def _frontier_key(session: Session, query: Values) -> Hashable:
    losses = _losses(session)
    return _together_key(session, query), query.get("losses"), None if losses is None else tuple(losses.items())


def _frontier(session: Session, query: Values) -> Mapping[str, Any]:
    """Return the grid around the first requirement that limits nearness, with losses if they were measured."""
    config, table = config_of(session), session.table
    varied = varied_requirement(config.requested_principles, table.schema)
    if varied.requirement is None:
        return {"result": None}
    epsilons, deltas, ks = grid_around(varied.requirement)
    measured = _losses(session)
    shown = None if query.get("losses") == "no" else measured
    attempt = None if shown is None else partial(_loss_of, shown)
    ks = ks if shown is None else [varied.requirement.k]
    result = frontier(table, None, epsilons, deltas, ks, varied.on, attempt, "all", varied.others)
    here = (varied.requirement.epsilon, varied.requirement.delta, varied.requirement.k)
    known = _joint(session).groups > 1
    requested = varied.requirement
    return {
        "result": result,
        "here": here,
        "status": lambda cell: status_of(cell, requested, known),
        "written": written,
        "sample": min(_SAMPLE, table.rows),
        "rows": table.rows,
        "tried": shown is not None,
        "measured": measured is not None,
    }


def _loss_of(losses: Losses, cell: Dissimilarity) -> float | None:
    return losses.get((written(exactly(cell.epsilon)), written(exactly(cell.delta)), cell.k))


def status_of(cell: FrontierCell, requested: Dissimilarity, known: bool) -> str:
    """Return the word for a cell. `known`: whether groups are known that satisfy what is requested, with all the rest.

    Such groups satisfy every cell that is no stricter: with at most its ε, δ and k.
    """
    one = cell.principle
    weaker = all(
        as_fraction(getattr(one, name)) <= as_fraction(getattr(requested, name)) for name in ("epsilon", "delta", "k")
    )
    return "guaranteed" if known and weaker and cell.status in ("one group", "open") else cell.status


def _varied_position(principles: tuple[Principle, ...]) -> int | None:
    """Return which requirement a cell of the frontier changes; None if none is a dissimilarity itself."""
    names = [principle.name for principle in principles]
    return names.index("dissimilarity") if "dissimilarity" in names else None


def _set_cell(session: Session, form: Values, version: int) -> Change:
    """Take over ε, δ and k from a cell of the frontier."""
    epsilon, delta, k = ([*form.get("cell", "").split(" "), "", "", ""])[:3]
    position = _varied_position(config_of(session).requested_principles)
    label = f"(ε,δ)^k-dissimilarity: epsilon = {epsilon}, delta = {delta}, k = {k}"
    values = {"epsilon": epsilon, "delta": delta, "k": int(k) if k.isdigit() else k}

    def change(text: str) -> str:
        if position is None:
            return add_principle(text, "dissimilarity", values)
        return set_values(text, ["principles", position], values)

    session.edit(label, change, version)
    return Change(label)


def _measure_losses(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    work_of(session).start("losses", "Trying the cells of the frontier", {"sample": _SAMPLE})
    return Change("The cells are being tried.")


def _suggested(session: Session, query: Values) -> Mapping[str, Any]:
    """Return requirements that suit the roles, without those that the config has."""
    profile: Profile = session.profile()
    schema, config = session.table.schema, config_of(session)
    roles: dict[str, Any] = {column.name: None for column in profile}
    roles |= {name: "quasi-identifier" for name in schema.quasi_identifiers if name in roles}
    roles |= {name: "sensitive" for name in schema.sensitive if name in roles}
    stated = {(p.name, str(getattr(p, "on", None))) for p in config.requested_principles}
    found = [
        one
        for one in profile.with_roles(roles).requirements
        if (one.principle.name, str(getattr(one.principle, "on", None))) not in stated
    ]
    return {"found": found}


def _snippets(session: Session) -> Snippets:
    place = "sfumato.toml" if session.place is None else session.place.name
    return Snippets(
        f"sfumato audit {place} --possible\nsfumato frontier {place}",
        f"import sfumato as sf\n\nconfig = sf.Config.load({place!r})\n"
        "table, wanted = config.table(), config.requested_principles\n"
        "print(sf.audit(table, None, wanted))\nprint(sf.anonymization.joint_feasibility(table, None, wanted))\n",
    )


REQUIREMENTS = Screen(
    name="requirements",
    title="Requirements",
    content=_content,
    snippets=_snippets,
    actions={
        "set": set_parameter,
        "add": add_requirement,
        "remove": drop_requirement,
        "population": set_population,
        "cell": _set_cell,
        "losses": _measure_losses,
        "cancel": cancel,
    },
    parts={
        "together": Part(_together_key, _together),
        "verdict": Part(_requirement_key, _verdict),
        "nearest": Part(_requirement_key, _nearest),
        "frontier": Part(_frontier_key, _frontier),
        "suggested": Part(_together_key, _suggested),
    },
)
