"""What can be disclosed of one record: every choice of a level for each of its values, as a number.

A value is disclosed in steps: the node of its hierarchy on the coarsest level first, then on the next finer one, up to the
value itself. An attribute without a hierarchy has one step, so that its value is disclosed or withheld.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Rule

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps in which values are disclosed: the columns of a rule that is searched.

    The steps of an attribute are consecutive, from its coarsest level to the value itself. A rule is *closed* if it
    discloses a step only with all coarser ones that the record has; only these are searched.
    """

    attribute: Integers
    """The attribute of each step."""
    units: Integers
    """The information of step s in record i, in units; those of a value sum to `unit`. Of a step that a record does not
    have, it means nothing."""
    unit: int
    """The information of a whole value."""

    @classmethod
    def single(cls, records: int, attributes: int) -> Steps:
        """One step per attribute: a value is disclosed or withheld.

        >>> Steps.single(1, 2).attribute.tolist(), Steps.single(1, 2).units.tolist()
        ([0, 1], [[1, 1]])
        """
        return cls(np.arange(attributes), np.broadcast_to(np.int64(1), (records, attributes)), 1)

    @property
    def attributes(self) -> int:
        """The number of attributes."""
        return int(self.attribute[-1]) + 1 if len(self.attribute) else 0

    def only(self, records: Integers) -> Steps:
        """Return the steps of some of the records, in this order."""
        return Steps(self.attribute, self.units[records], self.unit)

    def number_of_choices(self, present: Rule) -> int:
        """The number of choices of a record, given which steps it has.

        >>> Steps(np.array([0, 0, 1]), np.array([[1, 1, 2]]), 2).number_of_choices(np.array([True, True, True]))
        6
        """
        return prod(int(count) + 1 for count in np.bincount(self.attribute[present]))


@dataclass(frozen=True, eq=False)
class ChoiceSpace:
    """All choices of a record, in the numbers that `kernels/disclosure_choices.py` documents.

    A choice that discloses information of at least k values counts for k cells if it is minimal: if on the next coarser
    level of any value it would disclose less than that. With one step per attribute this is the number of disclosed cells.

    >>> space = ChoiceSpace.of(np.array([0, 0, 1]), np.array([1, 1, 2]), 2)  # two levels, and one that has twice as much
    >>> space.radices.tolist(), space.sizes.tolist(), [f"{mask:03b}" for mask in space.masks.tolist()]
    ([3, 2], [0, -1, 1, 1, -1, 2], ['000', '001', '011', '100', '101', '111'])
    """

    radices: Integers
    """For each attribute one more than its steps."""
    places: Integers
    """For each candidate what a step of its attribute adds to the number of a choice."""
    first: Integers
    """For each candidate the choice of it and the coarser steps of its attribute, and nothing else."""
    masks: Integers
    """For each choice the candidates that it discloses."""
    sizes: NDArray[np.int32]
    """For each choice the number of cells that it counts for; -1 if for none."""

    @classmethod
    def of(cls, attribute: Integers, units: Integers, unit: int) -> ChoiceSpace:
        """The choices of candidates of these attributes, coarsest first, with this information.

        >>> ChoiceSpace.of(np.array([0, 1]), np.array([1, 1]), 1).sizes.tolist()
        [0, 1, 1, 2]
        """
        starts = np.flatnonzero(np.diff(np.r_[-1, attribute]))
        ends = np.r_[starts, len(attribute)][1:]
        radices = ends - starts + 1
        strides = np.cumprod(np.r_[1, radices]).astype(np.int64)[:-1]
        depth = np.arange(len(attribute)) - np.repeat(starts, radices - 1) + 1
        places = np.repeat(strides, radices - 1)
        masks, amounts = np.zeros(1, np.int64), np.zeros(1, np.int64)
        finest = np.full(1, np.iinfo(np.int64).max)  # the least information of a finest disclosed step
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            shown, more, last = [masks], [amounts], [finest]
            bits, added = 0, 0
            for b in range(start, end):
                bits, added = bits | (1 << b), added + int(units[b])
                shown.append(masks | bits)
                more.append(amounts + added)
                last.append(np.minimum(finest, units[b]))
            masks, amounts, finest = np.concatenate(shown), np.concatenate(more), np.concatenate(last)
        sizes = amounts // unit
        minimal = amounts - sizes * unit < finest  # without its last step, some value would be missing from the size
        return cls(radices, places, depth * places, masks, np.where(minimal, sizes, -1).astype(np.int32))
