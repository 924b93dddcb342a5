"""Every builder gives a tree that contains all values, whose labels have one meaning; and says why where it cannot."""

from __future__ import annotations

import json
import math
import string
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.hierarchy_builders.ranges import simple_number_between
from sfumato.serialization import hierarchy_of, hierarchy_section
from tests.oracles.naive_trees import problems

codes = st.text(string.ascii_uppercase[:3] + string.digits[:3] + ".-", min_size=1, max_size=7)
code_lists = st.lists(codes, min_size=1, max_size=25, unique=True)
numbers = st.lists(st.integers(-300, 300).map(lambda i: str(Decimal(i) / 10)), min_size=1, max_size=25, unique=True)
falling = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True).map(lambda xs: sorted(xs, reverse=True))
rising = falling.map(sorted)
multiples = st.lists(st.integers(2, 4), min_size=1, max_size=3).map(
    lambda xs: [math.prod(xs[: i + 1]) for i in range(len(xs))]
)


def check_tree(builder, values, tree=None):
    """Check a builder's tree with the oracle, and that its section gives it again; return its paths by leaf."""
    tree = builder.build(values, "x") if tree is None else tree
    rows = tree.rows()
    assert problems(rows, values) == []
    assert all(len(row) == builder.height + 1 for row in rows)
    again = hierarchy_of(json.loads(json.dumps(hierarchy_section(builder))), "x")
    assert again == builder
    assert again.build(values, "x").rows() == rows
    for row in rows:
        for level in range(1, len(row) - 1):
            assert builder.is_node(row[level], level), (row, level)
    return {row[0]: row for row in rows}


@given(code_lists, falling)
def test_prefixes(values, lengths):
    paths = check_tree(sf.Prefix(lengths), values)
    for value, path in paths.items():
        for length, label in zip(lengths, path[1:], strict=False):
            letters = [letter for letter in value if letter not in ".-"]
            if len(letters) < length:
                assert label == value
            else:
                shown = label.removesuffix("*")
                assert label != shown
                assert [letter for letter in shown if letter not in ".-"] == letters[:length]
                assert value.startswith(shown)
                assert shown[-1] not in ".-"


def test_prefixes_of_real_codes():
    tree = sf.Prefix((3, 1)).build(["250.83", "V57", "E909", "02139", "7"], "x")
    assert [row[1:3] for row in tree.rows()] == [["250*", "2*"], ["V57*", "V*"], ["E90*", "E*"], ["021*", "0*"], ["7", "7*"]]


@given(code_lists, rising, st.sampled_from(["right", "left"]), st.sampled_from("*#"))
def test_masks(values, counts, side, character):
    assume(character != "*" or all(len(value) > 1 for value in values))
    paths = check_tree(sf.data.Masking(counts, side, character), values)
    for value, path in paths.items():
        for count, label in zip(counts, path[1:], strict=False):
            assert len(label) == len(value)
            hidden = [i for i, (a, b) in enumerate(zip(value, label, strict=True)) if a != b]
            countable = [i for i, letter in enumerate(value) if letter.isalnum()]
            assert hidden == (countable[-count:] if side == "right" else countable[:count])
            assert all(label[i] == character for i in hidden)


@given(numbers, st.lists(st.integers(-30, 30), min_size=1, max_size=8, unique=True).map(sorted), st.data())
def test_ranges(values, cuts, data):
    kept = sorted(data.draw(st.sets(st.sampled_from(cuts))))
    builder = sf.Ranges([["-inf", *cuts, "inf"], ["-inf", *kept, "inf"]])
    paths = check_tree(builder, values)
    for value, path in paths.items():
        for level, ends in ((1, cuts), (2, kept)):
            lower = sum(Fraction(value) >= end for end in ends)
            same = [other for other in values if sum(Fraction(other) >= end for end in ends) == lower]
            assert {other for other in values if paths[other][level] == path[level]} == set(same)


