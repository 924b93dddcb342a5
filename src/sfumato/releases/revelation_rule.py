"""When a column that is published as it is counts as undoing the recoding of a quasi-identifier.

A value *s* of the column narrows a recoded cell to those of its values that are possible with *s*: those that occur with *s*
in the original table, of ordered values all between the lowest and the highest. Values that occur with *s* in at most 1 % of
its rows (of ordered values 0.5 % at each end) are exceptions and do not count as possible. A value that occurs rarely says
nothing: *s* must have at least five rows for each possible value (ordered values: for each end). Nor does a value with
which nearly everything is possible: at least a quarter of the rows of the table must have a value that is not possible with
*s*, and if *s* were unrelated to the quasi-identifier, at least ten of its rows, and ten times as many as are exceptions,
would be expected among them.
"""

from __future__ import annotations

from fractions import Fraction

from sfumato.exact import written
from sfumato.releases.exposure_models import RevealingWarning

RECURRING = 5
"""The fewest rows of a value for each quasi-identifying value, or end of a range, that occurs with it."""

EXCEPTIONS = 100
"""One row in this many may be an exception."""

IMPOSSIBLE = 4
"""At least one row in this many has a value that is not possible."""

UNEXPECTED = 10
"""The fewest rows that would be expected outside the possible values if the columns were unrelated."""

ONE_VALUE = Fraction(1, 100)
"""The share of the recoded cells narrowed to one value from which there is a warning."""

ONE_VALUE_ROWS = 5
"""The fewest such rows."""

HALF = Fraction(1, 10)
"""The share of the recoded cells narrowed to half their values, or fewer, from which there is a warning."""


def determines(rows: int, exceptions: int, outside: int, total: int) -> bool:
    """Return whether a value determines a quasi-identifier as far as its possible values go, and not by chance.

    `rows`: of the value. `outside`: rows of the table with a quasi-identifying value that is not possible, of `total`.

    >>> determines(19, 0, 50, 100), determines(20, 0, 50, 100), determines(200, 20, 50, 100), determines(999, 0, 24, 100)
    (False, True, False, False)
    """
    return IMPOSSIBLE * outside >= total and rows * outside >= UNEXPECTED * max(1, exceptions) * total


def revealing_warning(column: str, quasi_identifier: str, one: int, half: int, recoded: int) -> RevealingWarning | None:
    """Return the warning about a column and a quasi-identifier; None if too few cells are narrowed.

    `one`, `half`: rows whose cell is narrowed to one value, and to at most half of its values, of the rows whose cell stands
    for several. The figures are rounded down to tenths: they depend on which row of the original has which value, and
    exact ones could confirm guesses.

    >>> revealing_warning("pregnant", "sex", 26, 26, 100).one_value
    '0.2'
    >>> revealing_warning("pregnant", "sex", 4, 4, 100) is None
    True
    """
    single = one >= ONE_VALUE_ROWS and one >= ONE_VALUE * recoded
    if not single and (not half or half < HALF * recoded):
        return None
    one_value, few_values = (written(Fraction(10 * rows // recoded, 10)) for rows in (one, half))
    return RevealingWarning(
        kind="revealing", column=column, quasi_identifier=quasi_identifier, one_value=one_value, half=few_values
    )
