"""The content of a projected release.json, checked against the files, the original and the caller's expectations."""

from __future__ import annotations

import ast
import contextlib
import json
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.verification.level_checks import level_problem
from standin import Chunks
from test_project import SCHEMA, people
from test_project_folder import PLAN, REQUIRED, claim, failing, folder, made, stated, written

__all__ = ["folder", "written"]

SOURCE = Path(sf.__file__).parent


class TestHarmless:
    """A missing value is stated as null, because a text may equal its label."""

    ROWS = pa.table({"age": range(24), "a": ["x", None, "(missing)", "y"] * 6, "b": list("pqppqq") * 4})
    SCHEMA = sf.Schema(["age"], ["a", "b"])

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    @pytest.mark.parametrize(
        ("harmless", "shown"),
        [
            (["(missing)"], ["(missing)"]),
            ([None], [None]),
            (["x", None], ["x", None]),
            (lambda value: value is None, [None]),
        ],
    )
    def test_missing_beside_a_text_that_equals_its_label(self, tmp_path, form, harmless, shown):
        options = {"plan": [["a", "b"]], "harmless": {"a": harmless}, "method": Chunks(4)}
        projection = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(4), **options)
        folder = projection.save(tmp_path / "out", format=form)
        assert stated(folder)["harmless"] == {"a": shown}
        assert sf.verify(folder, self.ROWS)
        claim(folder, lambda content: content["harmless"].update(a=[*shown, "y"]))
        assert "table_1: dependence" in failing(sf.verify(folder))

    def test_the_report_shows_it_as_missing(self, tmp_path):
        options = {"plan": [["a", "b"]], "harmless": {"a": [None]}, "method": Chunks(4)}
        folder = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(4), **options).save(tmp_path / "out")
        assert "a: missing values." in (folder / "report.html").read_text(encoding="utf-8")


EXPECTED = {"alpha": "0.2", "beta": "0.4", "plan": PLAN, "harmless": {"pay": ["low"]}, "sets": "bits", "suppress": 0}


@pytest.fixture
def release(tmp_path):
    return made(people(), **{key: EXPECTED[key] for key in ("alpha", "beta", "plan", "harmless")}).save(tmp_path / "release")


class TestDeclared:
    """The expected arguments of sf.project, compared with release.json."""

    def test_expected_arguments(self, release):
        found = sf.verify(release, people(), schema=SCHEMA, principles=REQUIRED, project=EXPECTED)
        assert found, found
        assert sf.verify(release, project=dict.fromkeys(EXPECTED)), "nothing is compared"
        same = {"alpha": 0.2, "plan": [["pay", "job"], ["title", "sex"]], "harmless": {"pay": lambda pay: pay == "low"}}
        assert sf.verify(release, project=same), "the same, written differently"
        assert sf.verify(release, project={"harmless": {"pay": ["low", "none that is published"]}})

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"alpha": "0.1"}, "alpha is 0.2 in release.json, and 0.1 is given"),
            ({"beta": "0.39"}, "beta is 0.4"),
            ({"plan": [["sex"], ["title", "job", "pay"]]}, "sex | title + job + pay is given"),
            ({"plan": [["sex", "title"], ["job"]]}, "leaves out 'pay'"),
            ({"plan": "sex|title|job,pay"}, "sex | title | job + pay is given"),
            ({"plan": "abc"}, "not one of the sensitive"),
            ({"harmless": {}}, "'low' of 'pay' is harmless in release.json"),
            ({"harmless": {"pay": ["low", "mid"]}}, "'mid' of 'pay' is given as harmless"),
            ({"harmless": {"pay": ["low"], "job": ["cook"]}}, "'cook' of 'job'"),
            ({"harmless": {"pay": ["low"], "rent": ["x"]}}, "'rent'"),
            ({"suppress": "0.1"}, "suppress is 0"),
        ],
    )
    def test_unexpected_arguments(self, release, given, message):
        found = sf.verify(release, project={**EXPECTED, **given})
        assert failing(found) == ["declared"]
        assert message in found.failures

    def test_a_threshold_that_was_not_given(self, folder):
        assert "alpha was not given" in sf.verify(folder, project={"alpha": 1}).failures

    def test_all_values_stated_as_harmless(self, release):
        """release.json is consistent; only the expected arguments reveal the change, and a report that is the old one."""

        def tampered(content):
            values = {"sex": "fm", "title": ["ms", "mr"], "job": ["cook", "nurse", "judge"], "pay": ["low", "mid", "high"]}
            content["harmless"] = {name: list(some) for name, some in values.items()}
            content["thresholds"][1].update(measured=0.0, wanted="0")
            for table in content["tables"]:
                table["dependence"]["exposure"] = [[0.0, 0.0], [0.0, 0.0]]

        claim(release, tampered)
        assert failing(sf.verify(release, people(), schema=SCHEMA, principles=REQUIRED)) == ["report"]
        assert failing(sf.verify(release, project={"harmless": EXPECTED["harmless"]})) == ["declared"]
        assert failing(sf.verify(release, project={"beta": "0.4"})) == ["declared"]

    @pytest.mark.parametrize("bad", [{"seed": 1}, {"plan": {}}, {"plan": 5}, {"harmless": ["x"]}, {"harmless": {"pay": 5}}])
    def test_invalid_expectations(self, release, bad):
        with pytest.raises(sf.errors.ParameterError):
            sf.verify(release, project=bad)

    def test_sets(self, tmp_path):
        rows = pa.table({"age": range(12), "dx": [["a"], ["a", "b"], None, []] * 3, "job": ["x", "y", "z"] * 4})
        schema = sf.Schema(["age"], ["dx", "job"])
        for sets, other in (("bits", "whole"), ("whole", "bits")):
            options = {"plan": [["dx"], ["job"]], "sets": sets}
            target = sf.project(rows, schema, sf.KAnonymity(4), method=Chunks(4), **options).save(
                tmp_path / sets, format="parquet"
            )
            assert sf.verify(target, rows, project=options)
            assert failing(sf.verify(target, rows, project={"sets": other})) == ["declared"]


