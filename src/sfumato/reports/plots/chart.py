"""Charts: marks of data over two axes, and the dial. Every plot of a report is made of these few marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sfumato.reports.plots.axes import Axis
from sfumato.reports.plots.svg import INK, PALE, Drawing, across, element, label, marker, short, text_width, tooltip, widest

_TICK_SIZE = 12
"""The size of the text of ticks, in pixels; `page.css` sets the same."""
_NARROW = 240
"""The width of a plot area on a phone, in pixels."""


@dataclass
class Chart:
    """A plot area with two axes, to which marks are added in the order in which they are painted.

    `height`: of the plot area, in pixels. Values are given in units of the data; the chart turns them into places.
    """

    x: Axis
    y: Axis
    height: float
    legend: list[tuple[str, str]] = field(default_factory=list)
    """Names of series, each with the markup of its sign."""
    _below: list[str] = field(default_factory=list)
    """What is painted first: regions behind the grid."""
    _marks: list[str] = field(default_factory=list)

    def _top(self) -> float:
        return 24 if self.y.title else 10

    def _across(self, value: float) -> str:
        return across(self.x.place(value))

    def _down(self, value: float) -> float:
        return self._top() + (1 - self.y.place(value)) * self.height

    def name(self, text: str, colour: str, shape: str = "square", *, hollow: bool = False) -> None:
        """Add a line to the legend."""
        self.legend.append((text, element("svg", marker(shape, "7", 7, 11, colour, hollow=hollow), width=14, height=14)))

    def bars(
        self,
        places: Sequence[float],
        sizes: Sequence[float | None],
        colours: str | Sequence[str],
        titles: Sequence[str],
        *,
        width: float = 0.75,
        shift: float = 0.0,
        starts: Sequence[float] | None = None,
        lying: bool = False,
    ) -> None:
        """Add bars. `width` and `shift` are in units of the axis that `places` are on; `starts`: where bars begin, if not 0.

        A size of None has no bar.
        """
        begins = [0.0] * len(places) if starts is None else starts
        each = [colours] * len(places) if isinstance(colours, str) else colours
        for place, size, start, colour, title in zip(places, sizes, begins, each, titles, strict=True):
            if size is None:
                continue
            low, high = place + shift - width / 2, place + shift + width / 2
            self._marks.append(
                self._box(start, start + size, low, high, colour, title)
                if lying
                else self._box(low, high, start, start + size, colour, title)
            )

    def _box(self, left: float, right: float, bottom: float, top: float, kind: str, title: str = "", **more: object) -> str:
        """Return the rectangle between two values on either axis, whatever their order and the axis's direction."""
        a, b = sorted((self.x.place(left), self.x.place(right)))
        c, d = sorted((self._down(bottom), self._down(top)))
        where = {"x": across(a), "y": c, "width": across(b - a), "height": max(d - c, 0.0)}
        return element("rect", tooltip(title), **where, class_=kind, **more)

    def line(self, xs: Sequence[float], ys: Sequence[float | None], colour: str, kind: str = "") -> None:
        """Add a line through points; it breaks off where a value is None. `kind`: `dashed` or `dotted`."""
        for (x1, y1), (x2, y2) in pairwise(zip(xs, ys, strict=True)):
            if y1 is not None and y2 is not None:
                self.segment(x1, y1, x2, y2, colour, kind)

    def segment(self, x1: float, y1: float, x2: float, y2: float, colour: str, kind: str = "") -> None:
        """Add a straight line between two points."""
        ends = {"x1": self._across(x1), "y1": self._down(y1), "x2": self._across(x2), "y2": self._down(y2)}
        self._marks.append(element("line", **ends, class_=f"{colour} {kind}".strip()))

    def points(
        self,
        xs: Sequence[float | None],
        ys: Sequence[float | None],
        colours: str | Sequence[str],
        titles: Sequence[str],
        *,
        shape: str | Sequence[str] = "circle",
        size: float | Sequence[float] = 8.0,
        hollow: bool = False,
        kind: str = "",
    ) -> None:
        """Add markers. A point with a coordinate of None is left out."""
        count = len(xs)
        each = [colours] * count if isinstance(colours, str) else colours
        shapes = [shape] * count if isinstance(shape, str) else shape
        sizes = [float(size)] * count if isinstance(size, float | int) else size
        for x, y, colour, title, outline, wide in zip(xs, ys, each, titles, shapes, sizes, strict=True):
            if x is not None and y is not None:
                self._marks.append(
                    marker(outline, self._across(x), self._down(y), wide, colour, title, hollow=hollow, kind=kind)
                )

    def spread(self, place: float, low: float, high: float, colour: str) -> None:
        """Add a vertical error bar with caps."""
        x, ends = self._across(place), (self._down(low), self._down(high))
        self._marks.append(element("line", x1=x, x2=x, y1=ends[0], y2=ends[1], class_=f"{colour} thick"))
        self._marks += [marker_cap(x, end, colour) for end in ends]

    def rule(self, value: float, text: str, *, upright: bool) -> None:
        """Add a dashed line across the whole plot, with a note at its end."""
        top = self._top()
        if upright:
            x, right = self._across(value), self.x.place(value) > 0.5
            ends: dict[str, object] = {"x1": x, "x2": x, "y1": top, "y2": top + self.height}
            note = label(text, x, top + 11, "end" if right else "start", "note", dx=-5 if right else 5)
        else:
            y = self._down(value)
            ends = {"x1": "0", "x2": "100%", "y1": y, "y2": y}
            note = label(text, "100%", y + (14 if y < top + 16 else -5), "end", "note")
        self._marks += [element("line", **ends, class_=f"{INK} dashed"), note]

    def region(self, left: float, right: float, bottom: float, top: float, kind: str) -> None:
        """Add a field behind everything else."""
        self._below.append(self._box(left, right, bottom, top, kind))

    def frame(self, left: float, right: float, bottom: float, top: float, kind: str) -> None:
        """Add an outline."""
        self._marks.append(self._box(left, right, bottom, top, f"{kind} outline"))

    def cells(
        self, values: Sequence[Sequence[float | None]], titles: Sequence[Sequence[str]], *, written: bool, gap: str = ""
    ) -> None:
        """Add the cells of a heat map: row i at i on the vertical axis, column j at j on the horizontal one.

        Values are shares from 0 to 1, drawn as opacity. `written`: whether each cell shows its percentage. `gap`: the class
        of cells without a value that have a title; cells with neither are left out.
        """
        for i, (row, words) in enumerate(zip(values, titles, strict=True)):
            for j, (value, title) in enumerate(zip(row, words, strict=True)):
                box = (j - 0.5, j + 0.5, i - 0.5, i + 0.5)
                if value is None:
                    if title:
                        self._marks.append(self._box(*box, f"cell {gap}", title))
                    continue
                shade = 0.03 + 0.97 * min(max(value, 0.0), 1.0)
                self._marks.append(self._box(*box, "cell heat", title, fill_opacity=shade))
                if written:
                    kind = "value bright" if shade > 0.75 else "value"
                    self._marks.append(label(f"{100 * value:.0f}", self._across(j), self._down(i) + 4, "middle", kind))

    def note(
        self, text: str, x: float, y: float, anchor: str = "start", *, dx: float = 0, dy: float = 4, kind: str = "note"
    ) -> None:
        """Add a text at a place; `dx` and `dy` move it by pixels."""
        self._marks.append(label(text, self._across(x), self._down(y) + dy, anchor, kind, dx=dx or None))

    def drawing(self, *, right: int = 14) -> Drawing:
        """Return the chart as SVG, with its axes."""
        top, bottom = self._top(), self._top() + self.height
        parts = [*self._below]
        for value, text in self.y.ticks:
            y = top + (1 - (value - self.y.low) / (self.y.high - self.y.low)) * self.height
            if self.y.grid:
                parts.append(element("line", x1="0", x2="100%", y1=y, y2=y, class_="gridline"))
            parts += [
                label(line, -7, y + 4 + 13 * (at - (len(text.split("\n")) - 1) / 2), "end", "tick")
                for at, line in enumerate(text.split("\n"))
            ]
        for value, text in self.x.ticks:
            x = across((value - self.x.low) / (self.x.high - self.x.low))
            if self.x.grid:
                parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_="gridline"))
            parts.append(label(text, x, bottom + 17, "middle", "tick"))
        if self.x.ticks or self.y.ticks:
            parts.append(element("line", x1="0", x2="100%", y1=bottom, y2=bottom, class_="base"))
        names = [line for _, text in self.y.ticks for line in text.split("\n")]
        left = math.ceil(widest(names, _TICK_SIZE)) + 10 if names else 8
        for value, text in self.x.ticks:
            # a label near an end of the axis needs room beside it, on a narrow screen most
            place, half = (value - self.x.low) / (self.x.high - self.x.low), text_width(text, _TICK_SIZE) / 2
            left, right = (max(room, math.ceil(half - near * _NARROW)) for room, near in ((left, place), (right, 1 - place)))
        if self.y.title:
            parts.append(label(self.y.title, -left, 13, "start", "axis"))
        below = 22 if self.x.ticks else 4
        if self.x.title:
            parts.append(label(self.x.title, "50%", bottom + 36, "middle", "axis"))
            below = 42
        return Drawing("".join(parts + self._marks), bottom + below, left, right)


