"""The pages of a projected release: what may be published of a plan, what may not, and that plain data is sufficient."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from projection_shapes import EVIL, LINK, SHAPES, contents, document, projection
from reader import Reader, check_page
from sfumato.projections.projection_page import internal_page, public_page
from sfumato.projections.projection_tables import attribute_pairs, published_dependence, shared_fraction
from sfumato.releases.model_base import as_json
from sfumato.reports.plots.figure import percent
from sfumato.reports.plots.svg import both_ends
from tearing import tear

MARK = "Internal: for the review board, not for publication"


@cache
def drawn(name, internal=False):
    """The page of a shape, and what is on it."""
    content, private = contents(name)
    html = internal_page(document(content), private) if internal else public_page(document(content))
    return html, Reader(html)


@pytest.mark.parametrize("internal", [False, True], ids=["public", "internal"])
@pytest.mark.parametrize("name", SHAPES)
class TestShapes:
    def test_what_was_published_is_on_it(self, name, internal):
        content, _ = contents(name)
        html, seen = drawn(name, internal)
        assert len(html.encode()) < 500_000
        for attribute in content["attributes"]:
            assert attribute in seen.text
        for one in content["thresholds"]:
            assert f"{one['measured']:.2f}" in seen.words
        for number, table in enumerate(content["tables"], 1):
            assert f"{number}: {', '.join(table['attributes'])}" in seen.text
            assert f"{table['groups']:,}" in seen.words
            assert percent(table["utility"]["loss"]["mean"]) in " ".join(seen.words)
            for claim, said in zip(table["principles"], table["figures"]["words"], strict=True):
                assert claim["label"] in seen.text
                assert " ".join(said["not_protected"].split()) in seen.text
        for note in content["notes"]:
            assert note in seen.text
        assert f"sfumato, version {content['sfumato']}" in seen.text

    def test_it_is_marked_and_makes_no_promise(self, name, internal):
        html, seen = drawn(name, internal)
        marked = seen.text.count("Internal: not for publication")
        if internal:
            assert html.count(MARK) >= 2, "on the page, and on top of every printed one"
            assert 0 < marked < len(seen.of("figure"))
        else:
            assert MARK not in html
            assert not marked
        assert not re.search(r"\banonymous\b", seen.text, re.IGNORECASE)
        assert "does not protect against" in seen.text

    def test_it_is_sound(self, name, internal):
        check_page(drawn(name, internal)[1])


@pytest.mark.parametrize("name", SHAPES)
def test_the_public_page_shows_no_pair_in_different_tables(name):
    """Neither in the map nor in its numbers; within a table it shows each pair."""
    content, _ = contents(name)
    seen = drawn(name)[1]
    table = {attribute: number for number, block in enumerate(content["plan"]) for attribute in block}
    order = [attribute for block in content["plan"] for attribute in block]
    pairs = list(combinations(order, 2))
    together = sum(table[one] == table[other] for one, other in pairs)
    shown, apart = (seen.shapes("dependence-published", "rect", kind) for kind in ("heat", "apart"))
    assert (len(shown), len(apart)) == (2 * together, 2 * (len(pairs) - together)), "each pair has two cells"
    assert all("kept apart" in text for _, text in apart)
    several = len(content["plan"]) > 1
    assert seen.text.count("not published") >= sum(table[a] != table[b] for a, b in combinations(order, 2))
    assert ("kept apart" in seen.text) == several
    assert not {"tradeoff", "dependence-original", "attack-joins", "attack-inferences"} & seen.plots.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_the_internal_page_shows_all(name):
    content, private = contents(name)
    seen = drawn(name, True)[1]
    attributes = len(content["attributes"])
    assert len(seen.shapes("dependence-original", "rect", "heat")) == attributes * (attributes - 1)
    assert not seen.shapes("dependence-original", "rect", "apart")
    assert "tradeoff" in seen.plots
    assert private["tradeoff"]["knee"]["label"] in seen.text
    for one in private["thresholds"]:
        assert f"{one['measured']:.6f}" in seen.text
    assert ("attack-joins" in seen.plots) == any(len(block) > 1 for block in content["plan"])
    assert ("attack-inferences" in seen.plots) == (len(content["plan"]) > 1)
    if private["search"] is None:
        assert "The plan was given, so there was no search." in seen.text
    else:
        assert all(step[1:] in seen.text for step in private["search"]["steps"])
    for one in private["attacks"]["warnings"][:15]:
        assert " and ".join(one["attributes"]) in seen.text
    for table in private["tables"]:
        assert [claim["measured"] for claim in table["principles"]]


def test_limitations():
    """Only those that apply to the release."""
    within, between = "Background knowledge, within a table", "Dependent attributes, in different tables"
    texts = {name: drawn(name)[1].text for name in SHAPES}
    assert within in texts["whole"] and between not in texts["whole"]
    assert within not in texts["apart"] and between in texts["apart"]
    assert "declared harmless" in texts["sets"] and "declared harmless" not in texts["knee"]
    assert "The plan was given by the publisher." in texts["given"]
    assert "the knee of the trade-off was taken" in texts["knee"]
    assert "Requested: association loss at most 0.8 and information exposure at most 0.5." in texts["sets"]
    assert "No threshold on the two ratios was requested." in texts["given"]
    assert "The requirements led to a single table" in texts["whole"]


def test_the_items_of_a_set_are_named():
    content, _ = contents("sets")
    text = drawn("sets")[1].text
    assert "has is a set. Each of its 3 items is a column, 1 where" in text
    together = any(sum(bit in block for bit in content["sets"]["has"]) > 1 for block in content["plan"])
    assert ("has (set)" in text) == together


def test_figures_are_drawn_from_the_content_and_nothing_else():
    """Whatever is changed in it shows in the page."""
    assert not re.search(r"43\.2|0\.43|4,?321", drawn("sets", True)[1].text)
    content, private = contents("sets")
    several = next(n for n, table in enumerate(content["tables"]) if len(table["attributes"]) > 1)
    public = (
        lambda c: c["thresholds"][0].update(measured=0.43),
        lambda c: c["tables"][0].update(groups=4321),
        lambda c: c["tables"][0]["utility"]["loss"].update(mean=0.4321),
        lambda c: c["tables"][0]["principles"][0]["measured"].update(k=4321),
        lambda c: c["tables"][several]["dependence"]["information"][0].__setitem__(1, 4321.0),
        lambda c: c["tables"][several]["dependence"]["information"][1].__setitem__(0, 4321.0),
    )
    shown = 0
    for change in public:
        other = contents("sets")[0]
        change(other)
        shown += bool(re.search(r"43\.2|0\.43|4,?321|4\.32e", public_page(document(other))))
    assert shown == len(public) - 1, "of a symmetric matrix the upper half is shown"
    for change in (
        lambda i: i["tradeoff"]["points"][0].update(association_loss=0.4321),
        lambda i: i["dependence"]["entropy"].__setitem__(0, 1e9) or i["dependence"]["information"][0].__setitem__(1, 4321.0),
        lambda i: i["attacks"]["attacks"]["background-join"]["joins"][0]["after"].update(certain=4321),
        lambda i: i["attacks"]["attacks"]["intersection"]["inferences"][0]["after"].update(mean=0.4321),
        lambda i: i["attacks"]["attacks"]["intersection"]["links"][0].update(mean=0.4321),
        lambda i: i["attacks"]["warnings"][0].update(share=0.4321),
        lambda i: i["search"]["reachable_plans"][0].update(information_exposure=0.4321),
        lambda i: i["tables"][0]["principles"][0]["measured"].update(k=4321),
    ):
        other = contents("sets")[1]
        change(other)
        assert re.search(r"43\.2|0\.43|4,?321|4\.32e", internal_page(document(content), other))
    assert private == contents("sets")[1]


@pytest.mark.parametrize("internal", [False, True], ids=["public", "internal"])
def test_markup_in_the_data_stays_text(internal):
    _, seen = drawn("evil", internal)
    assert EVIL in seen.text and LINK in seen.text, "they are shown"
    check_page(seen)


@settings(max_examples=60)
@given(st.data())
def test_corrupt_content_is_reported(data):
    """If any part of the content is missing or of another type, the result is a page or an error that says what to do."""
    content, private = contents("knee")
    tear(data, content if data.draw(st.booleans()) else private, depth=6)
    try:
        assert internal_page(document(content), private).endswith("</html>")
    except sf.errors.ReleaseError as error:
        assert error.remedy
    except ValidationError as error:  # `Manifest.read` turns it into a ReleaseError
        assert error.errors()


class TestFolder:
    def test_it_is_drawn_again_byte_for_byte(self, tmp_path):
        folder = projection("knee").save(tmp_path / "release", internal=tmp_path / "internal.html")
        assert sf.report(folder).encode() == (folder / "report.html").read_bytes()
        assert (tmp_path / "internal.html").stat().st_mode & 0o077 == 0
        with pytest.raises(sf.errors.ReleaseError, match="sfumato project CONFIG --output FOLDER --internal FILE"):
            sf.report(folder, projection("knee").source.data)

    def test_not_from_files_that_were_changed(self, tmp_path):
        folder = projection("given").save(tmp_path / "release")
        with (folder / "table_2.csv").open("a", encoding="utf-8") as file:
            file.write("\n")
        with pytest.raises(sf.errors.ReleaseError, match=r"table_2\.csv"):
            sf.report(folder)

    def test_a_custom_distance(self, tmp_path):
        """The page is drawn without the function too, because only the function could decide; not if another check fails."""
        data = pa.table(
            {"age": [i % 9 for i in range(60)], "x": [i % 20 for i in range(60)], "y": [i % 13 for i in range(60)]}
        )
        schema = sf.Schema(["age"], ["x", "y"], distance=sf.distances.Custom(lambda a, b: abs(a - b)))
        found = sf.project(data, schema, sf.Dissimilarity(1, "0.2", 5, on="each"), alpha=1, beta=0)
        folder = found.save(tmp_path / "release")
        assert not sf.verify(folder)
        assert sf.report(folder) == sf.report(folder, schema=schema) == (folder / "report.html").read_text(encoding="utf-8")

    def test_not_what_verifying_refutes(self, tmp_path):
        folder = projection("given").save(tmp_path / "release")
        path = folder / "release.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        content["tables"][0]["principles"][0]["measured"]["k"] = 40
        path.write_text(as_json(content), encoding="utf-8")
        with pytest.raises(sf.errors.ReleaseError, match="failed verification"):
            sf.report(folder)


@given(st.text(min_size=1, max_size=60), st.integers(5, 40))
def test_a_long_name_keeps_both_ends(name, longest):
    shown = both_ends(name, longest)
    assert shown.isprintable() and len(shown) <= max(longest, len("(empty)"))
    if name.isascii() and name.isalnum():
        assert shown == name if len(name) <= longest else (len(shown) == longest and shown[-1] == name[-1])


@given(st.floats(0, 8), st.floats(0, 4), st.floats(0, 4))
def test_shared_fraction(bits, one, other):
    part = shared_fraction(bits, one, other)
    assert 0 <= part <= 1
    assert part == shared_fraction(bits, other, one)
    if 0 < one <= other and bits <= one:
        assert part == bits / one


def test_pairs_are_sorted_by_what_they_share():
    content, private = contents("knee")
    found = attribute_pairs(private["dependence"], content["plan"])
    names = private["dependence"]["names"]
    assert len(found) == len(names) * (len(names) - 1) // 2
    assert [pair["share"] for pair in found] == sorted((pair["share"] for pair in found), reverse=True)
    assert {found[0]["one"], found[0]["other"]} == {"job", "pay"}, "pay is a function of job"
    assert found[0]["share"] == pytest.approx(1)
    texts = attribute_pairs(published_dependence(document(content)), content["plan"])
    assert [pair["bits"] is None for pair in texts] == sorted(pair["bits"] is None for pair in texts)


@pytest.mark.parametrize(("shape", "said"), [("apart", True), ("knee", False), ("whole", False)])
def test_the_criterion_is_stated_if_both_thresholds_were_given(shape, said):
    content, _ = contents(shape)
    assert ("the one with the smallest association loss was chosen" in public_page(document(content))) is said


def test_other_attacks_are_shown_with_their_assumptions():
    """The internal report shows only the attacks that ran; those without figures as plain data."""
    content, private = contents("knee")
    private["attacks"]["attacks"] = {"most-frequent": {"assumptions": "The attacker guesses.", "success": 0.4321}}
    text = Reader(internal_page(document(content), private)).text
    assert "most-frequent" in text and "The attacker guesses." in text and "0.4321" in text
    assert "Background knowledge joined with a table" not in text
    assert "Tables joined with each other" not in text
