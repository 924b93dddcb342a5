"""The tables that a report is drawn from: each against its definition, and none reveals who has which secret."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from fixed_groups import Fixed
from report_shapes import SHAPES, dealt_again
from sfumato.anonymization.figures.cell_ranges import covers_of
from sfumato.anonymization.figures.distribution_bars import BINS
from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.anonymization.figures.query_errors import QUESTIONS, SELECTIVITY, expected_errors, true_errors
from sfumato.anonymization.figures.reidentification_risk import histogram, risk
from sfumato.anonymization.figures.rounding_steps import in_steps, step_of
from sfumato.anonymization.figures.worst_group_graph import NODES
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.workload import Workload
from sfumato.data.column import MISSING
from sfumato.data.groups import Groups
from sfumato.seeds import PUBLIC_SEED
from standin import Chunks

SIZES = st.lists(st.integers(1, 400), min_size=1, max_size=40).map(np.array)


@given(SIZES)
def test_risk_is_what_its_definition_says(sizes):
    of_row = [size for size in sizes.tolist() for _ in range(size)]
    rows, found = len(of_row), risk(sizes)
    assert found["highest"] == pytest.approx(max(1 / size for size in of_row), abs=1e-6)
    assert found["mean"] == pytest.approx(sum(1 / size for size in of_row) / rows, abs=1e-6)
    assert found["unique"] == pytest.approx(of_row.count(1) / rows, abs=1e-6)
    for text, share in found["above"].items():
        assert share == pytest.approx(sum(Fraction(1, size) > Fraction(text) for size in of_row) / rows, abs=1e-6)


@given(SIZES, SIZES)
def test_class_sizes_count_every_row_once(before, after):
    found = histogram(before, after, Fraction(1, 10**6))
    bounds = [[int(end.replace(",", "")) for end in name.split("–")] for name in found["bins"]]
    for when, sizes in (("before", before), ("after", after)):
        assert sum(found[when]) == pytest.approx(1, abs=1e-4)
        for ends, share in zip(bounds, found[when], strict=True):
            inside = sum(size for size in sizes.tolist() if ends[0] <= size <= ends[-1])
            assert share == pytest.approx(inside / sizes.sum(), abs=1e-5)
    assert [ends[0] for ends in bounds] == [1, *(ends[-1] + 1 for ends in bounds[:-1])]


@given(st.integers(1, 10**7), st.fractions(0, 1))
def test_shares_of_the_original_are_told_in_steps_of_five_rows(rows, share):
    step = step_of(rows)
    assert step * rows >= min(5, rows)
    assert step >= Fraction(1, 1000)
    outcome = Fraction(str(in_steps(share, step)))
    assert outcome % step == 0
    assert abs(outcome - share) <= step / 2


@st.composite
def published(draw):
    """A random table with a column of each recoding, some cells missing, and a partition of it."""
    rows = draw(st.integers(2, 14))

    def cells(values):
        return draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))

    data = {
        "number": pa.array(cells([None, "1", "2", "2.5", "-7"]), pa.string()),
        "rank": pa.array(cells(["low", "mid", "high", None]), pa.string()),
        "town": pa.array(cells(["a", "b; c", "*", "[1, 2]", "", None]), pa.string()),
        "leaf": pa.array(cells(["x1", "x2", "y1", "z", None]), pa.string()),
        "secret": cells([1, 2, 3]),
    }
    tree = sf.Hierarchy.from_rows([["x1", "x", "*"], ["x2", "x", "*"], ["y1", "y", "*"], ["z", "z", "*"], ["w", "y", "*"]])
    schema = sf.Schema(
        ["number", "rank", "town", "leaf"],
        ["secret"],
        kinds={"number": "numeric", "rank": "ordinal", "town": "categorical"},
        orders={"rank": ["low", "mid", "high"]},
        hierarchies={"leaf": tree},
        recodings={"leaf": "ancestor"},
        missing=sf.data.Missing(()),
    )
    return sf.anonymize(pa.table(data), schema, sf.KAnonymity(1), method=Chunks(draw(st.integers(1, 5))))


def places(cover, cell):
    stretches = range(cover.offsets[cell], cover.offsets[cell + 1])
    return sorted(place for i in stretches for place in range(cover.first[i], cover.stop[i]))


@given(published())
def test_cells_are_read_back_as_what_was_recoded(release):
    groups = release.audit.groups
    read = covers_of(release.private.original, release.table, groups, release.recodings)
    texts = {}
    for recoded, cover in zip(release.private.recoding.columns, read, strict=True):
        written = Cover.of(recoded)
        for group, label in enumerate(recoded.labels):
            texts[recoded.domain.name, label] = places(written, written.cell[group])
        column = release.table.column(recoded.domain.name)
        for group, row in enumerate(groups.first_rows):
            code = int(column.codes[row])
            label = None if code == column.size else column.label(code)
            assert places(cover, cover.cell[group]) == texts[recoded.domain.name, label]


@pytest.mark.parametrize("name", SHAPES)
class TestShapes:
    def test_is_plain_data(self, name):
        figures = SHAPES[name]().to_dict()["figures"]
        assert json.loads(json.dumps(figures, allow_nan=False)) == figures

    def test_levels_count_every_group(self, name):
        release = SHAPES[name]()
        for table in release.to_dict()["figures"]["levels"]:
            assert sum(table["groups"]) + table["infinite"] == release.audit.groups.count
            assert sum(table["breaching"]) == 0, "what is published holds"

    def test_columns(self, name):
        release = SHAPES[name]()
        found = {column["name"]: column for column in release.to_dict()["figures"]["columns"]}
        assert list(found) == [*release.schema.quasi_identifiers, *release.schema.sensitive_columns()]
        for name_of, column in found.items():
            assert len(column["labels"]) <= BINS + 2
            if "before" in column and column["labels"]:
                step = step_of(release.private.original.rows)
                for shares in (column["before"], column["after"]):
                    assert sum(shares) == pytest.approx(1, abs=float(step) * len(shares) / 2 + 1e-6)
            elif "before" not in column:
                assert sum(column["after"]) == pytest.approx(1, abs=1e-4)
                cells = Counter(release.table.column(name_of).codes.tolist())
                largest = max(cells.values()) / release.table.rows
                assert max(column["after"]) >= largest - 1e-6, "a bin holds at least one value"

    def test_neighbourhoods(self, name):
        """Edges and degrees of what is drawn, pair by pair."""
        release = SHAPES[name]()
        for graph in release.to_dict()["figures"]["neighbourhoods"]:
            finding = release.audit[graph["finding"]]
            assert len(graph["labels"]) == min(NODES, graph["distinct"])
            assert graph["neighbours"][graph["densest"]] == max(graph["neighbours"])
            if isinstance(finding.principle, sf.Dissimilarity):
                level = finding.levels["risk"]
                assert level == Fraction(graph["neighbours"][graph["densest"]], max(1, graph["rows"] - 1))
            if len(graph["labels"]) == graph["distinct"]:
                assert sum(graph["counts"]) == graph["rows"]
                near = [count - 1 for count in graph["counts"]]
                for i, j in graph["edges"]:
                    near[i] += graph["counts"][j]
                    near[j] += graph["counts"][i]
                assert near == graph["neighbours"]
            if graph["at"] is not None:
                reach = float(Fraction(graph["epsilon"]))
                close = [
                    [i, j]
                    for i, a in enumerate(graph["at"])
                    for j, b in enumerate(graph["at"])
                    if i < j and abs(a - b) <= reach * (1 + 1e-12)
                ]
                assert graph["edges"] == close

    def test_contours_mark_what_was_asked(self, name):
        release = SHAPES[name]()
        for contour in release.to_dict()["figures"]["contours"]:
            epsilon, delta = contour["asked"]
            asked = contour["shares"][contour["epsilons"].index(epsilon)][contour["deltas"].index(delta)]
            assert asked == 0, "what is published holds"

    def test_figures_do_not_tell_who_has_which_secret(self, name, tmp_path):
        """The secrets of each group dealt to other rows of that group: nothing that is published may differ, in any byte."""
        release = SHAPES[name]()
        data = release.private.original.data
        known = (*release.schema.quasi_identifiers, release.private.original.schema.person_id)
        secrets = [name for name in data.column_names if name not in known]
        again, of_row = dealt_again(data, release, secrets)
        if not secrets or again.equals(data):
            pytest.skip("there is no other way to deal the secrets")
        for name_of, table in (("fixed", data), ("other", again)):
            made = sf.anonymize(
                table,
                release.private.original.schema,
                release.principles,
                method=Fixed(of_row),
                seed=release.private.seed,
                suppress=release.suppress,
            )
            made.save(tmp_path / name_of)
        for path in (tmp_path / "fixed").iterdir():
            assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name


def test_the_rule_is_one_that_could_be_broken():
    """Figures of the internal report only do depend on who has which secret."""
    release = SHAPES["categories"]()
    again, _ = dealt_again(release.private.original.data, release, ["ill"])
    other = sf.anonymize(again, release.schema, release.principles, method=Chunks(12), seed=5)
    outcome = [internal_figures(r.private.original, r.audit, r.recodings) for r in (release, other)]
    assert outcome[0].errors != outcome[1].errors
    assert outcome[0].levels != outcome[1].levels


def test_the_order_of_the_original_tells_nothing(tmp_path):
    class Decades(sf.Method):
        name = "decades"

        def group(self, task, seed=0):
            decades = np.array(task.table.data.column("age").to_pylist()) // 10
            return sf.anonymization.Grouping(sf.anonymization.renumber(decades))

    data = SHAPES["numbers"]().private.original.data
    order = np.random.default_rng(1).permutation(data.num_rows)
    for name, table in (("one", data), ("other", data.take(pa.array(order)))):
        schema = sf.Schema(["age", "town"], ["money"])
        sf.anonymize(table, schema, sf.Dissimilarity(1, "0.5", 5), method=Decades()).save(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name


class TestErrors:
    def tables(self, release):
        groups = release.audit.groups
        covers = covers_of(release.private.original, release.table, groups, release.recodings)
        return release.table, groups, covers

    def test_true_errors_are_those_of_the_utility(self):
        release = SHAPES["numbers"]()
        found = true_errors(release.private.original, *self.tables(release), PUBLIC_SEED)
        for entry in found["by"]:
            workload = Workload.random(release.private.kept, QUESTIONS, entry["columns"], 1, SELECTIVITY, PUBLIC_SEED)
            errors = sf.anonymization.query_errors(release.private.recoding, workload)
            known = errors.relative[errors.raw > 0]
            assert entry["counted"] == len(known)
            assert entry["median"] == pytest.approx(np.median(known), abs=1e-5)
            assert entry["upper"] == pytest.approx(np.quantile(known, 0.75), abs=1e-5)

    def test_nothing_is_expected_to_be_off_where_cells_tell_the_values(self):
        data = pa.table({"age": [20] * 30 + [40] * 30, "ill": ["flu", "cold", "gout"] * 20})
        release = sf.anonymize(data, sf.Schema(["age"], ["ill"]), sf.KAnonymity(30), method=Chunks(30))
        found = expected_errors(*self.tables(release))
        assert [entry["median"] for entry in found["by"]] == [0.0]
        assert found["drawn"] > 1

    def test_expected_errors_are_right_on_average(self):
        """Two ages in one group of n: a count of one age is binomial, its mean deviation √(2/(πn)) of what is expected."""
        n = 40_000
        data = pa.table({"age": [20, 40] * (n // 2)})
        release = sf.anonymize(data, sf.Schema(["age"]), sf.KAnonymity(n), method=Chunks(n))
        found = expected_errors(*self.tables(release))
        assert found["by"][0]["upper"] < 4 / np.sqrt(n)
        assert found["by"][0]["upper"] > 0

    def test_the_same_table_the_same_errors(self):
        """Whatever the seed of the method was: it is not published, and the same groups give the same figures."""
        release = SHAPES["many_values"]()
        assert expected_errors(*self.tables(release)) == expected_errors(*self.tables(release))

    def test_suppressed_values_are_within_no_stretch(self):
        release = SHAPES["suppressed"]()
        assert release.suppressed
        assert true_errors(release.private.original, *self.tables(release), 0)["by"][0]["median"] is not None


def test_levels_put_a_threshold_on_the_side_of_its_verdict():
    """Levels of many values are binned, and a level that is just at the threshold is not drawn beyond it."""
    rows = [(group, value) for group in range(2, 60) for value in [*range(100, 100 + 3 * group, 3), 100]]
    data = pa.table({"age": [g for g, _ in rows], "x": [v for _, v in rows]})
    found = sf.audit(data, sf.Schema(["age"], ["x"]), sf.Dissimilarity(0, "0.9", 2))
    from sfumato.anonymization.figures.level_histograms import levels

    (table,) = levels(found)
    assert table["width"] is not None
    assert sum(table["breaching"]) == found[0].violating_groups > 0
    threshold = float(Fraction(table["threshold"]))
    for value, count, broken in zip(table["values"], table["groups"], table["breaching"], strict=True):
        assert broken == (count if value > threshold else 0)


def test_groups_by_quasi_identifiers_are_those_of_all_rows():
    release = SHAPES["suppressed"]()
    before = release.to_dict()["figures"]["risk"]["before"]
    sizes = Groups.of(release.private.original).sizes
    assert sizes.sum() == release.table.rows + release.suppressed
    assert before == risk(sizes, step_of(release.private.original.rows))


def test_a_costly_distance_is_looked_at_in_a_sample_of_groups():
    rows = 3000
    calls = []

    def far(xs, ys):
        calls.append(len(xs))
        return [float(abs(x - y)) for x, y in zip(xs, ys, strict=True)]

    data = pa.table({"age": [i % 100 for i in range(rows)], "x": [(i * 7) % 1009 for i in range(rows)]})
    schema = sf.Schema(["age"], ["x"], distance=sf.distances.Custom(far, vectorised=True))
    release = sf.anonymize(data, schema, sf.Dissimilarity(2, "0.1", 5), method=Chunks(30))
    calls.clear()
    (contour,) = release.to_dict()["figures"]["contours"]
    assert contour["sampled"]
    assert 0 < contour["groups"] < release.audit.groups.count
    assert sum(calls) <= 2 * (len(contour["epsilons"]) * 50_000 + 3 * 30**2)


def test_groups_that_publish_the_same_cells_are_one_class_to_who_knows_quasi_identifiers():
    people = pa.table({"age": [30] * 8 + [40, 41], "ill": list("abcdefghij")})
    release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), method=Chunks(2))
    assert release.audit.groups.count == 5
    found = release.to_dict()["figures"]["risk"]["after"]
    assert (found["highest"], found["mean"]) == (0.5, 0.2), "two classes: eight rows of 30, and the others"


class TestNamed:
    """Only published cells and declarations reveal which values the original contains."""

    @staticmethod
    def column(data, of_row, schema=None, **more):
        schema = schema or sf.Schema([data.column_names[0]], **more)
        release = sf.anonymize(data, schema, sf.KAnonymity(5), method=Fixed(np.array(of_row)), suppress="0.1")
        return release.to_dict()["figures"]["columns"][0], release

    @pytest.mark.parametrize("hierarchies", [{}, {"job": sf.data.Flat()}])
    def test_a_value_of_suppressed_rows(self, hierarchies):
        data = pa.table({"job": ["clerk", "cook"] * 500 + ["clerk"] * 500 + ["archbishop"]})
        found, release = self.column(data, [0] * 1000 + [1] * 500 + [2], hierarchies=hierarchies)
        assert release.suppressed == 1
        assert "archbishop" not in json.dumps(release.to_dict(), default=str)
        if hierarchies:
            assert found["labels"] == ["clerk", "others"], "the cook stands under * only"
            assert found["after"] == [1.0, 0.0]
        else:
            assert found["labels"] == ["clerk", "cook"]
            assert found["after"] == pytest.approx([2 / 3, 1 / 3], abs=0.005)

    def test_a_value_between_published_ends(self):
        ages = ([30] * 40 + [39] * 40 + [34] * 30) * 10 + [37]
        found, release = self.column(pa.table({"age": ages}), [0] * len(ages))
        assert set(release.table.data.column("age").to_pylist()) == {"[30, 39]"}
        assert found["labels"] == ["30 – 31", "32 – 33", "34 – 35", "36 – 37", "38 – 39"]
        assert found["after"] == pytest.approx([0.2] * 5)

    def test_a_bar_of_one_number_is_that_of_a_published_one(self):
        ages = [30] * 100 + [31] * 100 + [32] * 100 + [33, 34] * 50
        found, _ = self.column(pa.table({"age": ages}), [0] * 100 + [1] * 100 + [2] * 200)
        assert found["labels"] == ["30 – 31", "32 – 33", "34 – 35"], "33 is within [32, 34]"
        found, _ = self.column(pa.table({"age": ages}), [0] * 100 + [1] * 100 + [2] * 100 + [3] * 100)
        assert found["labels"] == ["30", "31", "32", "33", "34"]

    @given(st.data())
    def test_what_is_hidden_decides_about_no_bar(self, data):
        """Other values within the cells, and in suppressed rows: the same bars, and the same shares after."""
        ends = [(20, 27), (24.5, 31), (40, 47), (47, 900)]
        schema = sf.Schema(
            ["age", "job", "width"],
            hierarchies={"job": sf.data.Flat(), "width": sf.Intervals((5, 10, 1000))},
            recodings={"job": "ancestor", "width": "ancestor"},
        )
        outcome = []
        for _ in range(2):
            hidden = data.draw(st.lists(st.integers(0, 6), min_size=123, max_size=123))
            rows, of_row = [], []
            for row, choice in enumerate(hidden):
                group = row // 30
                of_row.append(group)
                if group == len(ends):
                    rows.append((1000.0 + choice, "suppressed" + "xyz"[choice % 3], 2000 + choice))
                elif row % 30 < 2:  # what the cells show
                    rows.append((float(ends[group][row % 2]), "pq"[row % 2] if group else "p", 10 * group + 6 * (row % 2)))
                else:
                    low = ends[group][0] + 0.5
                    rows.append((low + choice, "pqxyzuv"[choice] if group else "p", 10 * group + choice))
            people = pa.table(dict(zip(["age", "job", "width"], map(list, zip(*rows, strict=True)), strict=True)))
            release = sf.anonymize(people, schema, sf.KAnonymity(5), method=Fixed(np.array(of_row)), suppress="0.1")
            cells = release.table.data.select(["age", "job", "width"]).to_pylist()
            bars = [
                [bar for bar in zip(column["labels"], column["after"], strict=True) if bar[0] != "others"]
                for column in release.to_dict()["figures"]["columns"]
            ]
            outcome.append((sorted(map(str, cells)), bars))
        assert outcome[0] == outcome[1]

    def test_missing_values_are_told_of_if_a_cell_tells_of_them(self):
        towns = ["Rome"] * 100 + ["Bonn"] * 100 + [None] * 10
        found, _ = self.column(pa.table({"town": towns}), [0] * 100 + [1] * 110)
        assert found["labels"] == ["Rome", "others", MISSING]
        assert found["after"][-1] > 0, "a withheld set shows that some are missing"
        found, release = self.column(pa.table({"town": towns[:-6]}), [0] * 100 + [1] * 100 + [2] * 4)
        assert release.suppressed == 4
        assert found["labels"] == ["Bonn", "Rome"]

    def test_many_names_are_in_the_order_of_published_shares(self):
        """Shares that are published as equal are in the order of their names; the number of pooled ones is not published."""
        names = [f"n{i:02}" for i in range(30)]
        data = pa.table({"name": [name for i, name in enumerate(names) for _ in range(100 + i % 3)]})
        found, _ = self.column(data, [i for i in range(30) for _ in range(100 + i % 3)])
        assert found["labels"] == [*names[:19], "others"]

    def test_numbers_that_lie_far_out_do_not_squeeze_the_others(self):
        data = pa.table({"x": [i % 100 for i in range(10_000)] + [10**6] * 10})
        found, _ = self.column(data, [i % 100 // 2 for i in range(10_000)] + [50] * 10)
        assert found["labels"][-1].startswith("from ")
        assert len(found["labels"]) > 10
        assert sum(found["after"]) == pytest.approx(1, abs=0.05)

    def test_a_hierarchy_is_named_as_declared(self, tmp_path):
        """Whether it is a tree, or the name of its file; numbers stand in even bins."""
        lines = [[str(age), f"[{age // 10}0, {age // 10 + 1}0)", "*"] for age in range(20, 80)]
        (tmp_path / "tree.csv").write_text("\n".join(map(";".join, lines)), encoding="utf-8")
        data = pa.table({"age": [20, 29, 25] * 300 + [31] * 100 + [77]})
        outcome = []
        for tree in (tmp_path / "tree.csv", sf.Hierarchy.from_rows(lines)):
            found, release = self.column(
                data, [0] * 900 + [1] * 100 + [2], hierarchies={"age": tree}, recodings={"age": "ancestor"}
            )
            assert release.suppressed == 1
            outcome.append(found)
        assert outcome[0] == outcome[1]
        assert outcome[0]["labels"] == [f"{age} – {age + 1}" for age in range(20, 80, 2)]
        assert outcome[0]["after"] == pytest.approx([0.18] * 5 + [0.1] + [0] * 24, abs=0.005)

    def test_an_order_is_named_as_declared(self):
        order = ["low", "mid", "high", "top"]
        schema = sf.Schema(["rank"], orders={"rank": order})
        found, _ = self.column(pa.table({"rank": ["low", "high"] * 500}), [0] * 1000, schema)
        assert found["labels"] == order
        assert found["after"] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=0.005)


def test_the_smallest_class_of_the_original_is_told_as_a_range():
    outcome = [risk(np.array([size, 1000]), Fraction(1, 1000))["highest"] for size in (1, 2, 3, 4, 5, 9, 10, 19)]
    assert outcome == [1, 0.5, 0.333, 0.333, 0.2, 0.2, 0.1, 0.1]


def test_expected_errors_are_told_in_three_decimals():
    for entry in SHAPES["many_values"]().to_dict()["figures"]["errors"]["by"]:
        assert all(entry[key] == round(entry[key], 3) for key in ("lower", "median", "upper"))
