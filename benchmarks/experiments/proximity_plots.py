"""Plots of Figures 4, 5 and 6 of Wang & Liu (2010), drawn from their tables only. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments.plotting import Plot, TextRow, distinct, draw_table
from benchmarks.experiments.proximity_tables import TABLES

SYMBOLS = {"epsilon": "ε", "delta": "δ", "k": "k", "s": "s"}
"""The axis labels of the parameters."""

STYLES = {"glaze": ("#0072b2", "o"), "mondrian": ("#e69f00", "s"), "xcolor": ("#a3335c", "^")}
"""The colour and marker of each method."""

_OTHER = ("#555555", "D")
_SHADES = ("#9ecae1", "#4292c6", "#08306b", "#222222")


def draw(folder: Path, figures: Iterable[str], kind: str = "svg") -> list[Path]:
    """Draw the figures whose tables are in a folder; each plot is written next to its table."""
    return [draw_table(folder / TABLES[name][0], PLOTS[name], kind) for name in figures]


def plot_vulnerability(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 4: vulnerability by ε and δ, one panel per norm."""
    norms = distinct(rows, "norm")
    figure, panels = pyplot.subplots(1, len(norms), figsize=(9, 3.8), sharey=True, squeeze=False, layout="constrained")
    levels = np.linspace(0, 1, 11)
    shades = None
    for panel, norm in zip(panels[0], norms, strict=True):
        selected = [row for row in rows if row["norm"] == norm]
        epsilons, deltas = (sorted({float(row[name]) for row in selected}) for name in ("epsilon", "delta"))
        share = {(float(row["epsilon"]), float(row["delta"])): float(row["vulnerability"]) for row in selected}
        grid = np.array([[share[epsilon, delta] for epsilon in epsilons] for delta in deltas])
        shades = panel.contourf(epsilons, deltas, grid, levels, cmap="YlOrRd")
        lines = panel.contour(epsilons, deltas, grid, levels[1:-1], colors="#333333", linewidths=0.6)
        panel.clabel(lines, levels[1:-1:2], fontsize=7, fmt="%g")
        panel.grid(False)
        panel.set(title=f"{norm[0]}{'¹²'[int(norm[1:]) - 1]}-norm", xlabel=SYMBOLS["epsilon"])
    panels[0, 0].set_ylabel(SYMBOLS["delta"])
    figure.colorbar(shades, ax=panels, label="share of groups in breach")
    figure.suptitle(f"Mondrian with l = 20, {_source(rows)}", fontsize=10)
    return figure


def plot_query_errors(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 5: the mean relative error of count queries; a row of panels per qd, a column per parameter."""
    across, down = distinct(rows, "against"), distinct(rows, "qd")
    figure, panels = pyplot.subplots(
        len(down), len(across), figsize=(2.6 * len(across), 2.2 * len(down) + 0.9),
        sharex="col", sharey=True, squeeze=False, layout="constrained",
    )  # fmt: skip
    for i, qd in enumerate(down):
        for j, name in enumerate(across):
            panel = panels[i, j]
            for method in distinct(rows, "method"):
                selected = [r for r in rows if (r["against"], r["qd"], r["method"]) == (name, qd, method)]
                _line(
                    panel, [r for r in selected if r["relative_error"]], name, "relative_error", *STYLES.get(method, _OTHER)
                )
            panel.set_yscale("log")
            panel.minorticks_off()
            if i == len(down) - 1:
                _parameter_axis(panel, rows, name)
            if j == 0:
                panel.set_ylabel(f"qd = {qd}\nmean relative error")
    _methods_legend(figure, pyplot, rows)
    figure.suptitle(f"Count queries, {_source(rows)}", fontsize=10)
    return figure


def plot_cpu_seconds(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 6: CPU seconds; a row of panels per method, a column per parameter, a line per number of rows."""
    across, down = distinct(rows, "against"), distinct(rows, "method")
    figure, panels = pyplot.subplots(
        len(down), len(across), figsize=(3 * len(across) + 1.4, 2.2 * len(down) + 0.6),
        sharex="col", sharey="row", squeeze=False, layout="constrained",
    )  # fmt: skip
    for i, method in enumerate(down):
        sizes = sorted({int(row["rows"]) for row in rows if row["method"] == method})
        for j, name in enumerate(across):
            panel = panels[i, j]
            for shade, size in zip(_SHADES, sizes, strict=False):
                selected = [r for r in rows if (r["against"], r["method"], int(r["rows"])) == (name, method, size)]
                _line(panel, selected, name, "cpu_seconds", shade, STYLES.get(method, _OTHER)[1], f"{size:,} rows")
            if i == len(down) - 1:
                _parameter_axis(panel, rows, name)
            if j == 0:
                panel.set_ylabel(f"{method}\nCPU seconds")
        panels[i, 0].set_ylim(0)  # after all lines of the row are drawn, because its panels share the axis
        panels[i, -1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    figure.suptitle(f"Finding groups, {distinct(rows, 'source')[0]}. Hollow: some groups remain in breach", fontsize=10)
    return figure


PLOTS: dict[str, Plot] = {"4": plot_vulnerability, "5": plot_query_errors, "6": plot_cpu_seconds}
"""The plot of each figure."""


def _line(panel: Any, rows: Sequence[TextRow], x: str, y: str, colour: str, marker: str, label: str | None = None) -> None:
    """Draw a line through the points: dashed for runs with k-anonymity only, hollow markers where groups are in breach."""
    for dashed in (False, True):
        selected = sorted((row for row in rows if _k_only(row) is dashed), key=lambda row: float(row[x]))
        if not selected:
            continue
        at, values = ([float(row[name]) for row in selected] for name in (x, y))
        panel.plot(at, values, color=colour, lw=1.4, ls="--" if dashed else "-", label=label)
        for hollow in (False, True):
            chosen = [i for i, row in enumerate(selected) if (int(row["violating_groups"]) > 0) is hollow]
            fill = "white" if hollow else colour
            panel.plot([at[i] for i in chosen], [values[i] for i in chosen], marker, ms=5, color=colour, mfc=fill)


def _k_only(row: TextRow) -> bool:
    return row["principle"] != "dissimilarity"


def _parameter_axis(panel: Any, rows: Sequence[TextRow], name: str) -> None:
    """Label the axis of a parameter, with a tick at each measured value."""
    panel.set_xlabel(SYMBOLS[name])
    values = sorted({row[name] for row in rows if row["against"] == name}, key=float)
    panel.set_xticks([float(value) for value in values], values)


def _methods_legend(figure: Any, pyplot: Any, rows: Sequence[TextRow]) -> None:
    handles = []
    for method, k_only in dict.fromkeys((row["method"], _k_only(row)) for row in sorted(rows, key=_k_only)):
        colour, marker = STYLES.get(method, _OTHER)
        label = f"{method}, k-anonymity only" if k_only else method
        handles.append(pyplot.Line2D([], [], color=colour, marker=marker, ms=5, ls="--" if k_only else "-", label=label))
    if any(int(row["violating_groups"]) for row in rows):
        handles.append(
            pyplot.Line2D([], [], color="#555555", marker="o", mfc="white", ls="", label="some groups remain in breach")
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _source(rows: Sequence[TextRow]) -> str:
    return f"{int(rows[0]['rows']):,} rows of {rows[0]['source']}"
