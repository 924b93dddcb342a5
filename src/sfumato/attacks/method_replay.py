"""The replay attack: run the method again with each guess at a secret, and see which one gives the published groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization import anonymize
from sfumato.anonymization.methods import Method, method_of
from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.rates import Rate
from sfumato.data.groups import renumber
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.parameters import check_seed
from sfumato.principles import attributes_of

Integers = NDArray[np.int64]

_EACH_RUN = 2_000
"""A run on a small table takes as long as this many rows more."""


@dataclass(frozen=True)
class Replay(Attack):
    """Guess a secret by running the method again with each value that the group has, until the published groups appear.

    For each value of the target's group, the target exchanges secrets with a person of the group who has that value, and the
    method runs on the result. Values that lead to the published groups are possible, the others are not. The attacker
    guesses the most frequent possible value, or that of the group if no run gives the published groups. People are attacked
    at random while `budget` lasts, in rows: a run costs the rows of the table, and 2,000 for what it takes in any table.

    The attacker knows all quasi-identifiers in the order of the file, everybody's group, the method with its parameters, and
    everybody's secret except for one exchange between the target and somebody of its group. If `seed` is given, they
    know the seed. They also attack without it, by trying the seeds below `guesses`.

    Compare with the most frequent value of the group, and with a guess at random among its different values.

    Source: Wong et al. (2007), Zhang, Jajodia & Brodsky (2007): the attacker knows the algorithm.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "flu", "gout", "gout"]})
    >>> requirement = sf.DistinctLDiversity(2)
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), [sf.KAnonymity(2), requirement], seed=5)
    >>> sf.attack(release, attacks=[Replay(seed=5)])[0].success.tried
    4
    """

    seed: int | None = None
    """The seed of the release, if the attacker knows it."""
    guesses: int = 2
    """The number of seeds that an attacker tries who does not know it."""
    budget: int = 60_000
    """The rows of all runs, with the seed and again without it."""

    name: ClassVar[str] = "replay"

    def __post_init__(self) -> None:
        if self.seed is not None:
            object.__setattr__(self, "seed", check_seed(self.seed))
        self.check_whole("guesses")
        self.check_whole("budget")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute that a requirement is about, with the seed if it is known, and without."""
        if release.population is None:
            raise NotMeasured("the order of the rows in the original is not known")
        if release.population.units is not None:
            raise NotMeasured(f"{release.population.units.plural} have several rows, and secrets of one row are exchanged")
        method = _method(release)
        rows = release.population.rows
        if self.budget < 2 * (rows + _EACH_RUN) * self.guesses:
            raise NotMeasured(
                f"a budget of {self.budget:,} rows is too small for {2 * self.guesses} runs on {rows:,} rows; pass "
                "Replay(budget=…)"
            )
        names = {names for p in release.principles for names in attributes_of(p, release.population.schema) if names}
        if not names:
            raise NotMeasured("no requirement is about a sensitive attribute, so the groups do not depend on secrets")
        results = []
        for secret in sorted(names):
            if self.seed is not None:
                results.append(self._attack(release, method, secret, (self.seed,), "with the seed"))
            results.append(self._attack(release, method, secret, tuple(range(self.guesses)), "without the seed"))
        return results

    def _attack(
        self, release: AttackedRelease, method: Method, names: tuple[str, ...], seeds: Sequence[int], how: str
    ) -> AttackResult:
        runs = _Runs.of(release, method, names, seeds)
        possible, targets = [], []
        people = np.random.default_rng(len(release.rows)).permutation(release.targets)
        for person in people.tolist():
            needed = runs.needed(person)
            if runs.count + needed > self.budget // (runs.whole.rows + _EACH_RUN):
                if needed < len(seeds) * 8:  # others need no fewer runs, on the whole
                    break
                continue
            targets.append(person)
            possible.append(runs.possible(person))
        if not targets:
            raise NotMeasured(f"a budget of {self.budget:,} rows is too small to try the values of one group")
        chances, certain, right, modes, blind, reproduced = [], 0, 0, [], [], 0
        for person, values in zip(targets, possible, strict=True):
            counts, truth = runs.values_of(person), int(runs.codes[runs.rows[person]])
            reproduced += bool(values)
            guesses = _most_frequent({value: counts[value] for value in values} or counts)
            chances.append((truth in guesses) / len(guesses))
            mode = _most_frequent(counts)
            modes.append((truth in mode) / len(mode))
            blind.append(1 / len(counts))
            if len(values) == 1:
                certain += 1
                right += truth in values
        return AttackResult(
            self.name,
            f"{' + '.join(names)}, {how}",
            Rate.mean(np.array(chances)),
            {
                "the most frequent value of the group": Rate.mean(np.array(modes)),
                "any value of the group": Rate.mean(np.array(blind)),
            },
            certain=certain,
            right=right,
            figures={"runs": runs.count, "people for whom a run gave the published groups": reproduced, "seeds": len(seeds)},
            notes=(*release.notes, *_notes(len(targets), len(release.rows), runs.count, len(seeds), how)),
        )


