"""Plots of Figures 5 to 9 of Fang, Ashrafi & Ng (2011), drawn from their tables only. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.experiments.plan_tables import CORRECTED, PRINTED
from benchmarks.experiments.plotting import Plot, TextRow, distinct
from benchmarks.experiments.projection_tables import ANONYMIZATIONS, ATTACKS, ATTRIBUTES, CLOSENESS, TRADEOFF

_COLOURS = {PRINTED: "#e69f00", CORRECTED: "#0072b2"}
_SHADES = ("#a3335c", "#08306b", "#2171b5", "#6baed6", "#e69f00")
_MARKERS = ("o", "s", "^", "D", "v")


def plot_tradeoff(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figures 5 and 6: Γ_β against Γ_α with the knee, and both by the number of tables."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for run in (PRINTED, CORRECTED):
        selected = [row for row in rows if row["run"] == run]
        at, values = _floats(selected, "association_loss"), _floats(selected, "information_exposure")
        marker = {"marker": "o", "ms": 4} if run == PRINTED else {}
        left.plot(at, values, color=_COLOURS[run], lw=1.4, label=f"CODIP* {run}", **marker)
    for row in rows:
        if row["run"] == PRINTED:
            left.annotate(
                row["tables"], (float(row["association_loss"]), float(row["information_exposure"])),
                textcoords="offset points", xytext=(4, 3), fontsize=7, color="#777777",
            )  # fmt: skip
    (knee,) = [row for row in rows if row["knee"]]
    where = float(knee["association_loss"]), float(knee["information_exposure"])
    left.plot(*where, "*", ms=12, color="#a3335c", label=f"knee: {knee['tables']} tables")
    left.set(xlabel="association loss Γ_α", ylabel="information exposure Γ_β", title="Figure 5")
    left.legend()
    path = sorted((row for row in rows if row["run"] == PRINTED), key=lambda row: int(row["tables"]))
    tables = [int(row["tables"]) for row in path]
    right.plot(tables, _floats(path, "association_loss"), "o-", ms=4, color="#a3335c", lw=1.4, label="association loss")
    reduction = [1 - exposure for exposure in _floats(path, "information_exposure")]
    right.plot(tables, reduction, "s-", ms=4, color="#08306b", lw=1.4, label="reduction in join-threat")
    right.set(xlabel="projected tables", title="Figure 6: CODIP* as printed", ylim=(-0.03, 1.03))
    right.legend()
    figure.suptitle(_source(rows), fontsize=10)
    return figure


def plot_numbers_of_tables(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 7: the number of tables by the number of attributes, as listed and over random choices."""
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for panel, run in zip(panels, (PRINTED, CORRECTED), strict=True):
        selected = [row for row in rows if row["run"] == run and row["tables"]]
        listed = [row for row in selected if row["choice"] == "as listed"]
        sizes = sorted({int(row["size"]) for row in selected})
        spread = [[int(row["tables"]) for row in selected if int(row["size"]) == size] for size in sizes]
        lows, highs = [min(each) for each in spread], [max(each) for each in spread]
        colour = _COLOURS[run]
        panel.fill_between(sizes, lows, highs, color=colour, alpha=0.18, lw=0, label="all choices")
        panel.plot(sizes, [median(each) for each in spread], ":", color=colour, lw=1.4, label="their median")
        panel.plot(
            [int(row["size"]) for row in listed], [int(row["tables"]) for row in listed],
            "o-", ms=4, color=colour, lw=1.4, label="as listed",
        )  # fmt: skip
        panel.set(title=f"CODIP* {run}", xlabel="sensitive attributes", xlim=(2, int(rows[0]["attributes"])), ylim=(0, None))
        panel.legend(loc="upper left")
    panels[0].set_ylabel("projected tables")
    figure.suptitle(f"Figure 7: α = β = 0.3, {_source(rows)}", fontsize=10)
    return figure


