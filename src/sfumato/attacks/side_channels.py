"""Side channels: what the order of rows, the numbers of groups, spellings and metadata reveal about the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.rates import Rate

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEAR = 0.01
"""A position is predicted if it is within this share of the rows."""

_PERMUTATIONS = 99
"""The number of random orders with which the correlations are compared."""

_GUESSES = 20
"""The number of random orders in which positions are predicted."""

_USUAL_METADATA = {"ARROW:schema"}
"""What every writer of Arrow adds to a Parquet file: the types of its columns."""


@dataclass(frozen=True)
class SideChannels(Attack):
    """Predict where in the original a row was, from its place in the published file and from the number of its group.

    A position is predicted if the guess is within 1 % of the rows. The attacker takes the published position or the number
    of the group, ascending or descending, whichever predicts most. The figures also state: rank correlations of rows and of
    group numbers with the original's order, with quasi-identifiers and with secrets; columns that spell one value in several
    ways; and metadata of a Parquet file.

    The attacker knows the published file, and where in the original some people are.

    Compare with rows in random order: about 2 % of the positions are predicted, more in small tables.

    Source: our own.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": list(range(200)), "ill": ["flu", "gout"] * 100})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["side-channels"])[0].exceeds
    False
    """

    name: ClassVar[str] = "side-channels"
    counts_rows: ClassVar[bool] = True
    needs_secret: ClassVar[bool] = False

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Predict the positions of all rows, whatever the sample is."""
        count = len(release.rows)
        if not release.rows_are_known or not count:
            raise NotMeasured(
                "nothing says which published row is whose: a release needs its key, and the table of another tool is "
                "given in the order of the original"
            )
        draw = np.random.default_rng(count)
        clues = {"position": release.row_of_person, "group number": _group_positions(release.group_of_person)}
        found = {name: _predicted(clue, np.arange(count)) for name, clue in clues.items()}
        best = max(found, key=lambda name: found[name])
        chance = [
            max(_predicted(clue, order) for clue in clues.values())
            for order in (draw.permutation(count) for _ in range(_GUESSES))
        ]
        return [
            AttackResult(
                self.name,
                None,
                Rate.of(found[best], count),
                {"rows in random order": Rate.of(round(float(np.mean(chance))), count)},
                figures={
                    "positions predicted by": best,
                    **_correlations(release, draw),
                    "columns that spell a value in several ways": _spellings(release),
                    **_metadata(release),
                },
                notes=release.notes,
            )
        ]


def _group_positions(group: Integers) -> Floats:
    """Return for each person the mean position of the group if groups lay one after another, by their numbers."""
    sizes = np.bincount(group)
    return np.asarray((np.cumsum(sizes) - (sizes + 1) / 2)[group])


def _predicted(clue: NDArray[Any], order: Integers) -> int:
    """Return how many positions of an order a clue predicts, ascending or descending, whichever is more."""
    last = len(order) - 1
    near = _NEAR * len(order)
    return max(int((np.abs(guess - order) <= near).sum()) for guess in (clue, last - clue))


def _correlations(release: AttackedRelease, draw: np.random.Generator) -> dict[str, Any]:
    """Return rank correlations, and up to which value the largest of them is by chance in 95 % of random orders.

    Group numbers are compared with the mean of each group, so that rows that are grouped together count once.
    """
    original, group = release.original, release.group_of_person
    assert original is not None
    count = len(group)
    sizes = np.bincount(group)
    columns: dict[str, NDArray[Any]] = {"the order of the original": np.arange(count)}
    schema = original.schema
    columns |= {name: original.column(name).codes for name in (*schema.quasi_identifiers, *schema.sensitive_columns())}
    means = np.array([_ranks(np.bincount(group, weights=codes) / sizes) for codes in columns.values()])
    places = np.array([_ranks(codes) for codes in columns.values()])
    result: dict[str, Any] = {}
    for what, number, values in (
        ("rows", release.row_of_person.astype(float), places),
        ("group numbers", np.arange(len(sizes), dtype=float), means),
    ):
        found = _correlation(number, values)
        by_chance = [np.abs(_correlation(draw.permutation(number), values)).max() for _ in range(_PERMUTATIONS)]
        result[f"rank correlation of {what}"] = {
            name: round(float(value), 4) for name, value in zip(columns, found, strict=True)
        }
        result[f"largest correlation of {what} by chance"] = round(float(np.quantile(by_chance, 0.95)), 4)
    return result


def _ranks(values: NDArray[Any]) -> Floats:
    """Return ranks from 0; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts + 1) / 2)[place.reshape(-1)])


def _correlation(number: Floats, values: Floats) -> Floats:
    """Return the correlation of a row of numbers with each row of values; 0 where either is constant."""
    one = number - number.mean()
    others = values - values.mean(axis=1, keepdims=True)
    scale = np.sqrt((one @ one) * (others * others).sum(axis=1))
    return np.asarray(np.divide(others @ one, scale, out=np.zeros(len(values)), where=scale > 0))


def _spellings(release: AttackedRelease) -> dict[str, int]:
    """Return for each published column with texts how many values occur in several spellings.

    Of sensitive columns equal values count, such as 0.1 and 0.10; of all others texts that differ in white space or case.
    """
    table, found = release.published, {}
    for name in table.data.column_names:
        cells = table.data.column(name)
        kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
            continue
        texts = np.array(["" if text is None else text for text in cells.cast(pa.string()).to_pylist()], object)
        _, spelling = np.unique(texts, return_inverse=True)
        if name in table.schema.sensitive_columns():
            value = table.column(name).codes.astype(np.int64)
        else:
            value = np.unique([" ".join(text.split()).casefold() for text in texts], return_inverse=True)[1].reshape(-1)
        pairs = np.unique(value * (len(texts) + 1) + spelling.reshape(-1)) // (len(texts) + 1)
        several = int((np.bincount(pairs) > 1).sum())
        if several:
            found[name] = several
    return found


def _metadata(release: AttackedRelease) -> dict[str, Any]:
    """Return what a Parquet file stores beside its rows; nothing for other files."""
    if release.file is None or release.file.suffix.lower() != ".parquet":
        return {}
    import pyarrow.parquet as pq

    stored = pq.read_metadata(release.file)
    keys = {key.decode("utf-8", "replace") for key in (stored.metadata or {})} - _USUAL_METADATA
    return {"metadata of the file": sorted(keys), "row groups of the file": stored.num_row_groups}
