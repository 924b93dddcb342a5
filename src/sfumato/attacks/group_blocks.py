"""The people of groups in blocks, among which the values of the group are dealt out by a classifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.attacks.attacked_release import AttackedRelease, Integers, Secret
from sfumato.attacks.naive_bayes import Features, Floats
from sfumato.data.groups import Histogram

_BLOCK = 1 << 14
"""A group with more pairs of a person and a value is divided at random into blocks, each with its share of the values."""

_AT_ONCE = 1 << 22
"""The number of beliefs that are in memory at a time."""

_STEPS = 20
"""The most rounds of scaling."""

_TOLERANCE = 1e-6
"""How far the sum of the beliefs in a value may be from the number of people who have it."""


@dataclass(frozen=True, eq=False)
class GroupBlocks:
    """People in blocks: a block is a group, or a random part of a group that is very large."""

    histogram: Histogram
    features: Features
    person: Integers
    """The people, block by block."""
    offsets: Integers
    """The people of block b are `person[offsets[b]:offsets[b + 1]]`."""
    group: Integers
    """For each block its group."""

    @classmethod
    def of(cls, release: AttackedRelease, secret: Secret, features: Features, targets: Integers) -> GroupBlocks:
        """Return all people in blocks; `targets`: a random sample of them, who are guessed."""
        count = len(release.rows)
        # those who are guessed come first in each group, so that they are in as few blocks as possible
        draw = np.random.default_rng(count)
        shuffled = np.concatenate([draw.permutation(targets), draw.permutation(np.setdiff1d(np.arange(count), targets))])
        person = shuffled[np.argsort(release.group_of_person[shuffled], kind="stable")]
        sizes = np.bincount(release.group_of_person, minlength=release.groups.count)
        most = np.maximum(1, _BLOCK // secret.histogram.distinct)
        parts = -(-sizes // most)
        group = np.repeat(np.arange(len(sizes)), parts)
        # the parts of a group differ by at most one person in size
        number = np.arange(len(group)) - np.repeat(np.cumsum(parts) - parts, parts)
        size = (number + 1) * sizes[group] // parts[group] - number * sizes[group] // parts[group]
        return cls(secret.histogram, features, person, np.concatenate([[0], np.cumsum(size)]), group)

    @property
    def people(self) -> int:
        """The number of people in the blocks."""
        return len(self.person)

    @property
    def all_people(self) -> int:
        """The number of people who have features."""
        return len(self.features.cells)

    @cached_property
    def beliefs(self) -> Integers:
        """For each block the number of pairs of a person and a value."""
        return np.diff(self.offsets) * self.histogram.distinct[self.group]

    def take(self, blocks: Integers) -> GroupBlocks:
        """Return some of the blocks, in their order."""
        size = np.diff(self.offsets)[blocks]
        offsets = np.concatenate([[0], np.cumsum(size)])
        at = np.arange(int(offsets[-1])) + np.repeat(self.offsets[blocks] - offsets[:-1], size)
        return replace(self, person=self.person[at], offsets=offsets, group=self.group[blocks])

    def some(self, most: int) -> GroupBlocks:
        """Return all blocks, or so many random ones that there are at most some number of beliefs, but one at least."""
        if int(self.beliefs.sum()) <= most:
            return self
        order = np.random.default_rng(0).permutation(len(self.group))
        fits = np.cumsum(self.beliefs[order]) <= most
        return self.take(np.sort(order[: max(1, int(fits.sum()))]))

    def _batches(self) -> list[GroupBlocks]:
        if int(self.beliefs.sum()) <= _AT_ONCE:
            return [self]
        number = np.cumsum(self.beliefs) // _AT_ONCE
        return [self.take(np.flatnonzero(number == one)) for one in np.unique(number)]

    def _dealt(self, tables: Floats, model: Integers) -> tuple[Any, Floats]:
        """Return the blocks as kernels know them, and the beliefs."""
        from sfumato.kernels.group_beliefs import Blocks, deal_values

        h = self.histogram
        places = np.concatenate([[0], np.cumsum(self.beliefs)])
        cells = self.features.cells[self.person]
        blocks = Blocks(self.offsets, cells, model[self.person], self.group, h.offsets, h.values, h.counts, places)
        out = np.empty(int(places[-1]))
        deal_values(blocks, tables, _STEPS, _TOLERANCE, out)
        return blocks, out

    def count(self, tables: Floats, model: Integers, counts: Floats) -> None:
        """Add the beliefs about everybody to the counts of the features; `model`: for each person its table."""
        from sfumato.kernels.group_beliefs import count_beliefs

        for batch in self._batches():
            blocks, beliefs = batch._dealt(tables, model)
            count_beliefs(blocks, beliefs, counts)

    def guesses(self, tables: Floats, model: Integers, people: Integers) -> tuple[Integers, Floats]:
        """Return for each of some people the most probable value, the first of several, and the belief in it."""
        guess, belief = np.full(self.all_people, -1), np.zeros(self.all_people)
        wanted = np.zeros(self.all_people, bool)
        wanted[people] = True
        blocks = np.flatnonzero(np.add.reduceat(wanted[self.person].astype(np.int64), self.offsets[:-1]) > 0)
        h = self.histogram
        for batch in self.take(blocks)._batches():
            _, beliefs = batch._dealt(tables, model)
            width = np.repeat(h.distinct[batch.group], np.diff(batch.offsets))
            starts = np.cumsum(width) - width
            most = np.maximum.reduceat(beliefs, starts)
            at = np.flatnonzero(beliefs >= np.repeat(most, width) - 1e-9)
            whose = np.repeat(np.arange(len(width)), width)[at]
            first = np.unique(whose, return_index=True)[1]
            entry = np.repeat(h.offsets[batch.group], np.diff(batch.offsets)) + at[first] - starts
            guess[batch.person], belief[batch.person] = h.values[entry], most
        return guess[people], belief[people]
