"""The page: self-contained, escaped, drawn from release.json alone, and the same every time; and where it may be written."""

from __future__ import annotations

import json
import re
from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from commandline import sfumato
from reader import Reader, check_page
from release_kinds import MAKERS, PEOPLE
from report_shapes import EVIL, SCRIPTS, SHAPES
from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.releases.digests import digest
from sfumato.releases.kinds import KINDS
from sfumato.releases.model_base import as_json
from sfumato.releases.models import GroupedDocument
from sfumato.reports.grouped_page import grouped_page
from standin import Chunks
from tearing import tear

MARK = "Internal: for the review board, not for publication"


def content_of(release):
    """What release.json says, as it is read."""
    return json.loads(json.dumps(release.to_dict(), allow_nan=False, default=str))


def page(content, internal=None):
    """Draw plain data, as a reader of release.json does."""
    return grouped_page(GroupedDocument.of(content), internal)


@cache
def drawn(name):
    """The page of a shape, and what is on it; read once, for it is long."""
    html = page(content_of(SHAPES[name]()))
    return html, Reader(html)


@pytest.mark.parametrize("name", SHAPES)
class TestShapes:
    @pytest.fixture
    def content(self, name):
        return content_of(SHAPES[name]())

    @pytest.fixture
    def html(self, name):
        return drawn(name)[0]

    @pytest.fixture
    def seen(self, name):
        return drawn(name)[1]

    def test_everything_is_on_it(self, content, html, seen):
        assert len(html.encode()) < 300_000
        for said in content["figures"]["words"]:
            assert said["not_protected"]
            for part in ("definition", "not_protected", "source", "plain"):
                assert " ".join(said[part].split()) in seen.text
        for note in content["notes"]:
            assert note in seen.text
        for words in (
            "Recital 26",
            "WP216",
            "Singling out",
            "Linkability",
            "Inference",
            "164.514",
            "Journalist",
            "Marketer",
        ):
            assert words in seen.text
        for column in content["columns"]:
            assert column["name"] in seen.text
        assert f"sfumato, version {content['sfumato']}" in seen.text
        assert MARK not in html
        assert "internal: not for publication" not in seen.text.lower()
        assert {row["attack"] for row in content["figures"]["attacks"]} <= set(seen.text.split())

    def test_it_promises_nothing_that_it_cannot(self, seen):
        assert not re.search(r"\banonymous\b", seen.text, re.IGNORECASE)

    def test_it_is_sound(self, seen):
        check_page(seen)

    def test_the_same_content_the_same_bytes(self, content, html):
        assert page(content) == html

    def test_internal(self, name, content, seen):
        release = SHAPES[name]()
        figures = internal_figures(release.private.original, release.audit, release.recodings)
        html = page(content, figures)
        assert html.count(MARK) >= 2, "on the page, and on top of every printed one"
        internal = Reader(html)
        check_page(internal)
        assert internal.plots.keys() >= seen.plots.keys()


def test_figures_are_drawn_from_the_tables_and_nothing_else():
    """Whatever is changed in a table shows in the page."""
    content = content_of(SHAPES["numbers"]())
    assert not re.search("43.2|4321", drawn("numbers")[1].text)
    for key, change in {
        "risk": lambda t: t["after"].update(mean=0.4321),
        "sizes": lambda t: t["after"].__setitem__(0, 0.4321),
        "levels": lambda t: t[0]["groups"].__setitem__(0, 4321),
        "neighbourhoods": lambda t: t[0]["labels"].__setitem__(0, "4321"),
        "columns": lambda t: t[0]["before"].__setitem__(0, 0.4321),
        "errors": lambda t: t["by"][0].update(median=0.4321),
        "contours": lambda t: t[0]["shares"][0].__setitem__(0, 0.4321),
    }.items():
        other = json.loads(json.dumps(content))
        change(other["figures"][key])
        html = page(other)
        assert re.search("43.2|4,?321", html), key


def test_markup_in_the_data_stays_text():
    _, seen = drawn("evil")
    assert EVIL in seen.text, "it is shown"
    check_page(seen)


def test_any_script():
    assert all(name in drawn("scripts")[1].text for name in SCRIPTS)


def test_missing_sections_say_why():
    text = drawn("no_secret")[1].text
    assert "No principle about sensitive values was requested" in text
    assert "there is no ε around which to draw it" in text
    text = drawn("several")[1].text
    assert "so no neighbour graph is drawn" in text
    text = drawn("tiny")[1].text
    assert "The table has too few rows to publish a distribution" in text


def test_figures_left_out_for_people_are_not_called_unrequested():
    text = drawn("people")[1].text
    assert "requested, so" not in text
    assert "was not requested" not in text
    assert text.count("left out, because") == 3, "verdicts, sensitive values, contour"
    assert "--key key.json" in text


