"""The requirements of a config as a person changes them: which controls a principle has, and what a new one begins with."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.config import Config
from sfumato.config_edits import add_principle, remove_principle, remove_value, set_value, set_values
from sfumato.errors import ConfigError, ParameterError
from sfumato.exact import as_fraction, as_parameter, written
from sfumato.principles import ParameterControl, Principle, attributes_of, parameter_controls
from sfumato.principles.description import Description, describe
from sfumato.registry import PRINCIPLES, required_parameters
from sfumato.ui.screen import Change, Values
from sfumato.ui.session import Session
from sfumato.ui.singled_out import roles_key

_PEOPLE = 5
"""With how many people, rows or values a new requirement begins, where that is allowed."""


@dataclass(frozen=True)
class Card:
    """One requirement as a screen shows it."""

    position: int
    principle: Principle
    described: Description
    controls: tuple[ParameterControl, ...]
    stated: Mapping[str, Any]
    """The parameters as the config states them."""
    on: str
    """The column that it is stated for; "" if the config leaves that open."""

    @property
    def value_of(self) -> dict[str, str]:
        """The value of each parameter as text."""
        parameters = self.principle.parameters()
        return {control.name: _text(parameters.get(control.name)) for control in self.controls}

    @property
    def has_on(self) -> bool:
        """Whether it is about sensitive columns."""
        return hasattr(self.principle, "on")


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


def config_of(session: Session) -> Config:
    """Return the config; raise what is invalid in it."""
    config = session.config
    if config is None:
        raise session.config_error or ConfigError("nothing is open", remedy="Open a table or a config first.")
    return config


def controls_of(session: Session, kind: type[Principle], on: tuple[str, ...] | None) -> tuple[ParameterControl, ...]:
    """Return the controls of a principle on the table, measured once."""
    key: Hashable = ("controls", kind.name, on, roles_key(session, {}))
    found: tuple[ParameterControl, ...] = session.answer(
        f"controls {kind.name} {on}", key, lambda: parameter_controls(kind, session.table, on)
    )
    return found


def cards(session: Session) -> list[Card]:
    """Return the requirements of the config with their controls."""
    config = config_of(session)
    found = []
    for position, (principle, stated) in enumerate(zip(config.requested_principles, config.principles, strict=True)):
        on = stated.get("on")
        names = attributes_of(principle, session.table.schema)
        controls = controls_of(session, type(principle), names[0] if names and names[0] else None)
        shown = on if isinstance(on, str) else "" if on is None else " + ".join(map(str, on))
        found.append(Card(position, principle, describe(type(principle)), controls, stated, shown))
    return found


def slider(control: ParameterControl) -> dict[str, str] | None:
    """Return where a slider begins and ends, and its step; None if the parameter has none."""
    if control.low is None or control.high is None or control.step is None or control.low >= control.high:
        return None
    return {"low": written(control.low), "high": written(control.high), "step": written(control.step)}


def set_parameter(session: Session, form: Values, version: int) -> Change:
    """Set parameters of a requirement: those that the form contains."""
    config, at = config_of(session), _position(session, form)
    kind = type(config.requested_principles[at])
    given = {name: value.strip() for name, value in form.items() if name in kind.ranges or name == "on"}
    values: dict[str, Any] = {name: _stated(kind, name, value) for name, value in given.items()}
    label = f"{kind.title}: {', '.join(f'{name} = {value}' for name, value in given.items() if value)}"

    def change(text: str) -> str:
        return set_values(text, ["principles", at], values)

    session.edit(label, change, version, subject=f"principle {at} {sorted(values)}")
    return Change(label)


def _stated(kind: type[Principle], name: str, value: str) -> Any:
    """Return what a person entered as the config states it."""
    if name == "on" or kind.ranges[name].kind in ("choice", "column"):
        return value or None
    if kind.ranges[name].kind == "values":
        parts = [part.strip() for part in value.split(";") if part.strip()]
        return parts[0] if len(parts) == 1 else parts
    if not value and name not in required_parameters(kind):
        return None
    if kind.ranges[name].kind not in ("whole", "number"):
        raise ParameterError("this parameter is a list", remedy="Change it below, under Code.", key=name)
    number = as_fraction(value, name)
    return as_parameter(int(number) if kind.ranges[name].kind == "whole" and number.denominator == 1 else number)


def add_requirement(session: Session, form: Values, version: int) -> Change:
    """Add a requirement: a suggested one with its parameters, or a principle with usual ones."""
    name, on = form.get("name", ""), form.get("on", "")
    if name not in PRINCIPLES:
        raise ParameterError(f"there is no principle {name!r}", remedy=PRINCIPLES.suggestion(name), key="name", value=name)
    kind: type[Principle] = PRINCIPLES.find(name)
    given = {key: _stated(kind, key, value) for key, value in form.items() if key in kind.ranges and value}
    parameters = given or _beginning(session, kind, (on,) if on else None)
    if on and kind.scope != "groups":
        parameters["on"] = on
    session.edit(f"Added {kind.title}", lambda text: add_principle(text, name, parameters), version)
    return Change(f"{kind.title} was added.")


def _beginning(session: Session, kind: type[Principle], on: tuple[str, ...] | None) -> dict[str, Any]:
    """Return parameters to begin with: neither the least nor the most strict ones."""
    found: dict[str, Any] = {}
    for control in controls_of(session, kind, on):
        if not control.required:
            continue
        if control.range.kind == "column":
            found[control.name] = _first_quasi_identifier(session)
            continue
        if control.range.kind == "values":
            found[control.name] = _rarest(session, (found["column"],) if "column" in found else on)
            continue
        if control.range.kind == "choice":
            found[control.name] = control.range.choices[0]
            continue
        if control.low is None or control.high is None or control.step is None:
            found[control.name] = 1
            continue
        middle = control.low + (control.high - control.low) // (2 * control.step) * control.step
        least = max(Fraction(_PEOPLE), control.low)
        value = min(least, control.high) if control.range.kind == "whole" else middle
        found[control.name] = as_parameter(int(value) if control.range.kind == "whole" else value)
    try:
        kind(**found)
    except ParameterError:  # it requires nothing yet
        wholes = [each for each in controls_of(session, kind, on) if each.range.kind == "whole" and not each.required]
        found |= {each.name: int(min(_PEOPLE, each.high or _PEOPLE)) for each in wholes}
    return found


def _first_quasi_identifier(session: Session) -> str:
    """Return the first quasi-identifier, which may say who needs more protection."""
    names = session.table.schema.quasi_identifiers
    if not names:
        raise ParameterError("there is no quasi-identifier", remedy="Give a column that role first.", key="column")
    return names[0]


def _rarest(session: Session, on: tuple[str, ...] | None) -> str:
    """Return the rarest value of a column, a sensitive one if none is named: it usually needs protection most."""
    names = on or session.table.schema.sensitive[:1]
    if not names:
        raise ParameterError("there is no sensitive column", remedy="Give a column that role first.", key="values")
    column = session.table.column(names[0])
    return column.label(int(column.counts[: column.size].argmin()))


def drop_requirement(session: Session, form: Values, version: int) -> Change:
    """Remove a requirement."""
    at = _position(session, form)
    title = config_of(session).requested_principles[at].title
    session.edit(f"Removed {title}", lambda text: remove_principle(text, at), version)
    return Change(f"{title} was removed.")


def population_of(session: Session) -> str | None:
    """Return where the population is, "" if nowhere; None if no requirement compares the table with one."""
    config = config_of(session)
    if config.population is not None:
        return config.population.path
    return "" if any(principle.uses_population for principle in config.requested_principles) else None


def set_population(session: Session, form: Values, version: int) -> Change:
    """Name the file or the database of the population; without a name, there is none."""
    path = form.get("path", "").strip()

    def change(text: str) -> str:
        return set_value(text, ["population", "path"], path) if path else remove_value(text, ["population"])

    label = f"Population: {path or 'none'}"
    session.edit(label, change, version)
    return Change(label)


def _position(session: Session, form: Values) -> int:
    text = form.get("position", "")
    count = len(config_of(session).principles)
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < count):
        raise ParameterError("there is no such requirement", remedy="Reload the page.", key="position", value=text)
    return int(text)
