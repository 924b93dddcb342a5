"""Check that a release which follows others narrows nobody's candidates below the requirements: count again, by hand.

Nothing is taken from the code that made the release. Candidates are read from the published file, group by group, and what
all groups of a person have in common is kept as a plain multiset for each person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.plurals import count_of
from sfumato.principles import Principle, View, attributes_of
from sfumato.principles.principle import measurement_of
from sfumato.releases.candidates import Candidate, candidate_columns, candidates_of, people_column
from sfumato.releases.history import History, person_hashes, person_texts, value_hashes
from sfumato.releases.models import GroupedTable
from sfumato.releases.predecessor import Predecessor
from sfumato.verification.checks import Check

Bag = frozenset[tuple[Candidate, int]]
"""A multiset of candidates: each with how often it occurs."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the releases so far say about a person."""

    whole: Bag
    """What all groups of the person have in common."""
    run: Bag
    """The same for the groups since the candidate of the person last changed."""
    mark: Hashable
    """The candidate of the person in the last release with the person, or a hash of it."""


@dataclass(frozen=True, eq=False)
class PublishedCandidates:
    """The candidates of a published table: of each row, and of each group as a multiset."""

    table: Table
    schema: Schema
    of_row: list[Candidate]
    group: list[Any]
    bags: Mapping[Any, Counter[Candidate]]

    @classmethod
    def of(cls, table: Table, schema: Schema, group: str) -> PublishedCandidates:
        """Read the candidates; `schema`: that of the original."""
        numbers, values = candidates_of(table.data, schema, candidate_columns(schema, table.data.column_names))
        of_row = [values[number] for number in numbers.tolist()]
        groups = table.data.column(group).to_pylist()
        bags: dict[Any, Counter[Candidate]] = {}
        for at, value in zip(groups, of_row, strict=True):
            bags.setdefault(at, Counter())[value] += 1
        return cls(table, schema, of_row, groups, bags)


def left_after(
    known: Mapping[Any, Known], published: PublishedCandidates, people: Iterable[tuple[int, Any, Hashable]]
) -> dict[Any, Known]:
    """Return what is left of the candidates of the people of a release.

    `known`: what was left before. `people`: for each published row that stands for a person the row, the person, and the
    mark of the candidate.
    """
    whole = {group: frozenset(bag.items()) for group, bag in published.bags.items()}
    common: dict[tuple[Bag, Any], Bag] = {}

    def narrowed(bag: Bag, group: Any) -> Bag:
        if (bag, group) not in common:
            here = published.bags[group]
            both = ((value, min(times, here[value])) for value, times in bag)
            common[bag, group] = frozenset((value, times) for value, times in both if times)
        return common[bag, group]

    left = {}
    for row, who, mark in people:
        group, before = published.group[row], known.get(who)
        if before is None:
            left[who] = Known(whole[group], whole[group], mark)
        else:
            run = narrowed(before.run, group) if before.mark == mark else whole[group]
            left[who] = Known(narrowed(before.whole, group), run, mark)
    return left


def failing_people(left: Mapping[Any, Known], published: PublishedCandidates, principles: Sequence[Principle]) -> set[Any]:
    """Return the people whose candidates do not meet a requirement, or do not contain their own since it last changed."""
    bags = list({bag for each in left.values() for bag in (each.whole, each.run)})
    fine = dict(zip(bags, _verdicts(bags, published, principles), strict=True))
    return {who for who, each in left.items() if not (fine[each.whole] and fine[each.run])}


def _verdicts(bags: Sequence[Bag], published: PublishedCandidates, principles: Sequence[Principle]) -> list[bool]:
    """Return for each multiset whether every principle holds in it, as if it were a group of the published table."""
    row_of = {value: row for row, value in enumerate(published.of_row)}
    rows, of_row, filled = [], [], [number for number, bag in enumerate(bags) if bag]
    for position, number in enumerate(filled):
        for value, times in bags[number]:
            rows += [row_of[value]] * times
            of_row += [position] * times
    verdicts = np.zeros(len(bags), bool)
    if filled:
        holds = np.ones(len(filled), bool)
        table = published.table
        for principle in principles:
            for names in attributes_of(principle, table.schema):
                view = _view(table, names, np.array(rows), np.array(of_row), len(filled))
                holds &= measurement_of(principle, view).group_holds
        verdicts[filled] = holds
    return verdicts.tolist()


def _view(table: Table, names: Sequence[str], rows: NDArray[np.int64], of_row: NDArray[np.int64], count: int) -> View:
    """Return groups of copies of published rows. What compares them with the table compares with the published table."""
    view = View(table.take(rows), names, Groups(of_row, count, table.rows))
    if names:
        whole = View(table, names).attribute
        view.attribute = Attribute(whole.name, whole.columns, whole.codes[rows], whole.parts, whole.counts)
    return view


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
        texts = person_texts(original.data, people_column(declared), original.source)
        found = PublishedCandidates.of(published, declared, document.group)
        numbers = {value: number for number, value in enumerate(dict.fromkeys(found.of_row))}
        real = np.flatnonzero(rows >= 0)
        who = [texts[row] for row in rows[real].tolist()]
        values = np.array([numbers[found.of_row[row]] for row in real.tolist()], np.int64)
        salt = after.history.salt
        marks = value_hashes(who, values, list(numbers), salt)
        people = zip(real.tolist(), person_hashes(who, salt), marks, strict=True)
        left = left_after(_known(after.history), found, people)
        failing = failing_people(left, found, principles)
    except SfumatoError as error:
        return [*checks, Check("candidates", False, str(error))]
    return [*checks, candidates_result(len(failing), len(left))]


def candidates_result(failing: int, people: int) -> Check:
    """Return the check that says how many people have too few candidates left."""
    if failing:
        detail = f"the candidates of {failing:,} of {count_of(people, 'person', 'people')} do not meet the requirements"
        return Check("candidates", False, f"{detail} over all releases")
    everybody = count_of(people, "person", "people")
    return Check("candidates", True, f"over all releases the candidates of each of {everybody} meet every requirement")


def _after_check(claim: Any, after: Predecessor) -> Check:
    if claim.release != after.sha256:
        return Check("after", False, f"release.json names another release than {after.folder}")
    if claim.version != after.history.version + 1:
        return Check("after", False, f"release.json states version {claim.version}, not {after.history.version + 1}")
    return Check("after", True, f"it is version {claim.version} and follows {after.folder}")


def _known(history: History) -> dict[str, Known]:
    bags = [
        frozenset((tuple(history.values[value]), times) for value, times in signature) for signature in history.signatures
    ]
    return {who: Known(bags[p.whole], bags[p.run], p.value) for who, p in history.people.items()}
