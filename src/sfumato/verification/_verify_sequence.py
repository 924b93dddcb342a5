"""Verify a sequence of releases of one table, version by version, and what they say together about each person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.data.schema import Schema
from sfumato.engines import Engine, engine_of
from sfumato.errors import ParameterError, ReleaseError, SfumatoError
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.digests import digest
from sfumato.releases.expectations import Expectations
from sfumato.releases.history import History
from sfumato.releases.reader import Manifest
from sfumato.releases.row_key import read_key
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.verification._verify import verify_folder
from sfumato.verification.candidate_checks import (
    PublishedGroups,
    candidates_result,
    continuation_problem,
    history_problem,
)
from sfumato.verification.checks import Check, Verification
from sfumato.verification.unit_checks import key_of, mapping_problem

_NOT_CHECKED = "not checked: pass the original and the key of every release"


def verify_sequence(
    folders: Sequence[str | Path],
    originals: Sequence[Any] | None = None,
    *,
    keys: Sequence[str | Path] | None = None,
    schema: Schema | None = None,
    principles: Sequence[Principle] | None = None,
    engine: Engine | str | None = None,
) -> Verification:
    """Check releases of one table, the first one first: each by itself, that they are a sequence, and all together.

    Each release is checked as `sf.verify` does. Then the sequence: every release names the SHA-256 of the release.json of
    the one before it, and all have the same requirements and columns. `originals`, `keys`: the original table and the
    private key of each release, in the same order. With them, everybody is looked up again in the published files: all
    groups of a person publish the same candidates, since the person's own last changed, and people who were together stay
    together.
    `schema`, `principles`: needed where a distance is a function of your own, or a principle is not registered.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> schema, rule = sf.Schema(["age"], ["ill"], identifiers=["name"]), sf.DistinctLDiversity(2)
    >>> people = pa.table({"name": list("abcd"), "age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> later = pa.table({"name": list("abce"), "age": [30, 31, 50, 52], "ill": ["flu", "gout", "flu", "cold"]})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     one = sf.anonymize(people, schema, rule).save(f"{place}/1", key=f"{place}/1.json")
    ...     two = sf.anonymize(later, schema, rule, after=(one, f"{place}/1.json")).save(f"{place}/2", key=f"{place}/2.json")
    ...     result = verify_sequence([one, two], [people, later], keys=[f"{place}/1.json", f"{place}/2.json"])
    >>> result.holds, [check.name for check in result.checks]
    (True, ['version 1', 'version 2', 'chain', 'requirements', 'columns', 'counterfeits', 'candidates'])
    """
    if not folders:
        raise ParameterError("there is no release to verify", remedy="Name the folders of the releases.", key="folders")
    for name, given in (("originals", originals), ("keys", keys)):
        if given is not None and len(given) != len(folders):
            raise ParameterError(
                f"there are {len(folders)} releases and {len(given)} {name}",
                remedy=f"Pass one of the {name} for each release, in the same order, or none at all.",
                key=name,
            )
    with engine_of(engine, None).running():
        sequence = _Sequence([Manifest.load(Path(folder)) for folder in folders], schema, principles)
        tables = [None] * len(folders) if originals is None else [*originals]
        files = [None] * len(folders) if keys is None else [*keys]
        checks = [
            _version(number, folder, table, Expectations(schema, key=key))
            for number, (folder, table, key) in enumerate(zip(folders, tables, files, strict=True), 1)
        ]
        checks += [sequence.chain(), sequence.requirements(), sequence.columns(), sequence.counterfeits()]
        if originals is None or keys is None:
            checks.append(Check("candidates", None, _NOT_CHECKED))
        elif any(check.holds is False for check in checks):
            checks.append(Check("candidates", None, "not checked: other checks fail"))
        else:
            checks.append(sequence.candidates(tables, files))
    return Verification(" ".join(map(str, folders)), tuple(checks))


def _version(number: int, folder: str | Path, original: Any, expected: Expectations) -> Check:
    """Check one release by itself."""
    name = f"version {number}"
    result = verify_folder(folder, original, expected)
    if not result.holds:
        return Check(name, False, f"{folder}: {result.failures}")
    passed = sum(check.holds is True for check in result.checks)
    unchecked = [check.name for check in result.not_checked if check.name != "candidates"]
    rest = f"; not checked: {', '.join(unchecked)}" if unchecked else ""
    return Check(name, True, f"{folder}: {count_of(passed, 'check')} hold{rest}")


class _Sequence:
    """The releases of a sequence."""

    def __init__(self, manifests: Sequence[Manifest], schema: Schema | None, principles: Sequence[Principle] | None) -> None:
        self.manifests = manifests
        self.documents = [manifest.grouped for manifest in manifests]
        self.schema = schema
        self.principles = tuple(principles) if principles is not None else manifests[-1].principles()

    def chain(self) -> Check:
        """Check that each release names the one before it."""
        first = self.documents[0].after
        start = 1 if first is None else first.version
        for number, (before, document) in enumerate(zip(self.manifests, self.documents[1:], strict=False), start + 1):
            place = f"release {number - start + 1} of the sequence"
            if document.after is None:
                return Check("chain", False, f"{place} does not state that it follows a release")
            if document.after.release != digest(before.path).sha256:
                return Check("chain", False, f"{place} follows another release than {before.folder}")
            if document.after.version != number:
                return Check("chain", False, f"{place} states version {document.after.version}, not {number}")
        if start > 1:
            return Check("chain", None, f"it begins with version {start}; earlier releases were not given")
        return Check("chain", True, f"{count_of(len(self.documents), 'release')}, each follows the one before it")

    def requirements(self) -> Check:
        """Check that all releases have the same requirements."""
        stated = [sorted(map(_plain, document.config.principles or [])) for document in self.documents]
        for number, other in enumerate(stated[1:], 2):
            if other != stated[0]:
                return Check("requirements", False, f"release {number} of the sequence requires something else")
        return Check("requirements", True, f"all require {', '.join(str(p.label) for p in self.principles)}")

    def columns(self) -> Check:
        """Check that all releases have the same columns in the same roles."""
        stated = [sorted((c.name, c.role) for c in document.columns) for document in self.documents]
        for number, other in enumerate(stated[1:], 2):
            if other != stated[0]:
                name = next(iter(dict(set(other) ^ set(stated[0]))))
                return Check("columns", False, f"release {number} of the sequence differs in the column {name!r}")
        return Check("columns", True, f"all have the same {count_of(len(stated[0]), 'column')}")

    def counterfeits(self) -> Check:
        """Report how many rows stand for nobody. Each release is checked by itself against what it allows."""
        claims = [document.after for document in self.documents if document.after is not None]
        total = sum(claim.counterfeits for claim in claims)
        return Check("counterfeits", True, f"{total:,} are declared")

    def candidates(self, originals: Sequence[Any], keys: Sequence[Any]) -> Check:
        """Look up everybody again, from the published files, the originals and the keys."""
        before: History | None = None
        people: set[str] = set()
        for number, (manifest, original, key) in enumerate(zip(self.manifests, originals, keys, strict=True), 1):
            try:
                found, after = self._groups(manifest, original, key)
                problem = None if before is None else continuation_problem(found, before)
                problem = problem or history_problem(found, before if number > 1 else None, after)
            except SfumatoError as error:
                problem = str(error)
            if problem is not None:
                return candidates_result(f"release {number} of the sequence: {problem}", 0)
            before = after
            people |= {who for own in found.people.values() for who in own}
        return candidates_result(None, len(people))

    def _groups(self, manifest: Manifest, original: Any, key: Any) -> tuple[PublishedGroups, History]:
        """Return the groups of one release with their people, and the history that its key states."""
        table, history = manifest.table, read_key(key).history
        declared, _ = table.schema(self.schema)
        source = original_table(table, original, declared)
        rows = key_of(table, Expectations(key=key)).rows
        read = published_table(table, published_schema(declared, table.document.group))
        problem = "the key has no history" if history is None or rows is None else None
        if history is None or rows is None or (problem := mapping_problem(table, read.data, source, declared, rows)):
            raise ReleaseError(str(problem), remedy="Name the key and the original of each release.", file=str(key))
        return PublishedGroups.of(read, declared, table.document.group, source, rows, history.salt), history


def _plain(principle: dict[str, Any]) -> str:
    return repr(sorted(principle.items(), key=str))
