"""Draw Figure 1 of paper 002 from its tables, and from nothing else. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.draw import Row, distinct, picture

_SHADES = ("#9ecae1", "#4292c6", "#1d5c87", "#08204a")
"""From few cells to many, or from a dictionary little larger to one much larger."""
_MARKERS = ("o", "D", "s", "^")
_STYLES = {"equality": "-", "similarity": "--"}


def draw(folder: Path, kind: str = "svg") -> list[Path]:
    """Draw both pictures beside their tables; the same table gives the same picture."""
    return [picture(folder / name, make, kind) for name, make in PICTURES.items()]


def lines(pyplot: Any, rows: Sequence[Row]) -> Any:
    """Left: the least risk against the size of the dictionary, a line for each number of cells.

    A column of panels per directory, a row per sensitivity; dashed where consistent is what is similar.
    """
    across, down = distinct(rows, "source"), distinct(rows, "sensitivity")
    figure, panels = pyplot.subplots(
        len(down), len(across), figsize=(3.1 * len(across) + 0.6, 2.7 * len(down) + 0.7),
        sharex="col", squeeze=False, layout="constrained",
    )  # fmt: skip
    for i, sensitivity in enumerate(down):
        for j, source in enumerate(across):
            panel = panels[i, j]
            here = [row for row in rows if (row["source"], row["sensitivity"]) == (source, sensitivity)]
            for at, cells in enumerate(sorted({int(row["cells"]) for row in here})):
                for consistency in distinct(here, "consistency"):
                    some = [row for row in here if (row["consistency"], int(row["cells"])) == (consistency, cells)]
                    panel.plot(
                        [int(row["individuals"]) for row in some], [float(row["risk"]) for row in some],
                        color=_SHADES[at], marker=_MARKERS[at], ms=4, lw=1.4, ls=_STYLES[consistency],
                    )  # fmt: skip
            if i == 0:
                panel.set_title(f"{source}, {here[0]['attributes']} attributes", fontsize=9)
            if i == len(down) - 1:
                panel.set_xlabel("individuals in the dictionary")
            if j == 0:
                panel.set_ylabel(f"{sensitivity}\nleast risk")
            panel.locator_params(axis="x", nbins=4)
            panel.xaxis.set_major_formatter("{x:,.0f}")
            _logarithmic(panel, "y", [float(row["risk"]) for row in here])
    handles = [
        pyplot.Line2D([], [], color=shade, marker=marker, ms=4, label=f"k = {share} of the attributes")
        for shade, marker, share in zip(_SHADES, _MARKERS, ("25 %", "50 %", "75 %", "100 %"), strict=True)
    ]
    handles += [pyplot.Line2D([], [], color="#555555", ls=style, label=name) for name, style in _STYLES.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def points(pyplot: Any, rows: Sequence[Row]) -> Any:
    """Right: the estimated over the true risk, by how much larger the attacker's dictionary is; a panel per directory."""
    across, down = distinct(rows, "source"), distinct(rows, "sensitivity")
    ratios = sorted({_ratio(row) for row in rows})
    bands = [ratio for ratio in (1, 2, 4, 7) if ratio <= max(ratios)]
    figure, panels = pyplot.subplots(
        len(down), len(across), figsize=(3.1 * len(across) + 0.6, 3 * len(down) + 0.6), squeeze=False, layout="constrained"
    )
    for i, sensitivity in enumerate(down):
        for j, source in enumerate(across):
            panel = panels[i, j]
            here = [row for row in rows if (row["source"], row["sensitivity"]) == (source, sensitivity)]
            both = [float(row[name]) for row in here for name in ("true_risk", "estimated_risk")]
            ends = [min(both), max(both)]
            panel.plot(ends, ends, color="#222222", lw=1, ls=":")
            for at, least in enumerate(bands):
                most = bands[at + 1] if at + 1 < len(bands) else float("inf")
                some = [row for row in here if least <= _ratio(row) < most]
                panel.plot(
                    [float(row["true_risk"]) for row in some], [float(row["estimated_risk"]) for row in some],
                    _MARKERS[at], ms=4, color=_SHADES[at], mec="white", mew=0.4,
                )  # fmt: skip
            _logarithmic(panel, "x", both)
            _logarithmic(panel, "y", both)
            if i == 0:
                panel.set_title(source, fontsize=9)
            if i == len(down) - 1:
                panel.set_xlabel("true risk")
            if j == 0:
                panel.set_ylabel(f"{sensitivity}\nestimated risk")
    handles = []
    for at, least in enumerate(bands):
        name = f"{least} to {bands[at + 1]} times" if at + 1 < len(bands) else f"{least} times and more"
        handles.append(pyplot.Line2D([], [], color=_SHADES[at], marker=_MARKERS[at], ms=4, ls="", label=name))
    handles.append(pyplot.Line2D([], [], color="#222222", lw=1, ls=":", label="as true as estimated"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, title="the attacker’s dictionary is larger by")
    return figure


PICTURES: dict[str, Callable[[Any, Sequence[Row]], Any]] = {"risk.csv": lines, "bound.csv": points}
"""For each table what draws it."""


def _logarithmic(panel: Any, side: str, values: Sequence[float]) -> None:
    """An axis in powers of ten, with steps between them where it spans few, and numbers as one writes them."""
    from matplotlib.ticker import LogLocator, NullFormatter

    panel.set(**{f"{side}scale": "log"})
    axis = getattr(panel, f"{side}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 200 * min(values) else (1,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _ratio(row: Row) -> float:
    return int(row["true_among"]) / int(row["estimated_from"])
