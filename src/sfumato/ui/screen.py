"""What a screen consists of: an address, a template, actions that change the config, and slow parts that load themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sfumato.ui.session import Session

if TYPE_CHECKING:
    from sfumato.ui.file_answers import FileAnswer

Values = Mapping[str, str]
"""What a form or the query of an address contains."""


@dataclass(frozen=True)
class Change:
    """The result of an action: what is announced to screen readers, and the screen that comes next (None: the same)."""

    said: str = ""
    goto: str | None = None


@dataclass(frozen=True)
class Part:
    """A part of a screen that takes time: the page comes without it, and its element loads it.

    The template is `NAME_part.html.j2`. `key` returns everything that the answer depends on, quickly; while it stays the
    same, the answer is kept on the server, and the browser keeps what it shows. `answer` computes, in a thread.
    """

    key: Callable[[Session, Values], Hashable]
    answer: Callable[[Session, Values], Mapping[str, Any]]


@dataclass(frozen=True)
class Snippets:
    """What does the same elsewhere: a command line, and Python."""

    command: str
    python: str


@dataclass(frozen=True)
class Screen:
    """One screen. Its template is `NAME_screen.html.j2`, where NAME is its address."""

    name: str
    title: str
    content: Callable[[Session, Values], Mapping[str, Any]]
    """What the template shows: quick to compute, from the config and from answers that exist already."""
    snippets: Callable[[Session], Snippets]
    """What "Code" shows beside the config."""
    actions: Mapping[str, Callable[[Session, Values, int], Change]] = field(default_factory=dict)
    """Called with the session, the form, and the version that the browser showed. They raise SfumatoError if they refuse."""
    parts: Mapping[str, Part] = field(default_factory=dict)
    files: Mapping[str, Callable[[Session, dict[str, str]], FileAnswer]] = field(default_factory=dict)
    """What is shown in a frame, or stored by the browser, at `SCREEN/file/NAME`."""
    needs_table: bool = True
    """Whether the screen is empty until a table is open."""
