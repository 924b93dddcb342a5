"""Screen 8, save: the config, the release, and what its maker keeps."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import ConfigError
from sfumato.io.database_uri import is_uri
from sfumato.ui.file_answers import archive_answer
from sfumato.ui.saving import path_of, save_config, save_private, save_release
from sfumato.ui.screen import Change, Screen, Snippets, Values
from sfumato.ui.screens.release_screen import number_of, release_call
from sfumato.ui.session import Session
from sfumato.ui.work import work_of


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    work, config = work_of(session), session.config
    assert session.place is not None, "without a config nothing is shown"
    found = [one for one in work.candidates if str(one.number) == query.get("release")]
    output = None if config is None else config.output
    chosen = found[0] if found else work.candidates[-1] if work.candidates else None
    kept = {} if chosen is None else chosen.places
    return {
        "candidates": list(work.candidates),
        "chosen": chosen,
        "config_place": session.place.absolute(),
        "unsaved": session.text != session.saved,
        "folder": kept.get("folder", "release" if output is None or output.path is None else output.path),
        "key": kept.get("key", "release-key.json" if output is None or output.key is None else output.key),
        "internal": kept.get("internal", "" if output is None or output.internal is None else output.internal),
        "database": None if output is None else output.table,
    }


def _config(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    if session.text is None:
        raise ConfigError("nothing is open", remedy="Open a table or a config first.")
    path = path_of(form.get("path", ""), session)
    text = save_config(session, path, form.get("replace") == "yes")
    if text != session.text:
        session.place = path
        session.edit(f"Saved as {path.name}, with paths from there", lambda _: text)
    session.place, session.saved = path, text
    session.tell_version()
    return Change(f"The config was saved to {path}.")


def _release(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    chosen = work_of(session).candidate(number_of(form))
    folder = path_of(form.get("folder", ""), session)
    force = form.get("replace") == "yes"
    key, internal = form.get("key", "").strip(), form.get("internal", "").strip()
    chosen.places = {"folder": form.get("folder", ""), "key": key, "internal": internal}
    saved = [str(save_release(chosen, folder, force, _source(session)))]
    chosen.saved = saved[0]
    if key and chosen.key.exists():
        saved.append(str(save_private(chosen, path_of(key, session), folder, force, "key")))
    if internal and chosen.internal.exists():
        saved.append(str(save_private(chosen, path_of(internal, session), folder, force, "internal")))
    session.tell_version()
    return Change(f"Saved: {', '.join(saved)}.")


def _source(session: Session) -> Path | None:
    """Return the file of the table, which must not be replaced; None for a database."""
    config = session.config
    source = None if config is None else str(config.data_source())
    return None if source is None or is_uri(source) else Path(source)


def _snippets(session: Session) -> Snippets:
    name = shlex.quote(str(session.place))
    return Snippets(
        f"sfumato anonymize {name} --output release --key release-key.json\nsfumato verify release --original {name}\n",
        release_call(session) + 'folder = release.save("release", key="release-key.json")\n'
        'print(sf.verify(folder, table, key="release-key.json"))\n',
    )


SAVE = Screen(
    name="save",
    title="Save",
    content=_content,
    snippets=_snippets,
    actions={"config": _config, "release": _release},
    files={"archive": archive_answer},
)