def test_ranges_have_the_ends_that_are_declared():
    builder = sf.Ranges([[0, 18, "64.5", 120], {"young": [0, 18], "old": [18, 120]}])
    labels = {row[0]: row[1:3] for row in builder.build(["0", "17.99", "18", "64.5", "120"], "age").rows()}
    assert labels == {
        "0": ["[0, 18)", "young"],
        "17.99": ["[0, 18)", "young"],
        "18": ["[18, 64.5)", "old"],
        "64.5": ["[64.5, 120]", "old"],
        "120": ["[64.5, 120]", "old"],
    }
    for value in ("-1", "120.01"):
        with pytest.raises(sf.errors.HierarchyError, match="lies in none of the ranges") as caught:
            builder.build([value], "age")
        assert (caught.value.column, caught.value.value) == ("age", value)
    with pytest.raises(sf.errors.HierarchyError, match="need numbers"):
        builder.build(["old"], "age")


@pytest.mark.parametrize(
    "levels",
    [
        [],
        [[0]],
        [[5, 5]],
        [[10, 0]],
        [[0, 10, 20], [0, 15, 20]],  # 10 to 20 lies in two ranges
        [[0, 120], [0, 120, 200]],  # 120 lies in the first of level 1 and in the second of level 2
        [{"a": [0, 10], "b": [5, 20]}],
        [{"a": [0]}],
        [{"a": 5}],
        [[0, "x"]],
        [5, [1, 2]],
    ],
)
def test_ranges_that_are_refused(levels):
    with pytest.raises(sf.errors.ParameterError) as caught:
        sf.Ranges(levels)
    assert caught.value.key == "ranges"


@given(st.fractions(-1000, 1000, max_denominator=200), st.fractions(-1000, 1000, max_denominator=200))
def test_simple_numbers(one, other):
    assume(one != other)
    low, high = sorted([one, other])
    number = simple_number_between(low, high)
    assert low < number <= high

    def digits(places):
        """Return whether a multiple of 10^-places lies between."""
        return math.floor(high * Fraction(10) ** places) > math.floor(low * Fraction(10) ** places)

    places = next(p for p in range(-5, 12) if digits(p))
    assert (number * Fraction(10) ** places).denominator == 1


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.lists(st.integers(2, 3), min_size=1, max_size=2))
def test_quantiles(rows, factors):
    parts = [math.prod(factors[i:]) for i in range(len(factors))]
    schema = sf.Schema(["x"], hierarchies={"x": sf.Quantiles(parts)})
    column = sf.Table(pa.table({"x": rows}), schema).column("x")
    ranges = sf.Quantiles(parts).resolved(column)
    values = [str(value) for value in sorted(set(rows))]
    paths = check_tree(ranges, values, column.hierarchy)
    assert sf.Quantiles(parts).may_resolve_to(ranges)
    for level, count in enumerate(parts, start=1):
        nodes = Counter(paths[str(value)][level] for value in rows)
        assert len(nodes) <= count
        # a range has at most its share of the rows, and the rows that are equal to its highest value
        for label in nodes:
            inside = sorted(value for value in rows if paths[str(value)][level] == label)
            assert inside.index(inside[-1]) * count < len(rows)
    stated = json.dumps(hierarchy_section(ranges))
    assert "-inf" in stated


def test_a_release_with_quantiles_does_not_state_the_extremes(tmp_path):
    people = pa.table({"age": [21, 23, 27, 34, 35, 47, 58, 97], "ill": list("abcdabcd")})
    schema = sf.Schema(["age"], ["ill"], hierarchies={"age": sf.Quantiles((4, 2))}, recodings={"age": "ancestor"})
    folder = sf.anonymize(people, schema, sf.KAnonymity(2)).save(tmp_path / "release")
    config = json.loads((folder / "release.json").read_text())["config"]["columns"]["age"]
    # two rows in each quarter: 21, 23 | 27, 34 | 35, 47 | 58, 97
    assert config["hierarchy"] == {"ranges": [["-inf", 24, 35, 50, "inf"], ["-inf", 35, "inf"]]}
    assert sf.verify(folder, people, schema=schema).holds
    assert sf.verify(folder, schema=schema).holds
    other = sf.Schema(["age"], ["ill"], hierarchies={"age": sf.Quantiles((2,))}, recodings={"age": "ancestor"})
    assert not sf.verify(folder, people, schema=other).holds
    assert not sf.verify(folder, schema=other).holds


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40),
    st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
)
def test_frequent_values(rows, kept):
    kept = sorted(kept, reverse=True)
    column = sf.Table(pa.table({"x": rows}), sf.Schema(["x"], hierarchies={"x": sf.data.Frequent(kept)})).column("x")
    groups = sf.data.Frequent(kept).resolved(column)
    paths = check_tree(groups, sorted(set(rows)), column.hierarchy)
    counts = Counter(rows)
    for level, number in enumerate(kept, start=1):
        stay = {value for value in counts if paths[value][level] == value}
        assert len(stay) == min(number, len(counts))
        assert all(counts[one] >= counts[other] for one in stay for other in counts.keys() - stay)
    merged = counts.keys() - {value for value in counts if paths[value][1] == value}
    section = hierarchy_section(groups)
    assert not merged & {member for level in section["groups"] for members in level.values() for member in members}