def plot_closeness(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 8: the best closeness of plans under limits of discernibility, and the improvement on one table."""
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    lines = {f"N = {row['tables']}": row["tables"] for row in rows if row["chosen"] == "by dependence"}
    styles = dict(zip(lines, zip(_SHADES, _MARKERS, strict=True), strict=False))
    styles["closeness required"] = ("#2e8b57", "P")
    for at, (label, (colour, marker)) in enumerate(styles.items()):
        chosen = "by dependence" if label in lines else "for closeness"
        selected = [row for row in rows if row["closeness"] and row["chosen"] == chosen]
        if label in lines:
            selected = [row for row in selected if row["tables"] == lines[label]]
        for panel, name in zip(panels, ("closeness", "improvement"), strict=True):
            measured = [row for row in selected if row[name]]
            panel.plot(
                _floats(measured, "discernibility"), _floats(measured, name),
                color=colour, marker=marker, ms=9 - at, lw=1.4, label=label,
            )  # fmt: skip
    panels[0].set(ylabel="best closeness t", xlabel="largest discernibility, 10⁹", ylim=(0, None))
    panels[1].set(ylabel="improvement on one table", xlabel="largest discernibility, 10⁹")
    panels[0].legend()
    figure.suptitle(f"Figure 8: k = {rows[0]['k']}, {_source(rows)}", fontsize=10)
    return figure


def plot_anonymizations(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot Figure 9: the best closeness and the number of valid transformations, by k."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    places = range(len(rows))
    for at, (name, label) in enumerate(
        {
            "one_table": "all in one table",
            "for_closeness": "closeness required",
            "each_apart": "one table per attribute",
        }.items()
    ):
        measured = [(place, float(row[name])) for place, row in zip(places, rows, strict=True) if row[name]]
        left.plot(
            [place for place, _ in measured], [value for _, value in measured],
            color=("#a3335c", "#2e8b57", "#e69f00")[at], marker=("o", "P", "v")[at], ms=8 - at, lw=1.4, label=label,
        )  # fmt: skip
    left.set(ylabel="best closeness t", ylim=(0, 1.1 * left.get_ylim()[1]))
    left.legend(loc="lower left")
    right.bar(places, _floats(rows, "transformations"), color="#6baed6", width=0.6)
    for place, row in zip(places, rows, strict=True):
        right.annotate(row["transformations"], (place, float(row["transformations"])), ha="center", va="bottom", fontsize=8)
    right.set(ylabel=f"k-anonymizations of {rows[0]['of']}")
    for panel in (left, right):
        panel.set_xticks(list(places), [row["k"] for row in rows])
        panel.set_xlabel("k")
    figure.suptitle(f"Figure 9: discernibility at most {rows[0]['discernibility']}·10⁹, {_source(rows)}", fontsize=10)
    return figure


def plot_attacks(pyplot: Any, rows: Sequence[TextRow]) -> Any:
    """Plot the gains of attackers by the number of tables."""
    groups = distinct(rows, "groups")
    figure, panels = pyplot.subplots(1, len(groups), figsize=(9, 3.6), sharey=True, squeeze=False, layout="constrained")
    for panel, kind in zip(panels[0], groups, strict=True):
        selected = [row for row in rows if row["groups"] == kind]
        places = list(range(len(selected)))
        for name, label, colour, marker in (
            ("join_gain", "background join, within tables", "#a3335c", "o"),
            ("inference_gain", "inference, across tables", "#08306b", "s"),
            ("inference_truth", "inference, belief in the true value", "#6baed6", "^"),
        ):
            panel.plot(places, _floats(selected, name), color=colour, marker=marker, ms=4, lw=1.4, label=label)
        panel.set_xticks(places, [row["tables"] for row in selected])
        panel.set(title=f"{kind} groups", xlabel="projected tables")
    panels[0, 0].set_ylabel("increase in confidence, mean over pairs")
    panels[0, 0].legend()
    figure.suptitle(f"Gains of attackers, {_source(rows)}", fontsize=10)
    return figure


PLOTS: dict[str, Plot] = {
    TRADEOFF: plot_tradeoff,
    ATTRIBUTES: plot_numbers_of_tables,
    CLOSENESS: plot_closeness,
    ANONYMIZATIONS: plot_anonymizations,
    ATTACKS: plot_attacks,
}
"""The plot of each table."""


def _floats(rows: Sequence[TextRow], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def _source(rows: Sequence[TextRow]) -> str:
    return f"{int(rows[0]['rows']):,} rows of {rows[0]['source']}, {rows[0]['attributes']} sensitive attributes"
