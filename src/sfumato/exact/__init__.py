"""Exact arithmetic: thresholds as the decimals that were written, and verdicts that do not depend on rounding."""

from sfumato.exact.exponentials import exponentials_at_most
from sfumato.exact.logarithms import compare_log, sign_of_log_sum
from sfumato.exact.numbers import Numbers
from sfumato.exact.ratios import Ratios
from sfumato.exact.thresholds import Number, as_fraction, as_parameter, largest_float_at_most, nearest_float, written

__all__ = [
    "Number",
    "Numbers",
    "Ratios",
    "as_fraction",
    "as_parameter",
    "compare_log",
    "exponentials_at_most",
    "largest_float_at_most",
    "nearest_float",
    "sign_of_log_sum",
    "written",
]