@dataclass(eq=False)
class _Runs:
    """Runs of the method on the original with two secrets exchanged; each is made once."""

    release: AttackedRelease
    method: Method
    whole: Table
    columns: tuple[str, ...]
    seeds: Sequence[int]
    codes: Integers
    """For each row of the original the number of its secret."""
    published: Integers
    """For each row of the original its group, numbered by first occurrence; rows that were suppressed are one more."""
    members: dict[int, Integers] = field(default_factory=dict)
    unchanged: bool | None = None
    """Whether the groups appear with the true secrets, once that was tried."""
    count: int = 0

    @classmethod
    def of(cls, release: AttackedRelease, method: Method, names: tuple[str, ...], seeds: Sequence[int]) -> _Runs:
        whole = release.population
        assert whole is not None
        columns = tuple(column for name in names for column in whole.schema.components(name))
        codes = whole.attribute(columns).codes
        groups = np.full(whole.rows, -1)
        groups[release.rows] = release.group_of_person
        return cls(release, method, whole, columns, seeds, codes, renumber(groups))

    @property
    def rows(self) -> Integers:
        return self.release.rows

    def group(self, person: int) -> Integers:
        """Return the rows of a person's group."""
        number = int(self.release.group_of_person[person])
        if number not in self.members:
            self.members[number] = self.rows[np.flatnonzero(self.release.group_of_person == number)]
        return self.members[number]

    def values_of(self, person: int) -> dict[int, int]:
        """Return how often each secret occurs in a person's group."""
        values, counts = np.unique(self.codes[self.group(person)], return_counts=True)
        return dict(zip(values.tolist(), counts.tolist(), strict=True))

    def needed(self, person: int) -> int:
        """Return how many runs it takes to try all values of a person's group."""
        values = len(self.values_of(person))
        return 0 if values == 1 else len(self.seeds) * (values - (self.unchanged is not None))

    def possible(self, person: int) -> list[int]:
        """Return the secrets with which a run gives the published groups; the only one of a group is possible anyway."""
        row, members = int(self.rows[person]), self.group(person)
        values = self.values_of(person)
        if len(values) == 1:
            return list(values)
        found = []
        for value in values:
            if value == self.codes[row]:
                if self.unchanged is None:
                    self.unchanged = self._reproduces(row, row)
                same = self.unchanged
            else:
                same = self._reproduces(row, int(members[np.flatnonzero(self.codes[members] == value)[0]]))
            if same:
                found.append(value)
        return found

    def _reproduces(self, one: int, other: int) -> bool:
        """Return whether the published groups appear under any of the seeds if two rows exchange their secrets."""
        rows = np.arange(self.whole.rows)
        rows[[one, other]] = other, one
        data = self.whole.data
        for name in self.columns:
            at = data.schema.get_field_index(name)
            data = data.set_column(at, data.schema.field(at), data.column(name).take(rows))
        table = replace(self.whole, data=data)
        table.share_columns(self.whole, [name for name in data.column_names if name not in self.columns])
        same = False
        for seed in self.seeds:
            self.count += 1
            same = same or np.array_equal(self._groups(table, seed), self.published)
        return same

    def _groups(self, table: Table, seed: int) -> Any:
        try:
            release = anonymize(
                table, None, self.release.principles, method=self.method, seed=seed, suppress=self.release.suppress
            )
        except SfumatoError:  # these secrets cannot be published in this way
            return None
        groups = np.full(table.rows, -1)
        groups[release.private.rows] = release.audit.groups.of_row
        return renumber(groups)


def _method(release: AttackedRelease) -> Method:
    if "name" not in release.method:
        raise NotMeasured("the method is not known")
    try:
        return method_of(release.method["name"], release.method.get("parameters", {}))
    except SfumatoError as error:
        raise NotMeasured(f"the method cannot be run again: {error.problem}") from error


def _most_frequent(counts: dict[int, int]) -> list[int]:
    return [value for value, count in counts.items() if count == max(counts.values())]


def _notes(targets: int, people: int, runs: int, seeds: int, how: str) -> list[str]:
    tried = "" if how == "with the seed" else f", each value with {seeds} seeds"
    notes = [f"{how}: the method was run {runs:,} times{tried}"]
    return notes if targets == people else [*notes, f"a random sample of {targets:,} of {people:,} people is attacked"]
