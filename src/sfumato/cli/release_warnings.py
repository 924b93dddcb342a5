"""Warnings about a release: shown on a terminal, or an error if the user wants none."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape

from sfumato.cli.show import console
from sfumato.errors import RequirementError
from sfumato.plurals import count_of
from sfumato.releases.exposure_models import ReleaseWarning
from sfumato.visible_text import one_line

_REMEDIES = {
    "uncovered": 'Add a principle on each uncovered attribute, or write accepted = "reason" for it.',
    "revealing": "Leave out, or coarsen, each column that undoes a recoding, or make it a quasi-identifier.",
}
"""For each kind of warning what to do."""


def show_warnings(warnings: Sequence[ReleaseWarning]) -> None:
    """Print what a reader of a release must be warned of, and what the publisher can do about it."""
    for warning in warnings:
        console().print(f"[bold red]WARNING[/bold red] [red]{escape(one_line(warning.text))}[/red]")
    for remedy in _remedies(warnings):
        console().print(f"        {escape(remedy)}")


def refuse_warnings(warnings: Sequence[ReleaseWarning], source: str | None) -> None:
    """Raise an error if there are warnings; called before anything is written."""
    if not warnings:
        return
    raise RequirementError(
        f"nothing is published, because of {count_of(len(warnings), 'warning')}: "
        + "; ".join(warning.text for warning in warnings),
        remedy=" ".join([*_remedies(warnings), "Or omit --strict."]),
        file=source,
        value=[warning.to_dict() for warning in warnings],
    )


def _remedies(warnings: Sequence[ReleaseWarning]) -> list[str]:
    """Return what to do about warnings, each remedy once."""
    return list(dict.fromkeys(_REMEDIES[warning.kind] for warning in warnings))
