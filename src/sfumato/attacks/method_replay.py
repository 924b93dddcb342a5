"""The replay attack: run the method again with each guess at a secret, and see which one gives the published groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization import anonymize
from sfumato.anonymization.methods import Method, method_of
from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.constrained_secrets import refuse_split_people
from sfumato.attacks.rates import Rate
from sfumato.data.groups import renumber
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.parameters import check_seed
from sfumato.principles import attributes_of

Integers = NDArray[np.int64]
Secrets = tuple[int, ...]

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

    Where people have several rows, all secrets of the target are guessed at once. The target exchanges them with a person of
    the group who has as many rows, because the published rows would differ otherwise. Values of the group are then those of
    such people. People whose number of rows nobody else in the group has are not attacked.

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
    needs_cells: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.seed is not None:
            object.__setattr__(self, "seed", check_seed(self.seed))
        self.check_whole("guesses")
        self.check_whole("budget")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute that a requirement is about, with the seed if it is known, and without."""
        if release.population is None:
            raise NotMeasured("the order of the rows in the original is not known")
        refuse_split_people(release)
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
        possible, targets, alone = [], [], 0
        people = np.random.default_rng(len(release.rows)).permutation(release.one_row_each)
        for person in release.unit_of_person[people].tolist():
            if release.several_rows is not None and len(runs.alike(person)) == 1:
                alone += 1
                continue
            needed = runs.needed(person)
            if runs.count + needed > self.budget // (runs.whole.rows + _EACH_RUN):
                if needed < len(seeds) * 8:  # others need no fewer runs, on the whole
                    break
                continue
            targets.append(person)
            possible.append(runs.possible(person))
        if alone and alone == len(people):
            raise NotMeasured("nobody has as many rows as somebody else in the group, to exchange secrets with")
        if not targets:
            raise NotMeasured(f"a budget of {self.budget:,} rows is too small to try the values of one group")
        chances, certain, right, modes, blind, reproduced = [], 0, 0, [], [], 0
        for person, values in zip(targets, possible, strict=True):
            counts, truth = runs.values_of(person), runs.secrets_of(person)
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
            notes=(*_unit_notes(release), *_notes(len(targets), len(people), runs.count, len(seeds), how)),
        )


@dataclass(eq=False)
class _Runs:
    """Runs of the method on the original with the secrets of two people exchanged; each is made once.

    People are numbered as in the release's `unit_of_row`. The secrets of a person are those of all rows, in their order.
    """

    release: AttackedRelease
    method: Method
    whole: Table
    columns: tuple[str, ...]
    seeds: Sequence[int]
    codes: Integers
    """For each row of the original the number of its secret."""
    published: Integers
    """For each row of the original its group, numbered by first occurrence; rows that were suppressed are one more."""
    order: Integers
    """The rows of the original, person by person."""
    starts: Integers
    """The rows of person p are `order[starts[p]:starts[p + 1]]`."""
    group: Integers
    """The group of each person; −1 for those who are not published."""
    crowds: dict[tuple[int, int], list[int]]
    """The published people of each group who have the same number of rows."""
    counts: dict[tuple[int, int], dict[Secrets, int]] = field(default_factory=dict)
    """How many of these people have the same secrets, once that was counted."""
    unchanged: bool | None = None
    """Whether the groups appear with the true secrets, once that was tried."""
    count: int = 0

    @classmethod
    def of(cls, release: AttackedRelease, method: Method, names: tuple[str, ...], seeds: Sequence[int]) -> _Runs:
        whole = release.population
        assert whole is not None
        columns = tuple(column for name in names for column in whole.schema.components(name))
        codes = whole.attribute(columns).codes
        published = np.full(whole.rows, -1)
        published[release.rows] = release.group_of_person
        order = np.argsort(release.unit_of_row, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(release.unit_of_row))])
        group = published[order[starts[:-1]]]
        people = np.unique(release.unit_of_person)
        crowds: dict[tuple[int, int], list[int]] = {}
        for person, own, size in zip(people.tolist(), group[people].tolist(), np.diff(starts)[people].tolist(), strict=True):
            crowds.setdefault((own, size), []).append(person)
        return cls(release, method, whole, columns, seeds, codes, renumber(published), order, starts, group, crowds)

    def crowd(self, person: int) -> tuple[int, int]:
        """Return the key of a person in `crowds`."""
        return int(self.group[person]), int(self.starts[person + 1] - self.starts[person])

    def alike(self, person: int) -> list[int]:
        """Return the people of a person's group who have as many rows, among them the person."""
        return self.crowds[self.crowd(person)]

    def rows_of(self, person: int) -> Integers:
        """Return the rows of a person."""
        return self.order[self.starts[person] : self.starts[person + 1]]

    def secrets_of(self, person: int) -> Secrets:
        """Return the secrets of a person."""
        return tuple(self.codes[self.rows_of(person)].tolist())

    def values_of(self, person: int) -> dict[Secrets, int]:
        """Return how often each list of secrets occurs among the people with whom a person may exchange them."""
        crowd = self.crowd(person)
        if crowd not in self.counts:
            self.counts[crowd] = Counter(self.secrets_of(one) for one in self.crowds[crowd])
        return self.counts[crowd]

    def needed(self, person: int) -> int:
        """Return how many runs it takes to try all values of a person's group."""
        values = len(self.values_of(person))
        return 0 if values == 1 else len(self.seeds) * (values - (self.unchanged is not None))

    def possible(self, person: int) -> list[Secrets]:
        """Return the secrets with which a run gives the published groups; the only ones of a group are possible anyway."""
        values, own = self.values_of(person), self.secrets_of(person)
        if len(values) == 1:
            return list(values)
        found = []
        for value in values:
            if value == own:
                if self.unchanged is None:
                    self.unchanged = self._reproduces(person, person)
                same = self.unchanged
            else:
                same = self._reproduces(person, next(one for one in self.alike(person) if self.secrets_of(one) == value))
            if same:
                found.append(value)
        return found

    def _reproduces(self, one: int, other: int) -> bool:
        """Return whether the published groups appear under any of the seeds if two people exchange their secrets."""
        rows = np.arange(self.whole.rows)
        rows[self.rows_of(one)], rows[self.rows_of(other)] = self.rows_of(other), self.rows_of(one)
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


def _unit_notes(release: AttackedRelease) -> tuple[str, ...]:
    if release.several_rows is None:
        return release.notes
    what = f"{release.several_rows} have several rows, and all secrets of one are guessed at once"
    return (*(note for note in release.notes if "several rows" not in note), what)


def _most_frequent(counts: dict[Secrets, int]) -> list[Secrets]:
    return [value for value, count in counts.items() if count == max(counts.values())]


def _notes(targets: int, people: int, runs: int, seeds: int, how: str) -> list[str]:
    tried = "" if how == "with the seed" else f", each value with {seeds} seeds"
    notes = [f"{how}: the method was run {runs:,} times{tried}"]
    return notes if targets == people else [*notes, f"a random sample of {targets:,} of {people:,} people is attacked"]
