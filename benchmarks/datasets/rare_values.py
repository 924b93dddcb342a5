"""Requirements on the distribution of secrets that need large groups, because a value is rare.

The tables are `adult/adult_30162.csv` and `census_income_kdd/census_income_train.csv.gz` below SFUMATO_DATA. Six per cent of
the people in the second one earn more than 50,000 dollars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from benchmarks.datasets import required_data_file
from benchmarks.datasets.survey import Setting
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.read_csv import read_csv
from sfumato.principles import BetaLikeness, DeltaDisclosure, DistinctLDiversity, KAnonymity, Principle

_EIGHT = ["age", "sex", "race", "marital_status", "education", "class_of_worker", "citizenship", "prev_state"]
_WIDE, _WIDE_ROWS = 24, 71_518
_NOT_QUASI = ("instance_weight", "income_class", "year")


def rare_values() -> Iterator[Setting]:
    """Yield the settings one by one: Adult, the income census, and 24 quasi-identifiers of the latter."""
    adult = read_csv(required_data_file("adult", "adult_30162.csv"), ";").data
    yield _setting("adult l", adult, adult.column_names, "marital-status", DistinctLDiversity(6))
    yield _setting("adult β", adult, adult.column_names, "education", BetaLikeness(2))
    yield _setting("adult δ", adult, adult.column_names, "education", DeltaDisclosure(2))
    census = census_table()
    yield _setting("census l", census, _EIGHT, "income_class", DistinctLDiversity(2))
    yield _setting("census β", census, _EIGHT, "income_class", BetaLikeness(1))
    wide = [name for name in census.column_names if name not in _NOT_QUASI][:_WIDE]
    yield _setting("census, 24", census.slice(0, _WIDE_ROWS), wide, "income_class", DistinctLDiversity(2))


def census_table() -> pa.Table:
    """Return the income census as texts."""
    return read_csv(required_data_file("census_income_kdd", "census_income_train.csv.gz")).data


def _setting(name: str, data: pa.Table, columns: Sequence[str], secret: str, principle: Principle) -> Setting:
    quasi_identifiers = [column for column in columns if column != secret]
    schema = Schema(quasi_identifiers, [secret])
    return Setting(
        name, name, Table(data.select([*quasi_identifiers, secret]), schema, untyped=True), (KAnonymity(5), principle)
    )
