"""The order ⪯ as far as the records reveal it: who fits a record in one dictionary fits it in the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.schema import Kind
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.dictionaries.dictionary_order import DictionaryOrder
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.setting import Setting


def precedes_for_records(setting: Setting, theta: int, eta: int) -> DictionaryOrder:
    """Check whether every individual of θ is in η, and fits there every record's value that it fits in θ.

    This is the purpose of ⪯ (Lebanon et al. 2006, Definition 8), read with the consistency of each attribute: as numbers
    or texts where values must be equal, as they are written where they are similar, by what they may stand for where they
    are generalized. Under any rule it makes ρ in η contain ρ in θ. Where consistency is equality, ⪯ implies it. It may
    hold without ⪯ if the dictionaries differ only in a value that no record has.

    >>> from sfumato.disclosure.consistency.containment import ContainmentConsistency
    >>> from sfumato.disclosure.setting import setting_of
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"id": [1, 2], "age": [25, 41]})
    >>> staff = Dictionary(pa.table({"id": [1, 2], "age": ["25", "41"]}), identity="id", name="staff")
    >>> book = Dictionary(pa.table({"id": [1, 2], "age": ["[20, 30]", "*"]}), identity="id", name="book")
    >>> both = setting_of(people, Schema(), [staff, book], identity="id", consistency={"age": ContainmentConsistency()})
    >>> print(precedes_for_records(both, 0, 1))
    'staff' precedes 'book'
    >>> print(precedes_for_records(both, 1, 0))
    'book' does not precede 'staff': of '2', the attribute 'age' is '*' in the first and '41' in the second
    """
    first, second = setting.dictionaries[theta], setting.dictionaries[eta]
    there = second.find_individuals(first.identities)
    if (there < 0).any():
        return DictionaryOrder(first.name, second.name, False, first.identities[int(np.argmax(there < 0))])
    one, other = setting.matchings[theta], setting.matchings[eta]
    assert np.array_equal(one.values, other.values), (
        "a consistency numbers the records' values alike, whatever the dictionary"
    )
    unfit = np.column_stack([_unfit(one, other, there, j) for j in range(one.attributes)])
    if not unfit.any():
        return DictionaryOrder(first.name, second.name, True)
    row = int(np.argmax(unfit.any(axis=1)))
    name = setting.attributes[int(np.argmax(unfit[row]))]
    values = _cell_text(setting, first, name, row), _cell_text(setting, second, name, int(there[row]))
    return DictionaryOrder(first.name, second.name, False, first.identities[row], name, values)


def _unfit(one: Matching, other: Matching, there: NDArray[np.int64], j: int) -> NDArray[np.bool_]:
    """For each individual of the first whether it fits a value of attribute j that it does not fit in the second."""
    values = np.unique(one.values[one.values[:, j] >= 0, j])
    # individuals with the same two values are compared once
    pairs, whose = np.unique(
        np.column_stack([one.dictionary_values[:, j], other.dictionary_values[there, j]]), axis=0, return_inverse=True
    )
    mine, theirs = pairs.T
    (fits, many), (also, others) = (_fitting(matching, values) for matching in (one, other))
    fitted = np.where(mine >= 0, np.append(many, 0)[mine], len(values))  # a missing value fits all
    unfit = (theirs >= 0) & (fitted > np.append(others, 0)[theirs])
    open_pairs = np.flatnonzero((theirs >= 0) & ~unfit & (mine >= 0) & (fitted > 0))
    common = np.asarray(fits[mine[open_pairs]].multiply(also[theirs[open_pairs]]).sum(axis=1)).ravel()
    unfit[open_pairs] = common < fitted[open_pairs]
    return np.asarray(unfit[whose.reshape(-1)])


def _fitting(matching: Matching, values: NDArray[np.int32]) -> tuple[Any, NDArray[np.int64]]:
    """Which of the records' values each value of the dictionary is consistent with, as a sparse matrix, and how many."""
    from scipy.sparse import csr_array

    counts = np.diff(matching.near_starts)[values]
    near = [matching.near[matching.near_starts[value] : matching.near_starts[value + 1]] for value in values.tolist()]
    consistent = np.concatenate([np.zeros(0, np.int32), *near])
    top = int(max(matching.dictionary_values.max(initial=-1), consistent.max(initial=-1))) + 1
    which = np.repeat(np.arange(len(values)), counts)
    matrix = csr_array((np.ones(len(consistent), np.int64), (consistent, which)), shape=(top, max(len(values), 1)))
    return matrix, np.bincount(consistent, minlength=top)


def _cell_text(setting: Setting, dictionary: Dictionary, attribute: str, row: int) -> str:
    """A cell of a dictionary as it is written there."""
    name = dictionary.attributes.get(attribute)
    nested = name is not None and pa.types.is_nested(dictionary.table.data.schema.field(name).type)
    column = dictionary.column(attribute, Kind.SET if nested else Kind.CATEGORICAL, setting.table.schema)
    return column.label(int(column.codes[row]))
