"""Roles that a person edits: what follows from them equals what is counted in the rows, and nothing is read again."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import ColumnError, ParameterError
from sfumato.profiling import singled_out

COLUMNS = ("age", "sex", "town", "wage")
rows = st.lists(st.tuples(*(st.integers(0, 2) for _ in COLUMNS), st.integers(0, 4)), min_size=2, max_size=12)
ROLES = st.sampled_from(["quasi-identifier", "sensitive", "other", "identifier", None])


def frame(cells):
    return pa.table({name: [str(row[i]) for row in cells] for i, name in enumerate((*COLUMNS, "who"))})


@given(rows, st.fixed_dictionaries(dict.fromkeys(COLUMNS, ROLES)))
def test_uniqueness_follows_edited_roles(cells, roles):
    profile = sf.profile(frame(cells))
    edited = profile.with_roles({**roles, "who": None})
    quasi = [i for i, name in enumerate(COLUMNS) if roles[name] == "quasi-identifier"]
    counts = Counter(tuple(row[i] for i in quasi) for row in cells)
    assert edited.uniqueness.unique == sum(count == 1 for count in counts.values())
    assert {column.name: column.role for column in edited} == {**roles, "who": None}
    assert edited.table is profile.table
    assert edited.schema.quasi_identifiers == tuple(COLUMNS[i] for i in quasi)
    assert profile.with_roles({}) == profile


@given(rows, st.lists(st.sampled_from(range(4)), min_size=1, unique=True))
def test_people_are_singled_out_by_any_of_their_rows(cells, columns):
    names = [COLUMNS[i] for i in columns]
    table = sf.Table(frame(cells), sf.Schema(names, person_id="who"))
    who_has: dict[tuple, set] = {}
    for row in cells:
        who_has.setdefault(tuple(row[i] for i in columns), set()).add(row[4])
    alone = {next(iter(people)) for people in who_has.values() if len(people) == 1}
    found = singled_out(table)
    assert (found.unique, found.people) == (len(alone), len({row[4] for row in cells}))
    by_row = singled_out(sf.Table(frame(cells), sf.Schema(names)))
    assert by_row.unique == sum(sum(all(row[i] == other[i] for i in columns) for other in cells) == 1 for row in cells)


def test_wrong_roles_are_refused():
    profile = sf.profile(frame([(0, 1, 2, 0, 1), (1, 1, 0, 2, 2)]))
    with pytest.raises(ParameterError, match="invalid role 'quasi' for column 'age'"):
        profile.with_roles({"age": "quasi"})
    with pytest.raises(ColumnError, match="Did you mean 'wage'"):
        profile.with_roles({"wages": "other"})


@given(rows, st.data())
def test_rows_of_a_group(cells, data):
    """They are the rows with the group's values, with the numbers that they have in the table."""
    table = sf.Table(frame(cells), sf.Schema(["age", "sex"], ["wage"], ["who"], other=["town"]))
    audit = sf.audit(table, None, sf.KAnonymity(1))
    group = data.draw(st.integers(0, audit.groups.count - 1))
    found = audit.group_rows(group).to_pylist()
    key = tuple(audit.quasi_identifiers(group).values())
    mine = [(number, row) for number, row in enumerate(cells, start=1) if (str(row[0]), str(row[1])) == key]
    assert [row["row"] for row in found] == [number for number, _ in mine]
    assert [(row["wage"], row["town"]) for row in found] == [(str(row[3]), str(row[2])) for _, row in mine]
    assert not found or "who" not in found[0]
    assert audit.group_rows(group, most=1).num_rows == 1
    with pytest.raises(ParameterError, match="there is no group"):
        audit.group_rows(audit.groups.count)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_a_group_are_in_the_library_of_the_data(library):
    data = frame([(0, 1, 2, 0, 1), (1, 1, 0, 2, 2)])
    given_ = data.to_pandas() if library == "pandas" else pytest.importorskip("polars").from_arrow(data)
    found = sf.audit(given_, sf.Schema(["age"]), sf.KAnonymity(1)).group_rows(0)
    assert type(found).__module__.startswith(library)
