"""What the browser works on: the config with its history, the table that it names, and answers that were computed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.config import Config
from sfumato.config.toml_text import config_text
from sfumato.errors import ConfigError, ParameterError, SfumatoError
from sfumato.ui.config_history import ConfigHistory, Step
from sfumato.ui.invalid_entries import data_section_alone
from sfumato.ui.opened_table import READING, OpenedTable
from sfumato.ui.private_folder import PrivateFolder
from sfumato.ui.process_memory import return_memory

if TYPE_CHECKING:
    from sfumato.data.table import Table

_ANSWERS = 64
"""The number of answers that are kept."""

_LONG = 0.2
"""After an answer that took more seconds than this, memory is returned to the system."""

DRAFT = "draft"
"""The name under which the progress of profile and draft is sent to the pages."""

CONFIG_NAME = "sfumato.toml"


class SupersededError(Exception):
    """A question is no longer asked: the config changed while it waited."""


class BehindError(Exception):
    """A browser tab shows an earlier version of the config, so its change is not made."""


@dataclass(eq=False)
class Session:
    """The state that all tabs of the browser share. Each method may be called by several threads."""

    allow_code: bool = False
    folder: PrivateFolder = field(default_factory=PrivateFolder)
    history: ConfigHistory = field(default_factory=ConfigHistory)
    place: Path | None = None
    """The file that the config is about to be written to, or was read from; relative paths of the config start there."""
    saved: str | None = None
    """The text that the config file has on disk; None if there is no such file."""
    drafted: str | None = None
    """The config that was drafted when the table was opened; it can be drafted again."""
    opening: str = ""
    """The name of what is being opened in a thread, if anything."""
    drafting: bool = False
    """Whether roles and requirements are being suggested in a thread."""
    notice: str = ""
    """What happened last that a person should know and did not ask for."""
    listeners: list[Callable[[dict[str, Any]], None]] = field(default_factory=list)
    """Called with every event: progress of a job, or a new version of the config."""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _answers: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _asked: dict[str, tuple[Hashable, threading.Lock]] = field(default_factory=dict)
    _readings: int = 0
    _opened: OpenedTable = field(default_factory=OpenedTable)
    _parsed: tuple[Any, Config | None, SfumatoError | None] = (None, None, None)
    _data_parsed: tuple[Any, Config | None] = (None, None)

    # --- the config

    @property
    def text(self) -> str | None:
        """The current config as text; None before anything was opened."""
        return self.history.text

    @property
    def config(self) -> Config | None:
        """The current config; None before anything was opened, or if it is invalid."""
        return self._parse()[0]

    @property
    def config_error(self) -> SfumatoError | None:
        """What is invalid in the current config, if anything."""
        return self._parse()[1]

    @property
    def data_config(self) -> Config | None:
        """The current config; if it is invalid, its section [data] alone, so that the table can still be looked at."""
        if self.config is not None or self.text is None:
            return self.config
        with self._lock:
            key = (self.text, self.place)
            if self._data_parsed[0] != key:
                self._data_parsed = (key, self.parsed(data_section_alone(self.text))[0])
            return self._data_parsed[1]

    @property
    def misfit(self) -> SfumatoError | None:
        """What of a valid config does not fit the table, such as a column that it does not have; only once it was read."""
        config = self.config
        if config is None or not self._opened.has_read(config):
            return None
        try:
            _ = self._opened.read(config)
        except SfumatoError as error:
            return error
        return None

    def _parse(self) -> tuple[Config | None, SfumatoError | None]:
        with self._lock:
            key = (self.text, self.place)
            if self._parsed[0] != key:
                self._parsed = (key, *self.parsed(self.text)) if self.text is not None else (key, None, None)
            return self._parsed[1:]

    def parsed(self, text: str) -> tuple[Config | None, SfumatoError | None]:
        """Return a text as a config, or what is invalid in it."""
        try:
            config = Config.parse(text, self.place, allow_code=self.allow_code)
            _ = config.schema
        except SfumatoError as error:
            return None, error
        return config, None

    def edit(
        self,
        label: str,
        change: Callable[[str], str],
        version: int | None = None,
        subject: str = "",
        check: Callable[[Config], object] = lambda config: None,
    ) -> None:
        """Make a change of the config a step of the history.

        `version`: the one that the browser showed; another one than the current raises. A change after which the config
        is invalid raises, except if it is invalid already. `check` is called with the new config, and may raise as well.
        """
        with self._lock:
            self.check_version(version)
            if self.text is None:
                raise ConfigError("nothing is open", remedy="Open a table or a config first.")
            text = change(self.text)
            config, error = self.parsed(text)
            if error is not None and self.config_error is None:
                raise error
            if config is not None:
                check(config)
            self.history.add(Step(label, text, subject))
            self.notice = ""
        self.tell_version()

    def move(self, direction: str, version: int | None = None) -> None:
        """Undo, redo, or go to the step of a number."""
        with self._lock:
            self.check_version(version)
            position = {"undo": self.history.position - 1, "redo": self.history.position + 1}.get(direction)
            if position is None and not (direction.isascii() and direction.isdigit() and len(direction) < 6):
                raise ParameterError(f"{direction!r} is no step", remedy="Reload the page.", key="go", value=direction)
            self.history.go(int(direction) if position is None else position)
        self.tell_version()

    def check_version(self, version: int | None) -> None:
        """Raise an error if the browser showed another version of the config than the current one."""
        if version is not None and version != self.history.version:
            raise BehindError

    def tell(self, event: dict[str, Any]) -> None:
        """Send an event to every open page."""
        for listener in list(self.listeners):
            listener(event)

    def tell_version(self) -> None:
        """Tell every open page the current version and state."""
        self.tell({"version": self.history.version, "state": self.state})

    @property
    def state(self) -> str:
        """What every page says beside its content: what is opened or suggested in threads, and what went wrong."""
        return "\n".join([self.opening, "drafting" if self.drafting else "", self.notice, str(self.misfit or "")])

    def key_of(self, *sections: str) -> Hashable:
        """Return a key that changes when the table or one of these sections of the config changes."""
        config = self.config
        stated = None if config is None else repr(config.model_dump(include=set(sections)))
        return self.data_key, self.place, stated

    @property
    def data_key(self) -> Hashable:
        """A key that changes when another table is read."""
        config = self.data_config
        return (self._readings, None if config is None else repr(config.data.model_dump(include=READING)))

    # --- opening

    @property
    def has_unsaved_work(self) -> bool:
        """Whether a person made changes that no file has."""
        known = (self.saved,) if self.saved is not None else (self.history.steps[0].text if self.history.steps else None,)
        return self.text is not None and self.text not in (*known, self.drafted)

    def check_unsaved(self, drop: bool) -> None:
        """Raise an error if opening something else would lose changes, and that was not agreed to with `drop`."""
        if self.has_unsaved_work and not drop:
            raise ConfigError(
                "the changes of the config are not saved, and would be lost",
                remedy="Save the config first, or tick that its changes may be lost.",
            )

    def open_config(self, path: Path) -> None:
        """Open a config file; an invalid one as well, so that it can be corrected."""
        text = config_text(path)
        self._start(Step(f"Opened {path.name}", text), path, text)

    def open_table(self, source: str, folder: Path, options: dict[str, str]) -> None:
        """Open a table: begin with a config that names it, and draft the rest in a thread."""
        from sfumato.profiling.config_draft import data_section

        place = folder / CONFIG_NAME
        text = data_section(source, place, options)
        config = Config.parse(text, place, allow_code=self.allow_code)
        opened = OpenedTable()
        opened.read(config)  # raises before anything of the last session is lost
        with self._lock:
            self._opened = opened
            self.drafting = True
            self._start(Step(f"Opened {Path(source).name}", text), place, None)
            version = self.history.version
        threading.Thread(target=self._draft, args=(source, place, options, version), daemon=True).start()

    def open_in_thread(self, name: str, work: Callable[[], None]) -> None:
        """Open something in a thread; every page shows that, and then the result or the error."""

        def run() -> None:
            try:
                work()
            except (SfumatoError, OSError) as error:
                self.notice = str(error)
            except BaseException:
                self.notice = "This is a fault of sfumato; the terminal shows where."
                raise
            finally:
                self.opening = ""
                self.tell_version()

        self.opening = name
        threading.Thread(target=run, daemon=True).start()

    def _start(self, step: Step, place: Path, saved: str | None) -> None:
        with self._lock:
            self.history.start(step)
            self.place, self.saved, self.drafted, self.notice = place, saved, None, ""
            self._answers.clear()
        self.tell_version()

    def _draft(self, source: str, place: Path, options: dict[str, str], version: int) -> None:
        from sfumato.profiling import draft

        try:
            found = self.profile()
            self._tell_draft("suggesting requirements")
            text = draft(found, source, place, **options)
        except SfumatoError as error:
            self.notice = f"No roles could be suggested: {error}"
        else:
            with self._lock:
                if self.history.version == version and self.parsed(text)[1] is None:
                    self.history.add(Step("Suggested roles and requirements", text))
                    self.drafted = text
        finally:
            return_memory()  # the draft tries requirements on the whole table
            self.drafting = False
            self.tell_version()

    # --- the table and questions about it

    @property
    def table(self) -> Table:
        """The table that the config names, with its schema; read once, and again when the config names another one."""
        config = self.config
        if config is None:
            raise self.config_error or ConfigError("nothing is open", remedy="Open a table or a config first.")
        with self._lock:
            opened = self._opened
        return opened.read(config)

    @property
    def raw(self) -> Table:
        """The table as it was read, without roles; also if another section of the config than [data] is invalid."""
        config = self.data_config
        if config is None:
            raise self.config_error or ConfigError("nothing is open", remedy="Open a table or a config first.")
        with self._lock:
            opened = self._opened
        known = opened.has_read(config)
        raw = opened.read_raw(config)
        if not known and self.misfit is not None:
            self.tell_version()  # pages that were drawn before do not show it
        return raw

    @property
    def opened(self) -> OpenedTable:
        """What is known about the file of the table."""
        return self._opened

    def check_column(self, config: Config, name: str) -> None:
        """Raise an error if a column of the table does not fit what a config declares about it."""
        _ = self._opened.read(config).column(name).paths

    def read_again(self) -> None:
        """Forget the table and all answers about it, because its file changed."""
        with self._lock:
            self._opened = OpenedTable()
            self._readings += 1
            self._answers.clear()
            self.history.version += 1
        self.tell_version()

    def profile(self) -> Any:
        """Return the profile of the table; it does not depend on roles."""
        from sfumato.profiling import profile

        def compute() -> Any:
            found = profile(self.raw, progress=self._tell_draft)
            self.opened.share(found.table_with_roles)
            return found

        return self.answer("profile", ("profile", self.data_key), compute)

    def _tell_draft(self, step: str, share: float | None = None) -> None:
        """Tell every page what the draft is doing; no share of it all is known."""
        self.tell({"job": DRAFT, "step": f"{step} …"})

    def answer(self, topic: str, key: Hashable, compute: Callable[[], Any], *, gives_way: bool = False) -> Any:
        """Return the answer to a question, computed once per key. Questions of a topic are computed one after the other.

        `gives_way`: if a later question of the topic comes while this one waits, SupersededError is raised in its place.
        """
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
            lock = self._asked[topic][1] if topic in self._asked else threading.Lock()
            self._asked[topic] = (key, lock)
        with lock:
            with self._lock:
                if key in self._answers:
                    return self._answers[key]
                if gives_way and self._asked[topic][0] != key:
                    raise SupersededError
            began = time.monotonic()
            result = compute()
            if time.monotonic() - began > _LONG:
                return_memory()
            with self._lock:
                self._answers[key] = result
                while len(self._answers) > _ANSWERS:
                    self._answers.popitem(last=False)
            return result

    @cached_property
    def jobs(self) -> dict[str, Any]:
        """Long work that is in progress, by its name; screens put theirs here."""
        return {}
