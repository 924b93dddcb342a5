"""The replay attack: certain with the seed where groups depend on secrets, and no better than counting without it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from naive_replays import replayed
from sfumato.attacks import Replay
from sfumato.attacks.attacked_sources import attacked_release

SCHEMA = sf.Schema(["age", "zip"], ["ill"], kinds={"zip": "numeric"})
REQUIREMENT = (sf.KAnonymity(3), sf.FrequencyLDiversity(3))
SEED = 424_242
MODE = "the most frequent value of the group"


def people_of(rows, seed):
    draw = np.random.default_rng(seed)
    ill = draw.integers(0, 6, rows)
    return pa.table({"age": draw.integers(20, 60, rows), "zip": draw.integers(0, 50, rows), "ill": [f"d{x}" for x in ill]})


@settings(max_examples=settings.default.max_examples // 15)  # a case runs the method some twenty times
@given(st.integers(0, 2**16), st.booleans())
def test_agrees_with_the_oracle(seed, several):
    draw = np.random.default_rng(seed)
    who = np.sort(draw.integers(0, 6, 10)) if several else np.arange(8)
    data = people_of(len(who), seed).append_column("who", pa.array(who)).to_pydict()
    schema = replace(SCHEMA, person_id="who")

    def run(secrets):
        table = pa.table({**data, "ill": secrets})
        try:
            made = sf.anonymize(table, schema, [sf.KAnonymity(2), sf.DistinctLDiversity(2)], method="mondrian", seed=SEED)
        except sf.errors.SfumatoError:
            return None
        groups = np.empty(len(who), np.int64)
        groups[made.private.rows] = made.audit.groups.of_row
        run.release = made
        return groups.tolist()

    groups = run(data["ill"])
    assume(groups is not None)
    found = sf.attack(run.release, attacks=[Replay(seed=SEED, guesses=1)])
    expected = {}
    for person in np.unique(who).tolist():
        alike = [one for one in np.unique(who) if (who == one).sum() == (who == person).sum()]
        if not several or any(
            groups[np.argmax(who == one)] == groups[np.argmax(who == person)] for one in alike if one != person
        ):
            expected[person] = replayed(groups, who.tolist(), data["ill"], person, run)
    if not expected:
        assert found.skipped[0].reason.startswith("nobody has as many rows")
        return
    chances, certain = [], []
    for person, (values, possible) in expected.items():
        truth = tuple(ill for ill, own in zip(data["ill"], who, strict=True) if own == person)
        among = {value: count for value, count in values.items() if value in possible} or values
        best = [value for value, count in among.items() if count == max(among.values())]
        chances.append(Fraction(truth in best, len(best)))
        certain += [truth in possible] if len(possible) == 1 else []
    result = found[0]
    assert result.success.tried == len(expected)
    assert result.success.share == pytest.approx(float(sum(chances) / len(chances)))
    assert (result.certain, result.right) == (len(certain), sum(certain))


@pytest.fixture(scope="module")
def release():
    return sf.anonymize(people_of(96, 0), SCHEMA, REQUIREMENT, method="glaze", seed=SEED)


@pytest.fixture(scope="module")
def results(release):
    attack = Replay(seed=SEED, guesses=1, budget=2_096 * 30)
    return sf.attack(release, attacks=[attack])


def test_the_seed_reveals_secrets(results):
    result = results[0]
    assert result.about == "ill, with the seed"
    assert result.success.share > result.baselines[MODE].share + 0.2
    assert result.right == result.certain > 0  # the truth always gives the published groups
    assert result.figures["people for whom a run gave the published groups"] == result.success.tried


def test_without_the_seed_the_attacker_counts(results):
    result = results[1]
    assert result.about == "ill, without the seed"
    assert result.success == result.baselines[MODE]
    assert not result.certain
    assert not result.exceeds


def test_candidates_are_the_values_of_the_group(release, results):
    """Each person of a group of three different values takes the runs of the two others, and all share the true table."""
    result = results[0]
    seen = attacked_release(release)
    sizes = {len({seen.secret("ill").truth[i] for i in np.flatnonzero(seen.group_of_person == g)}) for g in range(3)}
    assert result.figures["runs"] <= 30
    assert result.figures["runs"] >= 1 + result.success.tried * (min(sizes) - 1)
    assert result.baselines["any value of the group"].share <= 1 / 2


def test_a_method_that_ignores_secrets_reveals_nothing():
    """Under a requirement that holds anyway, every value gives the published groups."""
    data = people_of(30, 1)
    release = sf.anonymize(data, SCHEMA, [sf.KAnonymity(4), sf.DistinctLDiversity(1)], method="mondrian", seed=SEED)
    result = sf.attack(release, attacks=[Replay(seed=SEED, guesses=1, budget=2_030 * 20)])[0]
    assert result.success == result.baselines[MODE]


def visits_of(people, seed):
    """Everybody twice."""
    data = people_of(people, seed).append_column("who", pa.array(range(people)))
    return data.take(pa.array(np.repeat(np.arange(people), 2)))


def test_the_seed_reveals_the_secrets_of_people_with_several_rows():
    schema = replace(SCHEMA, person_id="who")
    release = sf.anonymize(visits_of(48, 3), schema, REQUIREMENT, method="glaze", seed=SEED)
    result = sf.attack(release, attacks=[Replay(seed=SEED, guesses=1, budget=2_096 * 7)])[0]
    assert result.success.share > result.baselines[MODE].share + 0.2
    assert result.right == result.certain > 0
    assert "people have several rows, and all secrets of one are guessed at once" in result.notes


def test_a_method_that_ignores_secrets_reveals_nothing_of_people_with_several_rows():
    requirement, schema = [sf.KAnonymity(4), sf.DistinctLDiversity(1)], replace(SCHEMA, person_id="who")
    release = sf.anonymize(visits_of(30, 1), schema, requirement, method="mondrian", seed=SEED)
    result = sf.attack(release, attacks=[Replay(seed=SEED, guesses=1, budget=2_060 * 20)])[0]
    assert result.success == result.baselines[MODE]
    assert result.success.tried > 1


def test_people_with_other_numbers_of_rows_cannot_exchange_secrets():
    who = [0, 1, 1]
    data = pa.table({"age": [30, 31, 31], "zip": [5, 5, 5], "ill": ["flu", "gout", "gout"], "who": who})
    release = sf.anonymize(data, replace(SCHEMA, person_id="who"), [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    assert "nobody has as many rows as somebody else" in sf.attack(release, attacks=["replay"]).skipped[0].reason


def test_people_whose_rows_are_in_several_groups_are_not_attacked():
    release = sf.anonymize(visits_of(30, 1), replace(SCHEMA, person_id="who"), sf.KAnonymity(4), method="mondrian")
    seen = attacked_release(release)
    split = np.append(seen.group_of_person[1:], seen.group_of_person[0])
    with pytest.raises(sf.attacks.NotMeasured, match="are in several groups, and methods keep them together"):
        Replay().run(replace(seen, group_of_person=split))
    with pytest.raises(sf.attacks.NotMeasured, match="as far as is known without the key"):
        Replay().run(replace(seen, group_of_person=split, rows_are_known=False, file=Path("data.csv")))


def test_groups_that_resist_reveal_nothing_without_the_seed():
    release = sf.anonymize(people_of(96, 0), SCHEMA, REQUIREMENT, resist=["minimality"], seed=SEED)
    known, unknown = sf.attack(release, attacks=[Replay(seed=SEED, guesses=1, budget=2_096 * 30)])
    assert known.right == known.certain > 0  # the proof is about attackers who do not know the seed
    assert unknown.success == unknown.baselines[MODE] and not unknown.certain


def test_a_folder_is_replayed_with_its_suppressed_rows(tmp_path):
    data = people_of(40, 2)
    release = sf.anonymize(data, SCHEMA, REQUIREMENT, method="mondrian", suppress="0.3", seed=SEED)
    release.save(tmp_path / "out", key=tmp_path / "key.json")
    attack = Replay(seed=SEED, guesses=1, budget=2_040 * 12)
    found = sf.attack(tmp_path / "out", data, key=tmp_path / "key.json", attacks=[attack])[0]
    assert found.figures["people for whom a run gave the published groups"] == found.success.tried > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"principles": (sf.KAnonymity(3),)}, "no requirement is about a sensitive attribute"),
        ({"population": None}, "the order of the rows in the original is not known"),
        ({"method": {}}, "the method is not known"),
        ({"method": {"name": "nobody's"}}, "the method cannot be run again"),
    ],
)
def test_what_cannot_be_measured_has_a_reason(release, change, reason):
    with pytest.raises(sf.attacks.NotMeasured, match=reason):
        Replay().run(replace(attacked_release(release), **change))


def test_a_large_table_needs_a_larger_budget(release):
    assert "budget" in sf.attack(release, attacks=[Replay(budget=50)]).skipped[0].reason
