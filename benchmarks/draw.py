"""Draw the figures of paper 001 from their tables, and from nothing else. Needs matplotlib."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import TABLES
from sfumato.errors import FileError, SfumatoError

Row = dict[str, str]

SYMBOLS = {"epsilon": "ε", "delta": "δ", "k": "k", "s": "s"}
"""How the parameters are written on an axis."""

STYLES = {"glaze": ("#0072b2", "o"), "mondrian": ("#e69f00", "s"), "xcolor": ("#a3335c", "^")}
"""Each method's colour and marker."""

_OTHER = ("#555555", "D")
_SHADES = ("#9ecae1", "#4292c6", "#08306b", "#222222")
_LOOK = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "sfumato",
    "svg.fonttype": "none",
}


def need_matplotlib() -> Any:
    """Return matplotlib, set to draw into files; or say how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise SfumatoError(
            "pictures need matplotlib, which is not installed",
            remedy='Install it with pip install "sfumato[figures]", or measure with --tables-only.',
        ) from error
    matplotlib.use("agg")
    return matplotlib


def draw(folder: Path, only: Iterable[str], kind: str = "svg") -> list[Path]:
    """Draw the figures whose tables are in a folder, beside them; the same table gives the same picture."""
    return [picture(folder / TABLES[name][0], PICTURES[name], kind) for name in only]


def picture(table: Path, make: Callable[[Any, Sequence[Row]], Any], kind: str = "svg") -> Path:
    """Draw one table, and write the picture beside it."""
    matplotlib = need_matplotlib()
    if not table.exists():
        raise FileError("the table to draw is not there", remedy="Measure it first.", file=str(table))
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with matplotlib.rc_context(_LOOK):
        from matplotlib import pyplot

        figure = make(pyplot, rows)
        path = table.with_suffix(f".{kind}")
        figure.savefig(path, metadata={"Date": None} if kind == "svg" else None, dpi=110)
        pyplot.close(figure)
    return path


def contours(pyplot: Any, rows: Sequence[Row]) -> Any:
    """Figure 4: vulnerability over ε and δ, one panel per norm."""
    norms = distinct(rows, "norm")
    figure, panels = pyplot.subplots(1, len(norms), figsize=(9, 3.8), sharey=True, squeeze=False, layout="constrained")
    levels = np.linspace(0, 1, 11)
    shades = None
    for panel, norm in zip(panels[0], norms, strict=True):
        some = [row for row in rows if row["norm"] == norm]
        epsilons, deltas = (sorted({float(row[name]) for row in some}) for name in ("epsilon", "delta"))
        share = {(float(row["epsilon"]), float(row["delta"])): float(row["vulnerability"]) for row in some}
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


def errors(pyplot: Any, rows: Sequence[Row]) -> Any:
    """Figure 5: the mean relative error of count queries; a row of panels per qd, a column per parameter."""
    across, down = distinct(rows, "against"), distinct(rows, "qd")
    figure, panels = pyplot.subplots(
        len(down), len(across), figsize=(2.6 * len(across), 2.2 * len(down) + 0.9),
        sharex="col", sharey=True, squeeze=False, layout="constrained",
    )  # fmt: skip
    for i, qd in enumerate(down):
        for j, name in enumerate(across):
            panel = panels[i, j]
            for method in distinct(rows, "method"):
                some = [r for r in rows if (r["against"], r["qd"], r["method"]) == (name, qd, method)]
                _line(panel, [r for r in some if r["relative_error"]], name, "relative_error", *STYLES.get(method, _OTHER))
            panel.set_yscale("log")
            panel.minorticks_off()
            if i == len(down) - 1:
                _below(panel, rows, name)
            if j == 0:
                panel.set_ylabel(f"qd = {qd}\nmean relative error")
    _methods_legend(figure, pyplot, rows)
    figure.suptitle(f"Count queries, {_source(rows)}", fontsize=10)
    return figure


def seconds(pyplot: Any, rows: Sequence[Row]) -> Any:
    """Figure 6: CPU seconds; a row of panels per method, a column per parameter, a line per number of rows."""
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
                some = [r for r in rows if (r["against"], r["method"], int(r["rows"])) == (name, method, size)]
                _line(panel, some, name, "cpu_seconds", shade, STYLES.get(method, _OTHER)[1], f"{size:,} rows")
            if i == len(down) - 1:
                _below(panel, rows, name)
            if j == 0:
                panel.set_ylabel(f"{method}\nCPU seconds")
        panels[i, 0].set_ylim(0)  # once the row has drawn all its lines: they share the axis
        panels[i, -1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    figure.suptitle(f"Finding groups, {distinct(rows, 'source')[0]}. Hollow: some groups are left in breach", fontsize=10)
    return figure


PICTURES: dict[str, Callable[[Any, Sequence[Row]], Any]] = {"4": contours, "5": errors, "6": seconds}
"""For each figure what draws it."""


def _line(panel: Any, rows: Sequence[Row], x: str, y: str, colour: str, marker: str, label: str | None = None) -> None:
    """A line through the points, apart and dashed through those of k-anonymity alone; hollow where groups are in breach."""
    for dashed in (False, True):
        some = sorted((row for row in rows if _alone(row) is dashed), key=lambda row: float(row[x]))
        if not some:
            continue
        at, values = ([float(row[name]) for row in some] for name in (x, y))
        panel.plot(at, values, color=colour, lw=1.4, ls="--" if dashed else "-", label=label)
        for hollow in (False, True):
            chosen = [i for i, row in enumerate(some) if (int(row["violating_groups"]) > 0) is hollow]
            fill = "white" if hollow else colour
            panel.plot([at[i] for i in chosen], [values[i] for i in chosen], marker, ms=5, color=colour, mfc=fill)


def _alone(row: Row) -> bool:
    return row["principle"] != "dissimilarity"


def _below(panel: Any, rows: Sequence[Row], name: str) -> None:
    """The axis of a parameter: a tick at each value that was measured."""
    panel.set_xlabel(SYMBOLS[name])
    values = sorted({row[name] for row in rows if row["against"] == name}, key=float)
    panel.set_xticks([float(value) for value in values], values)


def _methods_legend(figure: Any, pyplot: Any, rows: Sequence[Row]) -> None:
    handles = []
    for method, alone in dict.fromkeys((row["method"], _alone(row)) for row in sorted(rows, key=_alone)):
        colour, marker = STYLES.get(method, _OTHER)
        label = f"{method}, k-anonymity alone" if alone else method
        handles.append(pyplot.Line2D([], [], color=colour, marker=marker, ms=5, ls="--" if alone else "-", label=label))
    if any(int(row["violating_groups"]) for row in rows):
        handles.append(pyplot.Line2D([], [], color="#555555", marker="o", mfc="white", ls="", label="groups left in breach"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def distinct(rows: Sequence[Row], name: str) -> list[str]:
    """The values of a column, each once, in the order in which they stand."""
    return list(dict.fromkeys(row[name] for row in rows))


def _source(rows: Sequence[Row]) -> str:
    return f"{int(rows[0]['rows']):,} rows of {rows[0]['source']}"
