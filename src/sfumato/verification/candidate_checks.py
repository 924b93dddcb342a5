"""Check that a release which follows others continues their groups with the same candidates: look up everybody again.

Nothing is taken from the code that made the release. The groups are read from the published file. The history of the people
is a certificate, which the key of each release contains: it is believed only as far as it is checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.exact import as_fraction, written
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.candidates import Candidate, candidate_columns, candidates_of, people_column
from sfumato.releases.history import History, person_hashes, person_texts
from sfumato.releases.models import AfterClaim, GroupedTable
from sfumato.releases.predecessor import Predecessor
from sfumato.releases.reader import TableManifest
from sfumato.verification.checks import Check
from sfumato.verification.compared_tables import ComparedTables
from sfumato.verification.form_checks import OTHERS_FAIL
from sfumato.verification.unit_checks import RowKey, mapping_problem


@dataclass(frozen=True, eq=False)
class PublishedGroups:
    """The groups of a published table: the candidates of each, and the people in it with theirs."""

    candidates: Mapping[Any, Counter[Candidate]]
    people: Mapping[Any, Mapping[str, Candidate]]
    """By the hash of the identifier. Counterfeits are nobody."""

    @classmethod
    def of(
        cls, table: Table, schema: Schema, group: str, original: Table, rows: NDArray[np.int64], salt: bytes
    ) -> PublishedGroups:
        """Look up the groups; `rows`: for each published row its row in the original, -1 for a counterfeit."""
        texts = person_texts(original.data, people_column(schema), original.source)
        hashes = person_hashes(texts, salt)
        numbers, values = candidates_of(table.data, schema, candidate_columns(schema, table.data.column_names))
        candidates: dict[Any, Counter[Candidate]] = {}
        people: dict[Any, dict[str, Candidate]] = {}
        cells = zip(table.data.column(group).to_pylist(), numbers.tolist(), rows.tolist(), strict=True)
        for at, number, row in cells:
            candidates.setdefault(at, Counter())[values[number]] += 1
            own = people.setdefault(at, {})
            if row >= 0:
                own[hashes[row]] = values[number]
        return cls(candidates, people)

    @property
    def count(self) -> int:
        """The number of people."""
        return sum(map(len, self.people.values()))


def continuation_problem(published: PublishedGroups, before: History) -> str | None:
    """Return how groups fail to continue the lineages of a history; None if they do.

    Everybody who occupies a slot with the same candidate as before is in the group of the lineage, nobody shares a slot, and
    the group publishes exactly the candidates of the slots.
    """
    slots = _slots(before)
    continued: set[int] = set()
    for group, people in published.people.items():
        places = {
            who: before.people[who]
            for who, value in people.items()
            if who in before.people and slots[before.people[who].lineage][before.people[who].slot] == value
        }
        lineages = {place.lineage for place in places.values()}
        if len(lineages) > 1:
            return f"group {group} contains people of {len(lineages)} earlier groups"
        if lineages & continued:
            return f"the people of an earlier group are in group {group} and in another one"
        if len({place.slot for place in places.values()}) < len(places):
            return f"two people of group {group} had the same place in earlier releases"
        for lineage in lineages:
            if published.candidates[group] != Counter(slots[lineage]):
                return f"group {group} continues an earlier group with other candidates"
        continued |= lineages
    return None


def history_problem(published: PublishedGroups, before: History | None, after: History) -> str | None:
    """Return why a history is not that of a release which follows a history; None if it is.

    Lineages stay as they were, people who are absent keep their places, and those of each group have different slots of one
    lineage with their own candidates.
    """
    old = [] if before is None else _slots(before)
    slots = _slots(after)
    if slots[: len(old)] != old or (before is not None and before.salt != after.salt):
        return "the key states other earlier groups than the key before it"
    known = {} if before is None else before.people
    here = {who for people in published.people.values() for who in people}
    if any(after.people.get(who) != place for who, place in known.items() if who not in here):
        return "the key states another place for somebody who is not in the release"
    if after.people.keys() - known.keys() - here:
        return "the key states a place for somebody who is in no release"
    for group, people in published.people.items():
        if any(who not in after.people or after.people[who].version != after.version for who in people):
            return f"the key lacks somebody of group {group}"
        problem = _places_problem(people, after, slots)
        moved = [
            who
            for who, value in people.items()
            if who in known and old[known[who].lineage][known[who].slot] == value and _slot(after, who) != _slot(before, who)
        ]
        if problem is None and moved:
            problem = "the key states another place than before for somebody"
        for lineage in {after.people[who].lineage for who in people}:
            if problem is None and published.candidates[group] != Counter(slots[lineage]):
                problem = "it does not publish the candidates that the key states"
        if problem is not None:
            return f"group {group}: {problem}"
    return None


def _places_problem(people: Mapping[str, Candidate], after: History, slots: list[tuple[Candidate, ...]]) -> str | None:
    """Return what is wrong with the places of the people of one group; None if they are possible."""
    places = {who: after.people[who] for who in people}
    if len({place.lineage for place in places.values()}) > 1:
        return "the key states places in several groups"
    if len({place.slot for place in places.values()}) < len(places):
        return "the key states one place for two people"
    if any(slots[places[who].lineage][places[who].slot] != value for who, value in people.items()):
        return "the key states the place of another candidate for somebody"
    return None


def _slot(history: History | None, who: str) -> tuple[int, int] | None:
    place = None if history is None else history.people.get(who)
    return None if place is None else (place.lineage, place.slot)


def _slots(history: History) -> list[tuple[Candidate, ...]]:
    """Return for each lineage the candidates of its slots."""
    return [tuple(tuple(history.values[value]) for value in lineage) for lineage in history.lineages]


def sequence_checks(
    manifest: TableManifest,
    tables: ComparedTables,
    checks: Sequence[Check],
    declared: Schema,
    requested: Sequence[Principle],
    key: RowKey,
    after: Predecessor | None,
) -> list[Check]:
    """Check a release that follows another, if its other checks hold; `after`: the one that it should follow."""
    claim = getattr(manifest.document, "after", None)
    if claim is None and after is None:
        return []
    problem = None if claim is None else _claim_problem(manifest.document, claim)
    if problem is not None:
        return [Check("after", False, problem)]
    if any(check.holds is False for check in checks):
        return [Check("candidates", None, OTHERS_FAIL)]
    source = tables.original if tables.has_original and tables.has_rows else None
    published = tables.facts.table
    if source is not None and key.rows is not None:
        problem = mapping_problem(manifest, published.data, source, declared, key.rows)
        if problem is not None:
            return [Check("key", False, problem)]
    return candidates_check(manifest.document, published, source, declared, requested, key.rows, after)


def _claim_problem(document: GroupedTable, claim: AfterClaim) -> str | None:
    """Return what is wrong with what release.json states about the sequence; None if it is possible."""
    try:
        allowed = as_fraction(claim.allowed, "allowed")
    except SfumatoError as error:
        return f"release.json states that a share of {claim.allowed!r} may be counterfeits: {error.problem}"
    people = document.rows - claim.counterfeits + document.suppressed
    if not 0 <= allowed < 1 or not 0 <= claim.counterfeits <= allowed * people or claim.allowed != written(allowed):
        return f"release.json states {claim.counterfeits} counterfeits, and that a share of {claim.allowed} may be"
    return None if claim.version >= 2 else f"release.json states that it follows a release, and is version {claim.version}"


def candidates_check(
    document: GroupedTable,
    published: Table,
    original: Table | None,
    declared: Schema,
    principles: Sequence[Principle],
    rows: NDArray[np.int64] | None,
    after: Predecessor | None,
) -> list[Check]:
    """Check a release that follows another; of one that does not, nothing."""
    claim = getattr(document, "after", None)
    if claim is None:
        return [] if after is None else [Check("after", False, "release.json does not state that it follows a release")]
    if after is None:
        detail = "not checked: pass the release that this one follows with its key, or verify the whole sequence"
        return [Check("candidates", None, detail)]
    checks = [_after_check(claim, after)]
    if original is None or rows is None:
        return [*checks, Check("candidates", None, "not checked: pass the original and the key")]
    try:
        after.check(declared, principles, candidate_columns(declared, published.data.column_names))
        found = PublishedGroups.of(published, declared, document.group, original, rows, after.history.salt)
        problem = continuation_problem(found, after.history)
    except SfumatoError as error:
        problem = str(error)
    return [*checks, candidates_result(problem, found.count if problem is None else 0)]


def candidates_result(problem: str | None, people: int) -> Check:
    """Return the check that says whether everybody keeps the same candidates."""
    everybody = count_of(people, "person", "people")
    fine = f"each of {everybody} has the same candidates in all releases since their own last changed"
    return Check("candidates", problem is None, fine if problem is None else problem)


def _after_check(claim: AfterClaim, after: Predecessor) -> Check:
    if claim.release != after.sha256:
        return Check("after", False, f"release.json names another release than {after.folder}")
    if claim.version != after.history.version + 1:
        return Check("after", False, f"release.json states version {claim.version}, not {after.history.version + 1}")
    return Check("after", True, f"it is version {claim.version} and follows {after.folder}")
