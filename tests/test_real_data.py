"""Real microdata loads and audits with no special code; figures are checked against pandas."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf

pytestmark = pytest.mark.data


def text_frame(path, **options):
    """The file as pandas reads it, every cell as text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False, **options)


def check(audit, frame, quasi, sensitive):
    """k, distinct l and the frequency of the most frequent value, computed by pandas."""
    groups = frame.groupby(quasi, sort=False)
    assert audit.groups.count == groups.ngroups
    assert audit[0].levels["k"] == groups.size().min()
    assert audit[0].violating_rows == groups.size()[groups.size() < 5].sum()
    assert audit[1].levels["l"] == groups[sensitive].nunique().min()
    counts = frame.groupby([*quasi, sensitive]).size().groupby(quasi).max()
    worst = (counts / groups.size()).max()
    assert float(audit[2].levels["alpha"]) == pytest.approx(worst)


def asked(sensitive):
    return [sf.KAnonymity(5), sf.DistinctLDiversity(3, on=sensitive), sf.AlphaKAnonymity("0.5", on=sensitive)]


def test_adult_with_its_hierarchies(real_data):
    folder = real_data / "adult"
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    hierarchies = {n: folder / "hierarchies" / f"{n}.csv" for n in [*names, "occupation", "salary-class"]}
    schema = sf.Schema(names, ["occupation", "salary-class"], hierarchies=hierarchies)
    path = folder / "adult_30162.csv"
    audit = sf.audit(path, schema, [*asked("occupation"), sf.TCloseness("0.3", "hierarchical", on="occupation")])
    frame = text_frame(path, sep=";")
    check(audit, frame, names, "occupation")
    assert audit.table.rows == 30162
    assert audit.table.column("age").kind == "numeric"
    assert audit.table.column("age").hierarchy.height == 4
    near = sf.audit(audit.table, None, sf.Dissimilarity("0.5", "0.5", on="occupation"))
    assert near[0].levels["risk"] == 1


def test_raw_adult_with_question_marks(real_data):
    path = real_data / "adult" / "adult_raw_32561.csv"
    quasi = ["age", "workclass", "sex", "native-country"]
    frame = text_frame(path)
    as_value = sf.Schema(quasi, ["occupation"], missing=sf.data.Missing(values=("?",)))
    audit = sf.audit(path, as_value, asked("occupation"))
    check(audit, frame, quasi, "occupation")
    column = audit.table.column("workclass")
    assert (column.codes == column.size).sum() == (frame["workclass"] == "?").sum() > 0
    refuse = sf.Schema(quasi, ["occupation"], missing=sf.data.Missing(values=("?",), policy="refuse"))
    first = int((frame["workclass"] == "?").to_numpy().argmax()) + 1
    with pytest.raises(sf.errors.CellError, match=f"column 'workclass', row {first}") as caught:
        sf.audit(path, refuse, asked("occupation"))
    assert caught.value.file == str(path)


def test_sal_occ(real_data):
    folder = real_data / "acs2018"
    path = folder / "sal_occ.csv.gz"
    quasi = ["age", "gender", "marital", "race"]
    order = [line.split(";")[0] for line in (folder / "hierarchies/education.csv").read_text().splitlines()]
    schema = sf.Schema(
        quasi,
        ["education", "workclass", "income50", "occupation", "income"],
        orders={"education": order},
        hierarchies={n: folder / f"hierarchies/{n}.csv" for n in (*quasi, "occupation", "workclass")},
    )
    audit = sf.audit(path, schema, [*asked("occupation"), sf.EpsilonMAnonymity(5000, 2, on="income")])
    assert audit.table.rows == 295_243
    check(audit, text_frame(path), quasi, "occupation")
    taxonomy = sf.audit(audit.table, None, sf.Dissimilarity("0.25", "0.8", 10, on="occupation"))
    assert 0 < taxonomy[0].vulnerability < 1


def test_census_income_kdd(real_data):
    path = real_data / "census_income_kdd" / "census_income_train.csv.gz"
    quasi = ["age", "race", "sex", "citizenship"]
    schema = sf.Schema(quasi, ["occupation_code", "wage_per_hour", "migr_msa"], missing=sf.data.Missing(values=("?",)))
    audit = sf.audit(path, schema, [*asked("occupation_code"), sf.VarianceControl(1, on="wage_per_hour")])
    assert audit.table.rows == 199_523
    check(audit, text_frame(path), quasi, "occupation_code")
    assert audit.table.column("migr_msa").has_missing
    assert audit.table.column("instance_weight").kind == "numeric"


def test_the_rest_loads(real_data):
    for name, rows in (
        ("record_linkage/febrl_dataset4a.csv", 5000),
        ("record_linkage/RLdata10000.csv", 10_000),
        ("catalogue/items.csv.gz", 68_825),
    ):
        table = sf.read_table(real_data / name, sf.Schema())
        assert table.rows == rows
        frame = text_frame(real_data / name)
        assert table.data.column_names == list(frame.columns)
        for column in frame.columns:
            assert table.data[column].to_pylist() == frame[column].tolist()
