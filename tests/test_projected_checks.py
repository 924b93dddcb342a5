"""What release.json says of several tables, checked against the files, the original and what was asked for."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from standin import Chunks
from test_project import SCHEMA, people
from test_project_folder import PLAN, WISH, claim, failing, folder, made, told, written

__all__ = ["folder", "written"]


class TestHarmless:
    """A missing value is told as null: a text may read just as it is shown."""

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
    def test_missing_beside_a_text_that_reads_so(self, tmp_path, form, harmless, shown):
        options = {"plan": [["a", "b"]], "harmless": {"a": harmless}, "method": Chunks(4)}
        projection = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(4), **options)
        folder = projection.save(tmp_path / "out", format=form)
        assert told(folder)["harmless"] == {"a": shown}
        assert sf.verify(folder, self.ROWS)
        claim(folder, lambda content: content["harmless"].update(a=[*shown, "y"]))
        assert "table_1: dependence" in failing(sf.verify(folder))

    def test_the_report_calls_it_missing(self, tmp_path):
        options = {"plan": [["a", "b"]], "harmless": {"a": [None]}, "method": Chunks(4)}
        folder = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(4), **options).save(tmp_path / "out")
        assert "a: missing values." in (folder / "report.html").read_text(encoding="utf-8")


ASKED = {"alpha": "0.2", "beta": "0.4", "plan": PLAN, "harmless": {"pay": ["low"]}, "sets": "bits", "suppress": 0}


@pytest.fixture
def asked(tmp_path):
    return made(people(), **{key: ASKED[key] for key in ("alpha", "beta", "plan", "harmless")}).save(tmp_path / "asked")


class TestDeclared:
    """What was asked of the plan, beside what release.json says."""

    def test_what_was_asked(self, asked):
        found = sf.verify(asked, people(), schema=SCHEMA, principles=WISH, project=ASKED)
        assert found, found
        assert sf.verify(asked, project=dict.fromkeys(ASKED)), "nothing is compared"
        same = {"alpha": 0.2, "plan": [["pay", "job"], ["title", "sex"]], "harmless": {"pay": lambda pay: pay == "low"}}
        assert sf.verify(asked, project=same), "the same in other words"
        assert sf.verify(asked, project={"harmless": {"pay": ["low", "none that is published"]}})

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"alpha": "0.1"}, "alpha is 0.2 in release.json, and 0.1 is given"),
            ({"beta": "0.39"}, "beta is 0.4"),
            ({"plan": [["sex"], ["title", "job", "pay"]]}, "sex | title + job + pay is given"),
            ({"plan": [["sex", "title"], ["job"]]}, "leaves out 'pay'"),
            ({"harmless": {}}, "'low' of 'pay' is harmless in release.json"),
            ({"harmless": {"pay": ["low", "mid"]}}, "'mid' of 'pay' is given as harmless"),
            ({"harmless": {"pay": ["low"], "job": ["cook"]}}, "'cook' of 'job'"),
            ({"harmless": {"pay": ["low"], "rent": ["x"]}}, "'rent'"),
            ({"suppress": "0.1"}, "suppress is 0"),
        ],
    )
    def test_what_was_not(self, asked, given, said):
        found = sf.verify(asked, project={**ASKED, **given})
        assert failing(found) == ["declared"]
        assert said in found.failures

    def test_a_threshold_that_was_not_given(self, folder):
        assert "alpha was not given" in sf.verify(folder, project={"alpha": 1}).failures

    def test_all_values_called_harmless_and_nothing_exposed(self, asked):
        """Everything in release.json agrees; only who knows what was asked can tell."""

        def tampered(content):
            values = {"sex": "fm", "title": ["ms", "mr"], "job": ["cook", "nurse", "judge"], "pay": ["low", "mid", "high"]}
            content["harmless"] = {name: list(some) for name, some in values.items()}
            content["thresholds"][1].update(measured=0.0, wanted="0")
            for table in content["tables"]:
                table["dependence"]["exposure"] = [[0.0, 0.0], [0.0, 0.0]]

        claim(asked, tampered)
        assert sf.verify(asked, people(), schema=SCHEMA, principles=WISH)
        assert failing(sf.verify(asked, project={"harmless": ASKED["harmless"]})) == ["declared"]
        assert failing(sf.verify(asked, project={"beta": "0.4"})) == ["declared"]

    @pytest.mark.parametrize(
        "bad", [{"seed": 1}, {"plan": "abc"}, {"plan": 5}, {"harmless": ["x"]}, {"harmless": {"pay": 5}}]
    )
    def test_what_cannot_be_compared(self, asked, bad):
        with pytest.raises(sf.ParameterProblem):
            sf.verify(asked, project=bad)

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
        lambda told: told[0].update(key="gamma"),
        lambda told: told[0].update(key=[1]),
        lambda told: told[0].update(name="gain"),
        lambda told: told.append(dict(told[0], measured=0.0)),
        lambda told: told.reverse(),
        lambda told: told.pop(),
        lambda told: told.__setitem__(1, "torn"),
    ],
)
def test_both_thresholds_are_told_each_once(folder, change):
    claim(folder, lambda content: change(content["thresholds"]))
    assert failing(sf.verify(folder)) == ["thresholds"]
