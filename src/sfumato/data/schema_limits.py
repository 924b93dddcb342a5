"""What matters most to the analyst, as a schema declares it: weights, limits on cells, associations to preserve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, as_fraction, written

Classes = tuple[tuple[str, ...], ...]
"""The classes of values that never share a cell, as `never_mix` lists them."""


NO_LIMITS: Mapping[str, Any] = {"weights": {}, "never_mix": {}, "coarsest": {}, "preserve": ()}
"""The fields of a schema that declares none of these; a published table has none, because it is not recoded again."""


def weights_of(declared: Mapping[str, Number], quasi_identifiers: Sequence[str]) -> dict[str, Fraction]:
    """Return the weights of quasi-identifiers as exact numbers; an invalid one is an error that names the column.

    >>> weights_of({"age": "0.5"}, ["age", "sex"])
    {'age': Fraction(1, 2)}
    """
    weights = {}
    for column, value in declared.items():
        _require_quasi_identifier(column, quasi_identifiers, "a weight")
        try:
            weight = as_fraction(value, "weight")
        except ParameterError:
            weight = Fraction(-1)
        if weight < 0:
            raise ColumnError(
                f"weight = {value} is not a number of at least 0",
                remedy="Write a number such as 3; columns without a weight have the weight 1, and 0 ignores the column.",
                key="weight",
                column=column,
                value=value,
            )
        weights[column] = weight
    if weights and all(weights.get(name, 1) == 0 for name in quasi_identifiers):
        raise ColumnError(
            "every quasi-identifier has the weight 0, so the loss says nothing",
            remedy="Give at least one quasi-identifier a weight above 0.",
            key="weight",
            column=next(iter(weights)),
            value=0,
        )
    return weights


def weight_as_plain_data(weight: Fraction) -> int | str:
    """Return a weight as a config writes it.

    >>> weight_as_plain_data(Fraction(3)), weight_as_plain_data(Fraction(1, 2))
    (3, '0.5')
    """
    return int(weight) if weight.denominator == 1 else written(weight)


def classes_of(column: str, declared: Any, quasi_identifiers: Sequence[str]) -> Classes:
    """Return the classes that `never_mix` lists; a value that stands alone is a class of its own.

    >>> classes_of("outcome", ["died", ["home", "moved"]], ["outcome"])
    (('died',), ('home', 'moved'))
    """
    _require_quasi_identifier(column, quasi_identifiers, "never_mix")
    items = (declared,) if isinstance(declared, str) or not isinstance(declared, Iterable) else tuple(declared)
    classes = tuple(_class(item) for item in items)
    values = [value for each in classes for value in each]
    twice = next((value for value in values if values.count(value) > 1), None)
    if not classes or not all(classes) or twice is not None:
        problem = "names no value" if twice is None else f"names {twice!r} twice"
        raise ColumnError(
            f"never_mix {problem}",
            remedy='List each value once, such as never_mix = ["died", "alive"] or [["died"], ["home", "moved"]].',
            key="never_mix",
            column=column,
            value=declared,
        )
    return classes


def _class(item: Any) -> tuple[str, ...]:
    if isinstance(item, str) or not isinstance(item, Iterable):
        item = (item,)
    return tuple(value if isinstance(value, str) else str(value) for value in item)


def classes_as_plain_data(classes: Classes) -> list[str | list[str]]:
    """Return classes as a config writes them.

    >>> classes_as_plain_data((("died",), ("home", "moved")))
    ['died', ['home', 'moved']]
    """
    return [each[0] if len(each) == 1 else list(each) for each in classes]


def level_of(column: str, declared: Any, quasi_identifiers: Sequence[str], hierarchies: Mapping[str, Any]) -> int:
    """Return the coarsest level that is allowed for a column; its height is checked when the hierarchy is known.

    >>> level_of("age", 1, ["age"], {"age": "age.csv"})
    1
    """
    _require_quasi_identifier(column, quasi_identifiers, "coarsest")
    if isinstance(declared, bool) or not isinstance(declared, int) or declared < 0:
        raise ColumnError(
            f"coarsest = {declared!r} is not a level of a hierarchy",
            remedy="Write a whole number: 0 for the values themselves, 1 for the level above them, and so on.",
            key="coarsest",
            column=column,
            value=declared,
        )
    if column not in hierarchies:
        raise ColumnError(
            "coarsest is a level of the column's hierarchy, and it has none",
            remedy="Declare a hierarchy, such as { intervals = [10] } for numbers, or remove coarsest.",
            key="coarsest",
            column=column,
            value=declared,
        )
    return declared


def pairs_of(
    declared: Sequence[Sequence[str]], quasi_identifiers: Sequence[str], published: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of columns whose association is preserved; an invalid pair is an error.

    >>> pairs_of([["ill", "age"]], ["age"], ["age", "ill"])
    (('ill', 'age'),)
    """
    known = set(published)
    pairs = []
    for pair in declared:
        names = () if isinstance(pair, str) else tuple(map(str, pair))
        if len(names) != 2 or names[0] == names[1]:
            raise ParameterError(
                f"preserve = {list(names) or pair!r} is not a pair of two columns",
                remedy='Write pairs, such as preserve = [["readmitted", "disposition"]].',
                key="preserve",
                value=pair,
            )
        for name in names:
            if name not in known:
                raise ColumnError(
                    "preserve names a column that is not published",
                    remedy="Name quasi-identifiers, sensitive columns, or columns with the role other.",
                    key="preserve",
                    column=name,
                )
        if not set(names) & set(quasi_identifiers):
            raise ParameterError(
                f"preserve = {list(names)} contains no quasi-identifier: both columns are published unchanged",
                remedy="Remove the pair.",
                key="preserve",
                value=names,
            )
        pairs.append((names[0], names[1]))
    return tuple(dict.fromkeys(pairs))


def _require_quasi_identifier(column: str, quasi_identifiers: Sequence[str], what: str) -> None:
    if column not in quasi_identifiers:
        raise ColumnError(
            f"{what} is declared for a column that is not a quasi-identifier",
            remedy="Remove it, or give the column the role quasi-identifier: no other column is recoded.",
            column=column,
        )
