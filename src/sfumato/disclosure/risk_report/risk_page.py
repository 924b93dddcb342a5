"""The report of a disclosure risk: one self-contained page for the review board, not for publication."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.disclosure.risk_report.risk_figures import (
    bound_figure,
    cells_figure,
    consistent_figure,
    loss_figure,
    saving_figure,
    size_figure,
)
from sfumato.disclosure.risk_report.risk_text import page_text
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Figure, Numbered


def risk_page(content: Mapping[str, Any]) -> str:
    """Return the report of a disclosure risk as HTML: self-contained, the same bytes for the same content.

    `content`, as `risk_content` returns it, is plain data:

    - the content of `Risk.to_dict`: `source`, `records`, `attributes`, `identity`, `sensitivity`, `cells`, `disclosed`,
      `risk`, `over`, `bayes`, `worst`, `limit`, `holds`, `dictionaries`, `by_attribute`, `worst_records`, `notes`; an
      infinite figure is "inf";
    - `sfumato`: the version that measured it, and optionally those of `python`, `numpy`, ...;
    - `figures`: `losses`, a histogram of the losses over the records, as `bins` and the `records` in each; `fitting`, for
      each dictionary a histogram of the numbers of consistent individuals;
    - `curves`: `cells`, `RiskByCells.to_dict` or None; `sizes` and `scatter`, lists of `RiskBySize.to_dict` and of
      `TrueAgainstEstimated.to_dict`, empty if they were not requested;
    - `independence`: for each dictionary and number of values `IndependenceCost.to_dict`; empty if MinRisk does not
      apply;
    - `joint`, for each dictionary what a joint matching leaves; `k_anonymity`, its three readings; `bounds`, for each
      pair of dictionaries `RiskBound.to_dict`;
    - `consistency`, if it is not equality throughout: for an attribute its kind and parameters.
    """
    with invalid_content(
        "the figures of the risk are invalid", "Measure the risk again with this version of sfumato.", "figures"
    ):
        return _render(content)


def _render(content: Mapping[str, Any]) -> str:
    numbered = Numbered()
    drawn = {name: numbered.add(figures_of_section) for name, figures_of_section in _sections(content).items()}
    return render_page(
        Path(__file__).with_name("risk_page.html.j2"),
        numbered,
        version=str(content["sfumato"]),
        internal=True,
        content=content,
        drawn=drawn,
        words=page_text(content),
    )


def _sections(content: Mapping[str, Any]) -> dict[str, list[Figure]]:
    """The figures of each section, in the order of the page."""
    figures, curves, dictionaries = content["figures"], content["curves"], content["dictionaries"]
    against = content["worst"]["dictionary"] if content["over"] == "worst" else "Under the prior"
    return {
        "losses": [loss_figure(figures["losses"], content["worst"]["dictionary"])],
        "fitting": [
            consistent_figure(one, dictionary["name"], number)
            for number, (one, dictionary) in enumerate(zip(figures["fitting"], dictionaries, strict=True))
        ],
        "attributes": [saving_figure(content["by_attribute"], content["risk"], against)],
        "cells": [] if curves["cells"] is None else [cells_figure(curves["cells"])],
        "sizes": [
            size_figure(curve, number) for number, curve in enumerate(curves["sizes"]) if len(curve["individuals"]) > 1
        ],
        "scatter": [bound_figure(points, number) for number, points in enumerate(curves["scatter"]) if points["points"]],
    }
