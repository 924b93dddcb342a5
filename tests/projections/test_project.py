"""Several sensitive attributes in several tables: the plan, its tables, and the errors if there is none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods import Grouping, Task
from standin import Chunks

ROWS = 48
SENSITIVE = ["sex", "title", "job", "pay"]


def people(**more):
    """Sex and title are equivalent, job and pay nearly; the two pairs are almost independent."""
    draw = np.random.default_rng(4)
    sex = draw.integers(2, size=ROWS)
    job = draw.integers(3, size=ROWS)
    pay = np.where(draw.random(ROWS) < 0.8, job, draw.integers(3, size=ROWS))
    columns = {
        "name": [f"p{i}" for i in range(ROWS)],
        "age": draw.permutation(ROWS) + 20,
        "town": [["Rome", "Oslo"][i] for i in draw.integers(2, size=ROWS)],
        "sex": [["f", "m"][i] for i in sex],
        "title": [["ms", "mr"][i] for i in sex],
        "job": [["cook", "nurse", "judge"][i] for i in job],
        "pay": [["low", "mid", "high"][i] for i in pay],
    }
    return pa.table({**columns, **more})


SCHEMA = sf.Schema(["age", "town"], SENSITIVE, identifiers=["name"])
K = sf.KAnonymity(6)


def project(data=None, schema=SCHEMA, principles=K, **options):
    return sf.project(people() if data is None else data, schema, principles, **{"method": Chunks(6), **options})


class TestThePlan:
    def test_dependent_attributes_stay_together(self):
        projection = project(alpha="0.1", beta="0.3")
        assert projection.plan.label == "sex + title | job + pay"
        assert projection.search.best.plan == projection.plan
        assert projection.dependence.association_loss(projection.plan) <= 0.1
        assert [release.audit.holds for release in projection.releases] == [True, True]

    def test_each_attribute_is_in_one_table_and_no_column_links_tables(self):
        projection = project(people(visits=range(ROWS)), SCHEMA)
        columns = [frame.column_names for frame in projection.frames]
        assert sorted(name for names in columns for name in names if name in SENSITIVE) == sorted(SENSITIVE)
        assert all(names[:3] == ["group", "age", "town"] for names in columns)
        assert not {"name", "visits"} & {name for names in columns for name in names}
        assert any("'visits'" in note for note in projection.notes)

    def test_an_explicit_plan(self):
        projection = project(plan=[["pay"], ["title", "sex", "job"]])
        assert projection.plan.label == "sex + title + job | pay"
        assert projection.search is None
        assert [(t.limit, t.origin) for t in (projection.alpha, projection.beta)] == [(1, "open"), (1, "open")]

    def test_both_thresholds_from_the_knee(self):
        projection = project()
        knee = projection.tradeoff.knee
        assert (projection.alpha.origin, projection.beta.origin) == ("knee", "knee")
        assert knee.association_loss <= projection.alpha.limit < knee.association_loss + 0.01
        assert knee.information_exposure <= projection.beta.limit < knee.information_exposure + 0.01
        assert sum("knee" in note for note in projection.notes) == 2

    @pytest.mark.parametrize(("key", "other"), [("alpha", "beta"), ("beta", "alpha")])
    @pytest.mark.parametrize("limit", ["0", "0.25", "1"])
    def test_one_threshold_from_the_other(self, key, other, limit):
        projection = project(**{key: limit})
        assert getattr(projection, key).limit == Fraction(limit)
        found = getattr(projection, other)
        assert found.origin == "least"
        lower = max(found.limit - Fraction(1, 100), 0)
        searched = sf.projections.search_plans(projection.dependence, **{key: limit, other: lower}).best
        assert found.limit == 0 or searched is None or lower == 0, "a hundredth less is not reachable"

    def test_tables_are_tried_once(self):
        tried = []

        @dataclass(frozen=True)
        class Counting(Chunks):
            name: ClassVar[str] = "counting"

            def group(self, task: Task, seed: int = 0) -> Grouping:
                tried.append(task.table.schema.sensitive)
                return super().group(task, seed)

        project(alpha="0.5", beta="0.5", method=Counting(6), search="exhaustive")
        assert tried
        assert len(tried) == len(set(tried))

    def test_rows_in_another_order(self, tmp_path):
        order = np.random.default_rng(1).permutation(ROWS)
        folders = [
            project(data).save(tmp_path / name) for name, data in (("a", people()), ("b", people().take(pa.array(order))))
        ]
        for file in folders[0].iterdir():
            assert file.read_bytes() == (folders[1] / file.name).read_bytes(), file.name

    def test_seeds(self):
        one, same, other = (project(alpha=1, beta=0, seed=seed) for seed in (5, 5, 6))
        assert [frame.equals(again) for frame, again in zip(one.frames, same.frames, strict=True)] == [True] * 3
        assert one.private.seed != other.private.seed
        seeds = [release.private.seed for release in one.releases]
        assert len(set(seeds)) == len(seeds), "each table is searched on its own"

    def test_a_table_is_the_same_whatever_the_others_are(self):
        together = project(plan=[["sex", "title"], ["job", "pay"]])
        apart = project(plan=[["sex"], ["title"], ["job", "pay"]])
        assert together.frames[1].equals(apart.frames[2])

    def test_a_plan_as_text(self):
        assert project(plan=" job,pay | title, sex ").plan == project(plan=[["sex", "title"], ["job", "pay"]]).plan
        plan = sf.projections.Plan.of([["sex", "title"], ["job", "pay"]], SENSITIVE)
        assert project(plan=plan).plan == plan
        assert project(plan=["sex", ("title", "job", "pay")]).plan.label == "sex | title + job + pay"

    def test_pandas_columns_keep_their_types(self):
        rows = {
            "age": range(12),
            "a": pd.array([1, None, 3] * 4, dtype="Int64"),
            "b": pd.Categorical(list("pqr") * 4),
            "c": pd.to_datetime(["2020-01-01", "2021-01-01"] * 6),
            "dx": [["x"], ["x", "y"]] * 6,
        }
        frame = pd.DataFrame(rows).set_index(pd.Index(range(100, 112)))
        schema = sf.Schema(["age"], ["a", "b", "c", "dx"])
        made = project(frame, schema, plan="a,dx|b,c")
        alone = sf.anonymize(frame, schema, K, method=Chunks(6)).frame
        for table in made.frames:
            for name in {"a", "b", "c"} & set(table.columns):
                assert table[name].dtype == alone[name].dtype
        assert sorted(made.frames[0]["dx=y"]) == ["0"] * 6 + ["1"] * 6
        assert made.frames[0]["a"].isna().sum() == 4

    def test_frames_in_their_library(self):
        assert all(isinstance(frame, pd.DataFrame) for frame in project(people().to_pandas()).frames)
        assert all(isinstance(frame, pl.DataFrame) for frame in project(pl.from_arrow(people())).frames)

    def test_repr(self):
        text = repr(project(alpha="0.1", beta="0.3"))
        assert text.startswith("Projection of 48 rows on 2 tables: sex + title | job + pay")
        assert "required at most 0.3" in text
        assert "job + pay: Release of 48 rows in 8 groups" in text


class TestPrinciples:
    def test_on_one_attribute(self):
        projection = project(principles=[K, sf.DistinctLDiversity(2, on="job")], alpha="0.1", beta="0.3")
        asked = [[principle.name for principle in release.principles] for release in projection.releases]
        assert asked == [["k-anonymity"], ["k-anonymity", "distinct-l-diversity"]]

    @pytest.mark.parametrize("search", ["greedy", "exhaustive"])
    def test_on_several_keeps_them_together(self, search):
        required = [K, sf.DistinctLDiversity(2, on=("sex", "pay"))]
        projection = project(principles=required, alpha=1, beta="0.5", search=search)
        (block,) = [block for block in projection.plan.blocks if "sex" in block]
        assert "pay" in block
        with pytest.raises(sf.errors.RequirementError, match="on several attributes together"):
            project(principles=required, plan=[["sex", "title"], ["job", "pay"]])
        with pytest.raises(sf.errors.RequirementError, match="Raise beta"):
            project(principles=required, alpha=1, beta=0, search=search)

    def test_a_table_without_a_principle(self):
        """It is not published: the plan puts its attributes into a table with a principle, if there is such a plan."""
        required = sf.DistinctLDiversity(2, on="job")
        assert project(principles=required, alpha="0.5").plan.label == "sex + title + job + pay"
        assert project(principles=required, alpha=1, beta=1, search="greedy").plan.label == "sex + title + job + pay"
        two = [required, sf.DistinctLDiversity(2, on="title")]
        assert project(principles=two, alpha=1, beta="0.3", search="greedy").plan.label == "sex + title | job + pay"
        for options in ({"alpha": 1, "beta": 0}, {"plan": [["sex", "title"], ["job", "pay"]]}):
            with pytest.raises(
                sf.errors.RequirementError, match=r"no principle applies to the table of.* such as k-anonymity"
            ):
                project(principles=required, **options)

    def test_on_the_whole_is_the_whole_of_each_table(self):
        required = [K, sf.DistinctLDiversity(2, on="whole")]
        (note,) = [n for n in project(principles=required, plan="sex,title|job,pay").notes if "distinct l-diversity" in n]
        assert "on all attributes of each table" in note
        assert not any("of each table" in note for note in project(principles=required, plan=[SENSITIVE]).notes)

    def test_on_an_unknown_attribute(self):
        with pytest.raises(sf.errors.ColumnError, match="not a sensitive attribute"):
            project(principles=[K, sf.TCloseness("0.3", on="age")])

    def test_as_a_whole_with_weights_of_columns(self):
        distance = sf.distances.Lp(weights={"sex": 1, "title": 1, "job": 2, "pay": 3})
        schema = sf.Schema(["age", "town"], SENSITIVE, identifiers=["name"], distance=distance)
        projection = project(
            schema=schema,
            principles=sf.Dissimilarity(epsilon="0.1", delta="0.1", k=6),
            plan=[["sex", "title"], ["job", "pay"]],
        )
        assert [set(release.schema.distance.weights) for release in projection.releases] == [
            {"sex", "title"},
            {"job", "pay"},
        ]

    def test_unreachable_principles(self):
        required = [sf.KAnonymity(6), sf.DistinctLDiversity(3)]
        with pytest.raises(sf.errors.RequirementError, match="principles cannot be reached") as caught:
            project(principles=required)
        assert "sex" in str(caught.value)
        with pytest.raises(sf.errors.RequirementError, match=r"the table of sex \+ title"):
            project(principles=required, plan=[["sex", "title"], ["job", "pay"]])

    def test_open_thresholds_never_fail(self):
        """The curve ignores principles: if its plan cannot satisfy them, another plan is used, and a note says so."""
        refuse = [K, sf.DistinctLDiversity(2, on=("sex", "pay"))]
        knee = project(principles=refuse)
        assert knee.plan != knee.tradeoff.knee.plan
        assert (knee.alpha.origin, knee.beta.origin) == ("near", "near")
        assert any("nearest to the knee" in note for note in knee.notes)
        together = [block for block in knee.plan.blocks if {"sex", "pay"} <= set(block)]
        assert together
        for key in ("alpha", "beta"):
            made = project(principles=refuse, **{key: "0.6"})
            other = {"alpha": made.beta, "beta": made.alpha}[key]
            assert other.origin == "least"
            assert any("sex" in block and "pay" in block for block in made.plan.blocks)
        with pytest.raises(sf.errors.RequirementError, match="Γ_α at most 1 and Γ_β at most 0"):
            project(principles=refuse, beta=0)


class TestSets:
    """Erratum 004.5: in groups of two, each bit is distributed as in the table, but the set is not."""

    rows: ClassVar = {"age": [1, 2, 3, 4] * 2, "dx": [[], ["a", "b"], ["a"], ["b"]] * 2, "job": ["x", "y"] * 4}
    schema = sf.Schema(["age"], ["dx", "job"])

    def make(self, t="0.1", **options):
        return sf.project(pa.table(self.rows), self.schema, sf.TCloseness(t), method=Chunks(4), **options)

    def test_the_set_is_protected_not_just_its_bits(self):
        with pytest.raises(sf.errors.RequirementError, match=r"on dx=a \+ dx=b"):
            self.make(plan=[["dx"], ["job"]])
        assert self.make("0.5", plan=[["dx"], ["job"]]).releases[0].audit.holds
        apart = self.make(plan=[["dx=a"], ["dx=b"], ["job"]])
        assert [finding.levels["t"] for release in apart.releases for finding in release.audit] == [0, 0, 0]

    def test_a_set_by_its_name_stays_together(self):
        made = sf.project(
            pa.table(self.rows),
            self.schema,
            [sf.KAnonymity(2), sf.TCloseness(1, on="dx")],
            alpha=1,
            beta=1,
            method=Chunks(4),
        )
        assert {"dx=a", "dx=b"} <= set(next(block for block in made.plan.blocks if "dx=a" in block))

    def test_whole(self):
        made = self.make("0.5", plan=[["dx"], ["job"]], sets="whole")
        assert made.plan.attributes == ("dx", "job")
        assert made.sets == {}

    def test_a_set_alone_has_several_bits(self):
        made = sf.project(pa.table(self.rows), sf.Schema(["age"], ["dx"], identifiers=["job"]), sf.KAnonymity(4), alpha=1)
        assert made.plan.attributes == ("dx=a", "dx=b")


class TestHarmless:
    def test_an_iterator(self, tmp_path):
        made = project(harmless={"pay": (value for value in ["low", "mid"])}, plan="sex,title|job,pay")
        assert dict(made.harmless) == {"pay": ["low", "mid"]}
        assert sf.verify(made.save(tmp_path / "out"), people())

    def test_of_a_set_they_are_declared_for_its_bits(self):
        rows = pa.table(TestSets.rows)
        with pytest.raises(sf.errors.ParameterError, match=r"Declare them for its bits, such as .*dx=a"):
            project(rows, TestSets.schema, harmless={"dx": ["a"]})
        assert project(rows, TestSets.schema, sf.KAnonymity(4), harmless={"dx=a": ["0"]}).harmless == {"dx=a": ["0"]}

    def test_by_list_or_by_function(self):
        listed = project(harmless={"pay": ["low", "mid"]}, alpha="0.1", beta=1)
        by_function = project(harmless={"pay": lambda value: value != "high"}, alpha="0.1", beta=1)
        assert listed.ratios == by_function.ratios
        assert dict(listed.harmless) == dict(by_function.harmless) == {"pay": ["low", "mid"]}
        assert listed.dependence.exposure[2, 3] < project().dependence.exposure[2, 3]

    def test_only_published_values_are_stated(self, tmp_path):
        young = np.array(people()["age"]) < 26
        pay = np.where(young, "unheard-of", np.array(people()["pay"]))
        data = people().set_column(6, "pay", pa.array(pay))
        required = [K, sf.DistinctLDiversity(2, on="pay")]
        plan = [["sex", "title"], ["job", "pay"]]
        made = project(data, principles=required, plan=plan, harmless={"pay": ["unheard-of", "low"]}, suppress="0.2")
        assert [release.suppressed for release in made.releases] == [6, 6]
        assert made.harmless == {"pay": ["low"]}
        folder = made.save(tmp_path / "out")
        assert not [path for path in folder.iterdir() if b"unheard-of" in path.read_bytes()]
        assert [check.holds for check in sf.verify(folder, data).checks][-2:] == [None, None]


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"alpha": 2}, sf.errors.ParameterError, "alpha = 2 is out of range"),
            ({"beta": "-0.1"}, sf.errors.ParameterError, "beta = -0.1 is out of range"),
            ({"beta": "much"}, sf.errors.ParameterError, "'much' is not a number"),
            ({"sets": "some"}, sf.errors.ParameterError, "sets = 'some'"),
            ({"search": "lucky"}, sf.errors.ParameterError, "unknown search 'lucky'"),
            ({"plan": [["sex", "title"], ["job"]]}, sf.errors.ColumnError, "leaves out 'pay'"),
            ({"plan": [["sex", "title", "job", "pay", "age"]]}, sf.errors.ColumnError, "column 'age'"),
            ({"plan": [["sex", "title", "job", "pay"], ["sex"]]}, sf.errors.ColumnError, "twice"),
            ({"plan": [["sex", "title", "job", "pay"], []]}, sf.errors.ParameterError, "empty"),
            ({"harmless": {"pay": ["nil"]}}, sf.errors.ParameterError, "'nil' is declared harmless"),
            ({"harmless": {"age": ["20"]}}, sf.errors.ColumnError, "harmless"),
            ({"plan": 5}, sf.errors.ParameterError, "invalid plan 5"),
            ({"plan": [5]}, sf.errors.ParameterError, "invalid table 5"),
            ({"plan": [None]}, sf.errors.ParameterError, "invalid table None"),
            ({"plan": [[["sex"]], ["title", "job", "pay"]]}, sf.errors.ParameterError, "invalid attribute name"),
            ({"plan": {"sex": 1, "title": 2, "job": 3, "pay": 4}}, sf.errors.ParameterError, "invalid plan"),
            ({"plan": [{"sex": 1}]}, sf.errors.ParameterError, "invalid table"),
            ({"plan": "sextitle"}, sf.errors.ColumnError, "plan, column 'sextitle'"),
            ({"plan": ""}, sf.errors.ParameterError, "the plan is empty"),
            ({"plan": []}, sf.errors.ParameterError, "the plan is empty"),
            ({"plan": "sex,title,job,pay|"}, sf.errors.ParameterError, "empty"),
            ({"plan": [SENSITIVE], "search": "lucky"}, sf.errors.ParameterError, "unknown search 'lucky'"),
            ({"search": []}, sf.errors.ParameterError, "unknown search"),
            ({"harmless": 5}, sf.errors.ParameterError, "harmless is 5"),
            ({"harmless": "pay"}, sf.errors.ParameterError, "harmless is 'pay'"),
            ({"harmless": {"pay": 5}}, sf.errors.ParameterError, "neither a list"),
            ({"harmless": {5: ["low"]}}, sf.errors.ColumnError, "harmless, column '5'"),
            ({"alpha": True}, sf.errors.ParameterError, "alpha = True is not a number"),
            ({"beta": float("nan")}, sf.errors.ParameterError, "beta = nan is not a number"),
            ({"seed": -1}, sf.errors.ParameterError, "seed"),
            ({"suppress": 1}, sf.errors.ParameterError, "suppress"),
            ({"method": "magic"}, sf.SfumatoError, "magic"),
        ],
    )
    def test_parameters(self, options, error, message):
        with pytest.raises(error, match=message.replace("(", r"\(")):
            project(**options)

    @pytest.mark.parametrize("sensitive", [["pay"], []])
    def test_one_attribute_or_none(self, sensitive):
        with pytest.raises(sf.errors.ColumnError, match="anonymize"):
            project(people(), sf.Schema(["age"], sensitive, identifiers=["name"]))

    def test_both_quasi_identifier_and_sensitive(self):
        with pytest.raises(sf.errors.ColumnError, match="declared twice"):
            sf.Schema(["age", "sex"], ["sex", "pay"])

    def test_a_constant_attribute_carries_no_information(self):
        schema = sf.Schema(["age", "town"], [*SENSITIVE, "land"], identifiers=["name"])
        projection = project(people(land=["here"] * ROWS), schema, alpha="0.1", beta="0.3")
        assert any("'land' carries no information" in note for note in projection.reading)

    def test_several_rows_per_person(self):
        schema = sf.Schema(["age", "town"], SENSITIVE, identifiers=["name"], person_id="name")
        with pytest.raises(sf.errors.ParameterError, match="person_id"):
            project(schema=schema)

    def test_no_plan_says_by_how_much(self):
        with pytest.raises(sf.errors.RequirementError, match="nearest plan is") as caught:
            project(alpha=0, beta=0)
        assert "alpha" in caught.value.key
        with pytest.raises(sf.errors.RequirementError, match=r"loses 0\.\d+ of the association .* alpha = 0"):
            project(plan=[["sex"], ["title"], ["job", "pay"]], alpha=0)
        with pytest.raises(sf.errors.RequirementError, match=r"exposes 1\.0000 of the exposable information"):
            project(plan=[SENSITIVE], beta="0.5")


def test_vectors_and_files(tmp_path):
    """A vector is one attribute, and a CSV is read as it is for anonymize."""
    path = tmp_path / "p.csv"
    draw = np.random.default_rng(2)
    rows = [f"{i},{draw.integers(3)},{draw.integers(3)},{'ab'[i % 2]}" for i in range(24)]
    path.write_text("age,x,y,job\n" + "\n".join(rows) + "\n", encoding="utf-8")
    schema = sf.Schema(["age"], ["where", "job"], vectors={"where": ["x", "y"]})
    made = sf.project(path, schema, sf.KAnonymity(4), plan=[["where"], ["job"]], method=Chunks(4))
    assert made.frames[0].column_names == ["group", "age", "x", "y"]
    assert sf.verify(made.save(tmp_path / "out"), path)


def test_attacks():
    made = project(alpha="0.1", beta="0.3")
    found = made.attacks().to_dict()
    assert found["tables"] == [["sex", "title"], ["job", "pay"]]
    assert found["attacks"]["background-join"]["largest"] == 1.0, "the title determines the sex"
    warned = [tuple(each["attributes"]) for each in found["warnings"] if each["beyond_chance"]]
    assert warned == [each.attributes for each in made.warnings]


def test_warnings_are_beyond_chance():
    """Independent attributes share a little information in any finite table; that gives no warning."""
    draw = np.random.default_rng(11)
    rows = {"age": np.arange(60), **{name: draw.integers(3, size=60).astype(str) for name in "abc"}}
    rows["d"] = rows["a"]
    made = sf.project(pa.table(rows), sf.Schema(["age"], list("abcd")), K, plan="a|b|c|d", method=Chunks(6))
    assert len(made.attacks().warnings) == 6
    assert [each.attributes for each in made.warnings] == [("a", "d")]


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=12))
def test_hundredths_admit_a_plan_and_no_less_does(rows):
    columns = dict(zip("abc", zip(*rows, strict=True), strict=True))
    found = sf.projections.Dependence.of(sf.Table(pa.table(columns), sf.Schema(sensitive=list("abc"))))
    for blocks in (["abc"], ["ab", "c"], ["ac", "b"], ["a", "b", "c"]):
        plan = sf.projections.Plan.of(map(list, blocks), found.names)
        alpha, beta = found.hundredths(plan)
        for limit, within in ((alpha, found.loses_at_most), (beta, found.exposes_at_most)):
            assert within(plan, limit)
            assert limit == 0 or not within(plan, limit - Fraction(1, 100))


def test_attacks_of_the_internal_report():
    """`attacks` selects what the internal report shows, and an unknown name fails before the work."""
    projection = project(alpha="0.1", beta="0.3", attacks=["intersection"])
    assert list(projection.attacks().results) == ["intersection"]
    assert list(projection.attacks(["background-join"]).results) == ["background-join"]
    assert list(project(alpha="0.1", beta="0.3").attacks().results) == ["background-join", "intersection"]
    with pytest.raises(sf.errors.ParameterError, match="there is no attack 'intersektion'"):
        project(attacks=["intersektion"])
