"""`sfumato demo`: see on a synthetic census what other tools do not see."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""\b
Example:
  sfumato demo
  sfumato demo --save demo && sfumato audit demo/sfumato.toml"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="People to make.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="The same seed, the same people.")
@click.option("--save", type=click.Path(path_type=Path), help="Also write the census and its config to a new folder.")
def demo(rows: int, seed: int, save: Path | None) -> None:
    """Audit a synthetic census: as it is, and coarsened as other tools would leave it.

    Always ends with exit status 0: that principles fail here is what it shows.
    """
    from sfumato.auditing import audit
    from sfumato.census import census_schema, synthetic_census
    from sfumato.cli.show import console, show_audit
    from sfumato.demo import PRINCIPLES, coarsened, save_demo

    out = console()
    people = synthetic_census(rows, seed)
    if save is not None:
        save_demo(people, save)
    out.print("[bold]1. A synthetic census as it is[/bold]: age, sex, marital status and race together single people out.\n")
    show_audit(audit(people, census_schema(), PRINCIPLES), worst=1)
    out.print(
        "\n[bold]2. The same census, coarsened[/bold]: age in spans of 20 years, race and marital status in wide classes, "
        "rare groups dropped.\n   By k-anonymity and l-diversity it could be published. "
        "The proximity of the secrets says otherwise.\n"
    )
    show_audit(audit(*coarsened(people), PRINCIPLES), worst=3)
    if save is not None:
        out.print(f"\nWrote people.csv, hierarchies and sfumato.toml to {save}; try: sfumato audit {save}/sfumato.toml")
