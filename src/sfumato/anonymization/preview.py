"""Preview a release on a sample: quick, and named as what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import check
from sfumato.anonymization.attempt import loss_with, sample_of
from sfumato.anonymization.methods import Method, default_method, method_of
from sfumato.anonymization.utility import percent
from sfumato.data.schema import Schema
from sfumato.errors import ParameterError
from sfumato.principles import PrincipleRequest, requested_principles
from sfumato.progress import Progress, silent

_PARTS = (4, 2, 1)
"""The samples whose losses are extrapolated: a quarter, a half, and the whole sample."""


@dataclass(frozen=True, repr=False)
class Preview:
    """What a method would achieve, judged from a sample. Made by `preview`.

    >>> Preview(300_000, 4_000, ((1_000, 0.06), (2_000, 0.04), (4_000, 0.03)))
    about 0.346 % on all 300,000 rows, extrapolated; 3 % on a sample of 4,000 rows
    >>> Preview(300_000, 4_000, ((1_000, 0.06), (2_000, None), (4_000, None)))
    the requirements were not reached on a sample of 4,000 rows; on all 300,000 they may be
    """

    rows: int
    """The number of rows of the table; of people, if the schema declares them."""
    sampled: int
    """How many of them were used."""
    points: tuple[tuple[int, float | None], ...]
    """For each sample its size and the loss that was reached; None if the requirements were not reached."""

    @property
    def loss(self) -> float | None:
        """The loss on the sample; None if the requirements were not reached. Larger tables lose less."""
        return self.points[-1][1]

    @property
    def is_sample(self) -> bool:
        """Whether fewer rows were used than there are."""
        return self.sampled < self.rows

    @property
    def expected(self) -> float | None:
        """The loss that is expected on the whole table; None if the requirements were not reached on the sample.

        The loss of samples falls about as a power of their size. The power is fitted to the samples, and kept from 0 to 1.
        """
        known = [(rows, loss) for rows, loss in self.points if loss]
        if self.loss is None or not self.is_sample or len(known) < 2:
            return self.loss
        sizes, losses = np.log(np.array(known)).T
        power = min(max(-float(np.polyfit(sizes, losses, 1)[0]), 0.0), 1.0)
        return float(self.loss * (self.sampled / self.rows) ** power)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {**vars(self), "loss": self.loss, "expected": self.expected, "is_sample": self.is_sample}

    def __repr__(self) -> str:
        if self.loss is None:
            where = f"on a sample of {self.sampled:,} rows; on all {self.rows:,} they may be" if self.is_sample else ""
            return f"the requirements were not reached {where}".rstrip()
        if not self.is_sample or self.expected is None:
            return f"{percent(self.loss)} on all {self.rows:,} rows"
        about = f"about {100 * self.expected:.3g} % on all {self.rows:,} rows, extrapolated"
        return f"{about}; {percent(self.loss)} on a sample of {self.sampled:,} rows"


def preview(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    method: Method | str | None = None,
    sample: int = 4000,
    seed: int = 0,
    progress: Progress = silent,
) -> Preview:
    """Estimate the loss of a release from a sample of the rows, without publishing anything.

    `sample`: the number of rows to use, or of people if the schema declares them. A sample has fewer similar rows, so its
    loss is higher than that of the whole table: it is measured on a quarter, a half and the whole of the sample and
    extrapolated, and the result states both. On a table of at most `sample` rows it is the loss itself, up to the seed.

    >>> import sfumato as sf
    >>> people = sf.synthetic_census(2000)
    >>> few = people.select(["age", "sex", "income"])
    >>> found = preview(few, sf.Schema(["age", "sex"], ["income"]), sf.KAnonymity(5), sample=500)
    >>> found.is_sample, found.expected < found.loss
    (True, True)
    """
    requested = requested_principles(principles)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise ParameterError(
            f"invalid sample {sample!r}", remedy="Write how many rows to use, at least 1.", key="sample", value=sample
        )
    table = table_of(data, schema)
    check(table, requested)
    chosen = default_method(requested) if method in (None, "auto") else method
    if isinstance(chosen, str):
        chosen = method_of(chosen, {})
    assert isinstance(chosen, Method)
    everyone = table.rows if table.units is None else table.units.count
    most = min(sample, everyone)
    points = []
    for number, part in enumerate(_PARTS if most < everyone else (1,)):
        size = max(most // part, 1)
        progress("trying a sample", number / len(_PARTS))
        few = size < max((principle.implied_k or 1 for principle in requested), default=1)
        points.append((size, None if few else loss_with(sample_of(table, size, seed), chosen, requested, seed)))
    return Preview(everyone, most, tuple(points))
