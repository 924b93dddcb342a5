"""The builders of plots: marks are where their values are, whatever the texts and the sizes of the numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reader import Reader
from sfumato.releases.figure_models import LevelHistogram
from sfumato.releases.models import PrincipleClaim
from sfumato.reports.plots.axes import amount_axis, drawable, name_axis, number_axis
from sfumato.reports.plots.chart import Chart, dial
from sfumato.reports.plots.group_figures import level_figure
from sfumato.reports.plots.svg import AFTER, BEFORE, element, marker, text_width

SIZES = st.lists(st.floats(0.001, 1), min_size=1, max_size=12)


def shapes_of(drawing, tag, kind=""):
    page = Reader(f'<div class="plot" id="plot-x">{drawing.markup("a label of a plot that says something")}</div>')
    return page.shapes("x", tag, kind)


def percent_of(text):
    assert text.endswith("%")
    return float(text[:-1])


@given(SIZES)
def test_upright_bars_are_as_high_as_their_values(sizes):
    chart = Chart(name_axis([str(i) for i in range(len(sizes))]), number_axis(0, 1, percent=True), 200)
    chart.bars(range(len(sizes)), sizes, AFTER, [f"{size}" for size in sizes])
    bars = shapes_of(chart.drawing(), "rect", AFTER)
    assert [float(bar["height"]) for bar, _ in bars] == pytest.approx([200 * size for size in sizes], abs=0.01)
    bottoms = [float(bar["y"]) + float(bar["height"]) for bar, _ in bars]
    assert bottoms == pytest.approx([bottoms[0]] * len(sizes), abs=0.02)
    assert [text for _, text in bars] == [f"{size}" for size in sizes]


@given(SIZES)
def test_lying_bars_are_as_long_as_their_values_and_the_first_is_on_top(sizes):
    chart = Chart(number_axis(0, 1), name_axis([str(i) for i in range(len(sizes))], backwards=True), 200)
    chart.bars(range(len(sizes)), sizes, AFTER, [""] * len(sizes), lying=True)
    bars = [bar for bar, _ in shapes_of(chart.drawing(), "rect", AFTER)]
    assert [percent_of(bar["width"]) for bar in bars] == pytest.approx([100 * size for size in sizes], abs=0.01)
    tops = [float(bar["y"]) for bar in bars]
    assert tops == sorted(tops)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=9), st.booleans())
def test_amounts_keep_their_order_and_infinite_ones_are_left_out(values, infinite):
    amounts = [*values, *(["inf"] if infinite else [])]
    axis = amount_axis(amounts, "risk")
    chart = Chart(number_axis(0, len(amounts)), axis, 100)
    chart.points(range(len(amounts)), drawable(amounts, axis), AFTER, [""] * len(amounts))
    heights = [-float(point["cy"]) for point, _ in shapes_of(chart.drawing(), "circle")]
    assert len(heights) == len(values)
    for one, other in zip(range(len(values)), range(1, len(values)), strict=False):
        if values[one] < values[other]:
            assert heights[one] <= heights[other]


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12))
def test_ticks_are_within_their_axis(low, length):
    axis = number_axis(low, low + length)
    assert len(axis.ticks) <= 21
    for value, text in axis.ticks:
        assert text
        assert -0.001 <= axis.place(value) <= 1.001


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_dial_is_filled_up_to_its_value(value, mark):
    paths = [path["d"] for path, _ in shapes_of(dial(value, mark, "", "", AFTER, BEFORE), "path", AFTER)]
    if not value:
        assert not paths
        return
    end = [float(number) for number in paths[0].rsplit(" ", 2)[1:]]
    angle = math.atan2(72 - end[1], end[0] - 75)
    assert 1 - max(angle, 0) / math.pi == pytest.approx(value, abs=0.005)


@given(st.text(max_size=30))
def test_any_text_stays_text(text):
    for markup in (marker("circle", "5%", 3, 8, AFTER, text), marker("star", "5%", 3, 8, AFTER, text)):
        page = Reader(f'<div class="plot" id="plot-x">{element("svg", markup)}</div>')
        assert {tag for tag, _ in page.tags} <= {"div", "svg", "circle", "path", "title"}
    assert text_width(text) >= 0


def test_a_level_figure_labels_bins_by_their_ends_and_counts_its_own_part():
    claim = PrincipleClaim.model_validate(
        {
            "name": "dissimilarity", "label": "d", "parameters": {}, "attribute": "x", "distance": "lp", "holds": False,
            "measured": {"risk": 1, "k": 1}, "exact": {"risk": "1", "k": "1"},
            "wanted": {"risk": "at most 0.2", "k": "at least 10"}, "violating_groups": 6, "violating_rows": 6,
            "vulnerability": 1.0, "monotone": False, "worst_groups": [],
        }
    )  # fmt: skip
    histogram = LevelHistogram.model_validate(
        {
            "finding": 0, "part": "risk", "relation": "at most", "threshold": "0.2", "width": 0.05,
            "values": [0.175, 0.975], "groups": [2, 4], "breaching": [0, 4], "infinite": 0,
        }
    )  # fmt: skip
    figure = level_figure(histogram, claim, "dissimilarity", internal=True)
    assert [row[0] for row in figure.rows] == ["0.15 – 0.2", "0.95 – 1"]
    assert "4 of 6 in breach of it; classes that fail only by k are not counted here." in figure.caption
