"""Inference over three attributes and more at a time: what several tables together reveal about an attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.projected.attacker_view import AttackerView, check_views, view_attributes
from sfumato.attacks.projected.confidence import Confidence, ConfidenceGain
from sfumato.attacks.projected.inference import (
    Inference,
    confidence_before,
    count_values,
    infer_pairs,
    mean_share,
)
from sfumato.data.attribute import Attribute
from sfumato.data.groups import combined
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact.shown_levels import level_shown
from sfumato.plurals import count_of

_MAX_SETS = 2_000
"""The most sets of attributes that are combined."""
_MAX_STEPS = 5_000_000_000
"""The largest number of multiplications for one set of attributes; larger sets are skipped and reported."""
_MAX_SHARES = 40_000_000
"""The largest number of shares (groups of a table times combinations of values) of one set; larger sets are skipped."""
_CHUNK = 4_000_000
"""The number of probabilities that are held in memory at a time."""


@dataclass(frozen=True)
class JointInference(ConfidenceGain):
    """What several attributes reveal together about another, through their joint distribution."""

    target: str
    table: int
    """The projected table of the target, from 0."""
    helpers: tuple[str, ...]
    helper_tables: tuple[int, ...]
    """The projected table of each helper, which may be that of the target."""
    people: int
    """The number of rows in all of these tables."""
    before: Confidence
    """The confidence from the target's table alone."""
    after: Confidence
    """The confidence from all of these tables."""
    truth_before: Fraction
    """The mean probability that the attacker assigns to the true value, before."""
    truth: float
    """The same after: if it does not rise with the confidence, the attacker is misled rather than informed."""
    best_pair: float | None
    """The largest mean confidence that one of the helpers in another table reaches alone; None if it was not measured."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "target": self.target,
            "table": self.table,
            "helpers": list(self.helpers),
            "helper_tables": list(self.helper_tables),
            "people": self.people,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "gain": {"mean": float(self.mean_gain), "newly_certain": self.newly_certain},
            "truth": {"before": float(self.truth_before), "after": self.truth},
            "best_pair": self.best_pair,
        }

    def __repr__(self) -> str:
        alone = "" if self.best_pair is None else f" ({self.best_pair:.4f} by one of them)"
        return (
            f"{' and '.join(self.helpers)} reveal {self.target} of table {self.table + 1}: "
            f"{float(self.before.mean):.4f} to {float(self.after.mean):.4f}{alone} on average, "
            f"at most {level_shown(self.before.largest)} to {level_shown(self.after.largest)}, "
            f"certain of {self.before.certain:,} to {self.after.certain:,} of {self.people:,}"
        )


@dataclass(frozen=True)
class SkippedSet:
    """A set of attributes that was not combined, and why."""

    attributes: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class JointInferences:
    """What an attacker reaches by combining several attributes of several tables; see `joint_inference`."""

    assumptions: ClassVar[str] = (
        "The attacker knows a person's group in every table and the joint distribution of all attributes that are combined, "
        "and assumes that, given the combined values in one table, the groups carry no more information about the others."
    )

    attributes: int
    """How many attributes are combined at a time."""
    inferences: tuple[JointInference, ...]
    """Worst first."""
    skipped: tuple[SkippedSet, ...] = ()
    """Sets of attributes with too many values to combine."""

    @property
    def worst(self) -> JointInference | None:
        """The inference that reveals most; None if there is none."""
        return self.inferences[0] if self.inferences else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: `attributes`, `inferences` (worst first) and `skipped`."""
        return {
            "attributes": self.attributes,
            "inferences": [inference.to_dict() for inference in self.inferences],
            "skipped": [{"attributes": list(each.attributes), "reason": each.reason} for each in self.skipped],
        }

    def __repr__(self) -> str:
        lines = [f"Inference over {count_of(self.attributes, 'attribute')} at a time"]
        lines += [f"  {inference!r}" for inference in self.inferences[:5]] or ["  there is nothing to combine"]
        lines += [f"  skipped {' and '.join(each.attributes)}: {each.reason}" for each in self.skipped[:3]]
        return "\n".join(lines)


