"""The plot of what a principle reached: its level in the worst group, table by table and attribute by attribute."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sfumato.reports.plots.figure import AFTER, BEFORE, BREACH, INK, LEGEND, Figure, Table, axis, both_ends, plain


def reached_plot(number: int, heading: str, part: Table) -> Figure:
    """One bar for each table, and each attribute it was measured on, against what was wanted.

    `part`: an entry of `reached`. Where its rows tell of the original too, that is marked, and the figure internal.
    """
    name, wanted, rows = part["part"], part["wanted"], part["rows"]
    line = float(Fraction(wanted.rpartition(" ")[2]))
    internal = "before" in rows[0]
    places = list(range(len(rows)))
    levels = [row[key] for row in rows for key in ("measured", "before") if row.get(key) is not None]
    top = max([line, *levels]) or 1.0
    broken = sum(not row["holds"] for row in rows)
    told = f"{broken:,} of {len(rows):,} in breach, in red." if broken else "No table is beyond it."
    endless = " A level that is infinite has no bar." if any(row["measured"] is None for row in rows) else ""
    bars: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": "published",
            "y": places,
            "x": [row["measured"] for row in rows],
            "marker": {"color": [AFTER if row["holds"] else BREACH for row in rows]},
            "text": ["∞" if row["measured"] is None else f"{row['measured']:.4g}" for row in rows],
            "textposition": ["outside" if (row["measured"] or 0) < 0.2 * top else "inside" for row in rows],
            "insidetextanchor": "end",
            "constraintext": "none",
            "textangle": 0,
            "textfont": {"size": 11},
            "cliponaxis": False,
            "customdata": [[plain(row["attribute"] or "all", 60), plain(row["shown"])] for row in rows],
            "hovertemplate": "%{customdata[0]}: %{customdata[1]}<extra></extra>",
        }
    ]
    if internal:
        bars.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "original",
                "y": places,
                "x": [row["before"] for row in rows],
                "marker": {"size": 9, "color": BEFORE, "symbol": "diamond", "line": {"color": "white", "width": 1}},
                "customdata": [[plain(row["attribute"] or "all", 60), plain(row["was"])] for row in rows],
                "hovertemplate": "%{customdata[0]}, original: %{customdata[1]}<extra></extra>",
                "cliponaxis": False,
            }
        )
    return Figure(
        key=f"reached-{number}",
        title=f"{name}, table by table",
        about=heading,
        caption=f"The level of {name} in the worst group of each table{_each(rows)}; the number of the table stands first. "
        f"The line marks what was wanted: {wanted}. {told}{endless}"
        + (" Diamonds: the worst class of the original as it is." if internal else ""),
        alt=f"Bars: the level of {name} over {len(rows)} tables or attributes; wanted {wanted}. {told}",
        data=bars,
        layout={
            "shapes": [
                {
                    "type": "line", "x0": line, "x1": line, "yref": "paper", "y0": 0, "y1": 1,
                    "line": {"color": INK, "width": 2, "dash": "dash"},
                }
            ],
            "annotations": [
                {
                    "x": line, "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"size": 12},
                    "xanchor": "left" if line < 0.6 * top else "right", "text": f"wanted {plain(wanted)}",
                }
            ],
            "showlegend": internal,
            "legend": {**LEGEND, "xref": "container", "y": 0.01, "yref": "container"},
            "margin": {"l": 60, "r": 20, "t": 26, "b": 60 if internal else 32},
            "xaxis": axis(None, range=[0, 1.1 * top], nticks=5, tickangle=0),
            "yaxis": axis(
                None, tickvals=places, ticktext=[_label(row) for row in rows], tickfont={"size": 11}, showgrid=False,
                range=[len(rows) - 0.4, -0.6],
            ),
        },
        head=("table", "attribute", *(("original",) if internal else ()), "measured", "wanted"),
        rows=[
            (row["table"], row["attribute"] or "all", *((row["was"],) if internal else ()), row["shown"], wanted)
            for row in rows
        ],
        height=66 + 24 * len(rows) + 28 * internal,
        internal=internal,
    )  # fmt: skip


def _each(rows: Sequence[Table]) -> str:
    return " and on each attribute" if any(row["attribute"] for row in rows) else ""


def _label(row: Table) -> str:
    return f"{row['table']}: {both_ends(row['attribute'], 19)}" if row["attribute"] else f"table {row['table']}"
