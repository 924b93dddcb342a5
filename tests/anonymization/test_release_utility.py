"""The utility of a release, and why a requirement was not met."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.seeds import PUBLIC_SEED
from standin import Chunks

TABLE = pa.table({"age": [1, 2, 3, 4, 5, 6], "ill": ["a", "b", "c", "d", "e", "e"]})
SCHEMA = sf.Schema(["age"], ["ill"])


def test_unreached_says_why():
    with pytest.raises(sf.errors.RequirementError) as caught:
        anonymize(TABLE, SCHEMA, sf.DistinctLDiversity(2), method=Chunks(2))
    assert "Groups that satisfy distinct l-diversity (l = 2) on ill exist: the table as one group" in caught.value.problem
    assert caught.value.remedy.endswith("or try another method.")
    with pytest.raises(sf.errors.RequirementError) as caught:
        anonymize(TABLE, SCHEMA, sf.DistinctLDiversity(6), method=Chunks(2))
    start = "nothing is published: no grouping of these rows can satisfy distinct l-diversity (l = 6) on ill: the table"
    assert caught.value.problem.startswith(start)
    assert caught.value.problem.count("grouping") == 1
    assert caught.value.remedy == "Relax the requirement.", "fewer rows never have more distinct values"
    with pytest.raises(sf.errors.RequirementError) as caught:
        anonymize(TABLE, SCHEMA, sf.FrequencyLDiversity(4), method=Chunks(2))
    assert caught.value.remedy == "Relax the requirement, or allow a share of the rows to be suppressed."


def test_unreached_says_what_is_nearby():
    table = pa.table({"age": [1, 2, 3, 4, 5, 6], "pay": [1, 2, 3, 4, 5, 6]})
    requirement = sf.Dissimilarity(epsilon=3, delta="0.9", k=2)
    with pytest.raises(sf.errors.RequirementError) as caught:
        anonymize(table, sf.Schema(["age"], ["pay"]), requirement, method=Chunks(2))
    assert "the values 1 to 4 make up 4 of the 6 rows" in caught.value.problem
    # at ε = 1 any two of three rows apart make three groups of two
    assert "Guaranteed nearby: epsilon up to 1, or delta up to 0; not ruled out: epsilon up to 2" in caught.value.problem
    with pytest.raises(sf.errors.RequirementError) as caught:
        anonymize(table, sf.Schema(["age"], ["pay"]), sf.Dissimilarity(1, 1, 3), method=Chunks(2))
    assert "of all groupings of the 6 rows, one of 2 groups satisfies it" in caught.value.problem
    longer = pa.table({"age": range(14), "pay": range(14)})  # too long to try all groupings
    with pytest.raises(sf.errors.RequirementError) as caught:
        anonymize(longer, sf.Schema(["age"], ["pay"]), sf.Dissimilarity(1, 1, 7), method=Chunks(2))
    assert "is open: Θ = 2 is above 1, up to which groups are guaranteed" in caught.value.problem
    assert "another method" in caught.value.remedy


def test_utility():
    table = pa.table({"age": [20, 30, 40, 60, 70, 70], "pay": [1, 2, 3, 4, 5, 5]})
    schema = sf.Schema(["age"], ["pay"])
    found = anonymize(table, schema, [sf.KAnonymity(2), sf.AlphaKAnonymity(1, 3)], method=Chunks(3), seed=4)
    # [20, 40] and [60, 70] of [20, 70]: 2/5 and 1/5
    assert found.loss == pytest.approx(0.3)
    assert "loss   30 %" in repr(found)
    assert (found.utility.k, found.utility.classes.average) == (3, 1.0)
    assert found.utility.loss.mean == found.loss
    assert found.utility.queries.workload.seed == PUBLIC_SEED
    assert found.utility is found.utility


def test_utility_of_what_is_left():
    table = pa.table({"age": [20, 30, 60, 70], "pay": [1, 2, 5, 5]})
    found = anonymize(table, sf.Schema(["age"], ["pay"]), sf.DistinctLDiversity(2), method=Chunks(2), suppress="0.5")
    # the two rows that are published tell nothing within the ages that are left, and two rows are gone
    assert (found.suppressed, found.loss) == (2, 1.0)
    assert (found.utility.rows, found.utility.suppressed, found.utility.k) == (2, 2, None)
