"""The page of a disclosure risk: self-contained, escaped, marked as internal, and drawn from plain data alone."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from reader import Reader, check_page
from risk_shapes import EVIL, LINK, SETTINGS, content
from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.disclosure.risk_report.loss_tables import consistent_histogram, loss_histogram
from sfumato.disclosure.risk_report.risk_page import risk_page
from sfumato.reports.plots.figure import percent
from tearing import tear

MARK = "Internal: for the review board, not for publication"


@cache
def drawn(name, curves=True):
    """The page of a shape, and what is on it."""
    html = risk_page(content(name, curves))
    return html, Reader(html)


@pytest.mark.parametrize("name", SETTINGS)
class TestShapes:
    def test_what_was_found_is_on_it(self, name):
        document, (html, seen) = content(name), drawn(name)
        assert len(html.encode()) < 200_000
        for dictionary in document["dictionaries"]:
            assert f"“{dictionary['name']}”" in seen.text
            assert amount(dictionary["risk"]) in seen.text
            assert percent(dictionary["attackers"]["marketer"]) in " ".join(seen.words)
            assert dictionary["attackers"]["why"] in seen.text
        for attribute in document["attributes"]:
            assert attribute in seen.text
        assert f"The {min(20, document['records'])} record" in seen.text
        for record in document["worst_records"]:
            assert f"{record['row']:,}" in seen.words
            assert str(record["identity"]) in seen.text or record["identity"] is None
        for note in document["notes"]:
            assert note in seen.text
        for words in ("Prosecutor", "Journalist", "Marketer", "k-anonymity", "does not say", "Lebanon"):
            assert words in seen.text
        assert f"sfumato, version {document['sfumato']}" in seen.text

    def test_it_is_marked_and_promises_nothing(self, name):
        html, seen = drawn(name)
        assert html.count(MARK) >= 2, "on the page, and on top of every printed one"
        assert len(seen.of("figure")) == seen.text.count("Internal: not for publication")
        assert not re.search(r"\banonymous\b", seen.text, re.IGNORECASE)

    def test_it_is_sound(self, name):
        check_page(drawn(name)[1])

    def test_without_curves(self, name):
        """What was not requested is said to be missing; nothing else changes."""
        few, many = drawn(name, curves=False)[1], drawn(name)[1]
        assert "was not requested" in few.text
        assert "were not requested" in few.text
        assert "not requested" not in many.text
        assert len(few.of("figure")) == 2 + len(content(name)["dictionaries"])

    def test_the_same_content_the_same_bytes(self, name):
        assert risk_page(content(name)) == drawn(name)[0]


def test_figures_are_drawn_from_the_content_and_nothing_else():
    """Whatever is changed in it shows in the page."""
    assert not re.search("43.2|4,?321", drawn("prior")[1].text)
    for change in (
        lambda c: c.update(risk=4321),
        lambda c: c["dictionaries"][1].update(individuals=4321),
        lambda c: c["dictionaries"][1]["attackers"].update(marketer=0.4321),
        lambda c: c["dictionaries"][0]["attackers"]["above"].update({"0.05": 0.4321}),
        lambda c: c["worst_records"][3].update(consistent=4321),
        lambda c: c["by_attribute"][0].update(alone=0.4321),
        lambda c: c["figures"]["losses"]["records"].__setitem__(1, 4321),
        lambda c: c["figures"]["fitting"][1]["records"].__setitem__(1, 4321),
        lambda c: c["joint"][0].update(one=4321),
        lambda c: c["k_anonymity"].update(release=4321),
        lambda c: c["bounds"][0].update(true=4321),
        lambda c: c["curves"]["cells"]["lines"][2]["risks"].__setitem__(1, 4321),
        lambda c: c["curves"]["sizes"][1]["individuals"].__setitem__(1, 4321),
        lambda c: c["curves"]["scatter"][1]["points"][0].update(estimated=4321),
    ):
        other = content("prior")
        change(other)
        assert re.search("43.2|4,?321", risk_page(other))


def test_markup_in_the_data_stays_text():
    _, seen = drawn("evil")
    assert EVIL in seen.text and LINK in seen.text, "they are shown"
    check_page(seen)


def test_a_limit():
    document = content("one")
    document.update(limit="0.5", holds=False)
    assert "more than the limit, 0.5" in Reader(risk_page(document)).text
    document.update(limit="9", holds=True)
    assert "at most the limit, 9" in Reader(risk_page(document)).text


def test_points_below_the_line_are_explained():
    assert "lie on or above the dashed line" in drawn("one")[1].text
    text = drawn("no_identity")[1].text
    assert "lie on or above the dashed line" in text  # somebody who fits stands in every part
    assert "Not declared: the chance of identification" in text


def test_which_risk_bounds_which():
    text = drawn("prior")[1].text
    assert "“voter list” for “phone book”: yes. Every condition holds." in text
    assert "“phone book” for “voter list”: not known. These conditions fail: the estimate precedes" in text
    assert "bound another" not in drawn("one")[1].text


def test_what_consistency_was_asked_for():
    document = content("one")
    document["consistency"] = {name: {"kind": "jaro", "threshold": "0.8"} for name in ("town", "job")}
    text = Reader(risk_page(document)).text
    assert "Consistency town, job: jaro (threshold: 0.8)." in text
    assert "Consistency age, ill: equal values." in text


@settings(max_examples=60)
@given(st.data())
def test_what_is_torn_is_said_to_be(data):
    """Any part of the content gone or of another type: a page, or an error of ours that says what to do."""
    torn = content("prior")
    tear(data, torn, depth=5)
    try:
        assert risk_page(torn).endswith("</html>")
    except sf.errors.ReleaseError as error:
        assert error.remedy


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_who_fit_is_counted_once(sizes):
    found = consistent_histogram(np.array(sizes))
    assert sum(found["records"]) == len(sizes)
    for name, count in zip(found["bins"], found["records"], strict=True):
        ends = [int(end.replace(",", "")) for end in name.split("–")]
        assert count == sum(ends[0] <= size <= ends[-1] for size in sizes)


@given(st.lists(st.floats(1e-100, 1e12) | st.sampled_from([0.0, np.inf]) | st.floats(1e-6, 1), min_size=1, max_size=30))
def test_losses_are_counted_once(losses):
    found = loss_histogram(np.array(losses))
    assert sum(found["records"]) == len(losses)
    for name, count in zip(found["bins"], found["records"], strict=True):
        if name in ("0", "∞"):
            assert count == losses.count(0.0 if name == "0" else np.inf)
        elif name.startswith("up to "):
            assert count == sum(0 < loss <= float(name.removeprefix("up to ")) for loss in losses)
        else:
            low, high = (float(end) for end in name.split(" – "))
            near = [loss for loss in losses if low * (1 - 1e-5) < loss <= high * (1 + 1e-5)]
            inside = [loss for loss in losses if low * (1 + 1e-5) < loss <= high * (1 - 1e-5)]
            assert len(inside) <= count <= len(near), "ends are published to six digits"
