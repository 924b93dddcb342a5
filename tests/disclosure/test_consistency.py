"""Consistency against its oracles: equality, containment and similarity, and matching records with them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive_consistency as naive
import sfumato as sf
from sfumato.data.table import Table
from sfumato.disclosure.consistency.consistency import EqualityConsistency
from sfumato.disclosure.consistency.consistency_kinds import CONSISTENCIES, consistency_of
from sfumato.disclosure.consistency.containment import ContainmentConsistency
from sfumato.disclosure.consistency.similarity import SimilarityConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.matching.attribute_matching import match_attributes
from sfumato.distances.jaro import Similarities
from sfumato.kernels.jaro_bounds import common_subsequence, place_characters

# --- whole rows -------------------------------------------------------------------------------------------------------

AGES = st.sampled_from([None, 17, 17.5, 20, 41])
NAMES = st.sampled_from([None, "", "Ann", "Anna", "Bob", "Böb", "x"])
TOWNS = st.sampled_from([None, "Rome", "Bonn", "Ulm"])
COMPARED = {"name": lambda a, b: naive.jaro(a, b) >= Fraction(4, 5)}


def rows(least=1, most=6):
    return st.lists(st.fixed_dictionaries({"age": AGES, "name": NAMES, "town": TOWNS}), min_size=least, max_size=most)


def frame(records, names, **more):
    kinds = {"age": pa.float64()}
    return pa.table({name: pa.array([row[name] for row in records], kinds.get(name, pa.string())) for name in names} | more)


@given(rows(), rows(), st.data())
def test_who_is_consistent_is_what_the_definition_says(records, people, data):
    known = data.draw(st.sampled_from([("age",), ("age", "name"), ("name", "town"), ("age", "name", "town")]))
    ids = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=len(people), max_size=len(people), unique=True))
    whose = data.draw(st.lists(st.sampled_from([None, *"abcdefgh"]), min_size=len(records), max_size=len(records)))
    columns = {"town": "city"} if "town" in known else {}
    book = Dictionary(
        frame(people, known, id=ids).rename_columns([columns.get(name, name) for name in (*known, "id")]),
        identity="id",
        columns=columns,
        missing=(),
    )
    schema = sf.Schema(missing=sf.data.Missing(values=()))
    table = Table(frame(records, ("age", "name", "town"), id=pa.array(whose, pa.string())), schema)
    both = match_attributes(
        table, ("age", "name", "town"), book, {"name": SimilarityConsistency("jaro", "0.8")}, identity="id"
    )
    cells = data.draw(st.lists(st.booleans(), min_size=3 * len(records), max_size=3 * len(records)))
    rule = np.array(cells, bool).reshape(-1, 3)
    for i, record in enumerate(records):
        shown = [name for name, told in zip(("age", "name", "town"), rule[i], strict=True) if told]
        seen = [{name: person[name] for name in known} for person in people]
        assert both.individuals_of(i, rule).tolist() == naive.rho(record, shown, seen, COMPARED)
        assert both.own[i] == (ids.index(whose[i]) if whose[i] in ids else -1)
    assert both.everything.tolist() == [[row[a] is not None for a in ("age", "name", "town")] for row in records]


# --- similarity -------------------------------------------------------------------------------------------------------

LETTERS = st.text(alphabet="aab é東", max_size=9)
LONG = st.builds(
    lambda base, times, tail: base * times + tail, st.text(alphabet="abcd", max_size=9), st.integers(0, 16), LETTERS
)
TEXTS = st.lists(LETTERS | LONG | st.text(max_size=6), max_size=6)


@pytest.mark.parametrize("kind", ["jaro", "jaro-winkler"])
@example(["A"], ["AAAAAAA"], 0)
@example(["", "a"], ["", "b"], 0)
@given(texts=TEXTS, others=TEXTS, pick=st.integers(0, 50))
def test_no_similar_pair_is_lost(kind, texts, others, pick):
    """Against all pairs, at thresholds that a pair reaches exactly, and just above and below."""
    similarity = naive.jaro if kind == "jaro" else naive.jaro_winkler
    exact = {(a, b): similarity(a, b) for a in texts for b in others}
    ties = sorted({s for s in exact.values() if s > 0}) or [Fraction(4, 5)]
    tie, tiny = ties[pick % len(ties)], Fraction(1, 10**20)
    for threshold in (tie, max(tie - tiny, tiny), min(tie + tiny, 1), Fraction(4, 5)):
        found = SimilarityConsistency(kind, threshold).consistent_texts(texts, others)
        for i, text in enumerate(texts):
            expected = [j for j, other in enumerate(others) if exact[text, other] >= threshold]
            assert found.near[found.starts[i] : found.starts[i + 1]].tolist() == expected


SIGNS = st.lists(st.integers(0, 2), max_size=9)
SEQUENCES = st.builds(lambda word, times, tail: word * times + tail, SIGNS, st.integers(0, 20), SIGNS)


@example([1] * 63 + [0] + [1] * 64 + [0], [0])  # what is carried passes through a word in which nothing is met
@given(SEQUENCES, SEQUENCES)
def test_common_subsequences_of_texts_longer_than_a_word(one, other):
    words = len(one) // 64 + 1
    places, state = np.zeros((3, words), np.uint64), np.zeros(words, np.uint64)
    place_characters(np.array(one, np.uint8), words, places)
    length = common_subsequence(places, words, np.array(other, np.uint8), state)
    assert length == naive.common_subsequence(one, other)


def test_the_default_threshold_reached_exactly():
    """Four of five characters in order: (4/5 + 4/5 + 1)/3 is above, and 3 of 5 with a boost is not a tie for Jaro."""
    assert naive.jaro("abcde", "abxy") == Fraction(19, 30)
    assert naive.jaro("ab", "abcde") == Fraction(4, 5)
    assert SimilarityConsistency().consistent_texts(["ab"], ["abcde"]).near.tolist() == [0]
    assert SimilarityConsistency(threshold="0.80000000000000000001").consistent_texts(["ab"], ["abcde"]).near.tolist() == []
    # 0.7 is not boosted
    assert naive.jaro("abcdefghij", "abcdefghijab") > Fraction(7, 10)
    assert SimilarityConsistency("jaro-winkler", 1).consistent_texts(["ab", "abc"], ["abc"]).near.tolist() == [0]


def test_texts_beyond_what_16_bits_count():
    long = "a" * 66_000
    found = SimilarityConsistency().consistent_texts([long + "b", "b", long], [long, "b" * 3, "ab" * 40_000])
    assert found.starts.tolist() == [0, 1, 1, 2]
    assert found.near.tolist() == [0, 0]


def test_more_characters_than_buckets():
    texts = [chr(0x4E00 + 7 * i) + chr(0x4E00 + 7 * i + 1) for i in range(200)]
    found = SimilarityConsistency(threshold=1).consistent_texts(texts, texts[::-1])
    assert found.near.tolist() == list(range(199, -1, -1))


@pytest.mark.parametrize(
    "parameters", [("jaro", 0), ("jaro", "1.1"), ("jaro", float("nan")), ("jaro", "abc"), ("soundex", 1)]
)
def test_a_wrong_similarity_is_refused(parameters):
    with pytest.raises(sf.errors.ParameterError):
        SimilarityConsistency(*parameters)


# --- containment ------------------------------------------------------------------------------------------------------

NUMBERS = [Fraction(n, 2) for n in range(-3, 9)]
POINTS = [Fraction(n, 8) for n in range(-20, 45)]
"""Numbers, and some between any two of them and beyond."""


@st.composite
def numeric_cells(draw):
    """A cell, and whether it holds a number."""
    low, high = sorted(draw(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS))))
    form = draw(st.sampled_from(["value", "closed", "right open", "left open", "set"]))
    one, other = (str(float(n)) if draw(st.booleans()) else str(n) for n in (low, high))
    if form == "set":
        return "{" + f"{one}; {other}" + "}", {low, high}
    if form == "value" or low == high:
        return one, {low}
    if form == "closed":
        return f"[{one}, {other}]", lambda n: low <= n <= high
    return (
        (f"[{one}, {other})", lambda n: low <= n < high)
        if form == "right open"
        else (f"({one}, {other}]", lambda n: low < n <= high)
    )


TREE = [
    ("flu", "lung", "chest", "any"),
    ("asthma", "lung", "chest", "any"),
    ("angina", "heart", "chest", "any"),
    ("ulcer", "gut", "gut", "any"),
    ("gut", "gut", "gut", "any"),
    ("a; b", "odd", "chest", "any"),
    ("*", "odd", "chest", "any"),
]
LEAVES = [row[0] for row in TREE]


def under(label):
    return {row[0] for row in TREE if label in row[:-1]}


TREE_CELLS = st.one_of(
    st.sampled_from(["flu", "asthma", "angina", "ulcer", "gut", "lung", "heart", "chest", "odd"]).map(
        lambda x: (x, under(x))
    ),
    st.sampled_from(["*", "any"]).map(lambda x: (x, set(LEAVES) | {"something else"})),
    st.just(('"*"', {"*"})),
    st.just(("a; b", {"a; b"})),
    st.just(('{"a; b"; flu}', {"a; b", "flu"})),
    st.just(("{flu; ulcer; heart}", {"flu", "ulcer", "angina"})),
)
ORDER = ["low", "mid", "high", "top"]
ORDINAL_CELLS = st.one_of(
    st.sampled_from(ORDER).map(lambda x: (x, {x})),
    st.tuples(st.integers(0, 3), st.integers(0, 3)).map(
        lambda ends: (f"[{ORDER[min(ends)]}, {ORDER[max(ends)]}]", set(ORDER[min(ends) : max(ends) + 1]))
    ),
    st.just(("{low; top}", {"low", "top"})),
)


def check_containment(mine, theirs, values, schema):
    table = Table(pa.table({"a": [cell for cell, _ in mine]}), schema, untyped=True)
    book = Dictionary(pa.table({"a": [cell for cell, _ in theirs]}))
    both = match_attributes(table, ["a"], book, {"a": ContainmentConsistency()})
    for i, (_, one) in enumerate(mine):
        expected = [v for v, (_, other) in enumerate(theirs) if naive.can_meet(one, other, values)]
        assert both.individuals_of(i, np.ones((len(mine), 1), bool)).tolist() == expected, (mine[i], theirs)


@given(st.lists(numeric_cells(), min_size=1, max_size=5), st.lists(numeric_cells(), min_size=1, max_size=5))
def test_numbers_intervals_and_sets_contain_each_other(mine, theirs):
    check_containment(mine, theirs, POINTS, sf.Schema(["a"], kinds={"a": "numeric"}))


@given(
    st.lists(TREE_CELLS, min_size=1, max_size=5),
    st.lists(TREE_CELLS | st.just(("something else", {"something else"})), min_size=1, max_size=5),
)
def test_nodes_of_a_hierarchy_contain_their_leaves(mine, theirs):
    schema = sf.Schema(["a"], hierarchies={"a": sf.Hierarchy.from_rows(TREE)})
    check_containment(mine, theirs, [*LEAVES, "something else"], schema)


@given(st.lists(ORDINAL_CELLS, min_size=1, max_size=5), st.lists(ORDINAL_CELLS, min_size=1, max_size=5))
def test_ordinal_intervals(mine, theirs):
    check_containment(mine, theirs, ORDER, sf.Schema(["a"], orders={"a": ORDER}))


def containment(records, people, schema=None, untyped=True):
    table = Table(pa.table({"a": records}), schema or sf.Schema(["a"]), untyped=untyped)
    both = match_attributes(table, ["a"], Dictionary(pa.table({"a": people})), {"a": ContainmentConsistency()})
    return [both.individuals_of(i, np.ones((len(records), 1), bool)).tolist() for i in range(len(records))]


def test_what_a_release_writes_is_read(tmp_path):
    """Published texts against an original of numbers, with the schema that the release was made by."""
    assert containment(["[20, 30]", "41", "*"], [19, 20, 30, 41]) == [[1, 2], [3], [0, 1, 2, 3]]
    assert containment([19, 20, 41], ["[20, 30]", "41.0", None], untyped=False) == [[2], [0, 2], [1, 2]]
    steps = sf.Schema(["a"], hierarchies={"a": sf.Intervals((5, 10))})
    assert containment(["[15, 20)", "[10, 20)", "20"], [14.5, 15, 20], steps) == [[1], [0, 1], [2]]
    path = tmp_path / "tree.csv"
    path.write_text("17;young;*\n30;old;*\n", encoding="utf-8")
    numbers = sf.Schema(["a"], hierarchies={"a": str(path)})
    assert containment(["young", "old", "*"], [17, 30, 31], numbers) == [[0], [1], [0, 1, 2]]
    assert containment(["*", "Rome"], ["Rome", "Bonn"], sf.Schema(["a"], hierarchies={"a": sf.data.Flat()})) == [[0, 1], [0]]
    assert containment(["[deleted]", "{}"], ["[deleted]", "{}"]) == [[0], [1]]


def test_a_release_of_real_cells_contains_what_it_was_made_from(tmp_path):
    """Every original row is consistent with the published row that was made of it."""
    schema = sf.Schema(["age", "town"], ["pay"], hierarchies={"town": sf.Hierarchy.from_rows(
        [["Rome", "IT", "*"], ["Pisa", "IT", "*"], ["Bonn", "DE", "*"], ["Ulm", "DE", "*"]])})  # fmt: skip
    rng = np.random.default_rng(5)
    towns = np.array(["Rome", "Pisa", "Bonn", "Ulm"])[rng.integers(0, 4, 60)]
    people = pa.table({"age": rng.integers(18, 70, 60), "town": towns, "pay": np.arange(60)})
    release = sf.anonymize(people, schema, sf.KAnonymity(5), method="mondrian")
    published = Table(release.frame, sf.Schema(["age", "town"], ["pay"], hierarchies=schema.hierarchies))
    both = match_attributes(
        published,
        ["age", "town"],
        Dictionary(people, identity="pay"),
        {"age": ContainmentConsistency(), "town": ContainmentConsistency()},
        "pay",
    )
    counts, _, among = both.match(both.everything)
    assert among.all()
    assert (counts >= 5).all()


@pytest.mark.parametrize(
    ("records", "people", "schema", "error", "says"),
    [
        (["[1, 2]"], ["n/a"], None, sf.errors.CellError, "dictionary 'dictionary': 'n/a' is not a number or an interval"),
        (["[1, 2]", "x"], ["1"], None, sf.errors.CellError, "row 2: the records: 'x' is not a number"),
        (["[3, 1]"], ["1"], None, sf.errors.CellError, "is empty"),
        (["(1, 1]"], ["1"], None, sf.errors.CellError, "is empty"),
        (
            ["flue"],
            ["flu"],
            sf.Schema(["a"], hierarchies={"a": sf.Hierarchy.from_rows(TREE)}),
            sf.errors.HierarchyError,
            "flue",
        ),
        (["worse"], ["low"], sf.Schema(["a"], orders={"a": ORDER}), sf.errors.CellError, "order"),
        ([["x"]], [["x"]], None, sf.errors.ColumnError, "kind 'set'"),
    ],
)
def test_cells_that_cannot_be_read(records, people, schema, error, says):
    with pytest.raises(error, match=says.replace("(", r"\(")):
        containment(records, people, schema)


# --- the registry -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CONSISTENCIES)
def test_every_kind_can_be_declared(kind):
    usual = consistency_of(kind)
    assert usual.kind == kind
    assert consistency_of(usual.parameters()) == usual
    assert consistency_of({"kind": kind}) == usual
    assert ">>>" in type(usual).__doc__


def test_equality_is_what_is_meant_if_nothing_is_said():
    assert consistency_of("equality") == EqualityConsistency()
    assert consistency_of({"kind": "jaro", "threshold": 0.9}) == SimilarityConsistency("jaro", "0.9")


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ("jaroo", "Did you mean 'jaro'"),
        ({"threshold": 1}, "needs a kind"),
        (5, "unknown consistency 5"),
        ({"kind": ["jaro"]}, "unknown consistency"),
        ({"kind": "equality", "threshold": 1}, "no parameter 'threshold'"),
        ({"kind": "jaro", "threshold": 2}, "not in the range above 0 and up to 1"),
    ],
)
def test_a_wrong_declaration_says_what_can_be_written(declared, says):
    with pytest.raises(sf.errors.ParameterError, match=says):
        consistency_of(declared)


# --- real records -----------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_people_are_found_among_real_records_with_typing_errors(real_data):
    """The same 5,000 people twice (Febrl, dataset 4), the second time mistyped, with names swapped and cells dropped.

    In all ten attributes at once only half of them are as similar as 0.8, since a swapped or replaced name is like the
    original in nothing; but nearly all are so in eight of the ten.
    """
    folder = real_data / "record_linkage"
    records, people = (sf.read_table(folder / f"febrl_dataset4{which}.csv", sf.Schema()).data.to_pydict() for which in "ab")
    for side in (records, people):
        side["person"] = [name.rsplit("-", 2 if "dup" in name else 1)[0] for name in side.pop("rec_id")]
    names = [name for name in records if name != "person"]
    both = match_attributes(
        Table(pa.table(records), sf.Schema(), untyped=True),
        names,
        Dictionary(pa.table(people), identity="person"),
        dict.fromkeys(names, SimilarityConsistency("jaro", "0.8")),
        identity="person",
    )
    assert (both.own >= 0).all()
    agree = np.zeros(both.values.shape, bool)
    for j in range(len(names)):
        alone = np.zeros(both.values.shape, bool)
        alone[:, j] = True
        agree[:, j] = both.match(alone)[2]
    some = range(0, both.records, 10)
    for j, name in enumerate(names):
        pairs = [(records[name][i], people[name][both.own[i]]) for i in some]
        assert agree[some, j].tolist() == [not a or not b or naive.jaro(a, b) >= Fraction(4, 5) for a, b in pairs]
    assert (both.match(both.everything)[2] == agree.all(axis=1)).all()
    assert (agree.sum(axis=1) >= 8).mean() >= 0.95


@pytest.mark.data
def test_no_similar_pair_of_real_texts_is_lost(real_data):
    """Long lists of packages, where the bounds spare most pairs, against every pair compared."""
    table = sf.read_table(real_data / "catalogue" / "items.csv.gz", sf.Schema())
    rng = np.random.default_rng(1)
    for name in ("depends", "description", "version"):
        texts = table.column(name).texts
        some, others = ([texts[i] for i in rng.choice(len(texts), n, replace=False)] for n in (60, 1500))
        others += some[:30]
        for kind in ("jaro", "jaro-winkler"):
            found = SimilarityConsistency(kind, "0.8").consistent_texts(some, others)
            everything = Similarities(some, others, kind == "jaro-winkler").at_least(
                np.arange(len(some)), np.arange(len(others)), Fraction(4, 5)
            )
            rows, columns = np.nonzero(everything)
            assert found.near.tolist() == columns.tolist()
            assert np.repeat(np.arange(len(some)), np.diff(found.starts)).tolist() == rows.tolist()


@pytest.mark.parametrize("generalized", ["records", "dictionary"])
@pytest.mark.parametrize("cell", ["[0, inf]", "[2020-01, 2020-02]", "[20 to 30]", "{a;b}", "[20, 30", "[x]", "{}"])
def test_brackets_that_cannot_be_read_are_refused(generalized, cell):
    """Not taken for a value that nobody has, which would count as no risk."""
    cells, plain = pa.table({"age": ["a", cell]}), pa.table({"age": ["a", "b"]})
    people, known = (cells, plain) if generalized == "records" else (plain, cells)
    consistency = {"age": ContainmentConsistency()}
    if cell == "[20, 30":  # no bracket closes it: a text
        assert sf.risk(people, sf.Schema(), Dictionary(known), consistency=consistency).risk == 0.5
        return
    with pytest.raises(sf.errors.CellError, match="not an interval or a set") as caught:
        sf.risk(people, sf.Schema(), Dictionary(known, name="book"), consistency=consistency)
    error = caught.value
    assert (error.column, error.row, error.value) == ("age", 2, cell)
    assert ("the records" if generalized == "records" else "dictionary 'book'") in str(error)
    assert "[20, 30]" in str(error), "what to write"
    both = sf.risk(cells, sf.Schema(), Dictionary(cells), consistency=consistency)
    assert both.worst.sizes.tolist() == [1, 1], "what both sides have stands for itself"


def test_brackets_in_quotes_or_of_a_hierarchy_are_values(tmp_path):
    (tmp_path / "tree.csv").write_text("a;[x];*\nb;{y z};*\n")
    schema = sf.Schema(hierarchies={"age": tmp_path / "tree.csv"})
    consistency = {"age": ContainmentConsistency()}
    known = Dictionary(pa.table({"age": ["[x]", "{y z}", '"[q]"']}))
    assert sf.risk(pa.table({"age": ["a", "b"]}), schema, known, consistency=consistency).worst.sizes.tolist() == [1, 1]


def test_an_interval_without_its_space():
    known = Dictionary(pa.table({"age": [19, 20, 25, 41]}))
    people = pa.table({"age": ["[20,30]", "[20,25)", "[1/3,20]"]})
    found = sf.risk(people, sf.Schema(), known, consistency={"age": ContainmentConsistency()})
    assert found.worst.sizes.tolist() == [2, 1, 2]


def test_the_file_of_a_cell_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "book.csv").write_text('age\n"[0, inf]"\n41\n')
    with pytest.raises(sf.errors.CellError) as caught:
        sf.risk(
            pa.table({"age": [25, 41]}),
            sf.Schema(),
            Dictionary(tmp_path / "book.csv"),
            consistency={"age": ContainmentConsistency()},
        )
    assert str(caught.value.file).endswith("book.csv")
    assert (caught.value.column, caught.value.row) == ("age", 1)
