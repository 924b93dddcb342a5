"""What each record loses at least, for every number of its cells that might be disclosed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.branch_and_bound import Search
from sfumato.disclosure.rules.choices import Choices, spread
from sfumato.kernels.disclosure_choices import least_by_size
from sfumato.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class Options:
    """For each distinct record and number of cells: the least loss, and the choice that has it."""

    least: NDArray[np.float64]
    """By distinct record and number of cells; infinite where a record has no so many values."""
    choices: NDArray[np.int64]
    """As masks over all attributes; -1 where there is none."""
    bounds: NDArray[np.float64]
    """No choice loses less than this; below `least` only where a search was broken off."""


def options_of(choices: Choices, progress: Progress = silent, cells: int | None = None) -> Options:
    """Find each distinct record's least losses; the dictionaries' shares are known. With `cells`, only those of so many."""
    shape = len(choices.distinct), choices.attributes + 1
    least, found = np.full(shape, np.inf), np.full(shape, -1, np.int64)
    bounds = least.copy()
    for at, record in enumerate(choices.distinct.tolist()):
        if at % 256 == 0:
            progress("weighing choices", at / len(choices.distinct))
        count = int(choices.counts[at])
        size = slice(0, count + 1)
        if choices.tabled(record):
            least_by_size(choices.losses(record)[0], least[at, size], found[at, size])
            bounds[at, size] = least[at, size]
        else:
            search = Search(choices, record)
            for number in range(count + 1) if cells is None else [min(cells, count)]:
                best = search.unbeaten(number)
                least[at, number], found[at, number] = best.losses[0, 0], best.choices[0]
                bounds[at, number] = best.bound[0]
        found[at, size] = spread(found[at, size], choices.candidates(record))
    return Options(least, found, bounds)
