"""Models of what a table of groups exposes beyond its principles.

They count the rows that columns published unchanged single out, and state which sensitive attributes no requirement covers.
Their figures follow from the published table alone, so they reveal nothing that the table does not. Whether a published
column undoes the recoding of a quasi-identifier can only be counted in the original; those figures are rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Discriminator

from sfumato.plurals import count_of
from sfumato.releases.model_base import Part

NEAR_CONSTANT = Fraction(4, 5)
"""An attribute is nearly constant in a group if at least this share of the rows has its most frequent value."""

_NEAR = f"{int(100 * NEAR_CONSTANT)} %"


def share_text(rows: int, of: int, noun: str = "row", plural: str = "rows") -> str:
    """Return a number of rows, or of others, with its share in percent, which reads 0 or 100 only if it is exactly that.

    >>> share_text(1, 3), share_text(99_999, 100_000), share_text(0, 3)
    ('1 of 3 rows (33.3 %)', '99,999 of 100,000 rows (99.9 %)', '0 of 3 rows (0 %)')
    """
    tenths = min(max(100 * rows / of, 0.1), 99.9)
    percent = f"{tenths:.1f}" if 0 < rows < of else "100" if rows else "0"
    return f"{rows:,} of {count_of(of, noun, plural)} ({percent} %)"


class UnchangedClaim(Part):
    """How many rows the columns that are published unchanged single out. Cells are compared as their texts in a CSV."""

    columns: list[str]
    """The columns with the role other, and those without a role that are kept."""
    limit: str
    """The largest share of the rows that they may single out, exact."""
    rows: int
    """Rows whose values in these columns, taken together, no other row of the table has."""
    rows_in_groups: int
    """Rows whose values in these columns no other row of their group has."""
    by_column: dict[str, int]
    """For each column the rows whose value in this column alone no other row has."""

    def text(self, rows: int) -> str:
        """Return the figures as a sentence; `rows`: the rows of the table.

        >>> claim = UnchangedClaim(columns=["job"], limit="1", rows=1, rows_in_groups=2, by_column={"job": 1})
        >>> claim.text(4)
        "published unchanged: 'job'; singled out by it: 1 of 4 rows (25.0 %), and 2 of 4 rows (50.0 %) within their group"
        """
        names, it = ", ".join(map(repr, self.columns)), "it" if len(self.columns) == 1 else "them together"
        return (
            f"published unchanged: {names}; singled out by {it}: {share_text(self.rows, rows)}, and "
            f"{share_text(self.rows_in_groups, rows)} within their group"
        )


class ConstantGroups(Part):
    """In how many groups, and with how many rows, a sensitive attribute is constant or nearly constant."""

    attribute: str
    constant_groups: int
    """Groups in which all rows have the same value."""
    constant_rows: int
    """Rows in such groups."""
    near_constant_groups: int
    """Groups in which at least `coverage.near_constant` of the rows have the same value; those above included."""
    near_constant_rows: int
    """Rows in such groups."""

    @property
    def figures_text(self) -> str:
        """The figures in words."""

        def where(groups: int, rows: int) -> str:
            return f"in {count_of(groups, 'group')} with {count_of(rows, 'row')}" if groups else "in no group"

        return (
            f"{where(self.constant_groups, self.constant_rows)} all rows have the same value, and "
            f"{where(self.near_constant_groups, self.near_constant_rows)} at least {_NEAR} of them do"
        )


class _Kind(Part):
    """The kind of a warning; written before everything else."""

    kind: Literal["uncovered"] = "uncovered"


class UncoveredWarning(ConstantGroups, _Kind):
    """A sensitive attribute that no requirement covers, and that the publisher has not accepted as such."""

    @property
    def text(self) -> str:
        """The warning as a sentence.

        >>> UncoveredWarning(
        ...     kind="uncovered", attribute="ill", constant_groups=2, constant_rows=9, near_constant_groups=2,
        ...     near_constant_rows=9,
        ... ).text.partition(": ")[0]
        "no requirement covers the sensitive attribute 'ill'"
        """
        return f"no requirement covers the sensitive attribute {self.attribute!r}: {self.figures_text}"


class RevealingWarning(Part):
    """A column that is published as it is and determines a quasi-identifier, so that it undoes the recoding.

    See `sfumato.releases.revelation_rule` for what counts. Shares are of the rows whose cell stands for several values.
    """

    kind: Literal["revealing"]
    column: str
    quasi_identifier: str
    one_value: str
    """The share of the rows whose cell the column narrows to one value, rounded down to tenths."""
    half: str
    """The share of the rows whose cell the column narrows to at most half of its values, rounded down to tenths."""

    @property
    def text(self) -> str:
        """The warning as a sentence.

        >>> warning = RevealingWarning(kind="revealing", column="tax", quasi_identifier="state", one_value="0.9", half="1")
        >>> warning.text.partition(": ")[0]
        "'tax' undoes the recoding of 'state'"
        """
        one, half = _tenths(self.one_value), _tenths(self.half)
        return (
            f"{self.column!r} undoes the recoding of {self.quasi_identifier!r}: of the recoded cells it narrows {one} to "
            f"one value, and {half} to half their values or fewer"
        )


def _tenths(share: str) -> str:
    """Return a share that was rounded down to tenths, in words."""
    tenths = int(10 * Fraction(share))
    return "all" if tenths == 10 else f"{10 * tenths} % or more" if tenths else "less than 10 %"


ReleaseWarning = Annotated[UncoveredWarning | RevealingWarning, Discriminator("kind")]
"""Any warning of a release."""


class _Reason(Part):
    """Why the publisher accepts that no requirement covers an attribute."""

    reason: str


class AcceptedAttribute(_Reason, ConstantGroups):
    """A sensitive attribute that no requirement covers, on purpose."""

    @property
    def text(self) -> str:
        """The acceptance as a sentence."""
        name, reason = repr(self.attribute), self.reason
        return f"no requirement covers the sensitive attribute {name}, which is accepted ({reason}): {self.figures_text}"


class CoverageClaim(Part):
    """What is known about the sensitive attributes, whether or not a requirement covers them."""

    near_constant: str
    """The share of equal values from which an attribute is nearly constant in a group."""
    unique_rows: int
    """Rows whose sensitive values, taken together, no other row of the table has."""
    accepted: list[AcceptedAttribute]

    def text(self, rows: int, unit: str | None = None) -> str:
        """Return the uniqueness as a sentence; `rows`: the rows of the table; `unit`: whose rows those are, if several.

        >>> claim = CoverageClaim(near_constant="0.8", unique_rows=1, accepted=[])
        >>> claim.text(2)
        'the sensitive values of 1 of 2 rows (50.0 %), taken together, are unique: whoever knows them finds the row'
        >>> claim.text(2, "people").partition("; ")[2]
        'rows of the same people that have equal values are not counted, so more people can be found in this way'
        """
        text = (
            f"the sensitive values of {share_text(self.unique_rows, rows)}, taken together, are unique: whoever knows them "
        )
        equal = f"; rows of the same {unit} that have equal values are not counted, so more {unit} can be found in this way"
        return f"{text}finds the row{'' if unit is None else equal}"


def exposure_notes(
    warnings: Sequence[ReleaseWarning],
    coverage: CoverageClaim | None,
    unchanged: UnchangedClaim | None,
    rows: int,
    unit: str | None = None,
) -> list[str]:
    """Return in words what a table of this many rows exposes beyond its principles, other than the warnings themselves.

    `unit`: whose rows the rows are, if several may be of one person.

    >>> unchanged = UnchangedClaim(columns=["job"], limit="0", rows=0, rows_in_groups=1, by_column={"job": 0})
    >>> exposure_notes([], None, unchanged, 9)
    ["published unchanged: 'job'; singled out by it: 0 of 9 rows (0 %), and 1 of 9 rows (11.1 %) within their group"]
    """
    notes = [] if unchanged is None else [unchanged.text(rows)]
    if coverage is None:
        return notes
    notes += [accepted.text for accepted in coverage.accepted]
    # reviewers need it even if a requirement covers every sensitive column
    counted = coverage.unique_rows or warnings or coverage.accepted
    return [*notes, coverage.text(rows, unit)] if counted else notes
