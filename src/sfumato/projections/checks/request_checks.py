"""Whether several tables were made under what the reader was told elsewhere: the thresholds, the plan, what is harmless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sfumato.data.schema import Kind, Schema
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction
from sfumato.projections.checks.request_reading import harmless_labels, plan_problem, read_plan
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import published_schema, published_table


@dataclass(frozen=True)
class Wished:
    """What a projection is to have been asked for, by the names that `sf.project` has for it; None is not compared.

    >>> Wished.of({"alpha": "0.3"}).alpha
    '0.3'
    """

    alpha: Any = None
    beta: Any = None
    plan: Any = None
    harmless: Any = None
    sets: str | None = None
    suppress: Any = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Wished:
        """Take what is given by name; a name that is not known is an error."""
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                remedy = f"Of what `project` is asked, these are compared: {', '.join(known)}."
                raise ParameterError(f"{key!r} cannot be compared", remedy=remedy, key=f"project.{key}", value=given[key])
        found = cls(**given)
        if not isinstance(found.harmless, Mapping | None):
            remedy = 'Give for each attribute the values that harm nobody, such as {"income": ["none"]}.'
            raise ParameterError("harmless says of no attribute what harms nobody", remedy=remedy, key="project.harmless")
        return found

    def first_difference(self, manifest: Manifest, known: Schema | None = None) -> str | None:
        """The first thing that release.json says otherwise; None if there is none. `known`: as for `Manifest.schema`.

        What release.json says must have been checked before, and the tables must be readable.
        """
        differences = (*self._thresholds(manifest), self._plan(manifest), self._sets(manifest), *self._suppress(manifest))
        found = next(filter(None, differences), None)
        return found or next(filter(None, self._harmless(manifest, known)), None)

    def _thresholds(self, manifest: Manifest) -> Iterator[str | None]:
        claims = {claim["key"]: claim for claim in manifest.content["thresholds"]}
        for key in ("alpha", "beta"):
            wanted = getattr(self, key)
            if wanted is None:
                continue
            claimed = claims[key].get("wanted")
            if as_fraction(claimed, key) != as_fraction(wanted, f"project.{key}"):
                yield f"{key} is {claimed} in release.json, and {wanted} is given"
            elif claims[key].get("origin") != "given":
                yield f"release.json says that {key} was not given, and {wanted} is"

    def _plan(self, manifest: Manifest) -> str | None:
        if self.plan is None:
            return None
        content = manifest.content
        attributes, sets = content["attributes"], content["sets"]
        wanted = [[part for name in block for part in sets.get(name, [name])] for block in read_plan(self.plan)]
        if any(table["suppressed"] for table in content["tables"]):  # a bit that only suppressed rows have is gone
            wanted = [[name for name in block if name in attributes] for block in wanted]
        problem = plan_problem([block for block in wanted if block], attributes)
        if problem is not None:
            return f"the plan that is given is not one of the attributes in release.json: {problem}"
        given = sorted(sorted(block, key=attributes.index) for block in wanted if block)
        told = content["plan"]
        if sorted(map(list, told)) == given:
            return None
        given.sort(key=lambda block: attributes.index(block[0]))
        return f"the plan is {_label(told)} in release.json, and {_label(given)} is given"

    def _sets(self, manifest: Manifest) -> str | None:
        """Sets are spread as it was asked for; bits, if nothing else is said, of every sensitive set."""
        declared, _ = manifest.schema()
        asked = {name for name in declared.sensitive if declared.kinds.get(name) == Kind.SET}
        spread = set(manifest.content["sets"])
        if self.sets == "whole" and spread:
            return f"{min(spread)!r} is spread into bits in release.json, and whole sets are given"
        if self.sets == "bits" and asked - spread:
            return f"{min(asked - spread)!r} is a whole set in release.json, and bits are given"
        return None

    def _suppress(self, manifest: Manifest) -> Iterator[str | None]:
        if self.suppress is None:
            return
        wanted = as_fraction(self.suppress, "project.suppress")
        for table in manifest.content["tables"]:
            if as_fraction(table["suppress"], "suppress") != wanted:
                yield f"suppress is {table['suppress']} in release.json, and {self.suppress} is given"

    def _harmless(self, manifest: Manifest, known: Schema | None) -> Iterator[str | None]:
        """The values that are told to be harmless are those, of the published ones, that are given."""
        if self.harmless is None:
            return
        told = manifest.content["harmless"]
        suppressed = any(table["suppressed"] for table in manifest.content["tables"])
        for name in {**self.harmless, **told}:
            if name not in manifest.content["attributes"] and not suppressed:
                yield f"{name!r} is said to have harmless values, and is none of the sensitive attributes"
        for table, block in zip(manifest.tables(), manifest.content["plan"], strict=True):
            names = [name for name in block if name in told or name in self.harmless]
            if not names:
                continue
            schema, _ = table.schema(known)
            published = published_table(table, published_schema(schema, str(table.content["group"])))
            for name in names:
                attribute = published.attribute(schema.components(name), name)
                wanted = harmless_labels(attribute, self.harmless.get(name, ()))
                more, fewer = set(told.get(name, ())) - wanted, wanted - set(told.get(name, ()))
                if more:
                    yield f"{_shown(more)} of {name!r} is harmless in release.json, and not as is given"
                if fewer:
                    yield f"{_shown(fewer)} of {name!r} is given as harmless, and is not so in release.json"


def _label(plan: Sequence[Sequence[str]]) -> str:
    return " | ".join(" + ".join(block) for block in plan)


def _shown(values: set[str | None]) -> str:
    return "a missing value" if None in values else repr(min(value for value in values if value is not None))
