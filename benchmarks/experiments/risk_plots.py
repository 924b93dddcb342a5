"""Plots of Figure 1 of Lebanon et al. (2006), drawn from their tables only. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.experiments.plotting import Plot, TextRow, distinct

_SHADES = ("#9ecae1", "#4292c6", "#1d5c87", "#08204a")
"""From few cells to many, or from a slightly larger dictionary to a much larger one."""
_MARKERS = ("o", "D", "s", "^")
_STYLES = {"equality": "-", "similarity": "--"}


def plot_risk(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 1, left: the least risk by the size of the dictionary, one line per number of cells.

    There is a column of panels per directory and a row per sensitivity. Lines are dashed for similarity.
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
                    selected = [row for row in here if (row["consistency"], int(row["cells"])) == (consistency, cells)]
                    panel.plot(
                        [int(row["individuals"]) for row in selected], [float(row["risk"]) for row in selected],
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


def plot_bound(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 1, right: the estimated against the true risk, by the ratio of the dictionaries; a panel per directory."""
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
                selected = [row for row in here if least <= _ratio(row) < most]
                panel.plot(
                    [float(row["true_risk"]) for row in selected], [float(row["estimated_risk"]) for row in selected],
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
    handles.append(pyplot.Line2D([], [], color="#222222", lw=1, ls=":", label="estimate equals true risk"))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=3,
        title="size of the attacker’s dictionary relative to the publisher’s",
    )
    return figure


PLOTS: dict[str, Plot] = {"risk.csv": plot_risk, "bound.csv": plot_bound}
"""The plot of each table."""


def _logarithmic(panel: Any, side: str, values: Sequence[float]) -> None:
    """Set a logarithmic axis with plain numbers; ticks at 1, 2 and 5 if it spans few powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    panel.set(**{f"{side}scale": "log"})
    axis = getattr(panel, f"{side}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 200 * min(values) else (1,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _ratio(row: TextRow) -> float:
    return int(row["true_among"]) / int(row["estimated_from"])
