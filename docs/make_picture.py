"""Draw docs/demo.svg: what `sfumato demo` shows, as a picture for the README. Run from anywhere; it needs nothing else."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from sfumato._audit import audit
from sfumato.census import synthetic_census
from sfumato.cli import show
from sfumato.cli.demo import ROWS
from sfumato.demo import PRINCIPLES, coarsened, released


def draw() -> str:
    """The second and third part of the demo as an SVG."""
    console = Console(record=True, width=132, file=io.StringIO(), force_terminal=True, highlight=False)
    show.console = lambda: console
    console.print("[bold]$ sfumato demo[/bold]  (its second and third part)\n")
    people = synthetic_census(ROWS)
    console.print("[bold]2. The same census, coarsened[/bold]\n")
    show.show_audit(audit(*coarsened(people), PRINCIPLES), worst=1)
    console.print("\n[bold]3. The same census, anonymized by sfumato[/bold]\n")
    release = released(people)
    show.show_audit(release.audit, worst=0)
    show.show_worth(release)
    picture = console.export_svg(title="sfumato demo")
    # rich asks for a web font and names its maker; a picture must not fetch anything
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->", "", picture)


if __name__ == "__main__":
    (Path(__file__).parent / "demo.svg").write_text(draw(), encoding="utf-8")
