"""`sfumato demo`: show on a synthetic census what other tools do not detect, and how sfumato prevents it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.progress import progress_bar

if TYPE_CHECKING:
    from sfumato.audits.audit_result import Audit


ROWS = 20_000
"""The default number of people: enough for the figures to be typical, and few enough for a first impression in seconds."""


@click.command(
    epilog="""\b
Example:
  sfumato demo
  sfumato demo --save demo && sfumato verify demo/release --original demo/people.csv"""
)
@click.option("--rows", default=ROWS, show_default=True, type=click.IntRange(min=1000), help="Number of people.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the people.")
@click.option("--save", type=click.Path(path_type=Path), help="Also write census, config and release to a new folder.")
def demo(rows: int, seed: int, save: Path | None) -> None:
    """Audit a synthetic census as it is, and coarsened as by other tools; then anonymize it.

    The exit status is always 0: principles that fail are part of the demonstration.
    """
    from sfumato._audit import audit
    from sfumato.census import census_schema, synthetic_census
    from sfumato.cli.show import console, show_audit, show_worth
    from sfumato.demo import PRINCIPLES, coarsened, released, save_demo
    from sfumato.errors import RequirementError

    out = console()
    people = synthetic_census(rows, seed)
    if save is not None:
        save_demo(people, save)
    out.print("[bold]1. A synthetic census as it is[/bold]: age, sex, marital status and race together single people out.\n")
    with progress_bar() as progress:
        progress("auditing")
        raw, coarse = audit(people, census_schema(), PRINCIPLES), audit(*coarsened(people), PRINCIPLES)
    show_audit(raw, worst=0)
    out.print(
        "\n[bold]2. The same census, coarsened[/bold]: age in spans of 20 years, race and marital status in wide classes, "
        f"rare groups dropped.\n   {_verdict_sentence(coarse)}\n"
    )
    show_audit(coarse, worst=1)
    out.print("\n[bold]3. The same census, anonymized by sfumato[/bold]: all principles required, no rows suppressed.\n")
    try:
        with progress_bar() as progress:
            release = released(people, seed, save, progress)
    except RequirementError as error:
        out.print(f"{error}", markup=False)
        if save is not None:
            out.print(f"\nWrote people.csv, hierarchies and sfumato.toml to {save}.", markup=False)
        return
    show_audit(release.audit, worst=0)
    show_worth(release)
    if save is None:
        out.print("\nTo get the files, so that you can read and change them:\n  sfumato demo --save demo")
        return
    release.save(save / "release")
    out.print(
        f"\nWrote people.csv, hierarchies, sfumato.toml and the release to {save}.\nOpen {save}/release/report.html, then:\n"
        f"  sfumato verify {save}/release --original {save}/people.csv --config {save}/sfumato.toml\n"
        f"  sfumato frontier {save}/sfumato.toml\n"
        f"  sfumato anonymize {save}/sfumato.toml --output release",
        markup=False,
    )


def _verdict_sentence(found: Audit) -> str:
    """Return which principles an audited table satisfies, and which it does not."""
    holding = ", ".join(finding.principle.title for finding in found if finding.holds)
    failing = ", ".join(finding.principle.title for finding in found if not finding.holds)
    if not (holding and failing):
        return f"It satisfies {'none' if failing else 'all'} of the principles."
    return f"It satisfies {holding}, but not {failing}."
