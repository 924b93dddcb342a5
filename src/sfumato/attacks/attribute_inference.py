"""The inference attack: guess a sensitive value from the published rows that may be the person's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, Secret
from sfumato.attacks.base_attack import Attack, AttackResult
from sfumato.attacks.candidate_bits import counted, distinct_queries, meetings, members
from sfumato.attacks.homogeneity import most_frequent_of_table
from sfumato.attacks.rates import Rate
from sfumato.attacks.row_candidates import RowCandidates, averaged, knowledge, known_numbers, known_sets

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_COUNTS = 1 << 22
"""The number of pairs of a person and a sensitive value that are counted at a time; bounds memory."""

_MEMBERS = 1 << 22
"""The number of pairs of a person and a group of rows that are looked at a time; bounds memory."""


@dataclass(frozen=True)
class AttributeInference(Attack):
    """Guess the sensitive value that is most frequent among all rows whose cells cover what is known of the person.

    The attacker knows quasi-identifiers of the person, all of them or few, but not the person's group. Where no row covers
    them, the most frequent value of the table is guessed.

    Compare with the same guess without the person's own row. That is what the other people's rows, and so statistics,
    reveal about somebody who is not in the table; only what exceeds it is due to the person's row. Compare also with the
    most frequent value of the table.

    Where people have several rows, the attacker knows one row of each person, drawn at random, and guesses the value of that
    row. All rows of the person are left out of the guess that this is compared with.

    Of several values that are equally frequent, each is guessed with equal chance. The attacker is certain if all these
    rows have one value. In a small group whose values all differ, the guess without the own row is never right, so the
    difference is larger than in a large group.

    - `known`: the number of quasi-identifiers that the attacker knows. By default there are two attackers: one who knows
      all, and one who knows 3. The chance of a person is the mean over sets of that many quasi-identifiers.
    - `subsets`: at most this many sets are taken, at random if there are more.

    Source: Article 29 Working Party (2014), Opinion 05/2014 on anonymisation techniques; Giomi et al. (2023), A unified
    framework for quantifying privacy risk in synthetic data (anonymeter), PoPETs, with the own row left out in place of a
    control group.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["inference"])[0]
    inference on ill, from all quasi-identifiers: 75.0 % (30.1 % to 95.4 %) of 4
      without the person's own row: 50.0 % (15.0 % to 85.0 %) of 4
      the most frequent value of the table: 50.0 % (15.0 % to 85.0 %) of 4
      certain of 2, of whom 2 rightly
    """

    known: int | None = None
    subsets: int = 5

    name: ClassVar[str] = "inference"
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.known is not None:
            self.check_whole("known")
        self.check_whole("subsets")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute, with all and with few quasi-identifiers."""
        candidates = RowCandidates(release)
        found = []
        for known in known_numbers(self.name, candidates.names, self.known):
            sets = known_sets(candidates.names, known, self.subsets)
            guesses = {name: _Guesses(release, candidates, release.secret(name)) for name in release.secrets}
            for names in sets:
                for listed in _candidate_classes(candidates, names, release.rows[release.one_row_each]):
                    for guess in guesses.values():
                        guess.add(names, *listed)
            about = knowledge(known, candidates.names)
            notes = (*release.candidate_notes, *averaged(sets, known, candidates.names))
            found += [self._result(guess, f"{name}, from {about}", len(sets), notes) for name, guess in guesses.items()]
        return found

    def _result(self, guess: _Guesses, about: str, sets: int, notes: Sequence[str]) -> AttackResult:
        return AttackResult(
            self.name,
            about,
            Rate.mean(guess.chances / sets),
            {
                _own_rows_left_out(guess.release): Rate.mean(guess.without / sets),
                "the most frequent value of the table": most_frequent_of_table(guess.secret, guess.truth),
            },
            certain=int(guess.certain.sum()),
            right=int(guess.right.sum()),
            figures={"people whom no row covers": int(guess.uncovered.sum())},
            notes=tuple(notes),
        )


def _own_rows_left_out(release: AttackedRelease) -> str:
    return f"without the person's own row{'' if release.several_rows is None else 's'}"


