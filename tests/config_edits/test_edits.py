"""Changes of a config: the new text says the old content with the one change, and keeps every comment."""

from __future__ import annotations

import re
import string
import tomllib
from collections import Counter
from copy import deepcopy
from decimal import Decimal

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.config import Config
from sfumato.config_edits import (
    add_principle,
    keys_of,
    line_of,
    remove_principle,
    remove_value,
    set_role,
    set_value,
    set_values,
)
from sfumato.config_edits.toml_sections import comments_of, key_of
from sfumato.errors import ConfigError
from sfumato.profiling import draft, profile

NAMES = st.one_of(
    st.sampled_from(
        ["age", "sex", "data", "role", "columns", "a.b", "a b", 'a"b', "a'b", "ä", "#x", "[x]", "x = 1", "\\", ""]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
ROLES = ["identifier", "quasi-identifier", "sensitive", "other"]


def plain(text):
    return tomllib.loads(text, parse_float=Decimal)


@st.composite
def configs(draw):
    """Configs as people write them: sections in any order, with comments before, within and after them, and after values."""
    words = st.text(string.ascii_letters + " #[]=\"'{},", max_size=12)
    names = draw(st.lists(NAMES, unique=True, max_size=4))

    def remark():
        return f"# {draw(words)}\n" if draw(st.booleans()) else draw(st.sampled_from(["", "\n"]))

    def trailing():
        return f"  # {draw(words)}" if draw(st.booleans()) else ""

    def key(name):
        return tomli_w.dumps({name: 1}).removesuffix(" = 1\n")

    def value(one):
        return tomli_w.dumps({"x": one}).removeprefix("x = ").rstrip("\n")

    sections = [f'[data]{trailing()}\n{remark()}path = "p.csv"{trailing()}\n{remark()}']
    for name in names:
        lines = [f'role = "{draw(st.sampled_from(ROLES))}"{trailing()}\n']
        if draw(st.booleans()):
            lines.append(f"order = {value(draw(st.lists(words, max_size=3)))}{trailing()}\n")
        if draw(st.booleans()):
            lines.append(f"hierarchy = {{ intervals = [5, 10] }}{trailing()}\n")
        sections.append(
            f"[columns.{key(name)}]{trailing()}\n" + "".join(remark() + line for line in draw(st.permutations(lines)))
        )
    for _ in range(draw(st.integers(0, 3))):
        k = draw(st.integers(2, 9))
        sections.append(f'[[principles]]{trailing()}\n{remark()}name = "k-anonymity"\nk = {k}{trailing()}\n{remark()}')
    if draw(st.booleans()):
        sections.append(f'[method]\nname = "auto"{trailing()}\n# seed = 7\n')
    head, *rest = sections
    order = draw(st.permutations(rest)) if draw(st.booleans()) else rest
    return "".join(remark() + section + remark() for section in [head, *order])


def check(before, after, change):
    """The content is the old one with the change, and no comment is lost."""
    expected = deepcopy(plain(before))
    change(expected)
    assert plain(after) == expected
    assert not Counter(comments_of(before)) - Counter(comments_of(after))


@given(configs(), NAMES, st.sampled_from(ROLES))
def test_a_role_is_set(text, name, role):
    check(text, set_role(text, name, role), lambda c: c.setdefault("columns", {}).setdefault(name, {}).update(role=role))


@given(configs(), st.data())
def test_a_column_is_removed(text, data):
    names = list(plain(text).get("columns", {}))
    if not names:
        return
    name = data.draw(st.sampled_from(names))

    def change(content):
        del content["columns"][name]
        if not content["columns"]:
            del content["columns"]

    check(text, set_role(text, name, None), change)


@given(configs(), st.integers(2, 50), st.sampled_from(["0.1", "7", 8]))
def test_a_principle_is_added_and_changed(text, k, t):
    entry = {"name": "t-closeness", "t": t, "k": k}
    added = add_principle(text, "t-closeness", {"t": t, "k": k})
    check(text, added, lambda c: c.setdefault("principles", []).append(entry))
    number = len(plain(added)["principles"]) - 1
    changed = set_values(added, ["principles", number], {"t": Decimal("0.25"), "k": None})

    def change(content):
        content["principles"][number] = {"name": "t-closeness", "t": "0.25"}

    check(added, changed, change)


@given(configs(), st.data())
def test_a_principle_is_removed(text, data):
    principles = plain(text).get("principles", [])
    if not principles:
        return
    number = data.draw(st.integers(0, len(principles) - 1))

    def change(content):
        del content["principles"][number]
        if not content["principles"]:
            del content["principles"]

    check(text, remove_principle(text, number), change)


@given(configs(), NAMES, st.lists(st.dictionaries(NAMES, st.lists(NAMES, max_size=3), max_size=3), max_size=3))
def test_a_hierarchy_of_any_labels_is_set(text, name, groups):
    hierarchy = {"groups": groups, "rest": "other"}
    after = set_value(text, ["columns", name, "hierarchy"], hierarchy)
    check(text, after, lambda c: c.setdefault("columns", {}).setdefault(name, {}).update(hierarchy=hierarchy))


@given(configs())
def test_what_changes_nothing_keeps_the_text(text):
    content = plain(text)
    assert set_value(text, ["data", "path"], "p.csv") == text
    assert remove_value(text, ["data", "query"]) == text
    for name, column in content.get("columns", {}).items():
        assert set_role(text, name, column["role"]) == text


def test_the_draft_of_a_table_keeps_its_comments():
    people = sf.synthetic_census(2000, 0)
    text = draft(profile(people), "people.csv")
    changed = set_role(set_role(text, "race", None), "age", "sensitive")
    changed = add_principle(remove_principle(changed, 0), "t-closeness", {"t": "0.3"})
    assert not Counter(comments_of(text)) - Counter(comments_of(changed))
    before, after = Config.parse(text), Config.parse(changed)
    assert set(before.columns) - set(after.columns) == {"race"}
    assert after.columns["age"].role == "sensitive"
    assert [one["name"] for one in after.principles] == [one["name"] for one in before.principles[1:]] + ["t-closeness"]


def test_a_principle_is_added_after_the_others():
    text = '[[principles]]\nname = "k-anonymity"\nk = 5\n# about the method\n[method]\nname = "auto"\n'
    after = add_principle(text, "t-closeness", {"t": "0.2"})
    assert after.index("t-closeness") < after.index("# about the method")


def test_a_list_in_one_line_is_changed_as_well():
    text = 'principles = [{ name = "k-anonymity", k = 5 }]  # all of them\n[data]\npath = "p.csv"\n'
    after = add_principle(text, "t-closeness", {"t": "0.2"})
    assert [one["name"] for one in plain(after)["principles"]] == ["k-anonymity", "t-closeness"]
    assert plain(set_value(after, ["principles", 0, "k"], 9))["principles"][0]["k"] == 9
    assert "# all of them" in after


def test_an_invalid_text_is_not_changed():
    with pytest.raises(ConfigError, match="not valid TOML"):
        set_role("[data", "age", "other")


def test_lines():
    text = (
        '[data]\npath = "p"\n\n[[principles]]\nname = "a"\n[[principles]]\nname = "b"\nk = 5\n[columns."a b"]\nrole = "x"\n'
    )
    assert line_of(text, ["data", "path"]) == 2
    assert line_of(text, ["principles", 1, "k"]) == 8
    assert line_of(text, ["principles", 1]) == 6
    assert line_of(text, ["columns", "a b", "role"]) == 10
    assert line_of(text, ["method"]) is None


@pytest.mark.parametrize(
    ("keys", "key", "problem"),
    [
        (["principles", 1, "k"], "principles[1]", "the list has 1"),
        (["principles", -1, "k"], "principles[-1]", "the list has 1"),
        (["data", "path", "name"], "data.path", "it is a value, so 'name' is not in it"),
        (["principles", "k"], "principles", "it is a list, so 'k' is not in it"),
        (["data", 0], "data", "it is a table, so 0 is not in it"),
        ([], None, "no key is named"),
    ],
)
def test_a_place_that_cannot_be_is_an_error(keys, key, problem):
    text = '[data]\npath = "p.csv"\n[[principles]]\nname = "k-anonymity"\nk = 5\n'
    with pytest.raises(ConfigError, match=re.escape(problem)) as caught:
        set_value(text, keys, 7)
    assert caught.value.key == key
    assert remove_value(text, [*keys, "x"]) == text
    assert remove_value(text, ["principles", -1]) == text


def test_nothing_is_not_a_value():
    with pytest.raises(ConfigError, match="no empty values") as caught:
        add_principle("", "k-anonymity", {"k": None})
    assert caught.value.key == "principles.k"
    with pytest.raises(ConfigError, match="it is not a list"):
        add_principle("principles = 1\n", "k-anonymity", {"k": 5})


@given(st.lists(st.one_of(NAMES, st.integers(0, 99999)), max_size=4), NAMES)
def test_places_are_read_as_they_are_written(rest, first):
    assert keys_of(key_of([first, *rest])) == [first, *rest]


@pytest.mark.parametrize("text", ["", "[0]", "a..b", "a.", "a[x]", "a[0]b", "a b", ".a", "a[0", 'a."b', "a = 1\nb"])
def test_what_is_not_a_place_is_an_error(text):
    with pytest.raises(ConfigError, match="names no place"):
        keys_of(text)