def joint_inference(table: Table, views: Sequence[AttackerView], attributes: int = 3) -> JointInferences:
    """Measure what sets of attributes of at least two projected tables reveal about each of their attributes.

    A generalization of the `inferences` of `intersection`, which combines two attributes. Assumptions: the attacker knows
    the joint distribution J of the attributes of the set over the whole original. Let x be the values of the set in one of
    the tables involved. Then a combination of values is as likely as the product over these tables of share(x)/J(x), times
    J of the combination; the shares are those of the person's groups. `truth` reports the probability that the attacker
    assigns to the true value, as this may mislead. Attributes of the target's own table are helpers too.

    Cost: for each set, the combinations of groups that contain people, times the combinations of values that occur. Sets
    that are too expensive are listed in `skipped`.

    Neither the day nor the dose reveals the drug, and both together do:

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"drug": list("abba") * 2, "day": list("ssuu") * 2, "dose": list("1212") * 2}
    >>> table = Table(pa.table(people), Schema(sensitive=["drug", "day", "dose"]))
    >>> halves, pairs = np.array([0] * 4 + [1] * 4), np.array([0, 0, 1, 1] * 2)
    >>> turns = np.array([0, 1] * 4)
    >>> views = [AttackerView(("drug",), halves), AttackerView(("day",), pairs), AttackerView(("dose",), turns)]
    >>> joint_inference(table, views).worst
    day and dose reveal drug of table 1: 0.5000 to 1.0000 (0.5000 by one of them) on average, at most 0.5 to 1, certain of \
0 to 8 of 8
    """
    tables = check_views(table, views)
    if isinstance(attributes, bool) or not isinstance(attributes, int) or attributes < 2:
        raise ParameterError(
            f"attributes = {attributes!r} is not a whole number from 2",
            remedy="Write how many attributes are combined at a time, such as 3.",
            key="attributes",
            value=attributes,
        )
    by_name = view_attributes(table, tables)
    table_of = {name: number for number, view in enumerate(tables) for name in view.attributes}
    _check_count(len(table_of), attributes)
    pairs = {
        (one.target, one.helper): float(one.after.mean) for one in infer_pairs(table, tables) if isinstance(one, Inference)
    }
    found: list[JointInference] = []
    skipped: list[SkippedSet] = []
    for names in combinations(table_of, attributes):
        if len({table_of[name] for name in names}) < 2:
            continue
        chosen = _AttributeSet(tables, names, table_of, by_name)
        if not len(chosen.rows):
            continue
        reason = chosen.too_large
        if reason is not None:
            skipped.append(SkippedSet(names, reason))
        else:
            found += chosen.inferences(pairs)
    found.sort(key=lambda one: (-one.newly_certain, -one.mean_gain, one.table, one.target, one.helpers))
    return JointInferences(attributes, tuple(found), tuple(skipped))


def _check_count(names: int, attributes: int) -> None:
    """Raise an error if there are too many sets of attributes."""
    sets = comb(names, attributes)
    if sets > _MAX_SETS:
        raise ParameterError(
            f"{names} attributes have {sets:,} sets of {attributes}, more than {_MAX_SETS:,}",
            remedy="Combine fewer attributes at a time, or pass views with fewer of them.",
            key="attributes",
            value=attributes,
        )