def test_a_principle_of_ones_own():
    class Even(sf.KAnonymity):
        """Every group is even.

        Does not protect against anything.
        """

        name = "even"

    data = pa.table({"age": [20, 21, 22, 23]})
    release = sf.anonymize(data, sf.Schema(["age"]), Even(2), method=Chunks(2))
    text = Reader(page(content_of(release))).text
    assert "Every group is even." in text
    assert "Does not protect against anything." in text


def test_no_threshold_of_risk():
    content = content_of(SHAPES["numbers"]())
    content["figures"]["risk"]["before"]["above"] = {}
    with pytest.raises(sf.errors.ReleaseError, match="the figures are invalid"):
        page(content)


@settings(max_examples=60)
@given(st.data())
def test_invalid_content_is_reported(data):
    """Any part of the content gone or of another type: a page, or an error of ours that says what to do."""
    content = content_of(SHAPES["numbers"]())
    tear(data, content, depth=5)
    try:
        assert page(content).endswith("</html>")
    except sf.errors.ReleaseError as error:
        assert error.remedy
    except ValidationError:
        pass  # the reader of release.json reports it


def claim(folder, change):
    """Change what a release.json claims."""
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(as_json(content), encoding="utf-8")


class TestFolder:
    @pytest.fixture
    def original(self):
        return SHAPES["numbers"]().private.original.data

    @pytest.fixture
    def folder(self, tmp_path):
        return SHAPES["numbers"]().save(tmp_path / "release")

    def test_the_report_is_listed_and_verified(self, folder):
        files = json.loads((folder / "release.json").read_text(encoding="utf-8"))["files"]
        assert files["report.html"] == digest(folder / "report.html").to_dict()
        assert sf.verify(folder).holds
        report = folder / "report.html"
        report.write_text(report.read_text(encoding="utf-8").replace("holds", "hoIds", 1), encoding="utf-8")
        failed = [check for check in sf.verify(folder).checks if check.holds is False]
        assert [check.detail for check in failed] == ["report.html: the file was changed after it was written"]
        report.unlink()
        with pytest.raises(sf.errors.ReleaseError, match="the report is missing"):
            sf.verify(folder)

    def test_a_release_without_one_stays_valid(self, folder):
        path = folder / "release.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        del content["files"]["report.html"]
        path.write_text(as_json(content), encoding="utf-8")
        (folder / "report.html").unlink()
        assert sf.verify(folder).holds
        assert "report.html" not in sf.report(folder)

    def test_a_file_that_leads_elsewhere_is_refused(self, folder):
        path = folder / "release.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        content["files"]["../secret"] = {"sha256": "", "bytes": 0}
        path.write_text(as_json(content), encoding="utf-8")
        with pytest.raises(sf.errors.ReleaseError, match="optionally report"):
            sf.verify(folder)

    def test_it_is_drawn_again_byte_for_byte(self, folder):
        assert sf.report(folder).encode() == (folder / "report.html").read_bytes()

    def test_not_from_files_that_were_changed(self, folder):
        with (folder / "data.csv").open("a", encoding="utf-8") as file:
            file.write("\n")
        with pytest.raises(sf.errors.ReleaseError, match=r"data\.csv: the file was changed"):
            sf.report(folder)

    def test_not_what_verifying_refutes(self, folder):
        """Who can change release.json can change what it claims, and the checksums with it."""
        claim(folder, lambda content: content["principles"][1]["measured"].update(risk=0.01))
        with pytest.raises(sf.errors.ReleaseError, match=r"release\.json states measured ="):
            sf.report(folder)

    def test_internal_from_the_folder_is_internal_from_the_release(self, tmp_path, original):
        path = tmp_path / "internal.html"
        folder = SHAPES["numbers"]().save(tmp_path / "out", internal=path, key=tmp_path / "key.json")
        assert path.read_text(encoding="utf-8") == sf.report(folder, original, key=tmp_path / "key.json")
        assert "one possible assignment of people to groups" in sf.report(folder, original)
        assert sorted(p.name for p in folder.iterdir()) == ["data.csv", "release.json", "report.html"]

    def test_not_of_another_original(self, folder, original):
        with pytest.raises(sf.errors.ReleaseError, match="failed verification"):
            sf.report(folder, original.slice(1))

    def test_where_an_internal_report_may_not_go(self, tmp_path, folder):
        release = SHAPES["numbers"]()
        (tmp_path / "taken.html").write_text("mine", encoding="utf-8")
        (tmp_path / "link").symlink_to(tmp_path / "new")
        for path, problem in {
            "new/internal.html": "inside the release",
            "new/deep/internal.html": "inside the release",
            "release/internal.html": "inside the release",
            "link/internal.html": "inside the release",
            "taken.html": "something exists here already",
            "nowhere/internal.html": "its parent is not a folder",
            ".": "this is a folder",
        }.items():
            with pytest.raises(sf.errors.FileError, match=problem):
                release.save(tmp_path / "new", internal=tmp_path / path)
            assert not (tmp_path / "new").exists(), "nothing is published before that is settled"
        assert (tmp_path / "taken.html").read_text(encoding="utf-8") == "mine"
        with pytest.raises(sf.errors.FileError, match="not a report"):
            release.save(tmp_path / "release", internal=tmp_path / "taken.html", force=True)
        for _ in range(2):
            release.save(tmp_path / "release", internal=tmp_path / "ours.html", force=True)
        assert MARK in (tmp_path / "ours.html").read_text(encoding="utf-8")

    def test_a_distance_of_ones_own(self, tmp_path):
        data = pa.table({"age": [i % 9 for i in range(60)], "x": [i % 20 for i in range(60)]})
        schema = sf.Schema(["age"], ["x"], distance=sf.distances.Custom(lambda a, b: abs(a - b)))
        release = sf.anonymize(data, schema, sf.Dissimilarity(1, "0.3", 5), method=Chunks(12))
        key = tmp_path / "key.json"
        folder = release.save(tmp_path / "out", internal=tmp_path / "one.html", key=key)
        assert sf.report(folder) == (folder / "report.html").read_text(encoding="utf-8")
        with pytest.raises(sf.errors.ReleaseError):
            sf.report(folder, data)
        assert sf.report(folder, data, schema=schema, key=key) == (tmp_path / "one.html").read_text(encoding="utf-8")
        assert sf.report(folder, schema=schema) == sf.report(folder)
        claim(folder, lambda content: content["principles"][0]["measured"].update(risk=0.01))
        assert sf.report(folder), "only the function could tell"
        with pytest.raises(sf.errors.ReleaseError, match=r"release\.json states measured ="):
            sf.report(folder, schema=schema)
        claim(folder, lambda content: content.update(groups=content["groups"] + 1))
        with pytest.raises(sf.errors.ReleaseError, match=r"release\.json states"):
            sf.report(folder)


