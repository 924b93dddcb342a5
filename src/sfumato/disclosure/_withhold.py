"""Withhold cells so that an attacker with a dictionary gains least from what is disclosed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato._audit import library_of
from sfumato.anonymization.undeclared_columns import undeclared_note
from sfumato.data.schema import Schema
from sfumato.disclosure._risk import Risk, risk_of
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.generalized.attribute_levels import Generalize
from sfumato.disclosure.identifying_columns import identifying_columns
from sfumato.disclosure.rules import DisclosureRule, best_rule, min_risk
from sfumato.disclosure.rules.disclosure_rule import number_of_cells
from sfumato.disclosure.sensitivity.sensitivity import Sensitivity
from sfumato.disclosure.setting import Setting, setting_of
from sfumato.disclosure.withheld.withheld_document import describe_withheld
from sfumato.disclosure.withheld.withheld_rows import withheld_rows
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number
from sfumato.plurals import count_of
from sfumato.progress import Progress, silent
from sfumato.releases.expectations import Expectations
from sfumato.releases.models import WithheldDocument
from sfumato.releases.private import Private, Publication
from sfumato.releases.row_key import key_text
from sfumato.releases.writer import InternalReport, TableData, write_release
from sfumato.seeds import secret_order, secret_seed

Against = Literal["prior", "worst"]

SEARCHES = ("best", "min-risk")
"""How the rule is found."""


def withhold(
    data: Any,
    schema: Schema | None,
    dictionaries: Sequence[Dictionary] | Dictionary,
    cells: int | str,
    *,
    per: str = "record",
    against: Against | None = None,
    search: str = "best",
    attributes: Sequence[str] | None = None,
    identity: str | None = None,
    sensitivity: Sensitivity | None = None,
    consistency: Mapping[str, Consistency] | None = None,
    prior: Mapping[str, Number] | Sequence[Number] | None = None,
    misfits: int = 0,
    generalize: Generalize = (),
    limit: Number | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> WithheldRelease:
    """Find which cells to disclose, so that the risk is least, and withhold or generalize the others.

    Only columns with a role, or listed in `attributes`, are published; see `Schema.undeclared`.

    `cells`: the number of values to disclose per record, per attribute, or in the whole table, according to `per` (the
    rule sets Δ₂, Δ₃ and Δ₁ of Lebanon et al. 2006); a share such as "50%" is of the attributes, the records, or all
    cells. `against`: "prior" minimizes the mean risk over the dictionaries under the prior, "worst" the largest of their
    risks; by default the prior if there is one. `limit`: the largest acceptable risk; `release.risk.holds` is the
    verdict. `search`: "best" compares all choices, or bounds them, for up to 62 attributes; "min-risk" is the fast algorithm
    MinRisk (see `sf.disclosure.min_risk`), for any number of attributes, one dictionary, values per record, and a
    multiplicative sensitivity. `generalize`: the attributes whose values may be generalized to any level of the hierarchy
    that the schema declares, in place of withholding them; or a mapping from these attributes to the share of their
    sensitivity on each level, from 1 to 0. A value on level l of h levels then counts as 1 − l/h of a value, a record
    discloses at least `cells`, and `rule.levels` is the result. `seed`: of the order in which the search sees the records;
    by default it is drawn, and it is never published. All other parameters are those of `sf.risk`.

    >>> people = pa.table({"name": ["Ann", "Bob", "Cy"], "age": [30, 30, 41], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> register = Dictionary(people, identity="name", name="register")
    >>> release = withhold(people, Schema(["age", "town"], identifiers=["name"]), register, cells=1, identity="name")
    >>> sorted(release.frame.to_pylist(), key=str)
    [{'age': '*', 'town': 'Ulm'}, {'age': '30', 'town': '*'}, {'age': '30', 'town': '*'}]
    >>> release.full_risk.risk, release.risk.risk
    (2.0, 0.5)
    """
    progress("reading")
    setting = setting_of(
        data, schema, dictionaries, attributes=attributes, identity=identity, sensitivity=sensitivity,
        consistency=consistency, prior=prior, misfits=misfits, generalize=generalize, publish=True,
    )  # fmt: skip
    return withhold_in(
        setting, cells, per=per, against=against, search=search, limit=limit, seed=seed, library=library_of(data),
        progress=progress,
    )  # fmt: skip


def withhold_in(
    setting: Setting,
    cells: int | str,
    *,
    per: str = "record",
    against: str | None = None,
    search: str = "best",
    seed: int | None = None,
    limit: Number | None = None,
    library: str = "pyarrow",
    progress: Progress = silent,
) -> WithheldRelease:
    """Find which cells to disclose in a given setting; `limit` is the largest acceptable risk."""
    secret = secret_seed(seed)
    _refuse_identifiers(setting)
    number = number_of_cells(cells, per, setting.everything)
    chosen = _against(against, setting)
    _check_search(search, setting, per)
    setting.in_steps.check(per)
    progress("finding what to withhold")
    prior = None if chosen == "worst" or setting.prior is None else [float(share) for share in setting.prior]
    best = _find_rule(setting, number, per, prior, search, secret, progress)
    progress("measuring")
    labels = None if best.levels is None else setting.in_steps.labels_at(best.levels)
    table, rows = withheld_rows(setting.table, setting.attributes, best.disclosed, setting.everything, labels)
    disclosed = setting if best.levels is None else setting.generalized(best.levels)
    private = PrivateWithheldRelease(
        seed=secret,
        setting=setting,
        rule=best,
        risk=risk_of(disclosed, best.disclosed, limit, chosen),
        full_risk=risk_of(setting, over=chosen),
        notes=_notes(setting),
        rows=rows,
    )
    return WithheldRelease(table, number, per, chosen, library, private)


def _find_rule(
    setting: Setting,
    cells: int,
    per: str,
    prior: Sequence[float] | None,
    search: str,
    seed: int,
    progress: Progress,
) -> DisclosureRule:
    """Find the rule with the records in a secret order: where rules tie, it decides which one is found."""
    order = secret_order(seed, len(setting.everything))
    in_steps = setting.in_steps if setting.levels else None
    searched = setting if in_steps is None else in_steps
    matchings, phi = [matching.only(order) for matching in searched.matchings], searched.phi.only(order)
    if search == "min-risk":
        found = min_risk(matchings[0], phi, cells)
    else:
        steps = None if in_steps is None else in_steps.steps.only(order)
        found = best_rule(matchings, phi, cells, per, prior, progress=progress, steps=steps)
    disclosed = np.empty_like(found.disclosed)
    disclosed[order] = found.disclosed
    if in_steps is None:
        return replace(found, disclosed=disclosed)
    levels = in_steps.levels_of(disclosed)
    return replace(found, disclosed=levels < in_steps.heights, levels=levels)


def _check_search(search: str, setting: Setting, per: str) -> None:
    """Raise an error if the search is unknown, or cannot serve the request."""
    if search not in SEARCHES:
        remedy = f"Expected one of: {', '.join(SEARCHES)}."
        raise ParameterError(f"unknown search = {search!r}", remedy=remedy, key="search", value=search)
    if search == "min-risk" and per != "record":
        remedy = 'Pass per = "record", or search = "best".'
        raise ParameterError(
            f"MinRisk discloses values per record, not per {per}", remedy=remedy, key="search", value=search
        )
    if search == "min-risk" and setting.levels:
        remedy = 'Generalize nothing, or pass search = "best".'
        raise ParameterError("MinRisk withholds values and does not generalize", remedy=remedy, key="search", value=search)
    if search == "min-risk" and len(setting.dictionaries) > 1:
        problem = f"MinRisk considers one dictionary, and there are {len(setting.dictionaries)}"
        remedy = 'Pass the one that matters, or search = "best".'
        raise ParameterError(problem, remedy=remedy, key="search", value=search)


def _refuse_identifiers(setting: Setting) -> None:
    """Raise if an attribute is an identifier: its risk can be measured, but it is never published."""
    for name in setting.attributes:
        if name in setting.table.schema.identifiers:
            raise ColumnError(
                "an identifier is listed as an attribute",
                remedy="Remove it from the attributes: it is never disclosed.",
                column=name,
                file=setting.table.source,
                key="attributes",
            )


def _notes(setting: Setting) -> tuple[str, ...]:
    """Name the columns that are left out, and warn of attributes that may name people: a rule may well disclose them."""
    schema = setting.table.schema
    decided = {*schema.quasi_identifiers, *schema.sensitive_columns(), *schema.other}
    identifying = [name for name in identifying_columns(setting.table) if name in setting.attributes and name not in decided]
    apart = {*setting.attributes, *setting.sensitivity.columns(), setting.identity}
    note = undeclared_note(setting.table, apart)
    return tuple(filter(None, (note,))) + tuple(
        f"{name!r} differs in nearly every record; if it names people, declare it as an identifier, which is dropped"
        for name in identifying
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
        f"unknown against = {against!r}" if unknown else "there is no prior over the dictionaries",
        remedy="Expected one of: prior, worst." if unknown else "Pass one probability per dictionary as the prior.",
        key="against",
        value=against,
    )


def _frame(table: pa.Table, library: str) -> Any:
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    return table.to_pandas() if library == "pandas" else table


class PrivateWithheldRelease(Private):
    """What the publisher knows about a withheld release and must not publish."""

    seed: int
    setting: Setting
    """The records, the dictionaries and the sensitivity."""
    rule: DisclosureRule
    risk: Risk
    full_risk: Risk
    notes: tuple[str, ...]
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class WithheldRelease(Publication):
    """Records with cells withheld or generalized: `frame`, in the library that the data came in, and `risk`.

    `risk` is what an attacker gains. All attributes are texts in the frame; a withheld cell is `*`, a generalized one the
    label of a node, a missing one null. Identifiers and columns that are not attributes are dropped, and the order of the
    rows is random.

    A pickle contains what may be published. `setting`, `rule`, `risk`, `full_risk`, `notes`, `rows` and `save` need the
    original; they raise `ReleaseError` for an unpickled release.

    >>> import sfumato as sf
    >>> people = pa.table({"name": ["Ann", "Bob"], "age": [30, 41], "town": ["Ulm", "Ulm"]})
    >>> register = sf.disclosure.Dictionary(people, identity="name", name="register")
    >>> release = sf.withhold(people, sf.Schema(["age", "town"], identifiers=["name"]), register, cells=1, identity="name")
    >>> release
    Withheld release of 2 records, 1 per record: 2 of 4 cells withheld
      risk   0.5 against register
    >>> release.rule.exact, release.rule.disclosed.sum()
    (True, np.int64(2))
    """

    table: pa.Table
    """The published records; all columns are texts."""
    cells: int
    """The number of cells to disclose per record, attribute or table."""
    per: str
    against: Against
    library: str
    """The library of `frame`."""
    private: PrivateWithheldRelease
    """What must not be published."""

    def __getstate__(self) -> dict[str, Any]:
        # the public fields, and the document, which is made from the private part
        public = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "private"}
        return {**public, "document": self.document}

    @property
    def setting(self) -> Setting:
        """The records, the dictionaries and the sensitivity; private."""
        return self.private.setting

    @property
    def rule(self) -> DisclosureRule:
        """The rule, its risk, and how far above the least risk it can be; private."""
        return self.private.rule

    @property
    def risk(self) -> Risk:
        """What an attacker gains from what is disclosed, record by record; private, also when it is printed or pickled."""
        return self.private.risk

    @property
    def full_risk(self) -> Risk:
        """What an attacker would gain if nothing were withheld; private, also when it is printed or pickled."""
        return self.private.full_risk

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings for the publisher; private."""
        return self.private.notes

    @property
    def rows(self) -> NDArray[np.int64]:
        """For each published row its record; private."""
        return self.private.rows

    @cached_property
    def frame(self) -> Any:
        """The published records in the library that the data came in, made on first access."""
        return _frame(self.table, self.library)

    @property
    def withheld_cells(self) -> int:
        """The number of withheld cells."""
        return sum(counts.withheld for counts in self.document.attributes)

    @property
    def generalized_cells(self) -> int:
        """The number of generalized cells."""
        return sum(counts.generalized or 0 for counts in self.document.attributes)

    def to_dict(self) -> dict[str, Any]:
        """The content of release.json without the files. Of withheld cells it contains only where they are."""
        return {key: value for key, value in self.document.to_dict().items() if key != "files"}

    @cached_property
    def document(self) -> WithheldDocument:
        """The document of release.json, without the files."""
        return WithheldDocument.of(describe_withheld(self))

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str = "csv",  # noqa: A002
        key: str | Path | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write `data.csv` (or `data.parquet`), `release.json` and `report.html` to a new folder, and return its path.

        The files are written to a temporary folder and verified there, with the risk measured again; only then is the
        folder renamed. `force` replaces an existing release, and nothing else. `key`: a file outside the folder for the
        seed, with which `sf.withhold` withholds the same cells again; it must not be published.
        """
        table = self.setting.table
        return write_release(
            WithheldDocument,
            lambda: self.document,
            [TableData(self.table)],
            folder,
            original=table,
            expected=Expectations(table.schema, risk=self.setting.assumptions, rows=self.rows),
            format=format,
            force=force,
            key=None if key is None else InternalReport(key, self._key_text, "writing the key"),
            progress=progress,
        )

    def _key_text(self, document: WithheldDocument) -> str:
        return key_text(document, self.private.seed)

    def __repr__(self) -> str:
        withheld, disclosed = self.withheld_cells, sum(counts.disclosed for counts in self.document.attributes)
        head = f"Withheld release of {count_of(self.table.num_rows, 'record')}, {self.cells:,} per {self.per}: "
        head += f"{withheld:,} of {count_of(withheld + disclosed, 'cell')} withheld"
        if self.document.rule.shares:
            head += f", {self.generalized_cells:,} generalized"
        # the risks of release.json: how far they are above the least, and the risk of the full records, are private
        risks = [f"  risk   {float(claim.risk):.6g} against {claim.name}" for claim in self.document.dictionaries]
        return "\n".join([head, *risks])