@given(st.lists(st.integers(0, 99), min_size=1, max_size=30, unique=True), multiples, st.booleans())
def test_consecutive_values(rows, sizes, as_text):
    cells = [str(row) for row in rows] if as_text else rows
    builder = sf.data.Consecutive(sizes)
    column = sf.Table(pa.table({"x": cells}), sf.Schema(["x"], hierarchies={"x": builder})).column("x")
    values = [column.label(code) for code in range(column.size)]
    bounded = builder.resolved(column)
    paths = check_tree(bounded, values, column.hierarchy)
    assert bounded.build(values[::-1], "x").height == builder.height  # the order of the values does not matter any more
    assert builder.may_resolve_to(bounded)
    for level, size in enumerate(sizes, start=1):
        for i, one in enumerate(values):
            for j, other in enumerate(values):
                assert (paths[one][level] == paths[other][level]) == (i // size == j // size)


def test_consecutive_values_of_an_ordinal_column_follow_from_the_order():
    order = ["none", "primary", "secondary", "college", "doctorate"]
    schema = sf.Schema(["x"], orders={"x": order}, hierarchies={"x": sf.data.Consecutive((2, 4))})
    column = sf.Table(pa.table({"x": ["college", "none"]}), schema).column("x")
    assert schema.hierarchies["x"].resolved(column) == schema.hierarchies["x"]
    assert column.hierarchy.labels[2] == ("[none, college]", "doctorate")
    bounded = sf.data.Consecutive((2,), bounds=[["a", "c"], ["f", "g"]])
    with pytest.raises(sf.errors.HierarchyError, match="lies in none of the groups"):
        bounded.build(["d"], "x")
    with pytest.raises(sf.errors.ParameterError, match="do not rise"):
        sf.data.Consecutive((2,), bounds=[["f", "g"], ["a", "c"]])


@given(st.data())
def test_named_groups(data):
    values = list("abcdef")
    first = data.draw(st.lists(st.sampled_from("XYZ"), min_size=6, max_size=6))
    second = {name: data.draw(st.sampled_from("PQ")) for name in sorted(set(first))}
    levels = [
        {name: [v for v, group in zip(values, first, strict=True) if group == name] for name in sorted(set(first))},
        {top: [name for name, above in second.items() if above == top] for top in sorted(set(second.values()))},
    ]
    paths = check_tree(sf.data.NamedGroups(levels), values)
    for value, name in zip(values, first, strict=True):
        assert paths[value] == [value, name, second[name], "*"]


def test_named_groups_that_do_not_fit():
    groups = sf.data.NamedGroups([{"lung": ["flu"]}])
    with pytest.raises(sf.errors.HierarchyError, match="'gout' is in no group of level 1"):
        groups.build(["flu", "gout"], "ill")
    schema = sf.Schema(["ill"], hierarchies={"ill": groups})
    with pytest.raises(sf.errors.HierarchyError) as caught:
        sf.Table(pa.table({"ill": ["flu", "flu", "gout"]}), schema).column("ill")
    assert (caught.value.column, caught.value.row, caught.value.value) == ("ill", 3, "gout")
    for levels in ([{"a": ["x", "x"]}], [{"a": ["x"], "b": ["x"]}], [{"a": "x"}], [5], []):
        with pytest.raises(sf.errors.ParameterError):
            sf.data.NamedGroups(levels)
    # "other" would mean two things
    ambiguous = sf.data.NamedGroups([{"lung": ["flu"]}, {"chest": ["gut"]}], rest="other")
    with pytest.raises(sf.errors.HierarchyError, match="'other' would mean different values on the levels 1 and 2"):
        ambiguous.build(["flu", "gout"], "ill")
    assert sf.data.NamedGroups([{"lung": ["flu"]}, {"chest": ["gut"]}], rest=["rest", "all"]).build(
        ["flu", "x"], "i"
    ).rows() == [
        ["flu", "lung", "all", "*"],
        ["x", "rest", "all", "*"],
    ]


NINE = {
    "250.83": ("250*", "240-279"),
    "25083": ("250*", "240-279"),
    "V57": ("V57*", "V01-V91"),
    "V5789": ("V57*", "V01-V91"),
    "E909": ("E909*", "E000-E999"),
    "E9290": ("E929*", "E000-E999"),
    "8": ("008*", "001-139"),
    "41.1": ("041*", "001-139"),
    "999.9": ("999*", "800-999"),
    "140": ("140*", "140-239"),
    "389.9": ("389*", "320-389"),
    "390": ("390*", "390-459"),
}
TEN = {
    "E11.9": ("E11*", "E00-E90"),
    "e119": ("E11*", "E00-E90"),
    "C7A.00": ("C7A*", "C00-D49"),
    "D48": ("D48*", "C00-D49"),
    "D50": ("D50*", "D50-D89"),
    "H59.9": ("H59*", "H00-H59"),
    "H60": ("H60*", "H60-H95"),
    "O9A.1": ("O9A*", "O00-O9A"),
    "S72.001A": ("S72*", "S00-T98"),
    "T88": ("T88*", "S00-T98"),
    "V01": ("V01*", "V00-Y99"),
    "Y98": ("Y98*", "V00-Y99"),
    "Z51.5": ("Z51*", "Z00-Z99"),
    "U07.1": ("U07*", "U00-U99"),
}


@pytest.mark.parametrize(("version", "expected"), [(9, NINE), (10, TEN)])
def test_icd_codes(version, expected):
    paths = check_tree(sf.data.ICD(version), list(expected))
    for code, (category, chapter) in expected.items():
        assert paths[code][1] == category
        assert paths[code][2].startswith(f"{chapter} ")


@pytest.mark.parametrize("version", [9, 10])
def test_chapters_of_the_icd_do_not_overlap_and_cover_what_they_should(version):
    """Every category is in the one chapter whose bounds enclose it."""
    if version == 9:
        categories = [*(f"{i:03d}" for i in range(1, 1000)), *(f"V{i:02d}" for i in range(1, 92)), "E000", "E800", "E999"]
    else:
        categories = [f"{letter}{i:02d}" for letter in string.ascii_uppercase for i in range(100)]
    found = Counter()
    for category in categories:
        try:
            label = sf.data.ICD(version).build([category], "x").labels[2][0]
        except sf.errors.HierarchyError:
            assert version == 10  # some letters are not used up to 99
            continue
        first, last = label.split()[0].split("-")
        assert first <= category <= last
        found[label] += 1
    assert len(found) == {9: 19, 10: 22}[version]
    assert version == 10 or sum(found.values()) == len(categories)


@pytest.mark.parametrize(
    ("version", "code"), [(9, "E11.9"), (9, "000"), (9, "V99"), (9, "abc"), (9, "2508.3"), (10, "250.83"), (10, "D95")]
)
def test_unknown_icd_codes_name_column_row_and_value(version, code):
    known = "250" if version == 9 else "E11"
    schema = sf.Schema(["diagnosis"], hierarchies={"diagnosis": sf.data.ICD(version)}, kinds={"diagnosis": "categorical"})
    with pytest.raises(sf.errors.HierarchyError, match=f"is not a code of ICD-{version}") as caught:
        sf.Table(pa.table({"diagnosis": [known, known, code]}), schema).column("diagnosis")
    assert (caught.value.column, caught.value.row, caught.value.value) == ("diagnosis", 3, code)


def test_a_label_that_is_also_a_value_is_refused():
    with pytest.raises(sf.errors.HierarchyError, match=r"the label '02\*' would mean different values"):
        sf.Prefix((2,)).build(["021", "022", "02*"], "zip")
    with pytest.raises(sf.errors.HierarchyError, match=r"the label '\*' would mean different values"):
        sf.data.Masking((1,)).build(["a", "bc"], "code")
    assert sf.data.Masking((1,), character="#").build(["a", "bc"], "code").labels[1] == ("#", "b#")


@pytest.mark.parametrize(
    ("builder", "value"),
    [
        (sf.Prefix, [1, 2]),
        (sf.Prefix, []),
        (sf.Prefix, [0]),
        (sf.Prefix, ["3"]),
        (sf.data.Masking, [2, 1]),
        (sf.Quantiles, [10, 4]),
        (sf.Quantiles, [2, 4]),
        (sf.data.Consecutive, [3, 5]),
        (sf.data.Frequent, [5, 20]),
        (sf.data.ICD, 11),
        (sf.data.ICD, True),
    ],
)
def test_invalid_levels(builder, value):
    with pytest.raises(sf.errors.ParameterError):
        builder(value)
    with pytest.raises(sf.errors.ParameterError):
        sf.data.Masking((1,), side="middle")
    with pytest.raises(sf.errors.ParameterError):
        sf.data.Masking((1,), character="x")


@given(st.integers(2, 4), st.data())
def test_merged_levels(height, data):
    rows = [[str(i), *(f"{level}:{i // 2**level}" for level in range(1, height)), "*"] for i in range(12)]
    lower = data.draw(st.integers(1, height - 1))
    upper = data.draw(st.integers(lower + 1, height))
    merged = sf.Hierarchy.from_rows(rows).merged(lower, upper)
    assert merged.rows() == [[*row[:lower], *row[upper:]] for row in rows]
    assert problems(merged.rows(), [row[0] for row in rows]) == []
    for levels in ((0, 1), (upper, upper), (upper, lower), (1, height + 1)):
        with pytest.raises(sf.errors.ParameterError):
            sf.Hierarchy.from_rows(rows).merged(*levels)


def test_a_hierarchy_survives_its_file(tmp_path):
    tree = sf.Hierarchy.from_rows([['a "b"; c', "x;y", "*"], ["d\ne", "z", "*"]])
    (tmp_path / "tree.csv").write_text(tree.to_csv(), encoding="utf-8")
    assert sf.Hierarchy.from_file(tmp_path / "tree.csv").rows() == tree.rows()


SECTIONS = [
    "{ prefix = [3, 2] }",
    '{ mask = [1, 2], side = "left", character = "#" }',
    '{ ranges = [[0, 18.5, 120], { all = [0, "120"] }] }',
    "{ quantiles = [4, 2] }",
    '{ groups = [{ lung = ["flu"] }], rest = "other" }',
    "{ consecutive = [2, 4] }",
    "{ frequent = [5, 2] }",
    "{ icd = 10 }",
    "{ flat = true }",
    "{ intervals = [5, 10] }",
]


@pytest.mark.parametrize("section", SECTIONS)
def test_builders_in_a_config(section):
    text = f'[data]\npath = "x.csv"\n[columns.x]\nrole = "quasi-identifier"\nhierarchy = {section}\n'
    config = sf.Config.parse(text)
    assert sf.Config.parse(config.to_toml()) == config
    builder = config.schema.hierarchies["x"]
    assert isinstance(builder, sf.data.BUILDERS[section.split()[1]])
    assert sf.Config.of(config.schema, "x.csv").schema.hierarchies["x"] == builder


def test_sections_that_do_not_fit():
    def parse(section):
        return sf.Config.parse(f'[data]\npath = "x.csv"\n[columns.x]\nhierarchy = {section}\n')

    with pytest.raises(sf.errors.ConfigError, match="names no builder"):
        parse("{ origin = 5 }")
    with pytest.raises(sf.errors.ConfigError, match="names several builders: intervals, prefix"):
        parse("{ prefix = [2], intervals = [5] }")
    with pytest.raises(sf.errors.ConfigError, match="'prefix' has no parameter 'side'") as caught:
        parse('{ prefix = [2], side = "left" }')
    assert caught.value.key == "columns.x.hierarchy.side"
    with pytest.raises(sf.errors.ConfigError, match="falling"):
        parse("{ prefix = [2, 3] }")


def test_a_width_of_zero_is_an_error():
    for widths in ([0, 10], [0], [5, 0]):
        with pytest.raises(sf.errors.ParameterError, match="do not nest"):
            sf.Intervals(widths)


def test_more_quantiles_than_anybody_can_count():
    """As many ranges as values: the cost depends on the values, not on the number that was written."""
    labels = sf.Quantiles((10**30,)).build(["1", "2", "50"], "age").labels[1]
    assert labels == sf.Quantiles((3,)).build(["1", "2", "50"], "age").labels[1]
