"""The proximity attack against its definition: the best interval around any centre, also one that does not occur."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from attacked_tables import grouped, one
from naive_group_attacks import fullest_interval, fullest_star, members
from sfumato.attacks import NotMeasured, Proximity

NUMBERS = ["0", "0.1", "0.3", "1", "1.2", "5", "7", "7.1", "1000000000000000000000", None]
ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(NUMBERS)), min_size=1, max_size=14)


@given(ROWS, st.sampled_from(["0", "0.05", "0.1", "0.5", "3", "1e21"]))
def test_intervals_contain_as_many_as_any_centre_allows(rows, epsilon):
    groups, texts = zip(*rows, strict=True)
    release = grouped(groups, {"s": list(texts)}, kinds={"s": "numeric"})
    result = one(Proximity(epsilon=epsilon).run(release))
    numbers = [None if text is None else Fraction(text) for text in texts]
    inside = [fullest_interval([numbers[i] for i in people], Fraction(epsilon)) for people in members(groups).values()]
    assert result.success.share == pytest.approx(sum(inside) / len(rows))
    whole = fullest_interval(numbers, Fraction(epsilon))
    assert result.baselines["the best interval of the whole table"].share == pytest.approx(whole / len(rows))
    sizes = [len(people) for people in members(groups).values()]
    alone = sum(size for size, most in zip(sizes, inside, strict=True) if size == most)
    assert result.certain == result.right == alone


@given(st.lists(st.tuples(st.integers(0, 2), st.sets(st.sampled_from("abcd"), min_size=1)), min_size=1, max_size=10))
def test_under_other_distances_centres_occur(rows):
    groups, sets = zip(*rows, strict=True)
    cells = [";".join(sorted(one)) for one in sets]
    result = one(Proximity(epsilon="0.5").run(grouped(groups, {"s": cells}, kinds={"s": "set"})))

    def jaccard(one, other):
        return 1 - Fraction(len(one & other), len(one | other))

    inside = [fullest_star([sets[i] for i in people], jaccard, Fraction(1, 2)) for people in members(groups).values()]
    assert result.success.share == pytest.approx(sum(inside) / len(rows))
    whole = fullest_star(sets, jaccard, Fraction(1, 2))
    assert result.baselines["the best interval of the whole table"].share == pytest.approx(whole / len(rows))
    assert any("a value that occurs" in note for note in result.notes)


def test_values_around_a_centre_that_does_not_occur_are_found():
    # no two of the values are within 10 of each other, all are within 10 of 500
    release = grouped([0, 0, 1, 1], {"s": [490, 510, 0, 1000]})
    result = one(Proximity(epsilon=10).run(release))
    assert result.success.share == 0.75
    assert (result.certain, result.right) == (2, 2)


def test_groups_like_the_table_reveal_no_interval():
    release = grouped([i // 5 for i in range(100)], {"s": [10, 20, 30, 40, 50] * 20})
    result = one(Proximity(epsilon=5).run(release))
    assert result.success == result.baselines["the best interval of the whole table"]
    assert result.success.share == pytest.approx(0.4)  # [10, 20]
    assert not result.exceeds


def test_epsilon_is_that_of_the_requirements_or_a_share_of_the_range():
    release = grouped([0, 0], {"s": [0, 100]})
    assert one(Proximity().run(release)).figures["epsilon"] == "5"
    import pyarrow as pa

    people = pa.table({"q": [1, 1, 2, 2], "s": [0, 40, 70, 100]})
    schema = sf.Schema(["q"], ["s"])
    required = [sf.Dissimilarity(7, "0.5"), sf.Dissimilarity(3, "0.1"), sf.KAnonymity(2)]
    found = sf.attack(sf.anonymize(people, schema, required), attacks=["proximity"])
    assert [result.figures["epsilon"] for result in found] == ["3", "7"]


def test_dates_are_compared_in_days():
    days = ["2024-01-01", "2024-01-03", "2024-01-08", None]
    result = one(Proximity(epsilon=1).run(grouped([0] * 4, {"s": days}, kinds={"s": "date"})))
    assert result.success.share == 0.5


def test_values_without_a_distance_are_not_measured():
    with pytest.raises(NotMeasured, match="equal or not"):
        Proximity().run(grouped([0, 0], {"s": ["a", "b"]}))
    with pytest.raises(NotMeasured, match="equal or not"):
        Proximity().run(grouped([0, 0], {"s": ["a", "b"]}, kinds={"s": "categorical"}))
    import pyarrow as pa

    table, schema = pa.table({"q": ["x", "x"], "s": [1, 2], "t": [1, 2]}), sf.Schema(["q"], ["v"], vectors={"v": ["s", "t"]})
    assert "several columns have no natural one" in repr(sf.attack(table, table, schema=schema, attacks=["proximity"]))
    with pytest.raises(NotMeasured, match="pass Proximity"):
        Proximity().run(grouped([0, 0], {"s": ["a", "a;b"]}, kinds={"s": "set"}))
    release = grouped([0, 0], {"s": ["a", "b"], "n": [1, 2]})
    result = one(Proximity().run(release))
    assert result.about == "n"
    assert any("not attacked: s" in note for note in result.notes)


def test_published_rows_suffice():
    release = grouped([0, 0, 1], {"s": [1, 2, 9]}, original=False)
    assert one(Proximity(epsilon=1).run(release)).success.share == 1


def test_only_frequent_centres_are_tried_in_the_table_if_a_distance_is_costly(monkeypatch):
    monkeypatch.setattr("sfumato.attacks.proximity._CENTRES", 2)
    names = ["anna", "anne", "otto", "bert"]
    release = grouped([0, 0, 1, 1], {"s": names}, kinds={"s": "text"})
    result = one(Proximity(epsilon="0.2").run(release))
    assert result.success.share == 0.75
    assert any("2 frequent values" in note for note in result.notes)


def test_epsilon_is_checked():
    with pytest.raises(sf.errors.ParameterError, match="epsilon"):
        Proximity(epsilon=-1)


def test_a_requirement_of_balls_bounds_the_attack_at_its_own_radius():
    people = pa.table({"age": list(range(40)), "pay": [7 * i % 40 for i in range(40)]})
    ball = sf.Dissimilarity(epsilon=2, delta="0.6", k=5, shape="ball")
    release = sf.anonymize(people, sf.Schema(["age"], ["pay"]), ball, method="mondrian", seed=0)
    (result,) = sf.attack(release, attacks=["proximity"])
    assert result.figures["epsilon"] == "2"
    assert result.figures["largest share of a group"] <= 0.4
    assert result.success.share <= 0.4
