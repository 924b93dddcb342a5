"""CPU time of matching records with a register: by a join of sorted tables, and record by record.

The register contains the people of the records and others. It knows few of the attributes that the records disclose, as a
voter list does of hospital stays, so that many people fit a record. The baseline goes through the people of the most
selective attribute, record by record, for a sample of the records; its time is scaled to all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measurement import Notify, cpu_seconds, in_separate_process, peak_megabytes, silent
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.matching.sorted_join import counts_by_join
from sfumato.kernels.dictionary_matching import consistent_counts, weight_without_attribute

KNOWN = {"sex": 2, "race": 6, "age": 10, "district": 700}
"""The attributes that both sides have, with the number of their values."""

_FURTHER = 10
"""Attributes that the register does not know."""

CASES = {"few attributes": ("sex", "race", "age"), "all attributes": tuple(KNOWN)}
"""What the register knows."""


def run(records: int, individuals: int, sample: int, seed: int = 0, notify: Notify = silent) -> dict[str, Any]:
    """Measure each case in a separate process; `notify` receives the progress."""
    runs = []
    for case in CASES:
        notify(f"{records:,} records, {individuals:,} individuals, {case}")
        runs.append(in_separate_process(measure, case, records, individuals, sample, seed))
    return {"runs": runs}


def measure(case: str, records: int, individuals: int, sample: int, seed: int) -> dict[str, Any]:
    """Count the consistent individuals, with everything disclosed and without each attribute, in both ways."""
    matching = _register(CASES[case], records, individuals, seed)
    matching.reach  # noqa: B018  # both ways need it, and the index
    rows = matching.values
    some = np.linspace(0, records - 1, min(sample, records)).astype(np.int64)
    tiny = matching.only(some[:1])
    counts_by_join(tiny, tiny.values)
    _one_by_one(matching, rows[:1])
    joined, counts = cpu_seconds(lambda: matching.sizes(matching.everything))
    without, _ = cpu_seconds(lambda: matching.outcomes_without(matching.everything))
    (counting, wanted), (leaving, _) = _one_by_one(matching, rows[some])
    assert (counts[some] == wanted).all()
    scale = records / len(some)
    return {
        "case": case,
        "records": records,
        "individuals": individuals,
        "attributes": matching.attributes,
        "consistent, mean": round(float(counts.mean()), 1),
        "join, CPU s": round(joined + without, 2),
        "record by record, CPU s": round((counting + leaving) * scale, 2),
        "times faster": round((counting + leaving) * scale / (joined + without), 1),
        "peak memory, MB": peak_megabytes(),
    }


def _register(known: tuple[str, ...], records: int, individuals: int, seed: int) -> Matching:
    """Records of people of a register. All have all attributes, but the register does not know the further ones."""
    random = np.random.default_rng(seed)
    # squares of uniform numbers: some values are frequent, as in real tables
    people = np.column_stack([(KNOWN[name] * random.random(individuals) ** 2).astype(np.int64) for name in known])
    own = random.choice(individuals, records, replace=False)
    further = random.integers(0, 20, (records, _FURTHER))
    nothing = np.full((individuals, _FURTHER), -1)
    return Matching.of_codes(np.hstack([people[own], further]), np.hstack([people, nothing]), own=own)


def _one_by_one(matching: Matching, rows: NDArray[np.int32]) -> tuple[tuple[float, NDArray[np.int64]], tuple[float, Any]]:
    """Return CPU seconds and results of counting, and of counting without each attribute, by the kernels for few records."""
    counts, sums, more = np.zeros(len(rows), np.int64), np.zeros(len(rows)), np.zeros(rows.shape)
    out, misfit = np.empty((2, matching.individuals), np.int64)

    def count() -> NDArray[np.int64]:
        consistent_counts(matching.index, rows, matching.weights, 0, out, counts, sums)
        return counts

    return (
        cpu_seconds(count),
        cpu_seconds(lambda: weight_without_attribute(matching.index, rows, matching.weights, out, misfit, more)),
    )
