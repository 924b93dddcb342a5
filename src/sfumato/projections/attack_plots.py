"""The plot of an attack on several tables: how sure an attacker is of a secret before and after he uses what he knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.reports.plots.figure import BEFORE, BREACH, FAINT, LEGEND, Figure, Table, axis, both_ends, percent, plain

DRAWN = 15
"""The most attacks that are drawn, worst first; the numbers below list more."""
_TICK = {"size": 12, "color": FAINT, "symbol": "line-ns-open", "line": {"width": 2}}
LISTED = 120
"""The most attacks that are listed."""


def joins_plot(joins: Sequence[Table]) -> Figure:
    """What knowing some attributes of a person tells of another in the same table."""
    return _attack_plot(
        "joins",
        "Who knows one secret of a person, and looks for another in the same table",
        "The attacker knows the person’s group, and the attribute named first; he guesses the one named second.",
        [{**join, "from": " + ".join(join["known"]), "tables": f"{join['table'] + 1}"} for join in joins],
    )


def inferences_plot(inferences: Sequence[Table]) -> Figure:
    """What an attribute of one table tells of one in another, to who knows how the two depend."""
    return _attack_plot(
        "inferences",
        "Who knows how attributes depend, and combines two tables",
        "The attacker knows the person’s group in both tables, and how the two attributes depend on each other in general, "
        "from a survey, say; he knows no secret of the person. He guesses the attribute named second by the one named "
        "first.",
        [{**one, "from": one["helper"], "tables": f"{one['helper_table'] + 1}, {one['table'] + 1}"} for one in inferences],
    )


def _attack_plot(key: str, title: str, assumed: str, attacks: Sequence[Table]) -> Figure:
    drawn, worst = attacks[:DRAWN], attacks[0]
    places = list(range(len(drawn)))
    more = f" The {len(drawn)} worst of {len(attacks):,} are drawn." if len(attacks) > len(drawn) else ""
    return Figure(
        key=f"attack-{key}",
        title=title,
        caption=f"{assumed} Dots: the confidence in the likeliest value, on average over people, by the groups alone "
        f"(ochre) and with that knowledge (red). The tick is the highest confidence that he reaches of anybody.{more}",
        alt=f"Dots: the mean confidence of an attacker before and after, for {len(drawn)} pairs of attributes. The worst: "
        f"{worst['from']} tells {worst['target']}, from {percent(worst['before']['mean'])} to "
        f"{percent(worst['after']['mean'])}; certain of {worst['after']['certain']:,} people.",
        data=[
            _gains(drawn),
            _points(drawn, "before", "mean", "groups alone", {"size": 10, "color": BEFORE}),
            _points(drawn, "after", "mean", "with what he knows", {"size": 10, "color": BREACH, "symbol": "diamond"}),
            _points(drawn, "after", "largest", "highest", _TICK),
        ],
        layout={
            "showlegend": True,
            "legend": {**LEGEND, "xref": "container", "y": 0.995, "yref": "container", "yanchor": "top"},
            "margin": {"l": 60, "r": 14, "t": 62, "b": 36},
            "xaxis": axis(None, tickformat=".0%", range=[0, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], tickangle=0),
            "yaxis": axis(
                None, tickvals=places, tickfont={"size": 11}, showgrid=True, range=[len(drawn) - 0.4, -0.6],
                ticktext=[f"{both_ends(one['from'], 22)}<br>→ {both_ends(one['target'], 20)}" for one in drawn],
            ),
        },
        head=("known", "guessed", "tables", "mean before", "mean after", "highest before", "highest after", "certain before",
              "certain after", "of people"),
        rows=[
            (
                one["from"],
                one["target"],
                one["tables"],
                percent(one["before"]["mean"]),
                percent(one["after"]["mean"]),
                percent(one["before"]["largest"]),
                percent(one["after"]["largest"]),
                f"{one['before']['certain']:,}",
                f"{one['after']['certain']:,}",
                f"{one['people']:,}",
            )
            for one in attacks[:LISTED]
        ],
        height=136 + 36 * len(drawn),
        internal=True,
    )  # fmt: skip


def _gains(drawn: Sequence[Table]) -> dict[str, Any]:
    """A line from each confidence before to that after."""
    ends: dict[str, list[float | None]] = {"x": [], "y": []}
    for at, one in enumerate(drawn):
        ends["x"] += [one["before"]["mean"], one["after"]["mean"], None]
        ends["y"] += [at, at, None]
    line = {"color": FAINT, "width": 2}
    return {"type": "scatter", "mode": "lines", **ends, "line": line, "hoverinfo": "skip", "showlegend": False}


def _points(drawn: Sequence[Table], when: str, key: str, name: str, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [one[when][key] for one in drawn],
        "y": list(range(len(drawn))),
        "marker": {"opacity": 1, **marker},
        "customdata": [
            [plain(one["from"], 50), plain(one["target"], 50), f"{one[when]['certain']:,}", f"{one['people']:,}"]
            for one in drawn
        ],
        "hovertemplate": "%{customdata[0]} tells %{customdata[1]}: %{x:.1%}, certain of %{customdata[2]} of "
        f"%{{customdata[3]}}<extra>{name}</extra>",
        "cliponaxis": False,
    }
