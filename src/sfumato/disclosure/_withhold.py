"""Withhold cells: what of each record is disclosed so that an attacker with a dictionary gains least."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato._audit import library_of
from sfumato.anonymization.undeclared_columns import identifying_columns
from sfumato.data.schema import Schema
from sfumato.disclosure._risk import Risk, risk_of
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.rules import DisclosureRule, best_rule
from sfumato.disclosure.rules.disclosure_rule import number_of_cells
from sfumato.disclosure.sensitivity.sensitivity import Sensitivity
from sfumato.disclosure.setting import Setting, setting_of
from sfumato.disclosure.withheld.withheld_document import describe_withheld
from sfumato.disclosure.withheld.withheld_rows import withheld_rows
from sfumato.errors import ParameterError
from sfumato.exact import Number
from sfumato.parameters import check_seed
from sfumato.plurals import count_of
from sfumato.progress import Progress, silent
from sfumato.releases.expectations import Expectations
from sfumato.releases.models import WithheldDocument
from sfumato.releases.writer import TableData, write_release

Against = Literal["prior", "worst"]


def withhold(
    data: Any,
    schema: Schema | None,
    dictionaries: Sequence[Dictionary] | Dictionary,
    cells: int | str,
    *,
    per: str = "record",
    against: Against | None = None,
    attributes: Sequence[str] | None = None,
    identity: str | None = None,
    sensitivity: Sensitivity | None = None,
    consistency: Mapping[str, Consistency] | None = None,
    prior: Mapping[str, Number] | Sequence[Number] | None = None,
    misfits: int = 0,
    limit: Number | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> WithheldRelease:
    """Find which cells to disclose, so that the risk is least, and withhold the others.

    `cells`: how many values are disclosed per record, per attribute, or in the whole table, as `per` says (the rule sets
    Δ₂, Δ₃ and Δ₁ of paper 002); a share such as "50%" is of the attributes, the records, or all cells. `against`: the mean
    over the dictionaries under the prior, or the worst of them; the prior if there is one. `limit`: what the risk may be at
    most; `found.risk.holds` tells. Everything else: as for `sf.risk`.

    >>> people = pa.table({"name": ["Ann", "Bob", "Cy"], "age": [30, 30, 41], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> register = Dictionary(people, identity="name", name="register")
    >>> found = withhold(people, Schema(identifiers=["name"]), register, cells=1, identity="name")
    >>> sorted(found.frame.to_pylist(), key=str)
    [{'age': '*', 'town': 'Ulm'}, {'age': '30', 'town': '*'}, {'age': '30', 'town': '*'}]
    >>> found.before.risk, found.risk.risk
    (2.0, 0.5)
    """
    progress("reading")
    setting = setting_of(
        data,
        schema,
        dictionaries,
        attributes=attributes,
        identity=identity,
        sensitivity=sensitivity,
        consistency=consistency,
        prior=prior,
        misfits=misfits,
    )
    return withhold_in(
        setting, cells, per=per, against=against, limit=limit, seed=seed, library=library_of(data), progress=progress
    )


def withhold_in(
    setting: Setting,
    cells: int | str,
    *,
    per: str = "record",
    against: str | None = None,
    seed: int = 0,
    limit: Number | None = None,
    library: str = "pyarrow",
    progress: Progress = silent,
) -> WithheldRelease:
    """Find which cells to disclose in a setting that is there already; `limit`: what the risk may be at most."""
    seed = check_seed(seed)
    number = number_of_cells(cells, per, setting.everything)
    chosen = _against(against, setting)
    progress("finding what to withhold")
    prior = None if chosen == "worst" or setting.prior is None else [float(share) for share in setting.prior]
    best = best_rule(setting.matchings, setting.phi, number, per, prior, progress=progress)
    progress("measuring")
    table, rows = withheld_rows(setting.table, setting.attributes, best.disclosed, setting.everything, seed)
    return WithheldRelease(
        setting=setting,
        rule=best,
        cells=number,
        per=per,
        against=chosen,
        seed=seed,
        risk=risk_of(setting, best.disclosed, limit, chosen),
        before=risk_of(setting, over=chosen),
        notes=_notes(setting),
        table=table,
        rows=rows,
        make_frame=partial(_frame, table, library),
    )


def _notes(setting: Setting) -> tuple[str, ...]:
    """Say so of attributes that may name people: the best rule may well disclose them."""
    schema = setting.table.schema
    decided = {*schema.quasi_identifiers, *schema.sensitive_columns(), *schema.other}
    telling = [name for name in identifying_columns(setting.table) if name in setting.attributes and name not in decided]
    return tuple(
        f"{name!r} differs in nearly every record; if it names people, give it the role identifier, which is dropped"
        for name in telling
    )


def _against(against: str | None, setting: Setting) -> Against:
    if against is None:
        return "worst" if setting.prior is None else "prior"
    if against == "worst":
        return "worst"
    if against == "prior" and setting.prior is not None:
        return "prior"
    unknown = against != "prior"
    raise ParameterError(
        f"against = {against!r} is unknown" if unknown else "there is no prior over the dictionaries",
        remedy="Write prior or worst." if unknown else "Give one number per dictionary as the prior.",
        key="against",
        value=against,
    )


def _frame(table: pa.Table, library: str) -> Any:
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    return table.to_pandas() if library == "pandas" else table


@dataclass(frozen=True, eq=False, repr=False)
class WithheldRelease:
    """Records with cells withheld: `frame`, in the library that the data came in, and `risk`, what an attacker gains.

    In the frame all attributes are texts; a withheld cell is `*`, a missing one null. Identifiers and whatever is no
    attribute are gone, and the order of the rows means nothing.

    >>> import sfumato as sf
    >>> people = pa.table({"name": ["Ann", "Bob"], "age": [30, 41], "town": ["Ulm", "Ulm"]})
    >>> register = sf.disclosure.Dictionary(people, identity="name", name="register")
    >>> sf.withhold(people, sf.Schema(identifiers=["name"]), register, cells=1, identity="name")
    Disclosure of 2 records, 1 per record: 2 of 4 cells withheld
      risk   0.5 (least); 2 with nothing withheld
    """

    setting: Setting
    rule: DisclosureRule
    """The rule, its risk, and how far from it the least risk can be."""
    cells: int
    per: str
    against: Against
    seed: int
    risk: Risk
    """What an attacker gains from what is disclosed."""
    before: Risk
    """What he would gain if nothing were withheld; not for publication."""
    table: pa.Table
    notes: tuple[str, ...]
    """What the publisher should know; never written."""
    rows: NDArray[np.int64]
    """For each published row its record; never written."""
    make_frame: Callable[[], Any] = lambda: None
    """Makes `frame`."""

    @cached_property
    def frame(self) -> Any:
        """The published records in the library that the data came in, made when it is first asked for."""
        return self.make_frame()

    @property
    def withheld(self) -> int:
        """The number of cells that are withheld."""
        return int((self.setting.everything & ~self.rule.disclosed).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return what release.json states, without the files: nothing that depends on the values of withheld cells."""
        return {key: value for key, value in self.document.to_dict().items() if key != "files"}

    @cached_property
    def document(self) -> WithheldDocument:
        """What release.json states, without the files."""
        return WithheldDocument.of(describe_withheld(self))

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str = "csv",  # noqa: A002
        progress: Progress = silent,
    ) -> Path:
        """Write `data.csv` (or `data.parquet`), `release.json` and `report.html` to a new folder, and return where.

        The files are written aside, verified as written, the risk measured again from them, and only then renamed into
        place. `force` replaces a release that is there already, and nothing else.
        """
        table, assumptions = self.setting.table, self.setting.assumptions
        return write_release(
            lambda: self.document,
            [TableData(self.table)],
            folder,
            original=table,
            expected=Expectations(table.schema, risk=assumptions, rows=self.rows),
            format=format,
            force=force,
            progress=progress,
        )

    def __repr__(self) -> str:
        withheld = f"{self.withheld:,} of {count_of(int(self.setting.everything.sum()), 'cell')} withheld"
        head = f"Disclosure of {count_of(self.setting.records, 'record')}, {self.cells:,} per {self.per}: {withheld}"
        gap = "least" if self.rule.exact else f"at most {self.rule.gap:.2%} above the least"
        return f"{head}\n  risk   {self.rule.risk:.6g} ({gap}); {self.before.risk:.6g} with nothing withheld"