def marker_cap(x: str, y: float, colour: str) -> str:
    """Return the cap of an error bar: a short horizontal stroke."""
    return element("svg", element("path", d="M-5 0H5", class_=f"{colour} hollow"), x=x, y=y)


def dial(value: float, mark: float, text: str, title: str, colour: str, mark_colour: str) -> Drawing:
    """Return a half-circle that is filled up to `value`, with a stroke at `mark`; both are shares from 0 to 1."""
    arc, middle, base = 56.0, 75.0, 72.0

    def place(share: float, radius: float) -> str:
        angle = math.pi * (1 - min(max(share, 0.0), 1.0))
        return f"{short(middle + radius * math.cos(angle))} {short(base - radius * math.sin(angle))}"

    def bow(share: float, kind: str) -> str:
        path = f"M{place(0, arc)}A{short(arc)} {short(arc)} 0 0 1 {place(share, arc)}"
        return element("path", tooltip(title), d=path, class_=f"{kind} bow")

    stroke = element("path", d=f"M{place(mark, arc - 12)}L{place(mark, arc + 12)}", class_=f"{mark_colour} stroke")
    shown = [bow(1, PALE)] + ([bow(value, colour)] if value > 0 else []) + [stroke]
    number = label(text, middle, base - 2, "middle", "reading")
    return Drawing("".join([*shown, number]), 84, width=150)
