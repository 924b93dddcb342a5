"""A figure of the report: a plot, what it shows in words, and the numbers it is drawn from."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Table = Mapping[str, Any]
"""A table of release.json."""

BEFORE = "#b9822f"
"""Ochre and blue are told apart by everyone, and in print by their lightness."""
AFTER = "#1d5c87"
BREACH = "#b3261e"
PALE = "#d5dee6"
INK = "#22282d"
FAINT = "#7a838b"

SPACE = "\N{NO-BREAK SPACE}"

_LONGEST = 34
"""Characters of a label in a plot; the table below it has all."""

SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif'


@dataclass(frozen=True)
class Figure:
    """One plot with its caption, and its numbers as a table."""

    key: str
    title: str
    caption: str
    alt: str
    """What the plot shows, for those who do not see it."""
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    height: int = 300
    about: str = ""
    """What it is about, if the title does not say."""
    listed: bool = True
    """Whether its numbers stand in a table of its own."""
    narrow: bool = False
    """Whether two of them fit beside each other."""
    internal: bool = False
    """Whether it is drawn from what must not be published."""

    @property
    def spec(self) -> dict[str, Any]:
        """What the plotting library is given."""
        return {"data": self.data, "layout": {**_LAYOUT, "height": self.height, **self.layout}}


_LAYOUT: dict[str, Any] = {
    "font": {"family": SANS, "size": 13, "color": INK},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "margin": {"l": 56, "r": 12, "t": 14, "b": 48},
    "dragmode": False,
    "showlegend": False,
    "bargap": 0.25,
    "hoverlabel": {"font": {"family": SANS, "size": 13}},
}

LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"}


def axis(title: str | None = None, **more: Any) -> dict[str, Any]:
    """An axis that does not zoom, so that a finger on it scrolls the page."""
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": 13, "color": FAINT}} if title else None,
        "fixedrange": True,
        "automargin": True,
        "gridcolor": "#e6eaee",
        "zeroline": False,
        "linecolor": "#aab3ba",
        "tickfont": {"size": 12},
        **more,
    }


def plain(text: Any, longest: int = _LONGEST) -> str:
    """A text of the data as a plot shows it: shortened, and with nothing in it that could be taken for markup.

    >>> plain("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    shown = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split()) or "(empty)"
    return html.escape(shown if len(shown) <= longest else shown[: longest - 1] + "…", quote=False)


def both_ends(text: Any, longest: int) -> str:
    """As `plain`, but a long text loses its middle: names of columns often differ at the end, as those of a set's items do.

    >>> both_ends("household_status=married", 20), both_ends("job", 20)
    ('household…us=married', 'job')
    """
    shown = str(text)
    if len(shown) <= longest:
        return plain(shown, longest)
    end = longest // 2
    return plain(f"{shown[: longest - 1 - end]}…{shown[-end:]}", longest)


def percent(share: float | None) -> str:
    """A share as a reader wants it: neither 0 nor 100 unless it is.

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
    """The figures of a page, numbered in the order in which they stand."""

    figures: list[Figure] = field(default_factory=list)

    def add(self, figures: Sequence[Figure]) -> list[tuple[int, Figure]]:
        """Number some more."""
        start = len(self.figures) + 1
        self.figures += figures
        return list(enumerate(figures, start))
