"""The plot of vulnerability: the share of groups in breach over ε and δ."""

from __future__ import annotations

from sfumato.reports.plots.figure import BREACH, Figure, Table, axis, percent, plain


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
        caption=f"Percent of {_of(contour, internal)} in breach, were ε and δ as the axes say. The red square marks what "
        f"was asked: ε = {contour['asked'][0]}, δ = {contour['asked'][1]}.",
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


def _of(contour: Table, internal: bool) -> str:
    groups = f"{contour['groups']:,} {'classes' if internal else 'groups'}"
    return f"a sample of {groups}, since the distance takes long," if contour["sampled"] else f"the {groups}"
