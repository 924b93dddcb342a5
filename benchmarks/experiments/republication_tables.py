"""Versions of a table, released one after another: loss, counterfeits, time, and who is narrowed too far.

Each version is released twice: after the earlier releases, and independently of them. For both, the people are counted of
whom the values that all their groups have in common do not meet the requirements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.datasets import survey
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato._audit import audit
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.release import Release
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.errors import SfumatoError
from sfumato.principles import Dissimilarity, DistinctLDiversity, FrequencyLDiversity, KAnonymity, Principle
from sfumato.verification._verify_sequence import verify_sequence

_ID = "person"
"""The column that identifies people."""


class Case(NamedTuple):
    """A table with an identifier, and the requirements on its releases."""

    name: str
    data: pa.Table
    schema: Schema
    principles: tuple[Principle, ...]


def run(rows: int, versions: int, churn: float, counterfeits: str, seed: int, notify: Notify = silent) -> dict[str, Any]:
    """Release versions of each table, of which a share of people leaves, and as many are new, from one to the next."""
    runs: list[dict[str, Any]] = []
    for case in cases(rows, versions, churn, seed):
        with TemporaryDirectory() as place:
            runs += _sequence(case, Path(place), versions, churn, counterfeits, seed, notify)
    return {"runs": runs}


def cases(rows: int, versions: int, churn: float, seed: int) -> Iterator[Case]:
    """Yield the tables: Adult, if it is below SFUMATO_DATA, and the synthetic census; each with enough people to join."""
    everybody = int(rows * (1 + churn * (versions - 1))) + versions
    census = synthetic_census(everybody, seed)
    base = census_schema()
    names = [*base.quasi_identifiers, "income"]
    schema = Schema(
        base.quasi_identifiers,
        ["income"],
        identifiers=[_ID],
        kinds={name: kind for name, kind in base.kinds.items() if name in names},
        hierarchies={name: tree for name, tree in base.hierarchies.items() if name in base.quasi_identifiers},
        recodings=base.recodings,
    )
    census = _identified(census.select(names))
    if survey.adult_folder() is not None:
        adult = survey.adult()[0].table
        known = _identified(adult.data)
        own = Schema(
            adult.schema.quasi_identifiers,
            ["occupation"],
            identifiers=[_ID],
            kinds=adult.schema.kinds,
            hierarchies=adult.schema.hierarchies,
            recodings=adult.schema.recodings,
        )
        yield Case("adult: k = 5, distinct l = 3", known, own, (KAnonymity(5), DistinctLDiversity(3)))
        yield Case("adult: frequency l = 4", known, own, (FrequencyLDiversity(4),))
    yield Case("census: (2, 0.6)^5-dissimilarity", census, schema, (Dissimilarity(2, "0.6", 5),))


def _identified(data: pa.Table) -> pa.Table:
    return data.append_column(_ID, pa.array(np.arange(data.num_rows)))


def _sequence(
    case: Case, place: Path, versions: int, churn: float, counterfeits: str, seed: int, notify: Notify
) -> Iterator[dict[str, Any]]:
    """Release the versions of one table, and yield the figures of each; the last also has the result of the checks."""
    random = np.random.default_rng(seed)
    order = random.permutation(case.data.num_rows)
    start = int((case.data.num_rows - versions) / (1 + churn * (versions - 1)))
    present, waiting = order[:start], order[start:]
    ours: dict[Any, Counter[Any]] = {}
    others: dict[Any, Counter[Any]] = {}
    folders: list[Path] = []
    tables: list[pa.Table] = []
    for version in range(1, versions + 1):
        notify(f"{case.name}, version {version}")
        tables.append(case.data.take(pa.array(np.sort(present))))
        follows = {"after": (folders[-1], _key(folders[-1])), "counterfeits": counterfeits} if folders else {}
        figures: dict[str, Any] = {"table": case.name, "version": version, "rows": tables[-1].num_rows}
        try:
            seconds, release = cpu_seconds(
                lambda follows=follows: anonymize(tables[-1], case.schema, case.principles, seed=seed, **follows)  # type: ignore[misc]
            )
        except SfumatoError as error:
            yield {**figures, "not possible": str(error)}
            return
        alone, fresh = cpu_seconds(lambda: anonymize(tables[-1], case.schema, case.principles, seed=seed + 1))
        folders.append(place / str(version))
        saving, _ = cpu_seconds(lambda release=release: release.save(folders[-1], key=_key(folders[-1])))  # type: ignore[misc]
        figures |= {
            "loss": round(release.loss, 4),
            "independent loss": round(fresh.loss, 4),
            "counterfeits": 0 if release.after is None else release.after.counterfeits,
            "groups": release.audit.groups.count,
            "CPU s": round(seconds, 1),
            "independent, CPU s": round(alone, 1),
            "saving, CPU s": round(saving, 1),
            "narrowed": _narrowed(ours, release),
            "independent, narrowed": _narrowed(others, fresh),
        }
        if version == versions:
            result = verify_sequence(folders, tables, keys=[_key(folder) for folder in folders])
            figures["verified"] = result.holds and not result.not_checked
        yield figures
        leaving = random.choice(len(present), int(churn * len(present)), replace=False)
        present = np.concatenate([np.delete(present, leaving), waiting[: len(leaving)]])
        waiting = waiting[len(leaving) :]


def _key(folder: Path) -> Path:
    return folder.with_suffix(".json")


def _narrowed(known: dict[Any, Counter[Any]], release: Release) -> int:
    """Return for how many people the values that all their groups have in common do not satisfy the principles.

    `known`: what the groups of each person had in common so far, which is narrowed by those of the release.
    """
    secret = release.schema.sensitive[0]
    shown = release.frame.column(secret).to_pylist()
    groups = release.frame.column(release.group).to_pylist()
    names = release.private.original.data.column(_ID).to_pylist()
    bags: dict[Any, Counter[Any]] = {}
    for group, value in zip(groups, shown, strict=True):
        bags.setdefault(group, Counter())[value] += 1
    people = {names[at]: groups[row] for row, at in enumerate(release.private.rows.tolist()) if at >= 0}
    for person, group in people.items():
        known[person] = known[person] & bags[group] if person in known else bags[group]
    distinct = {frozenset(known[person].items()) for person in people}
    number = {bag: at for at, bag in enumerate(distinct)}
    of_row = [at for bag, at in number.items() for _, times in bag for _ in range(times)]
    values = [value for bag in number for value, times in bag for _ in range(times)]
    schema = Schema(
        sensitive=[secret],
        group="bag",
        kinds={secret: release.schema.kinds[secret]},
        distances={name: distance for name, distance in release.schema.distances.items() if name == secret},
    )
    found = audit(pa.table({"bag": of_row, secret: values}), schema, release.principles)
    holds = np.logical_and.reduce([finding.measurement.group_holds for finding in found])
    empty = sum(not bag for bag in distinct)
    assert len(holds) == len(distinct) - empty
    fine = {bag: bool(good) for bag, good in zip((bag for bag in number if bag), holds, strict=True)}
    return sum(not fine.get(frozenset(known[person].items()), False) for person in people)
