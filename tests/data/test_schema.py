"""Schema, hierarchies and encoding: what is declared is what happens, and what is wrong is named."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf


def encode(values, name="s", **schema):
    return sf.Table(pa.table({name: values}), sf.Schema(sensitive=[name], **schema)).column(name)


def file_table(tmp_path, text, schema):
    path = tmp_path / "people.csv"
    path.write_text(text, encoding="utf-8")
    return sf.read_table(path, schema)


def test_roles():
    schema = sf.Schema(quasi_identifiers=["a"], sensitive="s", identifiers=["id"], other=["o"], kinds={"x": "numeric"})
    assert schema.sensitive == ("s",)
    names = ("a", "s", "id", "o", "x")
    roles = ["quasi-identifier", "sensitive", "identifier", "other"]
    assert [schema.role(name) for name in names] == [*roles, None]
    assert [replace(schema, undeclared="keep").role(name) for name in names] == [*roles, "other"]
    assert schema.published_columns(names) == ["a", "s", "o"]
    assert schema.columns_without_role(names) == ["x"]


def test_undeclared_is_one_of_three():
    with pytest.raises(sf.errors.ParameterError, match="undeclared = 'publish' is unknown"):
        sf.Schema(undeclared="publish")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sf.Schema(["a"], ["a"]), "declared twice"),
        (lambda: sf.Schema(["a"], kinds={"a": "numerical"}), "'numerical' is unknown"),
        (lambda: sf.Schema(["a"], kinds={"a": "ordinal"}), "has no order"),
        (lambda: sf.Schema(["a"], orders={"a": ["x", "x"]}), "twice"),
        (lambda: sf.Schema(["a"], orders={"a": []}), "empty"),
        (lambda: sf.Schema(sensitive=["v"], kinds={"v": "vector"}), "names no columns"),
        (lambda: sf.Schema(vectors={"v": ["x"]}), "must be sensitive"),
        (lambda: sf.Schema(["a"], distances={"a": sf.distances.Absolute()}), "not sensitive"),
    ],
)
def test_contradictions(make, words):
    with pytest.raises(sf.errors.ColumnError, match=words):
        make()


def test_missing_policy():
    assert encode(["", "x"]).has_missing
    assert not encode(["", "x"], missing=sf.data.Missing(values=())).has_missing
    assert encode(["?", "x"], missing=sf.data.Missing(values=("?",))).label(1) == "(missing)"
    with pytest.raises(sf.errors.CellError, match="row 2: the value is missing here and in 1 other rows"):
        encode(["x", "", None], missing=sf.data.Missing(policy="refuse"))
    with pytest.raises(sf.errors.ParameterError, match=r"missing\.policy"):
        sf.data.Missing(policy="guess")


def test_missing_is_one_value_of_its_own():
    frame = pa.table({"q": [1, None, None, 1], "s": ["a", None, "", "b"]})
    audit = sf.audit(frame, sf.Schema(["q"], ["s"]), [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    assert [f.measurement.level for f in audit] == [2, 1]
    assert audit.quasi_identifiers(1) == {"q": "(missing)"}


def test_set_columns():
    column = encode(["b; a", "a;b;b", "", "c"], kinds={"s": "set"})
    assert column.sets == [frozenset(), frozenset("ab"), frozenset("c")]
    assert column.codes.tolist() == [1, 1, 0, 2]
    assert column.label(1) == "{a; b}"
    assert encode(["a|b"], kinds={"s": "set"}, separators={"s": "|"}).sets == [frozenset("ab")]
    with pytest.raises(sf.errors.CellError, match="is not a set"):
        encode([1], kinds={"s": "set"})


def test_numbers_merge_if_they_are_equal():
    column = encode(["1", "1.0", "1e0", " 1 ", "0.5", "05"], kinds={"s": "numeric"})
    assert column.codes.tolist() == [1, 1, 1, 1, 0, 2]
    assert [column.label(i) for i in range(3)] == ["0.5", "1", "5"]
    assert [column.value(i) for i in range(3)] == [0.5, 1, 5]


def test_kinds_are_inferred_from_text(tmp_path):
    text = "zip,age,mixed,sex\n01234,30,1,f\n99999,,x,m\n"
    table = file_table(tmp_path, text, sf.Schema(["zip", "age", "mixed", "sex"]))
    kinds = [table.column(n).kind.value for n in ("zip", "age", "mixed", "sex")]
    assert kinds == ["categorical", "numeric", "categorical", "categorical"]


@pytest.mark.parametrize("cell", ["abc", "1,5,7", "12 years", "nan", "inf", "1e9999", "0x10", "١"])
def test_wrong_type_in_a_row(tmp_path, cell):
    text = f'age\n30\n41\n"{cell}"\n'
    table = file_table(tmp_path, text, sf.Schema(["age"], kinds={"age": "numeric"}))
    with pytest.raises(sf.errors.CellError) as caught:
        table.column("age")
    error = caught.value
    assert (error.column, error.row, error.value) == ("age", 3, cell)
    assert error.file.endswith("people.csv")
    assert str(error).startswith(f"{error.file}, column 'age', row 3: {cell!r} is not a number. ")


def test_infinite_float():
    with pytest.raises(sf.errors.CellError, match="'inf' is not a number"):
        encode([1.5, float("inf")])


def test_value_outside_the_order():
    with pytest.raises(sf.errors.CellError, match="row 2: 'huge' is not in the column's order") as caught:
        encode(["low", "huge"], orders={"s": ["low", "high"]})
    assert caught.value.value == "huge"


def test_unknown_column():
    with pytest.raises(sf.errors.ColumnError, match="Did you mean 'income'") as caught:
        sf.Table(pa.table({"income": [1]}), sf.Schema(sensitive=["incom"]))
    assert caught.value.column == "incom"
    with pytest.raises(sf.errors.ColumnError, match="The columns are: 'a', 'b'"):
        sf.Table(pa.table({"a": [1], "b": [2]}), sf.Schema(["zzzz"]))


def test_vector():
    frame = pa.table({"q": [0, 0], "x": [0.5, 0.4], "y": [0.5, 0.6]})
    schema = sf.Schema(
        ["q"], ["profile"], vectors={"profile": ["x", "y"]}, distances={"profile": sf.distances.TotalVariation()}
    )
    audit = sf.audit(frame, schema, sf.Dissimilarity("0.1", 0))
    assert audit[0].attribute == "profile"
    assert audit[0].measurement.level == 1


# hierarchies


def tree_file(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "tree.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_hierarchy_file(tmp_path):
    tree = sf.Hierarchy.from_file(tree_file(tmp_path, "flu;lung;*\nulcer;gut;*\nasthma;lung;*\n\nflu;lung;*\n"))
    assert tree.leaves == ("flu", "ulcer", "asthma")
    assert tree.height == 2
    assert [tree.generalize("asthma", level) for level in range(3)] == ["asthma", "lung", "*"]
    assert tree.common_level("flu", "asthma") == 1
    assert tree.common_level("flu", "ulcer") == 2
    assert tree.common_level("flu", "flu") == 0


def test_a_label_may_stand_on_several_levels():
    tree = sf.Hierarchy.from_rows([["White", "White", "*"], ["Black", "Other", "*"], ["Other", "Other", "*"]])
    assert tree.common_level("Black", "Other") == 1
    assert tree.common_level("White", "Other") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;x;*\nb;x;*\na;y;*\n", "node 'a' is under 'x' in line 1 and under 'y' in line 3"),
        ("a;x;1;*\nb;x;2;*\n", "level 1 node 'x' is under '1' in line 1 and under '2' in line 2"),
        ("a;x;*\nb;*\n", "line 2 has 2 fields, line 1 has 3"),
        ("a;x\nb;y\n", "the last level has several nodes: 'x', 'y'"),
        ("a\nb\n", "line 1 has 1 field"),
        ("", "empty"),
    ],
)
def test_not_a_tree(tmp_path, text, words):
    path = tree_file(tmp_path, text)
    with pytest.raises(sf.errors.HierarchyError) as caught:
        sf.Hierarchy.from_file(path)
    assert words in str(caught.value)
    assert caught.value.file == str(path)


def test_unreadable_hierarchies(tmp_path):
    with pytest.raises(sf.errors.HierarchyError, match="No such file"):
        sf.Hierarchy.from_file(tmp_path / "absent.csv")
    with pytest.raises(sf.errors.HierarchyError, match="not UTF-8"):
        sf.Hierarchy.from_file(tree_file(tmp_path, "Müller;*\n", "latin-1"))


def test_missing_leaves_are_listed_and_extra_ones_are_fine(tmp_path):
    path = tree_file(tmp_path, "a;*\nb;*\nzebra;*\n")
    assert encode(["a", "b"], hierarchies={"s": path}).paths.tolist() == [[0, 0], [1, 0]]
    with pytest.raises(sf.errors.HierarchyError) as caught:
        encode(["a", "c", "d"], hierarchies={"s": str(path)})
    assert caught.value.value == ["c", "d"]
    assert caught.value.column == "s"
    assert "lacks 2 of the column's values: 'c', 'd'" in str(caught.value)
    many = [f"v{i:02d}" for i in range(20)]
    with pytest.raises(sf.errors.HierarchyError, match="'v07' and 12 more"):
        encode(many, hierarchies={"s": path})


def test_numeric_column_with_a_hierarchy():
    tree = sf.Hierarchy.from_rows([["17", "teen", "*"], ["30", "adult", "*"]])
    column = encode([17.0, 30.0, None], hierarchies={"s": tree})
    assert column.paths.tolist() == [[0, 0, 0], [1, 1, 0], [2, 2, 0]]


def test_interval_builder():
    column = encode([17, 21, -3], hierarchies={"s": sf.Intervals((5, 10))})
    tree = column.hierarchy
    assert [tree.generalize(x, 1) for x in ("17", "21", "-3")] == ["[15, 20)", "[20, 25)", "[-5, 0)"]
    assert tree.generalize("21", 2) == "[20, 30)"
    assert encode(["0.15"], kinds={"s": "numeric"}, hierarchies={"s": sf.Intervals(("0.1",))}).hierarchy.labels[1] == (
        "[0.1, 0.2)",
    )
    assert sf.Intervals((10,), origin=5).build(["17"], "s").generalize("17", 1) == "[15, 25)"
    with pytest.raises(sf.errors.ParameterError, match="do not nest"):
        sf.Intervals((5, 7))
    with pytest.raises(sf.errors.ParameterError, match="do not nest"):
        sf.Intervals(())
    with pytest.raises(sf.errors.HierarchyError, match="intervals need numbers"):
        encode(["x"], hierarchies={"s": sf.Intervals((5,))})


def test_flat_builder():
    assert encode(["x", "y"], hierarchies={"s": sf.data.Flat()}).hierarchy.height == 1


def test_one_text_is_not_its_letters():
    assert sf.data.Missing(values="NA").values == ("NA",)
    assert sf.Schema(["x"], orders={"x": "ab"}).orders == {"x": ("ab",)}


def test_more_contradictions():
    with pytest.raises(sf.errors.ColumnError, match="a name of its own"):
        sf.Schema(sensitive=["v"], vectors={"v": ["v", "w"]})
    with pytest.raises(sf.errors.ColumnError, match="not a set"):
        sf.Schema(sensitive=["v"], kinds={"v": "text"}, separators={"v": "|"})
    with pytest.raises(sf.errors.ColumnError, match="is not a hierarchy"):
        encode(["x"], hierarchies={"s": 5})
    with pytest.raises(sf.errors.CellError, match="'red' is not a number"):
        frame = pa.table({"x": ["1", "red"]})
        sf.audit(frame, sf.Schema(sensitive=["v"], vectors={"v": ["x"]}), sf.KAnonymity(1))


def test_a_number_finds_its_leaf_however_it_is_written():
    tree = sf.Hierarchy.from_rows([["1.50", "low", "*"], ["20", "high", "*"]])
    assert encode(["1.5", "20.0"], kinds={"s": "numeric"}, hierarchies={"s": tree}).paths.tolist() == [[0, 0, 0], [1, 1, 0]]


def test_schemas_and_errors_travel():
    """Other processes get them whole."""
    schema = sf.Schema(["a"], ["s"], orders={"s": ["x", "y"]}, distance=sf.distances.Lp(weights={"s": 1}))
    assert pickle.loads(pickle.dumps(schema)) == copy.deepcopy(schema) == schema
    error = sf.errors.CellError("bad", remedy="Fix it.", file="f", column="c", row=3, value="v")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.row, type(again)) == (str(error), 3, sf.errors.CellError)
