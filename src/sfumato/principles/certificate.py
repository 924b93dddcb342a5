"""Certificates: facts about a table that rule out every grouping of it, and that can be checked by counting."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from sfumato.data.attribute import Attribute
from sfumato.errors import ParameterError
from sfumato.exact import written
from sfumato.exact.shown_levels import level_shown
from sfumato.principles.cliques import Clique
from sfumato.principles.view import View

if TYPE_CHECKING:
    from sfumato.principles.principle import Principle

_SHOWN = 3
"""How many values of a clique are named."""


@dataclass(frozen=True)
class Certificate:
    """Why no grouping of a table can satisfy a principle: something that can be checked by counting.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"ill": ["a", "a", "a", "b"]}), sf.Schema(sensitive=["ill"]))
    >>> print(sf.AlphaKAnonymity(alpha="0.5", k=2).certificate(View(table, ["ill"])))
    the table as one group has alpha 0.75, wanted at most 0.5; if every group satisfied (α,k)-anonymity, so would the
    table as one group
    """

    kind: Literal["clique", "crowd", "size", "whole", "all"]
    """Too many rows with values near one another; a value near too many rows; too few rows; the whole table fails; or all
    groupings were tried."""
    sentence: str
    values: tuple[str, ...] = ()
    """The values that the sentence is about."""
    count: int = 0
    """How many rows have them."""
    rows: int = 0
    """How many rows the table has."""
    most: int = 0
    """How many rows could have them at most, if the principle could hold."""
    any_rows: bool = False
    """Whether it rules out every part of the table too, so that suppressing rows cannot help."""

    @property
    def share(self) -> Fraction:
        """The share of the rows that have the values."""
        return Fraction(self.count, self.rows) if self.rows else Fraction(0)

    @property
    def bound(self) -> Fraction:
        """The largest share that could be grouped."""
        return Fraction(self.most, self.rows) if self.rows else Fraction(0)

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain data."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "values": list(self.values),
            "count": self.count,
            "rows": self.rows,
            "most": self.most,
        }


def whole_table_certificate(principle: Principle, view: View) -> Certificate | None:
    """Rule out a monotone principle that fails on the table as one group.

    If any grouping satisfied it, so would the union of its groups, which is the whole table.
    """
    from sfumato.principles.principle import measurement_of

    try:
        measurement = measurement_of(principle, view.as_one_group())
    except ParameterError as problem:
        if problem.key not in ("k", "n"):  # these two mean that the table is too small
            raise
        return Certificate("size", problem.problem, rows=view.table.rows)
    if measurement.holds or not principle.monotone:
        return None
    part = next(part for part in measurement.parts if not part.holds.all())
    level = part.at(0)
    shown = level_shown(level, part.threshold)
    sentence = (
        f"the table as one group has {part.name} {shown}, wanted {part.wanted}; if every group satisfied "
        f"{principle.title}, so would the table as one group"
    )
    return Certificate("whole", sentence, rows=view.table.rows)


def with_one_value_each(view: View) -> View | None:
    """Return the view with one row of each unit; None if values vary within units, where counting rows proves nothing."""
    return None if view.as_one_group().values_vary else view.one_row_per_unit("a certificate")


def share_certificate(
    view: View, clique: Clique, parts: Fraction, relation: str = "are near one another"
) -> Certificate | None:
    """Rule out that values near one another make up at most 1/`parts` of every group, if they make up more of the table.

    `relation`: how the values are near, as a verb.
    """
    rows = view.table.rows
    most = int(rows / parts)
    if clique.count <= most:
        return None
    share = f"1/{written(parts)}" if parts.denominator == 1 else written(1 / parts)
    near = "" if len(clique.values) == 1 else f" and {relation}"
    sentence = (
        f"{clique_in_words(view.attribute, clique)} {clique.count} of the {rows} rows "
        f"({percent_of(clique.count, rows)}){near}; groups of which at most {share} may be "
        f"can hold {most} such rows ({percent_of(most, rows)})"
    )
    labels = tuple(view.attribute.label(int(value)) for value in clique.values)
    return Certificate("clique", sentence, labels, clique.count, rows, most)


def clique_in_words(attribute: Attribute, clique: Clique) -> str:
    """Return the values of a clique as the subject of a sentence, with its verb."""
    labels = [attribute.label(int(value)) for value in (*clique.values[:_SHOWN], clique.values[-1])]
    if len(clique.values) == 1:
        return f"the value {labels[0]} makes up"
    single = len(attribute.columns) == 1 and attribute.columns[0].numbers is not None
    if single and len(clique.values) == clique.values[-1] - clique.values[0] + 1:
        return f"the values {labels[0]} to {labels[-1]} make up"
    more = len(clique.values) - _SHOWN
    listed = ", ".join(labels[: min(_SHOWN, len(clique.values))])
    return f"the values {listed}{f' and {more} more' if more > 0 else ''} make up"


def percent_of(count: int, rows: int) -> str:
    """Return a share of the rows in percent.

    >>> percent_of(1, 3)
    '33.3 %'
    """
    return f"{100 * count / rows:.1f} %"
