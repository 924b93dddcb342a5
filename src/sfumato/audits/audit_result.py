"""The result of an audit: which principles hold in a table, at what level, and in which groups they fail."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.data.units import UnitCounts, unit_notes
from sfumato.errors import ParameterError
from sfumato.exact.shown_levels import level_shown, level_text
from sfumato.plurals import count_of
from sfumato.principles import Measurement, Part, Principle
from sfumato.visible_text import one_line

_FINDINGS = 30
"""Findings that a representation lists."""

SHOWN = 3
"""How many distinct values of a quasi-identifier are shown for a group, where a group column allows several."""


@dataclass(frozen=True, eq=False)
class Finding:
    """The result of one principle, on the groups alone or on one sensitive attribute."""

    principle: Principle
    attribute: str | None
    """The sensitive attribute that was measured; None if the principle measures the groups alone."""
    measurement: Measurement
    sizes: NDArray[np.int64]
    distance: str | None = None
    """The name of the distance, if the verdict depends on one."""

    @property
    def holds(self) -> bool:
        """Whether the principle holds in every group."""
        return self.measurement.holds

    @property
    def levels(self) -> dict[str, Fraction | float]:
        """The level reached in each part of the principle: that of the worst group."""
        return self.measurement.levels

    @cached_property
    def violating_groups(self) -> int:
        """The number of groups in which the principle does not hold."""
        return int((~self.measurement.group_holds).sum())

    @cached_property
    def violating_rows(self) -> int:
        """The number of rows in such groups."""
        return int(self.sizes[~self.measurement.group_holds].sum())

    @property
    def vulnerability(self) -> Fraction:
        """The share of groups in breach (Wang & Liu 2010, Section VI)."""
        return Fraction(self.violating_groups, self.groups)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.sizes)

    def worst_groups(self, most: int = 5) -> list[int]:
        """Return the numbers of the worst groups, violating ones first."""
        return [int(group) for group in self.measurement.badness()[:most]]

    def position(self, group: int) -> int:
        """Return where the measurement has a group: at its number, as it has all groups."""
        return group

    def holds_in(self, group: int) -> bool:
        """Return whether the principle holds in a group."""
        return bool(self.measurement.group_holds[self.position(group)])

    def levels_in(self, group: int) -> dict[str, Fraction | float]:
        """Return the level that a group reaches in each part of the principle."""
        return {part.name: part.at(self.position(group)) for part in self.measurement.parts}


@dataclass(frozen=True, eq=False)
class Audit:
    """The findings of an audit. An audit is true if every principle holds.

    The audit of an original is private: it contains the table, and its `repr` and `details` show quasi-identifiers of the
    worst groups. Only the audit of a release may be published. A pickle leaves out the columns declared as identifiers.

    >>> table = pa.table({"age": [30, 30, 41], "income": [100, 200, 150]})
    >>> from sfumato import KAnonymity, Schema
    >>> from sfumato import audit
    >>> audit(table, Schema(quasi_identifiers=["age"], sensitive=["income"]), [KAnonymity(2)])
    Audit of 3 rows in 2 groups: 0 of 1 principles hold
      FAILS  k-anonymity (k = 2): k 1, wanted at least 2; 1 of 2 groups and 1 of 3 rows violate it
             worst group: age = 41 (1 row): k 1
    """

    table: Table
    groups: Groups
    findings: tuple[Finding, ...]
    library: str = "pyarrow"
    """The frame library of `details`: the one that the data came in."""
    units: UnitCounts | None = None
    """How many people or households were counted; None if rows were."""

    def __getstate__(self) -> dict[str, Any]:
        table, identifiers = self.table, set(self.table.schema.identifiers)
        kept = [name for name in table.data.column_names if name not in identifiers]
        schema = replace(table.schema, identifiers=(), person_id=None, household_id=None)
        groups = self.groups
        if groups.units is not None:  # the groups keep how many people they contain, not whose row each row is
            groups = replace(groups, units=None)
            groups.__dict__["people"] = self.groups.people
        return {**vars(self), "table": replace(table, data=table.data.select(kept), schema=schema), "groups": groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def holds(self) -> bool:
        """Whether every principle holds."""
        return all(finding.holds for finding in self.findings)

    @cached_property
    def principles(self) -> list[tuple[Principle, bool]]:
        """The requested principles, each with whether it holds on everything that it was measured on."""
        verdicts: dict[int, tuple[Principle, bool]] = {}
        for finding in self.findings:
            _, so_far = verdicts.get(id(finding.principle), (None, True))
            verdicts[id(finding.principle)] = (finding.principle, so_far and finding.holds)
        return list(verdicts.values())

    @cached_property
    def notes(self) -> list[str]:
        """What a reader should know: how the data was interpreted, and what the audit does not mean."""
        schema = self.table.schema
        notes = [*self.table.notes, *unit_notes(self.table)]
        for name in (*schema.quasi_identifiers, *schema.sensitive_columns()):
            note = self.table.column(name).note
            if note is not None:
                notes.append(note)
        if self.groups.units is not None:
            split = int((~self.groups.units.are_in_one_group(self.groups.of_row)).sum())
            if split:
                verb = "has" if split == 1 else "have"
                notes.append(
                    f"{self.groups.units.text(split)} of {self.groups.units.count:,} {verb} rows in several groups: whoever "
                    "knows which rows belong together can intersect the groups"
                )
        if not schema.quasi_identifiers and schema.group is None:
            notes.append("no quasi-identifiers are declared, so all rows are one group")
        return notes

    def without_single_groups(self) -> Audit:
        """Return the audit with the worst level of each principle in place of that of every group.

        Next to the published rows, how many people each group contains could reveal which rows belong together.
        """
        return replace(self, findings=tuple(replace(f, measurement=f.measurement.worst_everywhere()) for f in self.findings))

    def summary(self) -> str:
        """Return how many of the principles hold, in words."""
        holding = sum(holds for _, holds in self.principles)
        return f"{holding} of {len(self.principles)} principles hold"

    def __bool__(self) -> bool:
        return self.holds

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def quasi_identifiers(self, group: int) -> dict[str, str]:
        """Return the quasi-identifiers of a group, for display."""
        shown = {}
        rows = None
        for name in self.table.schema.quasi_identifiers:
            column = self.table.column(name)
            if self.table.schema.group is None:
                shown[name] = column.label(int(column.codes[self.groups.first_rows[group]]))
                continue
            rows = np.flatnonzero(self.groups.of_row == group) if rows is None else rows
            codes = np.unique(column.codes[rows])
            shown[name] = values_shown([column.label(int(code)) for code in codes[:SHOWN]], len(codes))
        if self.table.schema.group is not None:
            column = self.table.column(self.table.schema.group)
            label = column.label(int(column.codes[self.groups.first_rows[group]]))
            return {self.table.schema.group: label, **shown}
        return shown

    def rows_in(self, group: int) -> int:
        """Return the number of rows of a group."""
        return int(self.groups.sizes[group])

    def group_rows(self, group: int, most: int | None = None) -> Any:
        """Return the rows of a group as a frame: the number of each row, from 1, and its cells.

        The columns are the quasi-identifiers, the sensitive columns and the others, without identifiers: what the rows share
        comes first. `most`: at most this many rows, the first ones. The frame is of the library that the data came in. Cost:
        linear in the rows of the table. The rows are those of the original, so they must not be published.

        >>> import sfumato as sf
        >>> people = pa.table({"name": ["Ann", "Bob", "Cy"], "age": [30, 41, 30], "pay": [1, 2, 3]})
        >>> found = sf.audit(people, sf.Schema(["age"], ["pay"], identifiers=["name"]), sf.KAnonymity(2))
        >>> found.group_rows(found[0].worst_groups()[0]).to_pylist()
        [{'row': 2, 'age': 41, 'pay': 2}]
        """
        if not 0 <= group < self.groups.count:
            raise ParameterError(
                f"there is no group {group}",
                remedy=f"The groups are numbered from 0 to {self.groups.count - 1:,}.",
                key="group",
                value=group,
            )
        rows = np.flatnonzero(self.groups.of_row == group)[:most]
        schema, known = self.table.schema, self.table.data.column_names
        first = [*schema.quasi_identifiers, *schema.sensitive_columns()]
        hidden = {*schema.identifiers, *first}
        names = [*first, *(name for name in known if name not in hidden)]
        number = "row" if "row" not in names else "number of row"
        part = self.table.data.select(names).take(pa.array(rows))
        return self._in_library(pa.table({number: rows + 1, **{name: _decoded(part.column(name)) for name in names}}))

    def details(self) -> Any:
        """Return one row per group: its quasi-identifiers, its size, and each principle's levels and verdict.

        The frame is of the library that the data came in; pyarrow for files. The number of a row is the number of its group.
        """
        columns: dict[str, Any] = {}
        first = self.groups.first_rows
        schema = self.table.schema
        keys = schema.quasi_identifiers if schema.group is None else (schema.group,)
        for name in keys:
            column = self.table.column(name)
            codes = column.codes[first]
            labels = {int(code): column.label(int(code)) for code in np.unique(codes)}
            columns[name] = [labels[int(code)] for code in codes]
        counts = {"rows": self.groups.sizes}
        if self.groups.people is not None:
            counts["people"] = self.groups.people
        for name, values in counts.items():
            columns[name if name not in columns else f"number of {name}"] = values
        for finding in self.findings:
            heading = finding_heading(finding)
            for part in finding.measurement.parts:
                columns[f"{heading}: {part.name}"] = part.floats()
            columns[f"{heading}: holds"] = finding.measurement.group_holds
        return self._in_library(pa.table(columns))

    def _in_library(self, frame: pa.Table) -> Any:
        """Return a frame in the library that the data came in."""
        if self.library == "pandas":
            return frame.to_pandas()
        if self.library == "polars":
            import polars

            return polars.from_arrow(frame)
        return frame

    def to_dict(self, worst: int = 5) -> dict[str, Any]:
        """Return everything but the per-group details as plain data, ready for JSON."""
        return {
            "source": self.table.source,
            "rows": self.table.rows,
            "people": None if self.units is None else self.units.total,
            "groups": self.groups.count,
            "holds": self.holds,
            "principles": [self._finding_to_dict(finding, worst) for finding in self.findings],
            "notes": self.notes,
        }

    def _finding_to_dict(self, finding: Finding, worst: int) -> dict[str, Any]:
        return {
            "name": finding.principle.name,
            "label": finding.principle.label,
            "parameters": finding.principle.parameters(),
            "attribute": finding.attribute,
            "distance": finding.distance,
            "holds": finding.holds,
            "measured": {name: _number(level) for name, level in finding.levels.items()},
            "exact": {name: level_text(level) for name, level in finding.levels.items()},
            "wanted": {part.name: part.wanted for part in finding.measurement.parts},
            "violating_groups": finding.violating_groups,
            "violating_rows": finding.violating_rows,
            "vulnerability": float(finding.vulnerability),
            "monotone": finding.principle.monotone,
            "worst_groups": [
                {
                    "group": group,
                    "rows": self.rows_in(group),
                    "quasi_identifiers": self.quasi_identifiers(group),
                    "holds": finding.holds_in(group),
                    "measured": {name: _number(level) for name, level in finding.levels_in(group).items()},
                }
                for group in finding.worst_groups(worst)
            ],
        }

    def to_json(self, worst: int = 5) -> str:
        """Return the audit as JSON."""
        return json.dumps(self.to_dict(worst), indent=2, allow_nan=False)

    def __repr__(self) -> str:
        lines = [f"Audit of {count_of(self.table.rows, 'row')} in {count_of(self.groups.count, 'group')}: {self.summary()}"]
        lines += [f"  note   {note}" for note in self.notes]
        # what fails is always shown, what holds only if there are not too many
        failing = [finding for finding in self.findings if not finding.holds]
        hidden = len(self.findings) - len(failing) - max(_FINDINGS - len(failing), 0)
        holding = [finding for finding in self.findings if finding.holds][: -hidden if hidden > 0 else None]
        shown = {id(finding) for finding in (*failing, *holding)}
        for finding in (finding for finding in self.findings if id(finding) in shown):
            parts = finding.measurement.parts
            levels = ", ".join(f"{worst_shown(part)}, wanted {part.wanted}" for part in parts)
            verdict = "holds" if finding.holds else "FAILS"
            line = f"  {verdict}  {finding_heading(finding)}: {levels}"
            if not finding.holds:
                line += (
                    f"; {finding.violating_groups:,} of {count_of(self.groups.count, 'group')}"
                    f" and {finding.violating_rows:,} of {count_of(self.table.rows, 'row')} violate it"
                )
            lines.append(line)
            if not finding.holds:
                lines.append(f"         worst group: {self.describe(finding, finding.worst_groups(1)[0])}")
        if hidden > 0:
            lines.append(f"  … and {hidden:,} more that hold")
        return "\n".join(lines)

    def describe(self, finding: Finding, group: int) -> str:
        """Return one group in one line: its quasi-identifiers, its size, its levels."""
        values = self.quasi_identifiers(group).items()
        keys = ", ".join(f"{one_line(name)} = {shortened(value)}" for name, value in values) or "all rows"
        reached = zip(finding.measurement.parts, finding.levels_in(group).values(), strict=True)
        levels = ", ".join(f"{part.name} {level_shown(level, part.threshold)}" for part, level in reached)
        return f"{keys} ({count_of(self.rows_in(group), 'row')}): {levels}"


def _decoded(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells without a dictionary, which would contain values of other rows."""
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells


