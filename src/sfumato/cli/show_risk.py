"""Show a disclosure risk, and a withheld release, on a terminal."""

from __future__ import annotations

import math
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from sfumato.cli.show import console, show_notes, source_heading
from sfumato.disclosure import Risk
from sfumato.disclosure._withhold import WithheldRelease
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.visible_text import one_line


def show_risk(found: Risk, worst: int) -> None:
    """Print the risk against every dictionary, by attribute, and of the records with the highest loss."""
    out = console()
    setting = found.setting
    source = source_heading(setting.table.source)
    out.print(
        f"{source}{count_of(setting.records, 'record')} of "
        f"{count_of(len(setting.attributes), 'attribute')}, {count_of(found.disclosed_cells, 'value')}; "
        f"{setting.sensitivity.name} sensitivity"
    )
    show_notes(found.notes, out)
    out.print(_dictionaries(found))
    if setting.prior is not None and len(found.dictionaries) > 1:
        out.print(f"Under the prior: {number(found.risk)}.")
    out.print()
    out.print(_attributes(found))
    if worst:
        out.print()
        out.print(_records(found, worst))
    _verdict(found, out)


def show_disclosure(made: WithheldRelease, folder: Path | None) -> None:
    """Print what is withheld, the remaining risk, and how close it is to the least."""
    out = console()
    best = made.rule
    show_notes(made.notes, out)
    out.print(
        f"\n[bold]Withheld[/bold] {made.withheld_cells:,} of {count_of(made.full_risk.disclosed_cells, 'value')}"
        f"{_disclosed(made)}{_short(made)}."
    )
    least = "no rule that discloses as much has less" if best.exact else f"the least is at most {best.gap:.2%} lower"
    out.print(f"Risk {number(best.risk)} instead of {number(made.full_risk.risk)}: {least} ({escape(best.how)}).")
    out.print(_dictionaries(made.risk))
    _verdict(made.risk, out)
    if made.risk.holds is False:
        out.print("No release was written.")
        return
    out.print(f"Wrote the release to {folder} and verified it; verify it again with: sfumato verify {folder}", markup=False)


def _disclosed(made: WithheldRelease) -> str:
    """A phrase about what is disclosed, which ends the sentence on what is withheld."""
    if made.rule.levels is None:
        return f", so that {made.cells:,} per {made.per} are disclosed"
    values = count_of(made.cells, "value")
    return f" and generalized {made.generalized_cells:,}, so that the information of {values} per record is disclosed"


def _short(made: WithheldRelease) -> str:
    """A phrase about records or attributes with fewer values than requested."""
    if not made.rule.short:
        return ""
    if made.per == "table":
        return f"; the table has {count_of(made.rule.short, 'value')} fewer, so nothing is withheld"
    return f"; {count_of(made.rule.short, made.per)} with fewer values withhold nothing"


def _verdict(found: Risk, out: Console) -> None:
    if found.limit is None:
        return
    colour, word = ("green", "within") if found.holds else ("red", "above")
    out.print(
        f"\n[bold {colour}]The risk, {number(found.risk)}, is {word} the limit of {written(found.limit)}.[/bold {colour}]"
    )


def number(value: float | None) -> str:
    """Format a risk with four digits.

    >>> number(0.123456), number(float("inf")), number(None)
    ('0.1235', '∞', '–')
    """
    return "–" if value is None else "∞" if math.isinf(value) else f"{value:.4g}"


def _grid(*headings: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(headings):
        grid.add_column(heading, justify="right" if place else "left", overflow="fold")
    return grid


def _dictionaries(found: Risk) -> Grid:
    grid = _grid(
        "dictionary", "individuals", "prior", "risk", "prosecutor", "journalist", "marketer", "one match", "no match"
    )
    for place, each in enumerate(found.dictionaries):
        who = each.attackers
        prior = found.setting.prior
        grid.add_row(
            Text(one_line(each.name)),
            f"{each.individuals:,}",
            "–" if prior is None else written(prior[place]),
            number(each.risk),
            number(who.prosecutor),
            number(who.journalist),
            number(who.marketer),
            f"{who.unique:,}",
            f"{int((each.sizes == 0).sum()):,}",
        )
    return grid


def _attributes(found: Risk) -> Grid:
    grid = _grid("attribute", "disclosed", "weight", "identifies alone", "risk without it", "reduction")
    order = sorted(found.by_attribute, key=lambda each: -math.inf if each.saves is None else -each.saves)
    for each in order:
        grid.add_row(
            Text(one_line(each.name)), f"{each.disclosed:,}", number(each.weight), number(each.alone), number(each.without),
            number(each.saves),
        )  # fmt: skip
    return grid


def _records(found: Risk, worst: int) -> Grid:
    named = found.setting.identity is not None
    grid = _grid(
        f"worst records by {found.worst.name}",
        *(["identity"] if named else []),
        "consistent",
        "chance",
        "sensitivity",
        "loss",
    )
    for each in found.worst_records(worst):
        identity = [Text(one_line(str(each.identity)))] if named else []
        grid.add_row(
            f"row {each.row:,}", *identity, f"{each.consistent:,}", number(each.probability), number(each.sensitivity),
            number(each.loss),
        )  # fmt: skip
    return grid
