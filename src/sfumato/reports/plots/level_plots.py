"""The plot of a principle's level over the groups, with what was wanted marked."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from sfumato.reports.plots.figure import AFTER, BEFORE, BREACH, INK, Figure, Table, axis, percent, plain


def level_plot(table: Table, heading: str, *, internal: bool = False) -> Figure:
    """How the level of a principle is distributed over groups, with what was wanted marked."""
    when = "before" if internal else "after"
    values, groups, breaching = table["values"], table["groups"], table["breaching"]
    threshold, wanted = _number(table["threshold"]), f"{table['relation']} {table['threshold']}"
    total = sum(groups) + table["infinite"]
    low, high = min([threshold, *values]), max([threshold, *values])
    reach = (high - low) or abs(high) or 1
    gap = min((b - a for a, b in pairwise(values)), default=reach)
    width = table["width"] or max(min(0.7 * gap, 0.08 * reach), 0.012 * reach)
    holding = [count - broken for count, broken in zip(groups, breaching, strict=True)]
    bars = [
        {
            "type": "bar",
            "x": values,
            "y": [count / total for count in counts],
            "width": width,
            "marker": {"color": colour},
            "customdata": counts,
            "hovertemplate": f"{plain(table['part'])} %{{x:.4g}}: %{{customdata}} groups (%{{y:.1%}})<extra>{name}</extra>",
        }
        for counts, colour, name in ((holding, BEFORE if internal else AFTER, "hold"), (breaching, BREACH, "in breach"))
        if any(counts)
    ]
    broken = sum(breaching)
    told = f"In red, {broken:,} of {total:,} in breach." if broken else "No group is beyond it."
    beyond = f" {table['infinite']:,} groups have no finite level and are not drawn." if table["infinite"] else ""
    mark = {"type": "line", "x0": threshold, "x1": threshold, "yref": "paper", "y0": 0, "y1": 1}
    label = {"x": threshold, "y": 1, "yref": "paper", "text": f"wanted {plain(wanted)}", "showarrow": False}
    return Figure(
        key=f"level-{table['finding']}-{_slug(table['part'])}-{when}",
        title=f"Level of {table['part']} over the {'classes' if internal else 'groups'}, {when}",
        about=heading,
        caption=f"Share of the groups by their level of {table['part']}; the line marks what was wanted: {wanted}. "
        f"{told}{beyond}",
        alt=f"Bars: the level of {table['part']} over {total:,} groups; wanted {wanted}. {told}",
        data=bars,
        layout={
            "barmode": "stack",
            "shapes": [{**mark, "line": {"color": INK, "width": 2, "dash": "dash"}}],
            "annotations": [
                {
                    **label,
                    "xanchor": "right" if threshold > low + 0.5 * (high - low) else "left",
                    "yanchor": "bottom",
                    "font": {"size": 12},
                }
            ],
            "margin": {"l": 56, "r": 12, "t": 28, "b": 48},
            "xaxis": axis(plain(table["part"]), range=[low - 0.06 * reach - width / 2, high + 0.06 * reach + width / 2]),
            "yaxis": axis("share of groups", tickformat=".0%", rangemode="tozero"),
        },
        head=(table["part"], "groups", "in breach", "share of groups"),
        rows=[
            (f"{value:.6g}", f"{count:,}", f"{bad:,}", percent(count / total))
            for value, count, bad in zip(values, groups, breaching, strict=True)
        ],
        height=260,
        internal=internal,
    )


def _number(written: str) -> float:
    """A threshold as release.json writes it: a decimal or a fraction."""
    return float(Fraction(written))


def _slug(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)