@pytest.mark.parametrize(
    "change",
    [
        lambda claim: claim[0].update(key="gamma"),
        lambda claim: claim[0].update(name="gain"),
        lambda claim: claim.append(dict(claim[0], measured=0.0)),
        lambda claim: claim.reverse(),
        lambda claim: claim.pop(),
    ],
)
def test_both_thresholds_are_stated_once(folder, change):
    claim(folder, lambda content: change(content["thresholds"]))
    assert failing(sf.verify(folder)) == ["thresholds"]


class TestUnknownContent:
    @pytest.mark.parametrize("name", ["table_3.csv", "link.csv", ".hidden"])
    def test_a_file(self, folder, name):
        (folder / name).write_text("x", encoding="utf-8")
        assert failing(sf.verify(folder)) == ["folder"]

    @pytest.mark.parametrize(
        "place",
        [
            lambda content: content,
            lambda content: content["tables"][1],
            lambda content: content["tables"][0]["columns"][1],
            lambda content: content["thresholds"][0],
        ],
    )
    def test_a_key(self, folder, place):
        claim(folder, lambda content: place(content).update(link=[1, 2]))
        found = sf.verify(folder)
        assert failing(found) == ["keys"]
        assert "link" in found.failures

    def test_a_column_of_the_original_in_no_table(self, folder):
        more = people().append_column("pet", pa.array(["cat", "dog"] * 24))
        assert failing(sf.verify(folder, more)) == ["original columns"]


class TestConsistency:
    def test_tables_in_another_order(self, folder):
        def swapped(content):
            for key in ("plan", "tables"):
                content[key].reverse()
            one, other = (content["files"].pop(f"table_{number}.csv") for number in (1, 2))
            content["files"] = {"table_1.csv": other, "table_2.csv": one, **content["files"]}

        claim(folder, swapped)
        texts = [(folder / f"table_{number}.csv").read_bytes() for number in (2, 1)]
        for number, text in enumerate(texts, 1):
            (folder / f"table_{number}.csv").write_bytes(text)
        assert failing(sf.verify(folder)) == ["plan"]

    @pytest.mark.parametrize(
        "change", [{"suppress": "0.5"}, {"rows": 47, "suppressed": 1, "suppress": "0.5"}], ids=["share", "rows"]
    )
    def test_other_people_in_one_table(self, folder, change):
        claim(folder, lambda content: content["tables"][1].update(change))
        assert "table_2: terms" in failing(sf.verify(folder))

    @pytest.mark.parametrize(
        "change",
        [
            lambda claim: claim.update(rows=1),
            lambda claim: claim.update(k=2),
            lambda claim: claim["classes"].update(discernibility=1),
            lambda claim: claim["classes"]["histogram"].pop(),
        ],
    )
    def test_sizes_of_groups(self, folder, change):
        claim(folder, lambda content: change(content["tables"][0]["utility"]))
        assert failing(sf.verify(folder)) == ["table_1: utility"]

    def test_the_loss_is_not_called_checked(self, folder):
        unchecked = {check.name for check in sf.verify(folder).not_checked}
        assert {"table_1: loss", "table_1: rows", "table_1: cover"} <= unchecked
        assert "table_1: utility" not in unchecked

    def test_a_harmless_value_that_is_not_published(self, release):
        claim(release, lambda content: content["harmless"]["pay"].append("HIV"))
        assert failing(sf.verify(release)) == ["table_2: dependence"]
        claim(release, lambda content: content.update(harmless={"rent": ["low"]}))
        assert failing(sf.verify(release)) == ["plan"]

    def test_rows_suppressed(self, tmp_path):
        """release.json does not state who is published, so the ratios are not measured again."""
        draw = np.random.default_rng(2)
        data = {"age": draw.integers(20, 60, 60), "a": draw.choice(list("pqrst"), 60), "b": draw.choice(list("xyz"), 60)}
        rows, schema = pa.table(data), sf.Schema(["age"], ["a", "b"])
        required = [sf.KAnonymity(3), sf.DistinctLDiversity(2)]
        options = {"plan": [["a"], ["b"]], "suppress": "0.6"}
        made = sf.project(rows, schema, required, method=Chunks(3), **options)
        assert made.releases[0].suppressed
        target = made.save(tmp_path / "out")
        found = sf.verify(target, rows, schema=schema, principles=required, project=options)
        assert found, found
        assert [check.holds for check in found.checks if check.name in ("association loss", "information exposure")] == [
            None,
            None,
        ]


