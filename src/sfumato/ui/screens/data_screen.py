"""Screen 1, the table: open one, and see how it was read and what its rows contain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pyarrow as pa

from sfumato.io.database_uri import is_uri, shown
from sfumato.ui.opening import open_source
from sfumato.ui.screen import Change, Part, Screen, Snippets, Values
from sfumato.ui.session import Session

WINDOW = 50
"""The number of rows that are shown at a time."""

_MOST_COLUMNS = 200
"""More columns than this are left out of the grid."""


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    return {"start": _start(query)}


def _start(query: Values) -> int:
    """Return the number of the first row that is shown, from 1."""
    text = query.get("row", "1")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 12 else 1


def _rows_key(session: Session, query: Values) -> Hashable:
    return session.data_key, _start(query)


def _rows(session: Session, query: Values) -> Mapping[str, Any]:
    raw = session.raw
    start = min(_start(query), raw.rows)
    names = raw.data.column_names
    part = raw.data.slice(start - 1, WINDOW).select(names[:_MOST_COLUMNS])
    columns = [column.to_pylist() for column in part.columns]
    return {
        "names": names[:_MOST_COLUMNS],
        "numeric": [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in part.schema.types],
        "left_out": max(0, len(names) - _MOST_COLUMNS),
        "cells": list(zip(*columns, strict=True)),
        "start": start,
        "end": start + part.num_rows - 1,
        "rows": raw.rows,
        "window": WINDOW,
    }


def _reading(session: Session, query: Values) -> Mapping[str, Any]:
    raw = session.raw
    config = session.data_config
    assert config is not None, "a table is read from a config"
    source = config.data_source()
    facts = [("Rows", f"{raw.rows:,}"), ("Columns", f"{len(raw.data.column_names):,}")]
    names = {"delimiter": "Cells are separated by", "encoding": "Encoding", "sheet": "Sheet"}
    spelled = {";": "semicolon", ",": "comma", "\t": "tab", "|": "vertical bar", " ": "space"}
    facts += [(names.get(key, key), spelled.get(value, value)) for key, value in raw.reading.items()]
    if raw.untyped:
        facts.append(("Types", "none in the file: kinds are found from the cells"))
    return {
        "source": shown(str(source)) if is_uri(str(source)) else str(source),
        "facts": facts,
        "notes": raw.notes,
    }


def _open(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    session.check_unsaved(drop=form.get("drop") == "yes")
    open_source(session, form.get("source", ""), query=form.get("query"), table=form.get("table"), sheet=form.get("sheet"))
    return Change("The table is open.")


def _read_again(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    session.read_again()
    return Change("The table was read again.")


def _snippets(session: Session) -> Snippets:
    config = session.config
    assert config is not None, "without a config nothing is shown"
    path = config.data.path
    options = {key: getattr(config.data, key) for key in ("query", "table", "sheet")}
    flags = "".join(f" --{key} {_shell(value)}" for key, value in options.items() if value is not None)
    keywords = "".join(f", {key}={value!r}" for key, value in options.items() if value is not None)
    return Snippets(
        f"sfumato init {_shell(path)}{flags}",
        f"import sfumato as sf\n\ntable = sf.read_table({path!r}, sf.Schema(){keywords})\nprint(sf.profile(table))\n",
    )


def _shell(text: str) -> str:
    import shlex

    return shlex.quote(text)


DATA = Screen(
    name="data",
    title="Data",
    content=_content,
    snippets=_snippets,
    actions={"open": _open, "again": _read_again},
    parts={
        "reading": Part(lambda session, query: session.data_key, _reading),
        "rows": Part(_rows_key, _rows),
    },
    needs_table=False,
)