class _AttributeSet:
    """Attributes of at least two projected tables, and the people in all of these tables by their groups."""

    def __init__(
        self,
        views: Sequence[AttackerView],
        names: tuple[str, ...],
        table_of: dict[str, int],
        by_name: dict[str, Attribute],
    ) -> None:
        self.names, self.table_of, self.by_name = names, table_of, by_name
        self.tables = sorted({table_of[name] for name in names})
        self.views = [views[number] for number in self.tables]
        self.rows = np.flatnonzero(np.logical_and.reduce([view.of_row >= 0 for view in self.views]))
        """The rows in all of the tables; "person" below means a position in this array."""
        self.groups = []
        """For each table, the group of each person."""
        for view in self.views:
            group_of_row = np.zeros(len(view.of_row), np.int64)
            group_of_row[view.rows] = view.groups
            self.groups.append(group_of_row[self.rows])
        # parts[t][row]: the number of the combination of values that a row of the original has in table t
        self.parts, self.sizes = [], []
        for number in self.tables:
            inside = [by_name[name] for name in names if table_of[name] == number]
            part, distinct = combined([each.codes for each in inside], [len(each) for each in inside])
            self.parts.append(part)
            self.sizes.append(len(distinct))
        # each combination over all tables that occurs, as its part in each table, and how often it occurs
        number_of, self.combinations = combined(self.parts, self.sizes)
        self.counts = np.bincount(number_of)
        self.first = np.full(len(self.counts), -1)
        self.first[number_of] = np.arange(len(number_of))  # a row with the combination: it has its values
        self.place_of, self.places = combined(self.groups, [len(view.sizes) for view in self.views])
        self.people = np.bincount(self.place_of)

    @property
    def too_large(self) -> str | None:
        """Why the attributes are not combined, if they have too many values."""
        shares = max(len(view.sizes) * size for view, size in zip(self.views, self.sizes, strict=True))
        if len(self.places) * len(self.counts) <= _MAX_STEPS and shares <= _MAX_SHARES:
            return None
        return (
            f"{len(self.counts):,} combinations of values in {len(self.places):,} combinations of groups exceed the limit; "
            "bin the values, and run the attack again"
        )

    def inferences(self, pairs: dict[tuple[str, str], float]) -> Iterator[JointInference]:
        """Yield for each attribute of the set what the others reveal about it; `pairs`: what one helper reaches alone."""
        largest, certain, truth = self._posteriors()
        for which, target in enumerate(self.names):
            attribute, at = self.by_name[target], self.tables.index(self.table_of[target])
            view, groups = self.views[at], self.groups[at]
            counts = count_values(view.groups, attribute.codes[view.rows], len(view.sizes), len(attribute))
            people = np.bincount(groups, minlength=len(view.sizes))
            helpers = tuple(name for name in self.names if name != target)
            alone = [pairs[target, name] for name in helpers if (target, name) in pairs]
            # A single possible value has probability 1; the float of the division may be slightly less.
            confidence = np.where(certain[which], 1.0, largest[which])
            yield JointInference(
                target=target,
                table=self.table_of[target],
                helpers=helpers,
                helper_tables=tuple(self.table_of[name] for name in helpers),
                people=len(self.rows),
                before=confidence_before(counts.max(axis=1), view.sizes, people),
                after=Confidence(
                    float(confidence.max()),
                    float(confidence @ self.people) / len(self.rows),
                    int(self.people[certain[which]].sum()),
                ),
                truth_before=mean_share(counts[groups, attribute.codes[self.rows]], view.sizes[groups]),
                truth=float(truth[which].mean()),
                best_pair=max(alone, default=None),
            )

    def _posteriors(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """Return the attacker's posterior of each attribute along the first axis.

        The largest probability and whether only one value is possible, for each combination of groups; and the probability
        of the true value, for each person.
        """
        shares, weight = [], self.counts.astype(float)
        for view, part, size in zip(self.views, self.parts, self.sizes, strict=True):
            counts = count_values(view.groups, part[view.rows], len(view.sizes), size)
            # share(x) / J(x), but for a constant that is the same for all combinations
            shares.append(counts / view.sizes[:, None] / np.bincount(part, minlength=size))
        codes = [self.by_name[name].codes[self.first] for name in self.names]
        orders = [np.argsort(each, kind="stable") for each in codes]
        starts = [np.flatnonzero(np.diff(each[order], prepend=-1)) for each, order in zip(codes, orders, strict=True)]
        values = [each[order][start] for each, order, start in zip(codes, orders, starts, strict=True)]
        largest = np.zeros((len(self.names), len(self.places)))
        certain, truth = np.zeros(largest.shape, bool), np.zeros((len(self.names), len(self.rows)))
        by_place = np.argsort(self.place_of, kind="stable")
        ends = np.concatenate([[0], np.cumsum(self.people)])  # people of place p: by_place[ends[p]:ends[p + 1]]
        step = max(1, _CHUNK // len(self.counts))
        for begin in range(0, len(self.places), step):
            places = self.places[begin : begin + step]
            mass = np.broadcast_to(weight, (len(places), len(weight))).copy()
            for t, share in enumerate(shares):
                mass *= share[places[:, t]][:, self.combinations[:, t]]
            total = mass.sum(axis=1)  # positive, because the true combination has a positive mass
            chunk = slice(begin, begin + len(places))
            persons = by_place[ends[begin] : ends[begin + len(places)]]
            for which, name in enumerate(self.names):
                each = np.add.reduceat(mass[:, orders[which]], starts[which], axis=1)
                posterior = each / total[:, None]
                largest[which, chunk] = posterior.max(axis=1)
                certain[which, chunk] = (each > 0).sum(axis=1) == 1
                true = np.searchsorted(values[which], self.by_name[name].codes[self.rows[persons]])
                truth[which, persons] = posterior[self.place_of[persons] - begin, true]
        return largest, certain, truth