class TestLevels:
    """A full-domain release states the level of its cells."""

    ROWS = pa.table(
        {
            "age": [31, 34, 47, 45, 52, 58, None, None],
            "town": ["Rome", "Pisa", "Oslo", "Rome", "Bergen", "Oslo", "*", "Pisa"],
            "sex": ["f", "m"] * 4,
            "a": list("ppqqppqq"),
            "b": list("xyxyxyxy"),
        }
    )
    TOWNS = sf.Hierarchy.from_rows(
        [
            ["Rome", "Italy", "*"],
            ["Pisa", "Italy", "*"],
            ["Oslo", "Norway", "*"],
            ["Bergen", "Norway", "*"],
            ["*", "odd", "*"],
        ]
    )
    SCHEMA = sf.Schema(["age", "town", "sex"], ["a", "b"], hierarchies={"age": sf.Intervals((10, 20)), "town": TOWNS})

    def test_of_groups(self, tmp_path):
        target = sf.anonymize(self.ROWS, self.SCHEMA, sf.KAnonymity(2), method="lattice").save(tmp_path / "out")
        assert "levels" in [check.name for check in sf.verify(target, self.ROWS).checks]

        def other(content):
            for column in content["columns"]:
                if "level" in column:
                    column["level"] = 1 - min(column["level"], 1)

        claim(target, other)
        assert failing(sf.verify(target)) == ["levels"]
        claim(target, lambda content: content["columns"][1].pop("level"))
        assert failing(sf.verify(target)) == ["levels"]

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    def test_of_several_tables(self, tmp_path, form):
        projection = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(2), plan=[["a"], ["b"]], method="lattice")
        target = projection.save(tmp_path / "out", format=form)
        assert sf.verify(target, self.ROWS)
        claim(target, lambda content: content["tables"][1]["columns"][1].update(level=1))
        assert failing(sf.verify(target)) == ["table_2: levels"]

    def test_every_level_is_distinguished(self):
        """Every cell of a level is a node of that level, and of no other level with different labels."""
        table = sf.Table(self.ROWS, self.SCHEMA)
        kinds = {name: table.column(name).kind for name in self.SCHEMA.quasi_identifiers}
        heights = {"age": 3, "town": 2, "sex": 1}
        alone = sf.data.Groups(np.arange(8), 8, 8)
        for levels in product(*(range(height + 1) for height in heights.values())):
            for column, level in zip(sf.anonymization.recode(table, alone, levels).columns, levels, strict=True):
                name, hierarchy = column.domain.name, self.SCHEMA.hierarchies.get(column.domain.name)
                assert level_problem(level, column.labels, hierarchy, kinds[name]) is None
                for wrong in {*range(heights[name] + 1)} - {level}:
                    assert level_problem(wrong, column.labels, hierarchy, kinds[name])

    @pytest.mark.parametrize("level", [-1, 4, "1", True, 1.0, None])
    def test_invalid_levels(self, level):
        assert "not a level" in level_problem(level, ["*"], sf.Intervals((10, 20)), sf.data.Kind.NUMERIC)


ODD = st.sampled_from(
    [None, True, 0, -1, 10**400, 1.5, float("nan"), "", "x", [], [[]], [1], [None], {}, {"a": 5}, {"a": [["x"]]}]
)


def places(content, path=()):
    """Yield every path in plain data, as keys and positions."""
    yield path
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        if key not in ("figures", "python"):
            yield from places(value, (*path, key))


class TestCorruptContent:
    @pytest.mark.parametrize("key", ["entropy", "information", "exposure"])
    def test_a_number_beyond_all_floats(self, folder, key):
        value = [10**400] if key == "entropy" else [[10**400]]
        claim(folder, lambda content: content["tables"][0]["dependence"].update({key: value}))
        assert failing(sf.verify(folder)) == ["table_1: dependence"]

    @given(st.data())
    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_value_gives_no_bare_exception(self, folder, written, data):
        content = stated(written)
        path = data.draw(st.sampled_from([path for path in places(content) if path]))
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = data.draw(ODD)
        (folder / "release.json").write_text(json.dumps(content), encoding="utf-8")
        with contextlib.suppress(sf.SfumatoError):
            sf.verify(folder, people(), project=EXPECTED)


ALLOWED = {"data", "errors", "exact", "io", "plurals", "principles", "releases", "seeds", "verification"}


@pytest.mark.parametrize("path", sorted((SOURCE / "projections" / "checks").glob("*.py")), ids=lambda path: path.name)
def test_checks_do_not_import_what_makes_a_projection(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("sfumato")]
    others = [module for module in modules if not module.startswith("sfumato.projections.checks.")]
    assert {module.split(".")[1] for module in others} <= ALLOWED
