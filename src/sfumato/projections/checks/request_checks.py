"""Check that a projected release was made with the arguments that the caller expects: thresholds, plan, harmless values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sfumato.data.schema import Kind, Schema
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction
from sfumato.projections.checks.request_reading import harmless_labels, plan_problem, read_plan
from sfumato.releases.models import ProjectedDocument
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import published_schema, published_table


@dataclass(frozen=True)
class ExpectedProjection:
    """The expected arguments of `sf.project`; None is not compared.

    >>> ExpectedProjection.of({"alpha": "0.3"}).alpha
    '0.3'
    """

    alpha: Any = None
    beta: Any = None
    plan: Any = None
    harmless: Any = None
    sets: str | None = None
    suppress: Any = None
    discernibility: Any = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> ExpectedProjection:
        """Take arguments by name; an unknown name is an error."""
        names = [field.name for field in fields(cls)]
        for key in arguments:
            if key not in names:
                remedy = f"The arguments of `project` that can be compared are: {', '.join(names)}."
                raise ParameterError(
                    f"{key!r} cannot be compared", remedy=remedy, key=f"project.{key}", value=arguments[key]
                )
        expected = cls(**arguments)
        if not isinstance(expected.harmless, Mapping | None):
            remedy = 'List the harmless values of each attribute, such as {"income": ["none"]}.'
            raise ParameterError(
                "harmless is not a mapping from attributes to values", remedy=remedy, key="project.harmless"
            )
        return expected

    def first_difference(self, manifest: Manifest, known: Schema | None = None) -> str | None:
        """Return the first difference from release.json; None if there is none. `known`: as for `Manifest.schema`.

        release.json must have been checked before, and the tables must be readable.
        """
        document = manifest.projected
        differences = (
            *self._thresholds(document),
            self._plan(document),
            self._sets(manifest),
            *self._suppress(document),
            self._discernibility(document),
        )
        first = next(filter(None, differences), None)
        return first or next(self._harmless(manifest, known), None)

    def _thresholds(self, document: ProjectedDocument) -> Iterator[str]:
        claims = {claim.key: claim for claim in document.thresholds}
        for key in ("alpha", "beta"):
            expected = getattr(self, key)
            if expected is None:
                continue
            stated = claims[key].wanted
            # Compared as numbers: 0.30 and 3/10 are the same threshold.
            if as_fraction(stated, key) != as_fraction(expected, f"project.{key}"):
                yield f"{key} is {stated} in release.json, and {expected} is given"
            elif claims[key].origin != "given":
                yield f"release.json says that {key} was not given, and {expected} is"

    def _plan(self, document: ProjectedDocument) -> str | None:
        if self.plan is None:
            return None
        attributes = document.attributes
        blocks = [[part for name in block for part in document.sets.get(name, [name])] for block in read_plan(self.plan)]
        if any(table.suppressed for table in document.tables):  # bits that only suppressed rows have are not published
            blocks = [[name for name in block if name in attributes] for block in blocks]
        blocks = [block for block in blocks if block]
        problem = plan_problem(blocks, attributes)
        if problem is not None:
            return f"the plan that is given is not a plan of the attributes in release.json: {problem}"
        canonical = sorted((sorted(block, key=attributes.index) for block in blocks), key=lambda b: attributes.index(b[0]))
        if canonical == document.plan:
            return None
        return f"the plan is {_plan_label(document.plan)} in release.json, and {_plan_label(canonical)} is given"

    def _sets(self, manifest: Manifest) -> str | None:
        """Compare the encoding of sets: bits of every sensitive set, or none."""
        declared, _ = manifest.schema()
        sets = {name for name in declared.sensitive if declared.kinds.get(name) == Kind.SET}
        encoded = set(manifest.projected.sets)
        if self.sets == "whole" and encoded:
            return f"{min(encoded)!r} is published as bits in release.json, and whole sets are given"
        if self.sets == "bits" and sets - encoded:
            return f"{min(sets - encoded)!r} is a whole set in release.json, and bits are given"
        return None

    def _suppress(self, document: ProjectedDocument) -> Iterator[str]:
        if self.suppress is None:
            return
        expected = as_fraction(self.suppress, "project.suppress")
        for table in document.tables:
            if as_fraction(table.suppress, "suppress") != expected:
                yield f"suppress is {table.suppress} in release.json, and {self.suppress} is given"

    def _discernibility(self, document: ProjectedDocument) -> str | None:
        if self.discernibility is None:
            return None
        if document.quality is None:
            return f"release.json states no limit of the discernibility, and {self.discernibility} is given"
        stated = document.quality.wanted
        if as_fraction(stated, "discernibility") == as_fraction(self.discernibility, "project.discernibility"):
            return None
        return f"discernibility is {stated} in release.json, and {self.discernibility} is given"

    def _harmless(self, manifest: Manifest, known: Schema | None) -> Iterator[str]:
        """Compare the stated harmless values with the published values among the expected ones."""
        if self.harmless is None:
            return
        document = manifest.projected
        suppressed = any(table.suppressed for table in document.tables)
        for name in {**self.harmless, **document.harmless}:
            if name not in document.attributes and not suppressed:
                yield f"harmless values are given for {name!r}, which is not a sensitive attribute"
        for table, block in zip(manifest.tables(), document.plan, strict=True):
            names = [name for name in block if name in document.harmless or name in self.harmless]
            if not names:
                continue
            schema, _ = table.schema(known)
            published = published_table(table, published_schema(schema, table.document.group))
            for name in names:
                attribute = published.attribute(schema.components(name), name)
                expected = harmless_labels(attribute, self.harmless.get(name, ()))
                stated = set(document.harmless.get(name, ()))
                if stated - expected:
                    yield f"{_first_label(stated - expected)} of {name!r} is harmless in release.json, but not given as such"
                if expected - stated:
                    yield f"{_first_label(expected - stated)} of {name!r} is given as harmless, but is not in release.json"


def _plan_label(plan: Sequence[Sequence[str]]) -> str:
    return " | ".join(" + ".join(block) for block in plan)


def _first_label(values: set[str | None]) -> str:
    return "a missing value" if None in values else repr(min(value for value in values if value is not None))
