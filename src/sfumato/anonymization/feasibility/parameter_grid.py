"""A grid of ε, δ and k around a requirement, or as requested."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction
from sfumato.principles import Dissimilarity, exactly

_STEP = Fraction(1, 10)


def grid_around(
    requirement: Dissimilarity | None,
    epsilons: Sequence[Number] | None = None,
    deltas: Sequence[Number] | None = None,
    ks: Sequence[Any] | None = None,
) -> tuple[list[Fraction], list[Fraction], list[int]]:
    """Return the values of ε, δ and k of a grid: the requested ones, and values around a requirement where none are.

    Around it are ε/2, ε, 3ε/2 and 2ε; δ and a tenth less and more; k/2, k and 2k. Each list ascends without repetition.

    >>> from sfumato.exact import written
    >>> epsilons, deltas, ks = grid_around(Dissimilarity(epsilon="0.1", delta="0.8", k=10))
    >>> [written(e) for e in epsilons], [written(d) for d in deltas], ks
    (['0.05', '0.1', '0.15', '0.2'], ['0.7', '0.8', '0.9'], [5, 10, 20])
    >>> grid_around(None, ["0.1"], [1], ["five"])
    Traceback (most recent call last):
    ...
    sfumato.errors.ParameterError: k: 'five' is not a whole number from 1. Write, for example, 10.
    """
    if requirement is not None:
        epsilon, delta, k = exactly(requirement.epsilon), exactly(requirement.delta), requirement.k
        epsilons = [epsilon * n / 2 for n in (1, 2, 3, 4)] if epsilons is None else epsilons
        deltas = [d for d in (delta - _STEP, delta, delta + _STEP) if 0 <= d <= 1] if deltas is None else deltas
        ks = [max(1, k // 2), k, 2 * k] if ks is None else ks
    return (
        sorted({exactly(Dissimilarity(as_fraction(e, "epsilon"), 0).epsilon) for e in epsilons or ()}),
        sorted({exactly(Dissimilarity(0, as_fraction(d, "delta")).delta) for d in deltas or ()}),
        sorted({_whole(k) for k in ks or ()}),
    )


def _whole(k: Any) -> int:
    try:
        number = int(str(k))
    except ValueError:
        number = 0
    if number < 1:
        raise ParameterError(f"{k!r} is not a whole number from 1", remedy="Write, for example, 10.", key="k", value=k)
    return number
