"""The errors of counts that a reader makes from a release, by the number of quasi-identifiers in the question.

Errors against the true original are exact figures of who has which sensitive value: with the same questions an attacker
could try assignments until the figures agree. The public report therefore contains expected errors: the same questions,
answered from originals that are drawn at random from all that match the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.count_queries import answers, matches
from sfumato.anonymization.utility.workload import Workload
from sfumato.data.groups import Groups, stable_order
from sfumato.data.table import Table
from sfumato.seeds import PUBLIC_SEED

QUESTIONS = 60
"""Questions for each number of quasi-identifiers; a third of that for large tables."""
_MANY = 1_000_000
"""Rows from which a table is large: fewer questions give the same precision."""
DRAWN = 2
"""Originals that are drawn; one for large tables."""
_DIMENSIONS = 5
"""The most quasi-identifiers in a question."""
_SENSITIVE = 2
"""The most sensitive columns in a question, as in *Wang & Liu (2010)*."""
SELECTIVITY = "0.1"
_DECIMALS = 3
"""Decimals of published errors: they depend on which values occur in the original, which more digits might reveal."""
_SEED = 0x0C
"""Separates the random numbers from those of the shuffle."""


def expected_errors(published: Table, groups: Groups, covers: Sequence[Cover]) -> dict[str, Any] | None:
    """Return the expected relative errors of counts over 1, 2, 3, … quasi-identifiers; None if no column has values.

    Originals are drawn by the public seed: each row's quasi-identifiers uniformly from the values that its cells cover, the
    sensitive values of a group assigned to its rows at random. Of the true original only the domains are used, and errors
    are rounded to three decimals.
    """
    workloads = _workloads(published, covers, PUBLIC_SEED)
    if not workloads:
        return None
    order = stable_order(groups.of_row, groups.count)
    random = np.random.default_rng([PUBLIC_SEED, _SEED])
    sensitive = workloads[0].sensitive
    drawn = []
    originals = DRAWN if published.rows < _MANY else 1
    for _ in range(originals):
        places = np.empty((len(covers) + len(sensitive), published.rows), np.int32)
        for column, domain in enumerate(sensitive, start=len(covers)):
            places[column] = domain.place[domain.column.codes[order]]
        of_row = np.repeat(np.arange(groups.count), groups.sizes)  # the groups of the rows in their order
        for column, cover in enumerate(covers):
            places[column] = _draw(cover, of_row, random)
        drawn.append(places)
    del order, of_row
    errors = []
    for workload in workloads:
        raw, estimate = answers(drawn[0], groups.sizes, covers, workload)
        # the estimate from the release is the same for every drawn original
        counts = [raw, *(matches(places, workload) for places in drawn[1:])]
        errors.append(np.concatenate([_relative(count, estimate) for count in counts]))
    return {"drawn": originals, **_table(workloads, errors, _DECIMALS)}


def true_errors(
    original: Table, published: Table, groups: Groups, covers: Sequence[Cover], seed: int
) -> dict[str, Any] | None:
    """Return the relative errors of the same counts against the true original; they must not be published."""
    workloads = _workloads(published, covers, seed)
    if not workloads:
        return None
    order = stable_order(groups.of_row, groups.count)
    blank = [np.zeros(published.rows, np.int32) for _ in covers]
    released = np.array([*blank, *(_places(domain)[order] for domain in workloads[0].sensitive)], np.int32)
    true = [_places(cover.domain) for cover in covers]
    for domain in workloads[0].sensitive:  # a value that only suppressed rows have matches no question
        places = {domain.label(place): place for place in range(domain.size)}
        column = original.column(domain.name)
        known = np.array([places.get(column.label(code), domain.size) for code in range(column.domain)], np.int32)
        true.append(known[column.codes])
    one, first = np.ones(1, np.int64), np.zeros(1, np.int64)
    whole = [
        Cover(cover.domain, first, np.array([0, 1]), first, one) for cover in covers
    ]  # only `raw` is used: exact counts
    errors = []
    for workload in workloads:
        raw, _ = answers(np.array(true, np.int32), np.array([original.rows]), whole, workload)
        _, estimate = answers(released, groups.sizes, covers, workload)
        errors.append(_relative(raw, estimate))
    return _table(workloads, errors, 5)


def _workloads(published: Table, covers: Sequence[Cover], seed: int) -> list[Workload]:
    """Return workloads of questions over one quasi-identifier, over two, and so on, each with sensitive columns too."""
    quasi = tuple(cover.domain for cover in covers)
    sensitive = tuple(domain_of(published.column(name)) for name in dict.fromkeys(published.schema.sensitive_columns()))
    most, qs = (sum(domain.size > 0 for domain in domains) for domains in (quasi, sensitive))
    questions = QUESTIONS if published.rows < _MANY else QUESTIONS // 3
    return [
        Workload.over_domains(quasi, sensitive, questions, qd, min(_SENSITIVE, qs), SELECTIVITY, seed)
        for qd in range(1, min(_DIMENSIONS, most) + 1)
    ]


def _places(domain: Domain) -> NDArray[np.int32]:
    return domain.place[domain.column.codes]


def _draw(cover: Cover, of_row: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Return for each row a place, uniformly from those that its group's cell covers."""
    draws = random.random(len(of_row))
    draws *= cover.sizes[cover.cell][of_row]
    steps = draws.astype(np.int64)
    del draws
    if len(cover.first) == len(cover.offsets) - 1:  # every cell is one range
        steps += cover.first[cover.cell][of_row]
        return steps
    begins = np.concatenate([[0], np.cumsum(cover.stop - cover.first)])
    at = begins[cover.offsets[cover.cell]][of_row] + steps
    stretch = np.searchsorted(begins, at, side="right") - 1
    return np.asarray(cover.first[stretch] + at - begins[stretch])


def _relative(raw: NDArray[np.int64], estimate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the relative errors of the questions that match a row."""
    some = raw > 0
    return np.asarray(np.abs(estimate[some] - raw[some]) / raw[some])


def _table(workloads: Sequence[Workload], errors: Sequence[NDArray[np.float64]], decimals: int) -> dict[str, Any]:
    return {
        "asked": len(workloads[0]),
        "sensitive": workloads[0].qs,
        "selectivity": SELECTIVITY,
        "by": [
            {"columns": workload.qd, "counted": len(found), **_quartiles(found, decimals)}
            for workload, found in zip(workloads, errors, strict=True)
        ],
    }


def _quartiles(errors: NDArray[np.float64], decimals: int) -> dict[str, float | None]:
    names = ("lower", "median", "upper")
    if not len(errors):
        return dict.fromkeys(names)
    return {name: round(float(q), decimals) for name, q in zip(names, np.quantile(errors, (0.25, 0.5, 0.75)), strict=True)}
