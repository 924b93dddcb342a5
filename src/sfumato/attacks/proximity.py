"""The proximity attack: bet on the narrow range that contains the secrets of most people in the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, Integers, Secret
from sfumato.attacks.attacked_rows import AttackedRows
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.rates import Rate
from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups, Histogram
from sfumato.distances import Absolute, Discrete
from sfumato.distances.default_distance import distance_of
from sfumato.distances.neighbour_graph import NeighbourGraph, NeighbourWindows, graph_of
from sfumato.errors import ConfigError
from sfumato.exact import Number, Numbers, written
from sfumato.principles import Dissimilarity
from sfumato.principles.scope import attributes_of

_SHARE = Fraction(1, 20)
"""The half-width of the range, as a share of the range of all numbers, where nothing else is declared."""

_CENTRES = 1000
"""If a distance is costly, the range for the whole table is the best around one of this many frequent values."""


@dataclass(frozen=True)
class Proximity(Attack):
    """Guess that the secret lies in the interval of width 2ε that contains the secrets of most people in the group.

    The attacker knows the group of the person, because they know the person's quasi-identifiers.

    Compare with the interval of the same width that contains the secrets of most people in the whole table.

    The centre of the interval is any number, not only one that occurs: [490, 510] contains 490 and 510, which are not near
    one another at ε = 10. This is what a condition on neighbours of values that occur does not bound. Under distances other
    than that of numbers and dates, the centre is a value that occurs in the group. A missing value is near missing ones
    only. "Certain" are the people in whose group all secrets are in the interval. The requirement of dissimilarity with the
    shape "ball" bounds it.

    - `epsilon`: half the width, in the units of the attribute's distance; by default that of each requirement of
      dissimilarity of the release, or else 5 % of the range of the numbers.

    Source: Li, Tao & Xiao (2008), who describe the attack; the centre is free as in Wang & Liu (2010).

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 32, 50, 51, 52], "pay": [10, 12, 90, 30, 60, 95]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["pay"]), sf.KAnonymity(3), method="mondrian", seed=0)
    >>> sf.attack(release, attacks=[Proximity(epsilon=1)])[0]
    proximity on pay: 50.0 % (18.8 % to 81.2 %) of 6
      the best interval of the whole table: 33.3 % (9.7 % to 70.0 %) of 6
    """

    epsilon: Number | None = None

    name: ClassVar[str] = "proximity"
    needs_cells: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = True
    needs_original: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            self.set_fraction("epsilon", least=0)

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute that has a distance, once for each ε."""
        results, obstacles = [], []
        for name in release.secrets:
            try:
                results += self._attack(release, release.secret(name))
            except NotMeasured as found:
                obstacles.append(f"{name}: {found}")
        if not results:
            raise NotMeasured("; ".join(obstacles))
        notes = tuple(f"not attacked: {obstacle}" for obstacle in obstacles)
        return [_with_notes(result, notes) for result in results]

    def is_fast(self, release: AttackedRelease) -> bool:
        """Return whether all secrets with ranges are numbers; other distances may take every pair of values."""
        for name in release.secrets:
            try:
                distance = distance_of(release.published.schema, release.secret(name).attribute)
            except ConfigError:  # no distance is declared, so there are no ranges
                continue
            if not isinstance(distance, Absolute | Discrete):
                return False
        return True

    def _attack(self, release: AttackedRelease, secret: Secret) -> list[AttackResult]:
        schema, attribute = release.published.schema, secret.attribute
        try:
            distance = distance_of(schema, attribute)
        except ConfigError as error:  # several columns without a declared distance
            raise NotMeasured(error.problem) from error
        if distance == Discrete():
            raise NotMeasured("two values are equal or not, so there are no ranges")
        numbers = attribute.columns[0].numbers if isinstance(distance, Absolute) else None
        results = []
        for epsilon in self._epsilons(release, secret, numbers):
            ranges: _Intervals | _Stars
            if numbers is None:
                ranges = _Stars(secret, graph_of(attribute, distance, epsilon))
            else:
                ranges = _Intervals(attribute, epsilon)
            results.append(self._counted(release, secret, ranges, epsilon))
        return results

    def _epsilons(self, release: AttackedRelease, secret: Secret, numbers: Numbers | None) -> list[Fraction]:
        if self.epsilon is not None:
            assert isinstance(self.epsilon, Fraction)
            return [self.epsilon]
        found = set()
        for principle in release.principles:
            near = principle if isinstance(principle, Dissimilarity) else principle.as_dissimilarity()
            if near is not None and (secret.name,) in attributes_of(principle, release.published.schema):
                found.add(Fraction(near.epsilon))
        if found:
            return sorted(found)
        if numbers is None:
            raise NotMeasured("no requirement states which secrets are near; pass Proximity(epsilon=…)")
        return [_SHARE * (numbers[len(numbers) - 1] - numbers[0]) if len(numbers) else Fraction(0)]

    def _counted(
        self, release: AttackedRelease, secret: Secret, ranges: _Intervals | _Stars, epsilon: Fraction
    ) -> AttackResult:
        people = AttackedRows.of(release, secret)
        centre, most = ranges.best(secret.histogram)
        whole = Groups(np.zeros(len(release.groups.of_row), np.int64), 1, len(release.groups.of_row))
        everywhere, _ = ranges.best(Histogram.of(whole, secret.attribute))
        right = ranges.contain(centre[people.group], people.truth)
        by_table = ranges.contain(np.repeat(everywhere, len(right)), people.truth)
        alone = (most == secret.histogram.sizes)[people.group]
        return AttackResult(
            self.name,
            secret.name,
            Rate.of(int(right.sum()), len(right)),
            {"the best interval of the whole table": Rate.of(int(by_table.sum()), len(right))},
            certain=int(alone.sum()),
            right=int((alone & right).sum()),
            figures={
                "epsilon": written(epsilon),
                "largest share of a group": float((most / secret.histogram.sizes).max()),
                "groups within one interval": int((most == secret.histogram.sizes).sum()),
                "groups": release.groups.count,
            },
            notes=(*people.notes, *ranges.notes),
        )