class TestCommandLine:
    @pytest.fixture
    def project(self, tmp_path):
        def run(*arguments):
            return sfumato(*arguments, cwd=tmp_path)

        rows = "\n".join(f"{20 + i % 12},{i % 7}" for i in range(60))
        (tmp_path / "people.csv").write_text(f"age,x\n{rows}\n", encoding="utf-8")
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "sfumato.toml").write_text(
            '[data]\npath = "../people.csv"\n[columns.age]\nrole = "quasi-identifier"\n[columns.x]\nrole = "sensitive"\n'
            '[[principles]]\nname = "dissimilarity"\nepsilon = 1\ndelta = "0.3"\nk = 5\n'
            '[output]\npath = "../release"\ninternal = "../internal.html"\nkey = "../key.json"\n',
            encoding="utf-8",
        )
        return run, tmp_path

    def test_both_reports(self, project):
        run, folder = project
        done = run("anonymize", "deep/sfumato.toml")
        assert done.returncode == 0, done.stderr
        assert "Do not publish it" in done.stdout
        internal = (folder / "internal.html").read_bytes()
        original = ("--original", "people.csv", "--config", "deep/sfumato.toml", "--key", "key.json")
        again = run("report", "release", *original, "--output", "two.html")
        assert again.returncode == 0, again.stderr
        assert (folder / "two.html").read_bytes() == internal
        assert run("report", "release", "--output", "public.html").returncode == 0
        assert (folder / "public.html").read_bytes() == (folder / "release" / "report.html").read_bytes()
        taken = run("report", "release", "--output", "public.html")
        assert taken.returncode == 2
        assert "something exists here already" in taken.stderr
        assert run("report", "release", "--output", "public.html", "--force").returncode == 0
        inside = run("report", "release", "--original", "people.csv", "--output", "release/internal.html")
        assert inside.returncode == 2
        assert "inside the release" in inside.stderr
        assert run("verify", "release").returncode == 0
        assert not list(folder.glob(".*sfumato*"))

    def test_bad_input(self, project):
        run, folder = project
        assert run("report", "nowhere", "--output", "a.html").returncode == 2
        assert run("anonymize", "deep/sfumato.toml", "--internal", "release/internal.html").returncode == 2
        assert not (folder / "release").exists()
        assert run("anonymize", "deep/sfumato.toml", "--internal", "other.html").returncode == 0
        assert (folder / "other.html").exists() and not (folder / "internal.html").exists()
        done = run("report", "release", "--original", "nowhere.csv", "--output", "a.html")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        (folder / "release" / "report.html").write_text("torn", encoding="utf-8")
        done = run("report", "release", "--output", "a.html")
        assert done.returncode == 2
        assert "report.html: the file was changed" in done.stderr
        assert not (folder / "a.html").exists()


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_has_a_sound_page_and_says_how_its_internal_report_is_drawn(kind, tmp_path):
    folder = MAKERS[kind]().save(tmp_path / "release")
    html = sf.report(folder)
    assert html.encode() == (folder / "report.html").read_bytes()
    check_page(Reader(html))
    if KINDS[kind].internal_command:
        with pytest.raises(sf.errors.ReleaseError, match=KINDS[kind].internal_command):
            sf.report(folder, PEOPLE)
    else:
        check_page(Reader(sf.report(folder, PEOPLE)))
