"""The plots of risk: gauges, class sizes, levels over groups, the worst group's neighbours, the contour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sfumato.reporting.figure import AFTER, BEFORE, BREACH, INK, LEGEND, PALE, SPACE, Figure, axis, percent, plain

Table = Mapping[str, Any]


def gauges(risk: Mapping[str, Table]) -> list[Figure]:
    """The risk of the row worst off, the mean risk, and the share of rows above the first threshold."""
    before, after = risk["before"], risk["after"]
    above = next(iter(before["above"]))
    told = [
        ("prosecutor", "Highest risk", "prosecutor, journalist", before["highest"], after["highest"]),
        ("marketer", "Mean risk", "marketer", before["mean"], after["mean"]),
        ("unique", "Rows told apart", "alone in their class", before["unique"], after["unique"]),
        ("above", f"Rows above {above}", f"risk of a row above {above}", before["above"][above], after["above"][above]),
    ]
    return [_gauge(*one) for one in told]


def _gauge(key: str, title: str, who: str, before: float, after: float) -> Figure:
    dial = {
        "type": "indicator",
        "mode": "gauge+number",
        "value": 100 * after,
        "number": {"suffix": f"{SPACE}%", "font": {"size": 21, "color": AFTER}, "valueformat": ".3~g"},
        "gauge": {
            "axis": {"range": [0, 100], "visible": False},
            "bar": {"color": AFTER, "thickness": 1},
            "bgcolor": PALE,
            "borderwidth": 0,
            "threshold": {"line": {"color": BEFORE, "width": 5}, "thickness": 1, "value": 100 * before},
        },
    }
    return Figure(
        key=f"gauge-{key}",
        title=title,
        caption=f"{who[:1].upper()}{who[1:]}. Before {percent(before)}, after {percent(after)}.",
        alt=f"A dial: {title.lower()} ({who}) is {percent(after)} in the release and was {percent(before)} before.",
        data=[dial],
        layout={"margin": {"l": 8, "r": 8, "t": 8, "b": 8}},
        head=(),
        rows=(),
        height=110,
        listed=False,
        narrow=True,
    )


def class_sizes(sizes: Table, k: int | None) -> Figure:
    """The share of rows in classes of each size."""
    wanted = "" if k is None else f" Groups of at least {k} were asked for."
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": list(range(len(sizes["bins"]))),
            "y": sizes[key],
            "marker": {"color": colour},
            "hovertemplate": "%{customdata} rows: %{y:.1%}<extra>" + name + "</extra>",
            "customdata": sizes["bins"],
        }
        for key, name, colour in (("before", "before", BEFORE), ("after", "after", AFTER))
    ]
    return Figure(
        key="class-sizes",
        title="How many rows look alike",
        caption="Share of the rows by the size of the class they are in. Before: rows with equal quasi-identifiers. After: "
        f"rows of one group.{wanted}",
        alt="Bars: the share of rows in classes of each size, before and after; " + _mostly(sizes),
        data=traces,
        layout={
            "showlegend": True,
            "legend": LEGEND,
            "margin": {"l": 56, "r": 12, "t": 30, "b": 48},
            "xaxis": axis("rows in the class", tickvals=list(range(len(sizes["bins"]))), ticktext=sizes["bins"]),
            "yaxis": axis("share of rows", tickformat=".0%", rangemode="tozero"),
        },
        head=("rows in the class", "before", "after"),
        rows=[
            (name, percent(before), percent(after))
            for name, before, after in zip(sizes["bins"], sizes["before"], sizes["after"], strict=True)
        ],
        height=300,
    )


def _mostly(sizes: Table) -> str:
    tops = []
    for when in ("before", "after"):
        share = max(sizes[when])
        tops.append(f"{when} most rows ({percent(share)}) are in classes of {sizes['bins'][sizes[when].index(share)]}")
    return ", ".join(tops) + "."


def level_plot(table: Table, heading: str, *, internal: bool = False) -> Figure:
    """How the level of a principle is distributed over groups, with what was wanted marked."""
    when = "before" if internal else "after"
    values, groups, breaching = table["values"], table["groups"], table["breaching"]
    threshold, wanted = _number(table["threshold"]), f"{table['relation']} {table['threshold']}"
    total = sum(groups) + table["infinite"]
    width = table["width"] or 0.7 * min((b - a for a, b in pairwise(values)), default=0.1)
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
    low, high = min([threshold, *values]), max([threshold, *values])
    reach = (high - low) or abs(high) or 1
    mark = {"type": "line", "x0": threshold, "x1": threshold, "yref": "paper", "y0": 0, "y1": 1}
    label = {"x": threshold, "y": 1, "yref": "paper", "text": f"wanted {plain(wanted)}", "showarrow": False}
    return Figure(
        key=f"level-{table['finding']}-{_slug(table['part'])}-{when}",
        title=f"{_capital(table['part'])} over the {'classes' if internal else 'groups'}, {when}",
        about=heading,
        caption=f"Share of the groups by their level of {table['part']}; the line marks what was wanted: {wanted}. {told}{beyond}",
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


def neighbours_plot(graph: Table, heading: str, allowed: int | None, *, internal: bool = False) -> Figure:
    """The worst group as a graph: an edge between values within ε of each other, the densest one marked."""
    when = "before" if internal else "after"
    labels, counts, near = graph["labels"], graph["counts"], graph["neighbours"]
    numbers = graph["at"] is not None
    xs, ys = (graph["at"], near) if numbers else _rings(graph)
    edges: dict[str, Any] = {"x": [], "y": []}
    for i, j in graph["edges"]:
        edges["x"] += [xs[i], xs[j], None]
        edges["y"] += [ys[i], ys[j], None]
    around = {j if i == graph["densest"] else i for i, j in graph["edges"] if graph["densest"] in (i, j)}
    centre = BREACH if allowed is not None and near[graph["densest"]] > allowed else INK
    colours = [centre if i == graph["densest"] else AFTER if i in around else "#8fa9bd" for i in range(len(labels))]
    shown = len(labels)
    cut = (
        f" The {shown} drawn are the densest, those near it and the most frequent of {graph['distinct']:,}."
        if shown < graph["distinct"]
        else ""
    )
    most = near[graph["densest"]]
    limit = "" if allowed is None else f" At most {allowed:,} were allowed."
    placed = (
        "Values stand along the axis, the higher the more others are near."
        if numbers
        else ("The densest value stands in the middle, those near it on the inner ring, all others on the outer.")
    )
    layout: dict[str, Any] = {"margin": {"l": 56, "r": 16, "t": 14, "b": 48}}
    if numbers:
        top = max([*near, allowed or 0, 1])
        layout |= {"xaxis": axis("value"), "yaxis": axis("others within reach", range=[-0.12 * top - 0.3, 1.12 * top + 0.4])}
        if top <= 6:
            layout["yaxis"]["dtick"] = 1
        if allowed is not None:
            layout["shapes"] = [
                {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": allowed, "y1": allowed,
                 "line": {"color": INK, "width": 1.5, "dash": "dash"}}
            ]  # fmt: skip
            layout["annotations"] = [
                {"xref": "paper", "x": 1, "y": allowed, "text": f"allowed {allowed:,}", "showarrow": False,
                 "xanchor": "right", "yanchor": "bottom", "font": {"size": 12}}
            ]  # fmt: skip
    else:
        bare = {"visible": False, "fixedrange": True, "range": [-1.45, 1.45]}
        layout |= {
            "xaxis": bare,
            "yaxis": {**bare, "range": [-1.22, 1.22], "scaleanchor": "x"},
            "margin": dict.fromkeys("lrtb", 6),
        }
    names = not numbers and shown <= 16
    nodes = {
        "type": "scatter",
        "mode": "markers+text" if names else "markers",
        "x": xs,
        "y": ys,
        "text": [plain(label, 22) for label in labels],
        "textposition": [_side(x, y) for x, y in zip(xs, ys, strict=True)] if names else "top center",
        "textfont": {"size": 11},
        "marker": {
            "opacity": 1,
            "size": [11 + 5 * min(6, math.sqrt(count - 1)) for count in counts],
            "color": colours,
            "symbol": ["diamond" if i == graph["densest"] else "circle" for i in range(shown)],
            "line": {"color": "white", "width": 1.5},
        },
        "customdata": [[plain(label, 80), count, n] for label, count, n in zip(labels, counts, near, strict=True)],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]} rows, %{customdata[2]} others near<extra></extra>",
        "cliponaxis": False,
    }
    lines = {
        "type": "scatter",
        "mode": "lines",
        **edges,
        "line": {"color": "rgba(70,90,105,0.35)", "width": 1.2},
        "hoverinfo": "skip",
    }
    others = graph["rows"] - 1
    return Figure(
        key=f"worst-{graph['finding']}-{when}",
        title=f"Who is near whom in the worst group, {when}",
        about=heading,
        caption=f"The {graph['rows']:,} rows of {_named(graph, internal)} by their sensitive value; an edge joins values within "
        f"{graph['epsilon']} of each other, a larger dot stands for several rows with the same value, which are near each other "
        f"too. The diamond has the most others near it: {most:,} of {others:,}.{limit} {placed}{cut}",
        alt=f"A graph of {shown} values of the worst group with {len(graph['edges'])} edges; the densest value has {most} of "
        f"{others} others near it.",
        data=[lines, nodes],
        layout=layout,
        head=("value", "rows", "others near it"),
        rows=[(label, f"{count:,}", f"{n:,}") for label, count, n in zip(labels, counts, near, strict=True)],
        height=300 if numbers else 380,
        internal=internal,
    )


def _named(graph: Table, internal: bool) -> str:
    """A group by what it publishes; a class of the original by its quasi-identifiers."""
    cells = ", ".join(f"{name} {' '.join(str(cell).split())[:40]}" for name, cell in graph["quasi_identifiers"].items())
    return f"the class {cells}" if internal else f"group {graph['group']:,} ({cells})"


def _rings(graph: Table) -> tuple[list[float], list[float]]:
    """The densest value in the middle, those near it around, the others further out."""
    densest = graph["densest"]
    around = sorted({j if i == densest else i for i, j in graph["edges"] if densest in (i, j)})
    rest = [i for i in range(len(graph["labels"])) if i != densest and i not in around]
    xs, ys = [0.0] * len(graph["labels"]), [0.0] * len(graph["labels"])
    for ring, radius, turn in ((around, 0.5, 0.25), (rest, 1.0, 0.0)):
        for place, i in enumerate(ring):
            angle = 2 * math.pi * (place + turn) / len(ring) + math.pi / 2
            xs[i], ys[i] = round(radius * math.cos(angle), 4), round(radius * math.sin(angle), 4)
    return xs, ys


def _side(x: float, y: float) -> str:
    """Where a label stands, so that it points away from the middle."""
    up = "top" if y >= 0 else "bottom"
    return f"{up} center" if abs(x) < 0.35 else f"{up} {'right' if x > 0 else 'left'}"


def contour_plot(contour: Table, heading: str, *, internal: bool = False) -> Figure:
    """The share of groups in breach over ε and δ, with what was asked for marked."""
    when = "before" if internal else "after"
    epsilons, deltas, shares = contour["epsilons"], contour["deltas"], contour["shares"]
    asked = [deltas.index(contour["asked"][1]), epsilons.index(contour["asked"][0])]
    heat = {
        "type": "heatmap",
        "x": list(range(len(deltas))),
        "y": list(range(len(epsilons))),
        "z": [[round(100 * share, 2) for share in row] for row in shares],
        "zmin": 0,
        "zmax": 100,
        "colorscale": [[0, "#f3f7fa"], [0.35, "#a7c4d8"], [0.7, "#3f7aa3"], [1, "#12344d"]],
        "xgap": 2,
        "ygap": 2,
        "texttemplate": "%{z:.0f}",
        "textfont": {"size": 11},
        "colorbar": {"ticksuffix": " %", "thickness": 12, "outlinewidth": 0, "tickvals": [0, 50, 100]},
        "hovertemplate": "%{z:.1f} % of the groups in breach<extra></extra>",
    }
    mark = {
        "type": "scatter",
        "mode": "markers",
        "x": [asked[0]],
        "y": [asked[1]],
        "marker": {"symbol": "square-open", "size": 26, "color": BREACH, "line": {"width": 3}},
        "hovertemplate": "asked for<extra></extra>",
    }
    return Figure(
        key=f"contour-{contour['finding']}-{when}",
        title=f"Groups in breach over ε and δ, {when}",
        about=heading,
        caption=f"Percent of the {contour['groups']:,} {'classes' if internal else 'groups'} in breach, were (ε, δ) asked for as the "
        f"axes say. The red square marks what was asked: ε = {contour['asked'][0]}, δ = {contour['asked'][1]}.",
        alt=f"A heat map of the share of groups in breach over {len(epsilons)} values of ε and {len(deltas)} of δ; "
        f"{percent(shares[asked[1]][asked[0]])} at what was asked for.",
        data=[heat, mark],
        layout={
            "xaxis": axis("δ", tickvals=list(range(len(deltas))), ticktext=[plain(d) for d in deltas], showgrid=False),
            "yaxis": axis("ε", tickvals=list(range(len(epsilons))), ticktext=[plain(e) for e in epsilons], showgrid=False),
        },
        head=("ε \\ δ", *deltas),
        rows=[(epsilon, *(percent(share) for share in row)) for epsilon, row in zip(epsilons, shares, strict=True)],
        height=340,
        internal=internal,
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if len(text) > 1 else text


def _slug(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)
