"""A figure of a report: a drawing, its description in words, and the numbers it is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from sfumato.reports.plots.axes import SPACE
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.svg import Drawing


@dataclass(frozen=True)
class Figure:
    """One drawing with its caption, and its numbers as a table."""

    key: str
    """The name of the figure in links; unique on its page."""
    title: str
    caption: str
    alt: str
    """What the drawing shows, for readers who do not see it."""
    drawing: Drawing
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    legend: Sequence[tuple[str, str]] = ()
    """Names of series, each with the markup of its sign."""
    about: str = ""
    """The subject of the figure, if the title does not name it."""
    listed: bool = True
    """Whether the figure has a table of its numbers."""
    narrow: bool = False
    """Whether two such figures fit beside each other."""
    internal: bool = False
    """Whether it is drawn from data that must not be published."""

    @property
    def svg(self) -> Markup:
        """The drawing as markup."""
        return Markup(self.drawing.markup(self.alt))

    @property
    def keys(self) -> list[tuple[str, Markup]]:
        """The lines of the legend; it is omitted where there is nothing to tell apart."""
        return [(name, Markup(sign)) for name, sign in self.legend]


def chart_figure(chart: Chart, *, right: int = 14, **words: Any) -> Figure:
    """Return the figure of a chart. `words`: the other fields of `Figure`."""
    return Figure(drawing=chart.drawing(right=right), legend=chart.legend, **words)


def percent(share: float | None) -> str:
    """Return a share as text. It reads 0 or 100 only if it is exactly that.

    >>> [percent(share).replace(SPACE, " ") for share in (0.1234, 0.00061, 1, 0)]
    ['12.3 %', '< 0.1 %', '100 %', '0 %']
    """
    if share is None:
        return "none"
    if share in (0, 1):
        return f"{100 * share:.0f}{SPACE}%"
    if share < 0.001:
        return f"<{SPACE}0.1{SPACE}%"
    return f"{min(100 * share, 99.9) if share < 1 else 100 * share:.3g}{SPACE}%"


@dataclass
class Numbered:
    """The figures of a page, numbered in their order."""

    figures: list[Figure] = field(default_factory=list)

    def add(self, figures: Sequence[Figure]) -> list[tuple[int, Figure]]:
        """Append figures, and return each with its number."""
        start = len(self.figures) + 1
        self.figures += figures
        return list(enumerate(figures, start))
