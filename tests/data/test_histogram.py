"""Counts of values in groups: the same whether pairs are counted in place or sorted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.groups import Groups, Histogram


@pytest.mark.parametrize("groups", [1, 4, 60], ids=["one group", "counted in place", "sorted"])
def test_values_are_counted_group_by_group(groups):
    draw = np.random.default_rng(groups)
    of_row = np.concatenate([np.arange(groups), draw.integers(0, groups, 100 - groups)])
    ill = draw.choice(["a", "b", "c", "d", "e"], 100)
    table = sf.Table(pa.table({"ill": ill.tolist()}), sf.Schema([], ["ill"]))
    attribute = table.attribute(["ill"], "ill")
    found = Histogram.of(Groups.partition(table, of_row, groups), attribute)
    expected = sorted(Counter(zip(of_row.tolist(), attribute.codes.tolist(), strict=True)).items())
    assert list(zip(found.group.tolist(), found.values.tolist(), strict=True)) == [pair for pair, _ in expected]
    assert found.counts.tolist() == [count for _, count in expected]
    assert found.distinct.tolist() == np.bincount([group for (group, _), _ in expected]).tolist()
    assert found.counts.dtype == found.values.dtype == np.int64
