"""The plots of a risk over records and attributes: who loses how much, how many individuals fit, what withholding saves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sfumato.disclosure.risk_report.loss_format import Amount, amount
from sfumato.reports.plots.figure import AFTER, BREACH, FAINT, Figure, Table, axis, percent, plain


def losses_plot(distribution: Table, against: str) -> Figure:
    """The share of records by what each is expected to lose."""
    bins, shares = distribution["bins"], _shares(distribution["records"])
    most = max(shares)
    return Figure(
        key="losses",
        title="What records are expected to lose",
        about=against,
        caption="Share of the records by their loss: how sensitive what is disclosed is, times the chance of "
        "identification. A "
        "bar holds what is above its lower end, up to its upper end.",
        alt=f"Bars: the share of records by loss; most, {percent(most)}, lose {bins[shares.index(most)]}.",
        data=[_standing(bins, shares, "lose", [BREACH if name == "∞" else AFTER for name in bins])],
        layout=_upright([name.rpartition(" – ")[2].replace("up to", "≤") for name in bins], "loss, up to"),
        head=("loss", "records", "share of the records"),
        rows=_listed(bins, distribution["records"], shares),
        height=290,
        internal=True,
    )


def fitting_plot(distribution: Table, name: str, number: int) -> Figure:
    """The share of records by how many individuals of one dictionary are consistent with them."""
    bins, shares = distribution["bins"], _shares(distribution["records"])
    colours = [BREACH if name == "1" else FAINT if name == "0" else AFTER for name in bins]
    told = f"{percent(shares[1])} of the records fit one individual only"
    starts = [name.partition("–")[0].replace(",000,000", "M").replace(",000", "k") for name in bins]
    return Figure(
        key=f"fitting-{number}",
        title="How many individuals fit a record",
        about=name,
        caption=f"Share of the records by |ρ|, the individuals of this dictionary who are consistent with what is "
        "disclosed. In red: "
        f"{told}. In grey: they fit nobody ({percent(shares[0])}).",
        alt=f"Bars: the share of records by how many individuals fit; {told}.",
        data=[_standing(bins, shares, "fit", colours)],
        layout=_upright(starts, "individuals who fit, from"),
        head=("individuals", "records", "share of the records"),
        rows=_listed(bins, distribution["records"], shares),
        height=290,
        internal=True,
    )


def attributes_plot(attributes: Sequence[Table], risk: Amount, against: str) -> Figure:
    """What withholding one attribute in every record would save, one bar each, the largest first."""
    ordered = sorted(attributes, key=lambda one: -_size(one["saves"]))
    finite = [one["saves"] for one in ordered if one["saves"] not in ("inf", None)]
    full = max([0.0, *finite]) or 1.0  # what an infinite saving is drawn as
    drawn = [full if one["saves"] == "inf" else one["saves"] or 0.0 for one in ordered]
    least, most = min([0.0, *drawn]), max([0.0, *drawn])
    reach = (most - least) or 1.0
    places = list(range(len(ordered)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": places,
        "x": drawn,
        "marker": {"color": [BREACH if _size(one["saves"]) < 0 else AFTER for one in ordered]},
        "text": [amount(one["saves"]) for one in ordered],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [plain(one["name"], 80) for one in ordered],
        "hovertemplate": "%{customdata}: %{text}<extra></extra>",
    }
    told = [
        "The fall of the risk if one attribute, and nothing else, were withheld in every record. Attributes often tell "
        "the same "
        "twice, so the savings do not add up."
    ]
    if any(_size(one["saves"]) < 0 for one in ordered):
        told.append("Below zero: withholding it would raise the risk, because records that fit nobody would fit somebody.")
    if any(one["saves"] is None for one in ordered):
        told.append("Without a figure: the risk stays infinite if that alone is withheld.")
    first = ordered[0]
    return Figure(
        key="attributes-saved",
        title="What withholding an attribute would save",
        about=against,
        caption=" ".join(told),
        alt=f"Bars: what withholding each of {len(ordered)} attributes saves; most by {first['name']}: "
        f"{amount(first['saves'])}.",
        data=[bars],
        layout={
            "xaxis": axis(None, range=[least - (0.25 * reach if least < 0 else 0), most + 0.25 * reach], nticks=5),
            "yaxis": axis(None, tickvals=places, ticktext=[plain(one["name"], 24) for one in ordered], autorange="reversed"),
            "margin": {"l": 60, "r": 36, "t": 8, "b": 36},
        },
        head=(
            "attribute",
            "saves",
            "of the risk",
            "risk without it",
            "values disclosed",
            "mean weight",
            "chance by it alone",
        ),
        rows=[
            (
                one["name"],
                amount(one["saves"]),
                _of_the_risk(one["saves"], risk),
                amount(one["without"]),
                f"{one['disclosed']:,}",
                amount(one["weight"]),
                percent(one["alone"]),
            )
            for one in ordered
        ],
        height=70 + 26 * len(ordered),
        internal=True,
    )


def _size(saves: Amount | None) -> float:
    """For the order of bars: what saves an infinite risk first, what leaves one last but for what raises the risk."""
    return math.inf if saves == "inf" else saves or 0.0


def _of_the_risk(saves: Amount | None, risk: Amount) -> str:
    if saves is None or saves == "inf" or risk == "inf" or not risk:
        return ""
    return percent(saves / risk) if saves >= 0 else "raises it"


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


def _listed(bins: Sequence[str], counts: Sequence[int], shares: Sequence[float]) -> list[tuple[str, str, str]]:
    return [(name, f"{count:,}", percent(share)) for name, count, share in zip(bins, counts, shares, strict=True)]


def _standing(bins: Sequence[str], shares: Sequence[float], verb: str, colours: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": list(range(len(bins))),
        "y": shares,
        "marker": {"color": colours},
        "customdata": list(bins),
        "hovertemplate": f"%{{y:.1%}} of the records {verb} %{{customdata}}<extra></extra>",
    }


def _upright(names: Sequence[str], title: str) -> dict[str, Any]:
    places = list(range(len(names)))
    step = -(-len(names) // 14)  # so that the names do not run into each other on a phone
    return {
        "margin": {"l": 56, "r": 12, "t": 14, "b": 48},
        "xaxis": axis(
            title, tickvals=places[::step], ticktext=names[::step], tickangle=0, tickfont={"size": 11}, showgrid=False
        ),
        "yaxis": axis("share of records", tickformat=".0%", rangemode="tozero"),
        "bargap": 0.15,
    }