def _candidate_classes(
    candidates: RowCandidates, names: Sequence[str], rows: Integers
) -> Iterator[tuple[Integers, Integers, Integers, Integers]]:
    """Yield for some people at a time: their positions, the query of each, and the queries and classes that meet."""
    keys = [candidates.known(name, rows) for name in names]
    first, inverse = distinct_queries(keys)
    order = np.argsort(inverse, kind="stable")
    ordered = inverse[order]
    for part, bits in meetings([candidates.conditions[name] for name in names], [column[first] for column in keys]):
        total = np.cumsum(counted(bits))
        begin = 0
        while begin < len(bits):
            before = int(total[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(total, before + _MEMBERS, "right")))
            low, high = np.searchsorted(ordered, [part.start + begin, part.start + end])
            query, item = members(bits[begin:end])
            yield order[low:high], ordered[low:high] - part.start - begin, query, item
            begin = end


class _Guesses:
    """The guesses of one sensitive attribute: chances of the people who are attacked, added up over sets of names."""

    def __init__(self, release: AttackedRelease, candidates: RowCandidates, secret: Secret) -> None:
        from scipy.sparse import coo_array

        self.release, self.candidates, self.secret = release, candidates, secret
        assert secret.truth is not None
        self.truth = secret.truth[release.one_row_each]
        self.published = secret.attribute.codes[release.row_of_person]
        h, width = secret.histogram, len(secret.attribute)
        classes = candidates.class_of_group[h.group]
        self.counts: Any = coo_array((h.counts, (classes, h.values)), shape=(candidates.count, width)).tocsr()
        self.table = secret.attribute.counts.astype(np.int64)
        count = len(self.truth)
        self.chances, self.without = np.zeros(count), np.zeros(count)
        self.certain, self.right, self.uncovered = (np.zeros(count, bool) for _ in range(3))

    def add(self, names: Sequence[str], people: Integers, of_query: Integers, query: Integers, item: Integers) -> None:
        """Guess the values of some people from the classes of their queries; one set of known names."""
        from scipy.sparse import coo_array

        if not len(people):
            return
        queries = int(of_query.max()) + 1
        ones = np.ones(len(query), np.int64)
        chosen = coo_array((ones, (query, item)), shape=(queries, self.candidates.count)).tocsr()
        step = max(1, _COUNTS // self.counts.shape[1])
        for start in range(0, len(people), step):
            part = slice(start, start + step)
            low, high = int(of_query[part][0]), int(of_query[part][-1]) + 1
            pooled = (chosen[low:high] @ self.counts).toarray()
            self._guess(names, pooled[of_query[part] - low], people[part])

    def _guess(self, names: Sequence[str], pooled: Integers, people: Integers) -> None:
        """Guess from the counts of each value among the rows that may be of each person."""
        truth = self.truth[people]
        covered = np.asarray(pooled.any(axis=1))
        self.uncovered[people] |= ~covered
        alone = covered & (pooled.max(axis=1) == pooled.sum(axis=1))
        pooled[~covered] = self.table
        chances = _chances(pooled, truth)
        self.chances[people] += chances
        self.certain[people] |= alone
        self.right[people] |= alone & (chances == 1)
        # own rows are among the candidates if they cover what is known, and are in the table in any case
        release = self.release
        known = release.one_row_each[people]
        at, row = release.rows_of_same_people(known)
        inside = self.candidates.covers(names, release.group_of_person[row], known[at])
        np.subtract.at(pooled, (at, self.published[row]), inside | ~covered[at])
        empty = np.asarray(~pooled.any(axis=1))
        pooled[empty] = self.table
        np.subtract.at(pooled, (at, self.published[row]), empty[at])
        self.without[people] += _chances(pooled, truth)


def _chances(counts: Integers, truth: Integers) -> Floats:
    """Return the chance that the most frequent value is the true one; 0 if no value is left or the true one is unknown."""
    most = counts.max(axis=1)
    ties = (counts == most[:, None]).sum(axis=1)
    true = np.where(truth >= 0, counts[np.arange(len(truth)), truth], -1)
    return np.where((true == most) & (most > 0), 1.0 / ties, 0.0)