def _with_notes(result: AttackResult, notes: tuple[str, ...]) -> AttackResult:
    from dataclasses import replace

    return replace(result, notes=(*result.notes, *notes))


def _fullest(h: Histogram, held: Integers) -> tuple[Integers, Integers]:
    """Return for each group the value whose range contains most rows, the first of several, and their number."""
    most = np.maximum.reduceat(held, h.starts)
    first = np.flatnonzero(held == most[h.group])
    return h.values[first[np.unique(h.group[first], return_index=True)[1]]], most


class _Intervals:
    """Intervals of numbers: from a value that occurs, the lowest in it, to 2ε above it; that of missing values is apart."""

    notes: tuple[str, ...] = ()

    def __init__(self, attribute: Attribute, epsilon: Fraction) -> None:
        windows = graph_of(attribute, Absolute(), 2 * epsilon).windows
        assert windows is not None
        self.upward = NeighbourWindows.upward(windows, 2 * epsilon)
        # value v is the lowest of an interval that contains the values from v to end[v] - 1
        self.end = windows.high

    def best(self, h: Histogram) -> tuple[Integers, Integers]:
        """Return for each group the interval that contains most of its rows, the lowest of several, and their number."""
        return _fullest(h, self.upward.counts(h.offsets, h.values, h.counts))

    def contain(self, lowest: Integers, values: Integers) -> NDArray[np.bool_]:
        """Return for each pair of an interval and a value whether the one contains the other."""
        return np.asarray((lowest <= values) & (values < self.end[lowest]))


class _Stars:
    """Balls around values that occur, under any distance."""

    def __init__(self, secret: Secret, graph: NeighbourGraph) -> None:
        self.graph = graph
        self.counts = secret.attribute.counts
        self.notes: tuple[str, ...] = (
            "under this distance, a range is what is within ε of a value that occurs in the group",
        )

    def best(self, h: Histogram) -> tuple[Integers, Integers]:
        """Return for each group the value with most rows near it, the first of several, and their number."""
        if len(h.distinct) == 1 and self.graph.bound.costly and len(h.values) > _CENTRES:
            return self._best_of_frequent(h)
        return _fullest(h, self.graph.counts(h.offsets, h.values, h.counts))

    def _best_of_frequent(self, h: Histogram) -> tuple[Integers, Integers]:
        self.notes = (*self.notes, f"the best range of the whole table is that around one of {_CENTRES:,} frequent values")
        centres = np.sort(np.argsort(-h.counts, kind="stable")[:_CENTRES])
        held = np.array([h.counts @ self.graph.near(h.values[[one]], h.values)[0] for one in centres])
        best = int(np.argmax(held))
        return h.values[centres[[best]]], held[[best]]

    def contain(self, centre: Integers, values: Integers) -> NDArray[np.bool_]:
        """Return for each pair of a centre and a value whether they are near; an unpublished value is near nothing."""
        out = np.zeros(len(values), bool)
        order = np.argsort(centre, kind="stable")
        order = order[values[order] >= 0]
        for part in np.split(order, np.flatnonzero(np.diff(centre[order])) + 1):
            if len(part):
                distinct, which = np.unique(values[part], return_inverse=True)
                out[part] = self.graph.near(centre[part[:1]], distinct)[0][which]
        return out
