"""Show what attackers achieve against a release, on a terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table as Grid

from sfumato.attacks._attack import Attacks
from sfumato.attacks.rates import Rate
from sfumato.cli.show import console
from sfumato.visible_text import one_line


def show_attacks(found: Attacks) -> None:
    """Print each attack with its success, its baselines, and the number of people about whom the attacker is certain."""
    out = console()
    grid = Grid(box=None, pad_edge=False)
    for title in ("attack", "about", "success, 95 % interval", "compare with", "certain, and right"):
        grid.add_column(title)
    for result in found:
        baselines = "\n".join(f"{_shown(rate)}  {name}" for name, rate in result.baselines.items())
        style = "bold red" if result.exceeds else ""
        grid.add_row(
            result.attack,
            escape(one_line(result.about or "")),
            f"[{style}]{_shown(result.success)}[/{style}]" if style else _shown(result.success),
            escape(baselines),
            f"{result.certain:,}, {result.right:,}",
        )
    if len(found):
        out.print(grid)
    measured = {result.attack for result in found}
    for attack in (kind for kind in found.attacks if kind.name in measured):
        out.print(f"\n[bold]{attack.name}[/bold]  {escape(attack.summary())} {escape(attack.assumptions())}")
    for note in dict.fromkeys(note for result in found for note in result.notes):
        out.print(f"note: {one_line(note)}", markup=False)
    for one in found.skipped:
        out.print(repr(one), markup=False)
    exceeding = [f"{result.attack} on {result.about}" if result.about else result.attack for result in found.exceeding]
    if exceeding:
        out.print(f"\nBeyond the baselines, and beyond chance: {one_line(', '.join(exceeding))}.", markup=False, style="red")
    if len(found):
        out.print("These figures depend on the original. Do not publish them.", markup=False)


def _shown(rate: Rate) -> str:
    return f"{100 * rate.share:.1f} % ({100 * rate.low:.1f}–{100 * rate.high:.1f})"
