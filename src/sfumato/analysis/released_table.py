"""A released table as an analyst uses it: frames, possible values and their weights, estimates, and imputations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.analysis.conditions import Condition
from sfumato.analysis.design_effect import design_effect
from sfumato.analysis.estimates import EstimateOptions, Estimates, EstimateSettings
from sfumato.analysis.imputation import Draws
from sfumato.analysis.model_column import Codes
from sfumato.analysis.questions import Question, answer
from sfumato.analysis.released_column import ReleasedColumn, days_as_dates
from sfumato.analysis.table_draws import draw_values
from sfumato.data.schema import Kind
from sfumato.data.table import unknown_column
from sfumato.errors import ColumnError, ParameterError
from sfumato.plurals import count_of

Names = str | Sequence[str]
Where = Mapping[str, Any]
Library = Literal["pyarrow", "pandas", "polars"]


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedTable:
    """The table of a release. Made by `sf.read_release`.

    The estimates come from a model of the columns in question, which is estimated from the release itself: see
    docs/analysis.md for what it assumes. They target the original table unless `target="population"`.

    >>> import tempfile
    >>> import sfumato as sf
    >>> people = pa.table({"town": ["Ulm", "Rome", "Rome", "Rome"], "ill": ["flu", "gout", "flu", "flu"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = sf.anonymize(people, sf.Schema(["town"], ["ill"]), sf.KAnonymity(4))
    ...     table = sf.read_release(release.save(f"{folder}/release"))
    >>> isinstance(table, sf.ReleasedTable), table.members("town")
    (True, {'{Rome; Ulm}': ('Rome', 'Ulm')})
    >>> table.rate("ill", "flu")
    rate of ill = 'flu'; 95% intervals for the original table
      estimate   low  high  naive
          0.75  0.75  0.75   0.75
    """

    columns: Mapping[str, ReleasedColumn]
    group_of_row: Codes | None
    """The number of the group of each row, from 0; None if the release has no groups."""
    group: str | None
    """The name of the group column."""
    group_cells: pa.ChunkedArray | None
    method: str = ""
    """The name of the method that found the groups."""
    notes: tuple[str, ...] = ()
    """What a reader must know, such as how many rows are not published."""
    exponents: dict[str, NDArray[np.float64]] = field(default_factory=dict, init=False)
    """For each column that was in question, draws of the exponent of the model."""

    @cached_property
    def design_effect(self) -> float:
        """How many times larger the variance of a figure is than if the rows of a group did not resemble each other."""
        return design_effect(self)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).of_row)

    def __repr__(self) -> str:
        parts = []
        for column in self.columns.values():
            open_cells = sum(not cell.exact for cell in column.cells)
            shown = "exact" if not open_cells else count_of(open_cells, "generalized cell")
            parts.append(f"{column.name} {shown}")
        groups = "" if self.group_of_row is None else f" in {count_of(int(self.group_of_row.max()) + 1, 'group')}"
        return f"<ReleasedTable: {count_of(len(self), 'row')}{groups}; {', '.join(parts)}>"

    def column(self, name: str) -> ReleasedColumn:
        """Return a column; an unknown name is an error."""
        if name not in self.columns:
            raise unknown_column(name, list(self.columns), None)
        return self.columns[name]

    def to_arrow(self, cells: Literal["values", "text"] = "values") -> pa.Table:
        """Return the table in Arrow.

        `cells="values"`: a numeric quasi-identifier has its exact value where the cell is exact, else null, and further
        columns NAME_lo, NAME_hi and NAME_mid; any other has the value, or the text of the cell. `cells="text"`: the cells as
        they are published. Missing values are null everywhere.
        """
        if cells not in ("values", "text"):
            raise ParameterError(f"invalid cells {cells!r}", remedy='Write "values" or "text".', key="cells", value=cells)
        frame: dict[str, Any] = {} if self.group is None else {self.group: self.group_numbers()}
        for column in self.columns.values():
            generalized = column.role == "quasi-identifier" and cells == "text"
            for name, values in ({column.name: column.texts()} if generalized else column.values()).items():
                if name in frame or (name != column.name and name in self.columns):
                    raise ColumnError(
                        "the frame needs a column of this name for the ends of a range, and the release has one",
                        remedy='Use cells="text".', column=name,
                    )  # fmt: skip
                frame[name] = values
        return pa.table(frame)

    def group_numbers(self) -> pa.Array:
        """Return the group of each row, as it is published."""
        assert self.group_cells is not None
        return self.group_cells.cast(pa.int64())

    def to_pandas(self, cells: Literal["values", "text"] = "values") -> Any:
        """Return the table in pandas: see `to_arrow`."""
        return self.to_arrow(cells).to_pandas()

    def to_polars(self, cells: Literal["values", "text"] = "values") -> Any:
        """Return the table in polars: see `to_arrow`."""
        return _in_library(self.to_arrow(cells), "polars")

    def members(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return for each generalized cell of a column the values that it may stand for.

        A range of numbers has no list of members; use the columns NAME_lo and NAME_hi of a frame.
        """
        column = self.column(name)
        known = tuple(dict.fromkeys(value for cell in column.cells for value in cell.values))
        found = {}
        for cell in column.cells:
            if cell.text and not cell.exact and (cell.values or cell.withheld):
                found[cell.text] = cell.values or known
        return found

    def weights(self, name: str, given: Names = (), **options: Unpack[EstimateOptions]) -> dict[str, dict[str, float]]:
        """Return for each generalized cell of a column of texts the estimated share of each possible value in its rows.

        `given`: further columns of the model, which help to tell the values apart.
        """
        column = self.column(name)
        if column.numeric:
            raise ColumnError(
                "there are no weights for ranges of numbers", remedy="Use imputations or weighted_frame.", column=name
            )
        settings = EstimateSettings(**options)
        draws = draw_values(self, [name, *_names(given)], settings.draws, settings.seed)
        model = draws.columns[name]
        counts = np.zeros((len(column.cells), model.atoms))
        for draw in range(draws.count):
            np.add.at(counts, (model.of_row, draws.atoms(name, draw)), 1)
        found = {}
        for number, cell in enumerate(column.cells):
            if cell.text and not cell.exact and counts[number].any():
                shares = counts[number] / counts[number].sum()
                possible = model.member[model.member_at[number] : model.member_at[number + 1]].tolist()
                found[cell.text] = {str(model.labels[a] or ""): float(shares[a]) for a in possible}
        return found

    def count(
        self, where: Where | None = None, by: Names = (), bands: Mapping[str, Sequence[Any]] | None = None,
        **options: Unpack[EstimateOptions],
    ) -> Estimates:  # fmt: skip
        """Estimate how many rows satisfy conditions, in all or by the values of columns.

        `where`: for each column a value, a list of values, or (low, high) for numbers. `bands`: for each numeric column of
        `by` the limits of its bands.
        """
        conditions = self._conditions(where)
        title = f"count of rows{_of(conditions)}{_by(by)}"
        return self._answer("count", title, options, by, bands, outcome=conditions)

    def proportion(
        self, where: Where, by: Names = (), bands: Mapping[str, Sequence[Any]] | None = None,
        **options: Unpack[EstimateOptions],
    ) -> Estimates:  # fmt: skip
        """Estimate the share of rows that satisfy conditions, in all or by the values of columns."""
        conditions = self._conditions(where)
        return self._answer("rate", f"share of rows{_of(conditions)}{_by(by)}", options, by, bands, outcome=conditions)

    def rate(
        self, column: str, value: Any, by: Names = (), where: Where | None = None,
        bands: Mapping[str, Sequence[Any]] | None = None, **options: Unpack[EstimateOptions],
    ) -> Estimates:  # fmt: skip
        """Estimate the share of rows with a value of a column, among all rows or those that satisfy conditions."""
        outcome, conditions = self._conditions({column: value}), self._conditions(where)
        title = f"rate of {outcome[0].text()}{_of(conditions)}{_by(by)}"
        return self._answer("rate", title, options, by, bands, outcome=outcome, where=conditions)

    def mean(
        self, column: str, by: Names = (), where: Where | None = None, bands: Mapping[str, Sequence[Any]] | None = None,
        **options: Unpack[EstimateOptions],
    ) -> Estimates:  # fmt: skip
        """Estimate the mean of a numeric column; rows in which it is missing do not count."""
        if not self.column(column).numeric:
            raise ColumnError("a mean requires numbers", remedy="Name a numeric column.", column=column)
        conditions = self._conditions(where)
        title = f"mean of {column}{_of(conditions)}{_by(by)}"
        return self._answer("mean", title, options, by, bands, where=conditions, number=column)

    def crosstab(
        self, rows: str, columns: str, where: Where | None = None, bands: Mapping[str, Sequence[Any]] | None = None,
        **options: Unpack[EstimateOptions],
    ) -> Estimates:  # fmt: skip
        """Estimate how many rows have each combination of the values of two columns."""
        return self.count(where, (rows, columns), bands, **options)

    def odds_ratio(
        self, column: str, value: Any, by: str, reference: str | None = None, where: Where | None = None,
        bands: Mapping[str, Sequence[Any]] | None = None, **options: Unpack[EstimateOptions],
    ) -> Estimates:  # fmt: skip
        """Estimate the odds of a value of a column for each value of another, as multiples of the odds of one of those.

        `reference`: the value that the others are compared with; by default the most frequent.
        """
        outcome, conditions = self._conditions({column: value}), self._conditions(where)
        title = f"odds ratio of {outcome[0].text()}{_of(conditions)}{_by(by)}"
        return self._answer("odds ratio", title, options, by, bands, outcome=outcome, where=conditions, reference=reference)

    def imputations(self, columns: Names, m: int = 20, seed: int = 0, library: Library = "pyarrow") -> Iterator[Any]:
        """Yield `m` complete tables of some columns: fit a model to each, and put the results together with `combine`.

        All columns of the analysis belong into `columns`: associations with any other are lost. `library`: "pyarrow",
        "pandas" or "polars".
        """
        EstimateSettings(draws=m, seed=seed)
        names = _names(columns)
        draws = draw_values(self, names, m, seed)
        for draw in range(m):
            yield _in_library(pa.table({name: self._complete(draws, name, draw) for name in names}), library)

    def _complete(self, draws: Draws, name: str, draw: int) -> pa.Array:
        """Return one column of a complete table."""
        column = self.column(name)
        if column.exact:
            return column.values()[name]
        if not column.numeric:
            model = draws.columns[name]
            return pa.array(list(model.labels), pa.string()).take(pa.array(draws.atoms(name, draw)))
        numbers = draws.numbers(name, draw)
        whole = draws.columns[name].unit == 1
        array = pa.array(numbers, from_pandas=True)
        if column.kind is Kind.DATE:
            return days_as_dates(array)
        return array.cast(pa.int64()) if whole else array

    def weighted_frame(self, columns: Names, draws: int = 100, seed: int = 0, library: Library = "pyarrow") -> Any:
        """Return one row for each row of the release and combination of values that it may have, with its weight.

        The weights of a row sum to 1. The column `row` numbers the rows. A number in a range is the mean of its part of the
        range. A weighted fit to this frame gives estimates; its standard errors are too small, so use `imputations` for
        intervals.
        """
        EstimateSettings(draws=draws, seed=seed)
        names = _names(columns)
        drawn = draw_values(self, names, draws, seed)
        key = np.zeros((draws, len(self)), np.int64)
        sizes = [int(drawn.columns[name].members.max()) for name in names]
        for name, size in zip(names, sizes, strict=True):
            first = drawn.columns[name].member_at[drawn.columns[name].of_row]
            for draw in range(draws):
                key[draw] = key[draw] * size + drawn.entry(name, draw) - first
        span = int(np.prod(sizes))
        distinct, counts = np.unique(np.arange(len(self)) * span + key, return_counts=True)
        row, rest = np.divmod(distinct, span)
        frame: dict[str, Any] = {}
        for name, size in zip(reversed(names), reversed(sizes), strict=True):
            rest, within = np.divmod(rest, size)
            frame[name] = self._possible(drawn, name, row, within)
        taken = {"row", "weight"} & set(names)
        if taken:
            raise ColumnError("the frame needs this name itself", remedy="Rename the column.", column=min(taken))
        frame = {"row": pa.array(row), **{name: frame[name] for name in names}, "weight": pa.array(counts / draws)}
        return _in_library(pa.table(frame), library)

    def _possible(self, draws: Draws, name: str, row: Codes, within: Codes) -> pa.Array:
        """Return the values of some rows at one of the members of their cells."""
        column, model = self.column(name), draws.columns[name]
        if column.exact:
            return column.values()[name].take(pa.array(row))
        entry = model.member_at[model.of_row[row]] + within
        if column.numeric:
            means = pa.array(model.mean_numbers()[entry], from_pandas=True)
            return days_as_dates(means) if column.kind is Kind.DATE else means
        return pa.array(list(model.labels), pa.string()).take(pa.array(model.member[entry]))

    def _conditions(self, where: Where | None) -> list[Condition]:
        return [Condition.of(name, wanted, self.column(name)) for name, wanted in (where or {}).items()]

    def _answer(
        self, what: str, title: str, options: EstimateOptions, by: Names, bands: Mapping[str, Sequence[Any]] | None,
        reference: str | None = None, **parts: Any,
    ) -> Estimates:  # fmt: skip
        settings = EstimateSettings(**options)
        names = _names(by)
        for name in {**dict.fromkeys(names), **(bands or {})}:
            self.column(name)
        question = Question(self, settings, names, bands=bands or {}, **parts)
        whose = "original table" if settings.target == "table" else "population"
        return answer(question, what, f"{title}; {settings.level:.0%} intervals for the {whose}", reference)


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedTables:
    """The tables of a projected release, in the order of its plan. Rows of different tables cannot be joined.

    >>> import sfumato as sf
    >>> len(sf.ReleasedTables((), rows=0))
    0
    """

    tables: tuple[ReleasedTable, ...]
    rows: int
    """The rows of the original."""

    def __len__(self) -> int:
        return len(self.tables)

    def __iter__(self) -> Iterator[ReleasedTable]:
        return iter(self.tables)

    def __getitem__(self, number: int) -> ReleasedTable:
        return self.tables[number]

    def __repr__(self) -> str:
        return "\n".join([f"<ReleasedTables: {count_of(len(self), 'table')}>", *(f"  {table!r}" for table in self.tables)])


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(dict.fromkeys(names))


def _by(names: Names) -> str:
    listed = _names(names)
    return f" by {' and '.join(listed)}" if listed else ""


def _of(conditions: Sequence[Condition]) -> str:
    return f" with {' and '.join(condition.text() for condition in conditions)}" if conditions else ""


def _in_library(frame: pa.Table, library: str) -> Any:
    if library == "pandas":
        return frame.to_pandas()
    if library == "polars":
        import polars

        return polars.from_arrow(frame)
    if library != "pyarrow":
        raise ParameterError(
            f"invalid library {library!r}", remedy="Write one of: pyarrow, pandas, polars.", key="library", value=library
        )
    return frame
