"""Singling out against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import naive_row_attacks as naive
import sfumato as sf
from sfumato.attacks import SinglingOut
from small_releases import NAMES, UNCHANGED, small_release, small_releases


def last(value):
    """Missing values come last."""
    return tuple((part is None, part) if part is not None else (True, 0) for part in value)


def rarest(names):
    """The predicate that the rarest combination of some columns holds, the lowest of several."""

    def tests(own):
        combinations = [tuple(row["values"][name] for name in names) for row in own]
        wanted = min(naive.rarest(combinations), key=last)
        return [(lambda values: tuple(values[name] for name in names) == wanted, True)]

    return tests


def extreme(name):
    def tests(own):
        present = [row["values"][name] for row in own if row["values"][name] is not None]
        if not present:
            return []
        return [
            (lambda values: values[name] is not None and values[name] <= min(present), True),
            (lambda values: values[name] is not None and values[name] >= max(present), True),
        ]

    return tests


def ends(texts, names):
    """The ends that cells of the age state; an unreadable cell, a missing and a withheld one state none."""

    def tests(own):
        text = own[0]["text"]
        if text is None or text in ("*", "young", "old"):
            return []
        parts = [int(end) for end in text.strip("[]").split(", ")]
        return [(lambda person, end=end: person["age"] == end, False) for end in (parts[0], parts[-1])]

    return tests


def agrees(result, counts, certain):
    assert result.success.tried == len(counts)
    assert result.success.share == pytest.approx(sum(count == 1 for count in counts) / len(counts))
    assert result.certain == sum(certain)
    assert result.right == sum(sure and count == 1 for sure, count in zip(certain, counts, strict=True))


@given(small_releases(several=True))
def test_cells_agree_with_the_oracle(case):
    results = {result.about: result for result in SinglingOut().run(case.attacked)}
    for row, group in zip(case.rows, case.group, strict=True):
        row["text"] = group[0]
    families = {
        "cells": lambda own: [(lambda values: True, True)],
        "cells and an end of an interval": ends(case.rows, NAMES),
        "cells and the rarest value of ill": rarest(("ill",)),
        "cells and the rarest value of pay": rarest(("pay",)),
        "cells and the lowest or highest pay": extreme("pay"),
        "cells and the rarest combination of unchanged columns": rarest(UNCHANGED),
    }
    for about, tests in families.items():
        counts, certain = naive.isolating(case.people, case.rows, case.group, NAMES, tests, case.who)
        if counts:
            agrees(results[about], counts, certain)
            everybody = len({*case.who})
            best = (1 - 1 / everybody) ** (everybody - 1)
            assert results[about].baselines["the best predicate without the release"].share == pytest.approx(best)
        else:
            assert about not in results


@given(small_releases(several=True))
def test_values_agree_with_the_oracle(case):
    results = {result.about: result for result in SinglingOut().run(case.attacked)}

    def people_with(names, value):
        return len({one for one, person in zip(case.who, case.people, strict=True) if value(*(person[n] for n in names))})

    def once(names):
        shown = Counter(tuple(row["values"][name] for name in names) for row in case.rows)
        values = [value for value, count in shown.items() if count == 1]
        return [people_with(names, lambda *own, value=value: own == value) for value in values]

    counts, certain = [], []
    for name in UNCHANGED:
        own = once((name,))
        counts += own
        certain += [True] * len(own)
    pays = [row["values"]["pay"] for row in case.rows if row["values"]["pay"] is not None]
    if pays:
        counts.append(people_with(("pay",), lambda pay: pay is not None and pay <= min(pays)))
        counts.append(people_with(("pay",), lambda pay: pay is not None and pay >= max(pays)))
        certain += [pays.count(min(pays)) == 1, pays.count(max(pays)) == 1]
    if counts:
        agrees(results["a value, without cells"], counts, certain)
    counts = once(UNCHANGED)
    about = "a combination of unchanged columns that is published once, without cells"
    if counts:
        agrees(results[about], counts, [True] * len(counts))
    else:
        assert about not in results


def people(count, seed=0):
    random = np.random.default_rng(seed)
    ills = random.choice(["flu", "gout"], count)
    return [{"age": n, "town": "a", "ill": str(ill), "pay": 5, "plan": "x"} for n, ill in enumerate(ills, start=1)]


def test_single_values_single_out():
    everybody = people(100)
    case = small_release(everybody, [{"age": str(p["age"]), "town": "a"} for p in everybody])
    result = SinglingOut().run(case.attacked)[0]
    assert (result.success.share, result.certain, result.right, result.exceeds) == (1.0, 100, 100, True)


def test_tight_ends_single_out():
    everybody = people(100)
    texts = [{"age": f"[{(n // 5) * 5 + 1}, {(n // 5) * 5 + 5}]", "town": "*"} for n in range(100)]
    results = {result.about: result for result in SinglingOut().run(small_release(everybody, texts).attacked)}
    assert results["cells"].success.share == 0
    assert results["cells and an end of an interval"].success.share == 1
    assert results["cells and an end of an interval"].exceeds


def test_wide_cells_and_common_values_single_out_nobody():
    everybody = people(100)
    case = small_release(everybody, [{"age": "*", "town": "*"}] * 100)
    for result in SinglingOut().run(case.attacked):
        assert (result.success.share, result.exceeds, result.certain) == (0, False, 0)


def test_two_rows_of_one_person_do_not_hide_one_another():
    """Cells cover the two rows of one person each: one person is singled out, by rows nobody is."""
    everybody, who = people(100), [n // 2 for n in range(100)]
    texts = [{"age": f"[{2 * n + 1}, {2 * n + 2}]", "town": "a"} for n in who]
    result = SinglingOut().run(small_release(everybody, texts, who=who).attacked)[0]
    assert (result.success.share, result.certain, result.exceeds) == (1.0, 0, True)
    assert "people have several rows, and fulfil a predicate if one of their rows does" in result.notes
    assert SinglingOut().run(small_release(everybody, texts).attacked)[0].success.share == 0


def test_wide_cells_single_out_nobody_with_several_rows():
    case = small_release(people(100), [{"age": "*", "town": "*"}] * 100, who=[n // 2 for n in range(100)])
    for result in SinglingOut().run(case.attacked):
        assert (result.success.share, result.exceeds, result.certain) == (0, False, 0)


def test_the_trivial_predicate_isolates_as_often_as_it_is_said_to():
    """Each of n people fulfils a predicate of weight 1/n: exactly one does with the stated probability."""
    case = small_release(people(20), [{"age": "*", "town": "*"}] * 20)
    stated = SinglingOut().run(case.attacked)[0].baselines["the best predicate without the release"].share
    tries = (np.random.default_rng(0).integers(0, 20, (20_000, 20)) == 0).sum(axis=1) == 1
    assert stated == pytest.approx(tries.mean(), abs=0.015)


def test_nothing_to_state():
    frame = pa.table({"ill": ["flu", "flu"]})
    found = sf.attack(frame, frame, schema=sf.Schema(sensitive=["ill"]), attacks=["singling-out"])
    assert "no predicate can be stated" in found.skipped[0].reason
