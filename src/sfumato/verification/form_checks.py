"""Check that files are written as this version writes them: any other form of the same content may hide something in it.

Spaces in release.json, quotes in a CSV, metadata of a Parquet file and a changed report say nothing that another check would
look at. So each file is written again from what was read, and compared byte by byte.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from sfumato.errors import SfumatoError
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.releases.models import Document
from sfumato.releases.reader import REPORT, Manifest
from sfumato.releases.writer import differing_versions
from sfumato.storage import active_storage
from sfumato.verification.checks import Check

FORMED_SINCE = 5
"""The first format whose files are compared with what this version writes."""

OTHERS_FAIL = "not checked: another check fails"

_WRITER = re.compile(r"parquet-cpp-arrow version [0-9]+\.[0-9]+\.[0-9]+")


def form_checks(manifest: Manifest, others: Sequence[Check]) -> list[Check]:
    """Check release.json and the report, if no other check fails."""
    if any(check.holds is False for check in others):
        return [Check("json", None, OTHERS_FAIL), Check("report", None, OTHERS_FAIL)]
    reason = _unknown_form(manifest.document)
    if reason is not None:
        return [Check("json", None, reason), Check("report", None, reason)]
    try:
        same = manifest.path.read_bytes() == manifest.document.to_json().encode()
    except ValueError:  # a number that JSON does not have, or a text that is not valid Unicode
        same = False
    detail = "release.json is written as this version writes it"
    json = Check("json", same, detail if same else "release.json is written in another way, and may hide something in it")
    return [json, _report_check(manifest)]


def _unknown_form(document: Document) -> str | None:
    """Return why the files of a release may be written in another way; None if they may not."""
    if document.format < FORMED_SINCE:
        return f"not checked: format {document.format} may be written in another way"
    versions = differing_versions(document)
    return f"not checked: {versions[0]}" if versions else None


def _report_check(manifest: Manifest) -> Check:
    """Draw the report again from release.json."""
    if REPORT not in manifest.files:
        return Check("report", None, "not checked: the release has no report")
    document = manifest.document
    data = document.with_files({name: file for name, file in manifest.files.items() if name != REPORT})
    try:
        page: str = manifest.release_kind.load("page")(data)
    except SfumatoError as error:
        return Check("report", False, f"the report cannot be drawn from release.json: {error.problem}")
    same = page.encode() == (manifest.folder / REPORT).read_bytes()
    detail = "the report is the one that is drawn from release.json"
    return Check("report", same, detail if same else "the report is not the one that is drawn from release.json")


def data_form_check(
    path: Path, document: Document, data: pa.Table, separators: Mapping[str, str], unchanged: Sequence[str] = ()
) -> Check:
    """Check that a data file is what this version writes for its content.

    `data`: as it was read. `separators`, `unchanged`: as for `write_csv`. A Parquet file is written again only where it fits
    into memory and is read with the types that it was written with; otherwise its metadata is checked.
    """
    if path.suffix != ".csv" and (problem := metadata_problem(path)) is not None:
        return Check("form", False, problem)
    reason = _unknown_form(document)
    if reason is not None:
        return Check("form", None, reason)
    if path.suffix != ".csv" and (active_storage() is not None or not _keeps_types(path)):
        return Check("form", True, f"{path.name} has no metadata beyond its schema")
    with path.open("rb") as file:
        sink = _Comparison(file)
        if path.suffix == ".csv":
            write_csv(data, sink, separators, unchanged)
        else:
            from pyarrow import parquet

            whole = io.BytesIO()
            write_parquet(parquet.ParquetFile(path).read(), whole)
            sink.write(whole.getbuffer())
        same = sink.same
    detail = f"{path.name} is written as this version writes it"
    return Check("form", same, detail if same else f"{path.name} is written in another way, and may hide something in it")


def _keeps_types(path: Path) -> bool:
    """Return whether a Parquet file that is read and written again has the same types: lists and dates may not."""
    from pyarrow import parquet

    types = [field.type for field in parquet.ParquetFile(path).schema_arrow]
    return not any(pa.types.is_nested(kind) or pa.types.is_date(kind) for kind in types)


def metadata_problem(path: Path) -> str | None:
    """Return what a Parquet file says beyond its table; None if that is nothing."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    extra = sorted(key.decode(errors="replace") for key in file.metadata.metadata or {} if key != b"ARROW:schema")
    if extra:
        return f"{path.name} has the metadata {extra[0]!r}, which no release has"
    schema = file.schema_arrow
    if schema.metadata:
        return f"{path.name} has metadata of its schema, which no release has"
    named = [field.name for field in schema if set(field.metadata or {}) - {b"PARQUET:field_id"}]
    if named:
        return f"{path.name} has metadata of the column {named[0]!r}, which no release has"
    if not _WRITER.fullmatch(file.metadata.created_by or ""):
        return f"{path.name} was not written by this program"
    return None


class _Comparison(io.BytesIO):
    """A file that compares what is written to it with the content of another."""

    def __init__(self, other: BinaryIO) -> None:
        super().__init__()
        self._other, self._same = other, True

    def write(self, content: Any) -> int:
        new = np.frombuffer(content, np.uint8)
        if self._same:
            old = np.frombuffer(self._other.read(len(new)), np.uint8)
            self._same = len(old) == len(new) and bool((old == new).all())
        return len(new)

    @property
    def same(self) -> bool:
        """Whether what was written is all that the other file contains."""
        return self._same and not self._other.read(1)
