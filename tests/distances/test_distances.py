"""Every distance: the contract, exactness at ε, and the papers' pitfalls."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Jaro as FastJaro
from rapidfuzz.distance import JaroWinkler as FastJaroWinkler

import naive
import sfumato as sf
from bound_distances import TREE, bound, decimals, with_missing
from sfumato.distances.jaro import exact_jaro, exact_jaro_winkler
from sfumato.exact import as_fraction
from sfumato.registry import DISTANCES
from sfumato.testing import check_distance

ORDER = ["low", "mid", "high", "top"]
words = st.text(alphabet="ABCMRTHX", max_size=7)


def check(bound_, codes, values, exact, extra=()):
    """`near` is exact at every distance that occurs and just beside it; windows say the same; distances are right."""
    everyone = np.arange(len(bound_.attribute))
    row_of = {int(code): i for i, code in enumerate(codes)}
    apart = {(v, w): exact(values[row_of[v]], values[row_of[w]]) for v in everyone for w in everyone}
    ties = {d for d in apart.values() if d != naive.INF}
    tiny = Fraction(1, 10**20)
    for epsilon in {*ties, *(t - tiny for t in ties if t > 0), *map(Fraction, extra)}:
        expected = np.array([[apart[v, w] <= epsilon for w in everyone] for v in everyone])
        assert (bound_.near(everyone, everyone, epsilon) == expected).all(), epsilon
        windows = bound_.windows(epsilon)
        if windows is not None:
            rank = windows.rank
            inside = (windows.low[rank][:, None] <= rank[None, :]) & (rank[None, :] < windows.high[rank][:, None])
            assert (inside == expected).all()
            assert (np.diff(windows.low) >= 0).all()
            assert (np.diff(windows.high) >= 0).all()
    if bound_.epsilon_steps() is not None:
        count, step = bound_.epsilon_steps()
        assert step(0) == 0
        assert step(count - 1) >= max(ties)
        if count < 10**5:
            assert ties <= {step(i) for i in range(count)}
    floats = bound_.distances(everyone, everyone)
    assert np.allclose(floats, [[float(apart[v, w]) for w in everyone] for v in everyone])


@given(st.lists(st.sampled_from(["", "a", "b", "B"]), min_size=1, max_size=6))
def test_discrete(values):
    check(*bound({"s": values}, sf.distances.Discrete()), values, naive.discrete, ["0", "0.999", "1", "2"])


@given(st.lists(st.one_of(decimals, st.none()), min_size=1, max_size=8))
def test_absolute(values):
    numbers = [None if v is None else Fraction(v) for v in values]
    columns = {"s": pa.array(values, pa.string())}
    check(
        *bound(columns, sf.distances.Absolute(), kinds={"s": "numeric"}),
        numbers,
        with_missing(naive.absolute, naive.INF),
        ["1e30"],
    )


@given(st.lists(st.sampled_from(["1e25", "1e25", "10000000000000000000000000.1", "0.1", "-7"]), min_size=1, max_size=5))
def test_absolute_beyond_64_bits(values):
    columns = {"s": values}
    check(*bound(columns, sf.distances.Absolute(), kinds={"s": "numeric"}), list(map(Fraction, values)), naive.absolute)


vectors = st.lists(st.tuples(decimals, decimals, decimals), min_size=1, max_size=6)


def as_columns(rows):
    return {f"c{j}": [row[j] for row in rows] for j in range(len(rows[0]))}


def numeric(rows):
    return dict.fromkeys(as_columns(rows), "numeric")


@given(vectors)
def test_total_variation(rows):
    exact = [tuple(map(Fraction, row)) for row in rows]
    check(*bound(as_columns(rows), sf.distances.TotalVariation(), kinds=numeric(rows)), exact, naive.total_variation)


@given(vectors)
def test_min_coordinate(rows):
    exact = [tuple(map(Fraction, row)) for row in rows]
    check(*bound(as_columns(rows), sf.distances.MinCoordinate(), kinds=numeric(rows)), exact, naive.min_coordinate)


mixed = st.lists(
    st.tuples(st.one_of(decimals, st.none()), st.sampled_from(ORDER), st.sampled_from(["x", "y", ""])),
    min_size=1,
    max_size=6,
)
weights = st.tuples(*[st.sampled_from(["0", "0.2", "0.4", "1/3", "1", "2"])] * 3).filter(
    lambda ws: any(Fraction(w) for w in ws)
)


@given(mixed, weights, st.sampled_from([1, 2, 3, "inf"]), st.sampled_from(["value", "rank"]))
def test_lp(rows, weight, p, way):
    """Sums of powers are compared as such: near at ε exactly if the sum is at most ε^p."""
    numbers = [None if n is None else Fraction(n) for n, _, _ in rows]
    domain = sorted({n for n in numbers if n is not None})
    w = [Fraction(x) for x in weight]
    columns = {
        "n": pa.array([row[0] for row in rows], pa.string()),
        "o": [r[1] for r in rows],
        "c": [r[2] for r in rows],
    }
    distance = sf.distances.Lp(p=p, weights=dict(zip("noc", weight, strict=True)), by={"n": way})
    bound_, codes = bound(columns, distance, kinds={"n": "numeric"}, orders={"o": ORDER})

    def parts(i, j):
        x, y = numbers[i], numbers[j]
        if x is None or y is None:
            first = Fraction(x is not y)
        elif way == "rank":
            first = Fraction(abs(domain.index(x) - domain.index(y)), max(len(domain) - 1, 1))
        else:
            first = abs(x - y) / ((domain[-1] - domain[0]) or 1)
        second = Fraction(abs(ORDER.index(rows[i][1]) - ORDER.index(rows[j][1])), 3)
        return first, second, Fraction(rows[i][2] != rows[j][2])

    def power_sum(i, j):
        if p == "inf":
            return max(a * d for a, d in zip(w, parts(i, j), strict=True)) / max(w)
        return sum(a * d**p for a, d in zip(w, parts(i, j), strict=True)) / sum(w)

    power = 1 if p == "inf" else p
    everyone = np.arange(len(bound_.attribute))
    row_of = {int(code): i for i, code in enumerate(codes)}
    sums = {(v, u): power_sum(row_of[v], row_of[u]) for v, u in product(everyone, everyone)}
    assert all(0 <= s <= 1 for s in sums.values())
    roots = {Fraction(s).limit_denominator(10**6) for s in sums.values()} if power == 1 else set()
    for epsilon in {*roots, *map(Fraction, ("0", "0.1", "0.2", "1/3", "0.5", "2/3", "1"))}:
        expected = np.array([[sums[v, u] <= epsilon**power for u in everyone] for v in everyone])
        assert (bound_.near(everyone, everyone, epsilon) == expected).all()
    floats = bound_.distances(everyone, everyone)
    assert np.allclose(floats, [[float(sums[v, u]) ** (1 / power) for u in everyone] for v in everyone])


@given(st.lists(st.tuples(*[st.floats(-1e3, 1e3)] * 3), min_size=2, max_size=6), st.sampled_from([1, 2]))
def test_lp_beyond_64_bits_is_exact_at_its_own_distances(rows, p):
    """Random floats have 17 digits, so whole numbers do not fit; at the very distance of a pair, floats cannot tell."""
    bound_, codes = bound(as_columns(rows), sf.distances.Lp(p=p))
    exact = [[Fraction(repr(x)) for x in row] for row in rows]
    spans = [max(column) - min(column) or Fraction(1) for column in zip(*exact, strict=True)]
    used = [s for s in spans if s]
    tiny = Fraction(1, 10**30)
    for i, j in product(range(len(rows)), repeat=2):
        total = sum((abs(a - b) / s) ** p for a, b, s in zip(exact[i], exact[j], spans, strict=True)) / len(used)
        if p == 1:
            one, other = np.array([codes[i]]), np.array([codes[j]])
            assert bound_.near(one, other, total)[0, 0]
            assert total == 0 or not bound_.near(one, other, total - tiny)[0, 0]


def test_lp_declared_ranges_and_errors():
    columns = {"n": [0, 10], "c": ["x", "y"]}
    bound_, codes = bound(columns, sf.distances.Lp(weights={"n": 1, "c": 0}, ranges={"n": [0, 100]}))
    assert bound_.distances(codes[:1], codes[1:])[0, 0] == pytest.approx(0.1)
    for distance, words_ in [
        (lambda: bound(columns, sf.distances.Lp(ranges={"n": [0, 5]})), "outside the range"),
        (lambda: bound(columns, sf.distances.Lp(weights={"z": 1})), "'z' is not part"),
        (lambda: bound(columns, sf.distances.Lp(weights={"n": 1})), "not for c"),
        (lambda: sf.distances.Lp(ranges={"n": 5}), "not a pair"),
        (lambda: sf.distances.Lp(ranges={"n": [5, 5]}), "not a pair"),
        (lambda: bound(columns, sf.distances.Lp(weights={"n": 0, "c": 0})), "all weights are 0"),
        (lambda: sf.distances.Lp(weights={"n": -1}), "negative"),
        (lambda: sf.distances.Lp(p=0), "p = 0"),
        (lambda: sf.distances.Lp(p=1.5), "p = 1.5"),
        (lambda: sf.distances.Lp(by={"n": "heart"}), "'heart' is unknown"),
    ]:
        with pytest.raises(sf.errors.ParameterError, match=words_):
            distance()


def test_ordinal_by_value():
    bound_, codes = bound({"s": ["1", "2", "10"]}, sf.distances.Lp(by={"s": "value"}), orders={"s": ["1", "2", "10"]})
    assert bound_.distances(codes[:1], codes)[0].tolist() == pytest.approx([0, 1 / 9, 1])
    with pytest.raises(sf.errors.ParameterError, match="ascending numbers"):
        bound({"s": ["low"]}, sf.distances.Lp(by={"s": "value"}), orders={"s": ["low", "high"]})


@given(st.lists(st.one_of(st.sampled_from(list(TREE)), st.none()), min_size=1, max_size=8))
def test_taxonomy(values):
    def distance(x, y):
        if None in (x, y):
            return Fraction(0) if x is y else Fraction(1)  # a missing value is directly under the root
        return Fraction(naive.common_level(TREE[x], TREE[y]), 2)

    columns = {"s": pa.array(values, pa.string())}
    tree = sf.Hierarchy.from_rows(TREE.values())
    check(*bound(columns, sf.distances.Taxonomy(), hierarchies={"s": tree}), values, distance, ["0.49", "0.5", "3"])


sets = st.lists(st.one_of(st.frozensets(st.sampled_from("pqrst"), max_size=4), st.none()), min_size=1, max_size=8)


@given(sets)
def test_jaccard(values):
    columns = {"s": pa.array([None if v is None else sorted(v) for v in values], pa.list_(pa.string()))}
    check(
        *bound(columns, sf.distances.Jaccard()),
        values,
        with_missing(naive.jaccard, Fraction(1)),
        ["1/3", "2/3", "0.333", "1"],
    )


@given(st.lists(st.one_of(words, st.none()), min_size=1, max_size=6), st.booleans())
def test_jaro(values, winkler):
    similarity = exact_jaro_winkler if winkler else exact_jaro
    columns = {"s": pa.array(values, pa.string())}
    distance = sf.distances.JaroWinkler() if winkler else sf.distances.Jaro()
    # an empty text is a missing one here, as in a file
    shown = [v or None for v in values]
    exact = with_missing(lambda a, b: 1 - similarity(a, b), Fraction(1))
    check(*bound(columns, distance, kinds={"s": "text"}), shown, exact, ["0.1", "0.2", "1/3"])


@given(words, words)
def test_exact_jaro_is_what_rapidfuzz_computes(a, b):
    assert float(exact_jaro(a, b)) == pytest.approx(FastJaro.similarity(a, b))
    if exact_jaro(a, b) != Fraction(7, 10):  # there floats may boost what is not above 0.7: see the next test
        assert float(exact_jaro_winkler(a, b)) == pytest.approx(FastJaroWinkler.similarity(a, b))


def test_jaro_winkler_at_its_own_boost():
    """A Jaro similarity of exactly 7/10 is not above it, whatever the floats say."""
    a, b = "BAAAA", "BAABBB"
    assert exact_jaro(a, b) == Fraction(7, 10)
    assert FastJaroWinkler.similarity(a, b) == pytest.approx(0.79)
    bound_, codes = bound({"s": [a, b]}, sf.distances.JaroWinkler(), kinds={"s": "text"})
    assert bound_.near(codes[:1], codes[1:], Fraction(3, 10))[0, 0]
    assert bound_.distances(codes[:1], codes[1:])[0, 0] == pytest.approx(0.3)
    assert not bound_.near(codes[:1], codes[1:], Fraction("0.2999"))[0, 0]


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1]), min_size=1, max_size=6), st.booleans())
def test_custom(values, vectorised):
    """A float counts as the decimal that it prints as."""

    def scalar(x, y):
        return abs(x - y)

    def vector(xs, ys):
        return np.abs(np.array(xs) - np.array(ys))

    bound_, codes = bound({"s": values}, sf.distances.Custom(vector if vectorised else scalar, vectorised))
    check(bound_, codes, values, lambda x, y: Fraction(repr(abs(x - y))), ["0.1", "0.2", "0.6"])


@pytest.mark.parametrize(
    ("function", "words_"),
    [
        (lambda x, y: x - y if x > y else 0, "not the same both ways"),
        (lambda x, y: float("nan"), "is not a number"),
        (lambda x, y: -abs(x - y), "is negative"),
        (lambda x, y: 1, r"itself is not 0: d\(1, 1\) = 1\. "),
        (lambda x, y: "far", "something that is not a number"),
        (lambda x, y: x / (y - 2), r"failed on d\(1, 2\): ZeroDivisionError"),
    ],
)
def test_a_wrong_function_is_an_error(function, words_):
    bound_, codes = bound({"s": [1, 2, 3]}, sf.distances.Custom(function))
    with pytest.raises(sf.errors.DistanceError, match=words_) as caught:
        bound_.near(codes, codes, Fraction(1))
    assert caught.value.column == "s"


def test_a_function_of_the_wrong_length_is_an_error():
    bound_, codes = bound({"s": [1, 2, 3]}, sf.distances.Custom(lambda xs, ys: [0], vectorised=True))
    with pytest.raises(sf.errors.DistanceError, match="1 numbers for 9 pairs"):
        bound_.near(codes, codes, Fraction(1))


def test_a_function_named_in_a_config():
    bound_, codes = bound({"s": [3, 5]}, sf.distances.Custom("operator:ne"))
    assert bound_.near(codes, codes, Fraction(0)).tolist() == [[True, False], [False, True]]
    for name, words_ in (
        ("no.such.module:f", "'no.such.module' cannot be imported"),
        ("operator:no_such", "not the name of a function"),
        ("operator", "not the name of a function"),
    ):
        with pytest.raises(sf.errors.ParameterError, match=words_):
            bound({"s": [3]}, sf.distances.Custom(name))


@pytest.mark.parametrize(
    ("apart", "at", "below"),
    [
        (Fraction(5, 3), "5/3", "1.6666666666666667"),
        (2**53 + 1, 2**53 + 1, 2**53),
        (Decimal("0.10000000000000000001"), "0.10000000000000000001", "0.1"),
        (0.1, "0.1", "0.09999999999999999"),
        (True, 1, "0.999"),
    ],
)
def test_what_a_function_returns_is_not_rounded(apart, at, below):
    at, below = as_fraction(at), as_fraction(below)
    bound_, codes = bound({"s": ["a", "b"]}, sf.distances.Custom(lambda x, y: apart if x != y else 0))
    assert bound_.near(codes[:1], codes[1:], at)[0, 0]
    if below < as_fraction(int(apart) if apart is True else apart):
        assert not bound_.near(codes[:1], codes[1:], below)[0, 0]


def test_values_given_to_a_function_are_not_rounded():
    seen = []
    bound_, codes = bound(
        {"s": ["9007199254740993.5", "0.5"]}, sf.distances.Custom(lambda x, y: seen.append(x) or 0), kinds={"s": "numeric"}
    )
    bound_.near(codes, codes, Fraction(0))
    assert {0.5, Fraction("9007199254740993.5")} == set(seen)


@pytest.mark.parametrize(
    ("distance", "values", "costly"),
    [
        (sf.distances.Absolute(), [1, 2], False),
        (sf.distances.Discrete(), ["a", "b"], False),
        (sf.distances.Lp(), [1, 2], False),
        (sf.distances.TotalVariation(), [1, 2], False),
        (sf.distances.Jaro(), ["ann", "bob"], True),
    ],
)
def test_only_distances_of_texts_and_sets_are_costly(distance, values, costly):
    """Searches and bounds leave pairs out that are costly, so a distance of numbers must not count as such."""
    attribute = sf.Table(pa.table({"s": values}), sf.Schema(sensitive=["s"])).attribute(["s"])
    assert distance.bind(attribute).costly == costly


def test_a_costly_function_is_called_only_for_pairs_within_groups():
    calls = []
    frame = pa.table({"q": np.repeat(np.arange(100), 3), "s": np.arange(300)})
    schema = sf.Schema(["q"], ["s"], distance=sf.distances.Custom(lambda x, y: calls.append(1) or abs(x - y)))
    assert sf.audit(frame, schema, sf.Dissimilarity(1, 0))[0].levels["risk"] == 1
    assert len(calls) == 2 * 100 * 9


def test_ranges_for_what_does_not_go_by_value():
    for columns, by in (({"s": [1, 2]}, {"s": "rank"}), ({"s": ["x", "y"]}, {})):
        with pytest.raises(sf.errors.ParameterError, match="is not compared by value"):
            bound(columns, sf.distances.Lp(ranges={"s": [0, 9]}, by=by))


def test_one_outlier_is_decided_exactly():
    """Beside 1e18 all other values look equal to floats; whole numbers of any size tell them apart."""
    values = [*(i / 100 for i in range(100)), 1e18]
    bound_, codes = bound({"s": values, "t": [0] * 101}, sf.distances.Lp(p=2, weights={"s": 1, "t": 0}))
    assert bound_.exact is None
    assert bound_.near(codes, codes, Fraction(0)).sum() == 101


# the contract: what every distance must do

SAMPLES = {
    "discrete": (sf.distances.Discrete(), {"s": ["a", "b", "c"]}, {}),
    "absolute": (sf.distances.Absolute(), {"s": [1, 2, 4, 8]}, {}),
    "lp": (sf.distances.Lp(p=2), {"s": [1, 2, 4, 8], "t": ["x", "y", "x", "y"]}, {}),
    "total-variation": (sf.distances.TotalVariation(), {"s": [0.1, 0.2, 0.7], "t": [0.9, 0.8, 0.3]}, {}),
    "min-coordinate": (sf.distances.MinCoordinate(), {"s": [0, 0, 1], "t": [0, 1, 1]}, {}),
    "taxonomy": (sf.distances.Taxonomy(), {"s": list(TREE)}, {"hierarchies": {"s": sf.Hierarchy.from_rows(TREE.values())}}),
    "jaccard": (sf.distances.Jaccard(), {"s": [["a"], ["a", "b"], ["b", "c"], []]}, {}),
    "jaro": (sf.distances.Jaro(), {"s": ["MARTHA", "MARHTA", "DIXON", "DICKSONX"]}, {"kinds": {"s": "text"}}),
    "jaro-winkler": (sf.distances.JaroWinkler(), {"s": ["AB", "AC", "BC", "CB"]}, {"kinds": {"s": "text"}}),
    "function": (sf.distances.Custom(lambda x, y: (x - y) ** 2), {"s": [1, 2, 3]}, {}),
}


@pytest.mark.parametrize("name", DISTANCES)
def test_contract(name):
    distance, columns, schema = SAMPLES[name]
    assert distance.name == name
    check_distance(distance, columns, sf.Schema(sensitive=list(columns), distance=distance, **schema))


def test_every_distance_has_a_sample_here():
    assert SAMPLES.keys() == DISTANCES.keys()


def test_jaro_breaks_the_triangle():
    """That Jaro declares itself no metric is not caution: here is the counter-example."""
    a, b, c = "AB", "ABC", "C"
    d = [1 - exact_jaro(x, y) for x, y in ((a, c), (a, b), (b, c))]
    found = any(
        1 - exact_jaro(x, z) > (1 - exact_jaro(x, y)) + (1 - exact_jaro(y, z))
        for x, y, z in product(("A", "B", "AB", "BA", "ABC", "CA", "C", "ABAB", "BABA"), repeat=3)
    )
    assert found, d


@pytest.mark.parametrize(
    "distance",
    [
        sf.distances.Absolute(),
        sf.distances.TotalVariation(),
        sf.distances.MinCoordinate(),
        sf.distances.Jaro(),
        sf.distances.Taxonomy(),
    ],
)
def test_a_set_given_to_another_kind_of_distance(distance):
    with pytest.raises(sf.errors.ColumnError) as caught:
        bound({"s": [["a"], ["b"]]}, distance)
    assert caught.value.column == "s"


def test_missing_numbers_in_a_vector():
    with pytest.raises(sf.errors.ColumnError, match="missing in 1"):
        bound({"s": [0.5, None], "t": [0.5, 0.5]}, sf.distances.TotalVariation())


def test_several_columns_for_a_distance_over_one():
    with pytest.raises(sf.errors.ColumnError, match="one column"):
        bound({"s": [1], "t": [2]}, sf.distances.Absolute())
