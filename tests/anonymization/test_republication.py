"""New versions of a released table: over all releases, everybody's candidates meet the requirements."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import sfumato as sf
from naive_republication import candidates, published_rows
from sfumato.errors import ParameterError, RequirementError

THOROUGH = os.environ.get("SFUMATO_PROFILE") == "thorough"
SCHEMA = sf.Schema(["age", "sex"], ["pay"], identifiers=["name"], other=["plan"], unchanged_limit=1)


def near(x, y):
    return abs(x - y) <= 1


def numbers(bag):
    """The secrets of a multiset of candidates, which are pairs of pay and plan."""
    return [int(value[0]) for value in bag.elements()]


REQUIREMENTS = {
    "k": (sf.KAnonymity(3), lambda group, _: len(group) >= 3),
    "distinct": (sf.DistinctLDiversity(3), lambda group, _: naive.distinct(group) >= 3),
    "frequency": (sf.FrequencyLDiversity(2), lambda group, _: naive.frequency_l(group) >= 2),
    "dissimilarity": (
        sf.Dissimilarity(epsilon=1, delta="0.5", k=3),
        lambda group, _: len(group) >= 3 and naive.risk(group, near) <= Fraction(1, 2),
    ),
    "range": (sf.KEAnonymity(k=2, e=3), lambda group, _: len(set(group)) >= 2 and naive.value_range(group) >= 3),
    "closeness": (
        sf.BetaLikeness(beta=2),
        lambda group, table: all(
            Fraction(times, len(group)) <= 3 * Fraction(table.count(value), len(table))
            for value, times in Counter(group).items()
        ),
    ),
}
"""Requirements, each with its definition: a group, and all values of the table."""


@st.composite
def histories(draw):
    """Versions of a table: people join, leave, return, and get other secrets."""
    values = st.integers(0, draw(st.sampled_from([3, 8])))
    person = st.fixed_dictionaries({"age": st.integers(20, 29), "sex": st.sampled_from("fm"), "pay": values})
    everybody = [{"name": f"p{number}", "plan": "a", **draw(person)} for number in range(draw(st.integers(8, 22)))]
    present = everybody[: max(6, len(everybody) * 3 // 4)]
    versions = [present]
    for _ in range(draw(st.integers(1, 2))):
        share = draw(st.sampled_from([0, 1, 3]))  # of ten who leave, join or change
        chance = st.integers(0, 9)
        following = []
        for one in everybody:
            before = any(other["name"] == one["name"] for other in versions[-1])
            if before != (draw(chance) < share):
                following.append(one | ({"pay": draw(values)} if draw(chance) < share - 1 else {}))
        versions.append(following)
        everybody = [next((o for o in following if o["name"] == one["name"]), one) for one in everybody]
    return [version for version in versions if version]


def table(version):
    return pa.table({name: [one[name] for one in version] for name in ("name", "age", "sex", "pay", "plan")})


def release_all(versions, principle, folder, **options):
    """Release versions one after another until one is refused; return of each its folder, key and names."""
    made = []
    for number, version in enumerate(versions, 1):
        after = {"after": made[-1][:2], **options} if made else {}
        try:
            release = sf.anonymize(table(version), SCHEMA, principle, method="mondrian", seed=7, **after)
        except (RequirementError, ParameterError):
            break
        key = folder / f"{number}.json"
        place = release.save(folder / str(number), key=key)
        made.append((place, key, [one["name"] for one in version]))
    return made


@settings(max_examples=2_000 if THOROUGH else 40)
@given(histories(), st.sampled_from(sorted(REQUIREMENTS)), st.sampled_from([0, "0.5"]), st.sampled_from([0, "0.5"]))
def test_nobody_is_narrowed_below_the_requirements(versions, name, counterfeits, suppress):
    """An oracle looks up everybody's groups in the published files."""
    principle, holds = REQUIREMENTS[name]
    with tempfile.TemporaryDirectory() as place:
        made = release_all(versions, principle, Path(place), counterfeits=counterfeits, suppress=suppress)
        for end in range(1, len(made) + 1):
            rows = published_rows(made[end - 1][0])
            everything = [int(row["pay"]) for row in rows]
            for own, whole, run in candidates(made[:end], ["pay", "plan"]).values():
                assert run[own] > 0
                assert holds(numbers(whole), everything)
                assert holds(numbers(run), everything)
        if len(made) > 1:
            tables = [table(version) for version in versions[: len(made)]]
            folders, keys, _ = zip(*made, strict=True)
            result = sf.verify_sequence(folders, tables, keys=keys)
            assert result.holds, result
            assert not result.not_checked
