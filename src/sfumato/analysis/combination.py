"""Combine the results of several imputations: Rubin's rules, and quantiles without SciPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sfumato.errors import ParameterError


@dataclass(frozen=True)
class Combined:
    """An estimate from several imputations, with its variance and interval."""

    estimate: float
    variance: float
    """The total: within imputations and between them."""
    within: float
    between: float
    freedom: float
    """The degrees of freedom of the t distribution; infinite if the imputations agree."""
    low: float
    high: float


def combine(estimates: Sequence[float], variances: Sequence[float], level: float = 0.95) -> Combined:
    """Combine an estimate of each imputation, with its variance, into one with an interval.

    Rubin (1987): the total variance is the mean variance within imputations plus (1 + 1/m) times the variance between them.
    Use it for the coefficients of any regression that was fitted to each table of `ReleasedTable.imputations`.

    >>> result = combine([1.0, 1.2, 0.8], [0.04, 0.05, 0.03])
    >>> round(result.estimate, 3), round(result.variance, 4), round(result.freedom, 1)
    (1.0, 0.0933, 6.1)
    """
    points, inner = np.asarray(estimates, float), np.asarray(variances, float)
    if len(points) != len(inner) or len(points) < 2 or not (inner >= 0).all():
        raise ParameterError(
            "invalid estimates: expected two or more, each with a variance that is not negative",
            remedy="Pass the estimate and the squared standard error of every imputation.", key="variances",
        )  # fmt: skip
    if not 0 < level < 1:
        raise ParameterError(f"invalid level {level!r}", remedy="Give a number between 0 and 1.", key="level", value=level)
    m = len(points)
    mean, within, between = float(points.mean()), float(inner.mean()), float(points.var(ddof=1))
    extra = (1 + 1 / m) * between
    freedom = math.inf if extra == 0 else (m - 1) * (1 + within / extra) ** 2
    reach = t_quantile((1 + level) / 2, freedom) * math.sqrt(within + extra)
    return Combined(mean, within + extra, within, between, freedom, mean - reach, mean + reach)


def t_quantile(probability: float, freedom: float) -> float:
    """Return a quantile of Student's t distribution, by bisection of its distribution function.

    >>> round(t_quantile(0.975, 10), 4), round(t_quantile(0.975, math.inf), 4)
    (2.2281, 1.96)
    """
    normal = NormalDist().inv_cdf(probability)
    if freedom > 1e6:
        return normal
    low, high = normal, normal
    step = 1.0
    while _t_distribution(high, freedom) < probability:
        high, step = high + step, 2 * step
    step = 1.0
    while _t_distribution(low, freedom) > probability:
        low, step = low - step, 2 * step
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_distribution(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _t_distribution(t: float, freedom: float) -> float:
    """Return P(T ≤ t): one half of the regularized incomplete beta function in each tail."""
    tail = _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return 1 - tail if t > 0 else tail


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    result = d
    for n in range(1, 500):
        for term in (
            n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
            -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
        ):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * result
