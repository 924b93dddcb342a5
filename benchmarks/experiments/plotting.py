"""Draw plots from tables of results, and from nothing else. Needs matplotlib."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import FileError, SfumatoError

TextRow = dict[str, str]
"""A row of a CSV file, by column."""
Plot = Callable[[Any, Sequence[TextRow]], Any]
"""Takes pyplot and the rows of a table; returns a figure."""

_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    # the same table gives the same bytes
    "svg.hashsalt": "sfumato",
    "svg.fonttype": "none",
}


def require_matplotlib() -> Any:
    """Return matplotlib, set to draw into files; raise an error with the way to install it if it is missing."""
    try:
        import matplotlib
    except ImportError as error:
        raise SfumatoError(
            "plots need matplotlib, which is not installed",
            remedy='Install it with pip install "sfumato[figures]", or pass --tables-only.',
        ) from error
    matplotlib.use("agg")
    return matplotlib


def draw_all(folder: Path, plots: Mapping[str, Plot], kind: str = "svg") -> list[Path]:
    """Draw the tables of a folder by file name; each plot is written next to its table."""
    return [draw_table(folder / name, plot, kind) for name, plot in plots.items()]


def draw_table(table: Path, plot: Plot, kind: str = "svg") -> Path:
    """Draw one table; write the plot next to it."""
    matplotlib = require_matplotlib()
    if not table.exists():
        raise FileError("the table to draw was not found", remedy="Measure it first.", file=str(table))
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with matplotlib.rc_context(_STYLE):
        from matplotlib import pyplot

        figure = plot(pyplot, rows)
        path = table.with_suffix(f".{kind}")
        figure.savefig(path, metadata={"Date": None} if kind == "svg" else None, dpi=110)
        pyplot.close(figure)
    return path


def distinct(rows: Sequence[TextRow], name: str) -> list[str]:
    """Return the distinct values of a column in the order of the table."""
    return list(dict.fromkeys(row[name] for row in rows))
