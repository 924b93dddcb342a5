"""The plots of re-identification risk: dials, and class sizes."""

from __future__ import annotations

from sfumato.reports.plots.figure import AFTER, BEFORE, LEGEND, PALE, SPACE, Figure, Table, axis, percent


def gauges(risk: Table) -> list[Figure]:
    """The risk of the row worst off, the mean risk, and the share of rows above the first threshold."""
    before, after = risk["before"], risk["after"]
    above = list(before["above"])[0]  # noqa: RUF015 - an index that is not there is a torn figure
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
    places = list(range(len(sizes["bins"])))
    starts = [name.partition("–")[0].replace(",000,000", "M").replace(",000", "k") for name in sizes["bins"]]
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": places,
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
        f"rows with equal published cells, of one group or of several.{wanted}",
        alt="Bars: the share of rows in classes of each size, before and after; " + _mostly(sizes),
        data=traces,
        layout={
            "showlegend": True,
            "legend": LEGEND,
            "margin": {"l": 56, "r": 12, "t": 30, "b": 48},
            "xaxis": axis(
                "rows in the class, from",
                tickvals=places,
                ticktext=starts,
                tickangle=0,
                tickfont={"size": 11},
                showgrid=False,
            ),
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