def values_shown(labels: Sequence[str], count: int) -> str:
    """Return the values of a quasi-identifier in a group in one line; `labels`: the first of them, `count`: of all.

    >>> values_shown(["30"], 1), values_shown(["30", "31", "32"], 5)
    ('30', '{30; 31; 32; … 2 more}')
    """
    more = f"; … {count - SHOWN} more" if count > SHOWN else ""
    return labels[0] if count == 1 else "{" + "; ".join(labels[:SHOWN]) + more + "}"


def finding_heading(finding: Finding) -> str:
    """Return the principle with its parameters, and the attribute that it was measured on."""
    return f"{finding.principle.label} on {on}" if (on := measured_on(finding)) else finding.principle.label


def measured_on(finding: Finding) -> str:
    """Return the attribute that a principle was measured on, with the distance if the verdict depends on one."""
    distance = f" ({finding.distance})" if finding.distance is not None else ""
    return one_line(f"{finding.attribute or ''}{distance}")


def _number(level: Fraction | float) -> float | int | None:
    """Return a level as a JSON number; null if it is infinite."""
    if isinstance(level, Fraction):
        return int(level) if level.denominator == 1 else float(level)
    return level if math.isfinite(level) else None


def worst_shown(part: Part) -> str:
    """Return the level of the worst group with the name of the part."""
    return f"{part.name} {level_shown(part.worst, part.threshold)}"


def shortened(text: str, most: int = 60) -> str:
    r"""Return a cell for one line: without control characters, and not too long.

    >>> shortened("two\nlines"), shortened("much too long", 8)
    ('two\\nlines', 'much to…')
    """
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"
