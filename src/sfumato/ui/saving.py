"""Save what was made: the config, the folder of a release, and what its maker keeps. Each appears complete or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

from sfumato.config.config import write_config
from sfumato.config_edits import rebase_paths
from sfumato.errors import ConfigError, FileError
from sfumato.io.atomic_replace import folder_aside, put_in_place, write_file
from sfumato.ui.file_answers import read
from sfumato.ui.session import Session
from sfumato.ui.work import MadeRelease


def path_of(text: str, session: Session) -> Path:
    """Return a path that a person wrote; a relative one starts at the folder of the config."""
    path = Path(text.strip()).expanduser()
    return path if path.is_absolute() or session.place is None else session.place.absolute().parent / path


def save_config(session: Session, path: Path, force: bool) -> str:
    """Write the config to a file, and return its text; relative paths name the same files as before."""
    assert session.text is not None and session.place is not None, "a config is open"
    if path.suffix != ".toml":
        raise ConfigError("a config is a file that ends with .toml", remedy="Name it sfumato.toml.", file=str(path))
    own = path.absolute() == session.place.absolute()
    if path.exists() and not force and not (own and session.saved is not None and _is_as_read(session, path)):
        raise ConfigError(
            "something exists here already", remedy="Tick “replace what is there”, or name another file.", file=str(path)
        )
    text = rebase_paths(session.text, session.place.absolute().parent, path.absolute().parent)
    try:
        write_config(path, text)
    except OSError as error:
        raise _failed(error, path) from error
    return text


def _is_as_read(session: Session, path: Path) -> bool:
    """Return whether a file still has the text that was read from it, or was written to it last."""
    try:
        return path.read_text(encoding="utf-8") == session.saved
    except (OSError, ValueError):
        return False


def save_release(chosen: MadeRelease, folder: Path, force: bool, source: Path | None) -> Path:
    """Copy the folder of a release to its place; its files are checked there against release.json."""
    from sfumato.releases.digests import check_digests
    from sfumato.releases.folder import free_target, is_release
    from sfumato.releases.reader import Manifest

    target = free_target(folder, force, [source])
    files = sorted(chosen.release.iterdir()) if chosen.release.is_dir() else []
    if not files:
        raise FileError("the release is no longer there", remedy="Make it again.", file=chosen.release.name)
    try:
        with folder_aside(target) as aside:
            for path in files:
                shutil.copyfile(path, aside / path.name)
            check_digests(Manifest.load(aside))  # a file that was changed, or is cut off, is found before it is in place
            aside.chmod(chosen.release.stat().st_mode & 0o777)
            put_in_place(aside, target, is_release if force else None)
    except FileExistsError:
        raise FileError("something appeared here meanwhile", remedy="Name a new folder.", file=str(target)) from None
    except OSError as error:
        raise _failed(error, target) from error
    return target


def save_private(chosen: MadeRelease, place: Path, folder: Path, force: bool, which: str) -> Path:
    """Write the key or the internal report to a file that only its owner can read; never inside a release."""
    from sfumato.releases.folder import free_page
    from sfumato.releases.row_key import is_key

    target = free_page(place, folder, force, is_key if which == "key" else None)
    content = read(chosen.key if which == "key" else chosen.internal)
    try:
        write_file(target, lambda file: file.write(content), private=True)
    except OSError as error:
        raise _failed(error, target) from error
    return target


def _failed(error: OSError, path: Path) -> FileError:
    return FileError(
        f"it cannot be written: {error.strerror}",
        remedy="Make room, or save it elsewhere. Nothing was left half-written, and what was made is still here.",
        file=str(path),
    )
