"""Draw screens and their parts from templates. All text is escaped; cells are shown on one line, and long ones cut."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.config_edits import line_of
from sfumato.errors import SfumatoError
from sfumato.plurals import count_of
from sfumato.ui.config_history import ConfigHistory, Step
from sfumato.ui.invalid_entries import entry_name, keys_of, removable_entry
from sfumato.ui.screen import Screen, Values
from sfumato.ui.session import CONFIG_NAME, Session
from sfumato.visible_text import one_line, visible

_TEMPLATES = Path(__file__).parent / "templates"
_STEPS = 60
"""The steps of the history that are listed."""

_LONGEST = 160
"""The most characters of a cell that are shown."""


@cache
def environment() -> Any:
    """Return the templates; everything that they show is escaped."""
    import jinja2

    result = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.filters |= {"cell": shown_cell, "number": number, "share": share, "visible": visible, "line": one_line}
    result.globals |= {"counted": count_of}
    return result


def shown_cell(value: Any) -> str:
    r"""Return a cell as text on one line; a long one is cut.

    >>> shown_cell("a\nb"), len(shown_cell("x" * 1000))
    ('a\\u000ab', 161)
    """
    text = one_line(str(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def number(value: float) -> str:
    """Return a number with separators of thousands."""
    return f"{value:,}"


def share(part: float, whole: float = 1) -> str:
    """Return a share in percent; only an exact 0 or 1 is shown as 0 or 100.

    >>> share(1, 3), share(1, 10_000), share(9_999, 10_000), share(0, 5), share(5, 5)
    ('33.3 %', '< 0.1 %', '> 99.9 %', '0 %', '100 %')
    """
    if part <= 0 or part >= whole:
        return "0 %" if part <= 0 else "100 %"
    percent = 100 * part / whole
    return "< 0.1 %" if percent < 0.1 else "> 99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def digest(key: Any) -> str:
    """Return a short name for the key of a part; equal keys have equal names."""
    return hashlib.sha256(repr(key).encode()).hexdigest()[:20]


def render_screen(
    session: Session, screens: Mapping[str, Screen], screen: Screen, query: Values, base: str, **fields: Any
) -> str:
    """Return the page of a screen. `base`: the secret path. `fields`: `error` or `said` of an action."""
    problem = session.config_error or session.misfit
    content: Mapping[str, Any] = {}
    try:
        if session.text is not None and (problem is None or not screen.needs_table):
            content = screen.content(session, query)
    except SfumatoError as error:
        problem = error
    usable = session.text is not None and problem is None
    template = f"{screen.name}_screen.html.j2" if usable or not screen.needs_table else "no_table.html.j2"
    shown = usable or (not screen.needs_table and session.data_config is not None)
    keys = {name: digest(part.key(session, query)) for name, part in screen.parts.items()} if shown else {}
    fields = {"error": None, "said": "", **fields, **content}
    fields |= {"problem": problem, "keys": keys, **_located(session.text or "", problem)}
    page: str = (
        environment()
        .get_template(template)
        .render(
            base=base,
            screen=screen,
            screens=screens.values(),
            session=session,
            query=query,
            place=CONFIG_NAME if session.place is None else session.place,
            history=session.history,
            shown_steps=_shown_steps(session.history),
            change_of_file=session.opened.change_of_file(),
            snippets=screen.snippets(session) if usable else None,
            **fields,
        )
    )
    return page


def _shown_steps(history: ConfigHistory) -> list[tuple[int, Step]]:
    """Return the first step and the last ones, with their numbers."""
    numbered = list(enumerate(history.steps))
    return numbered if len(numbered) <= _STEPS else [numbered[0], *numbered[1 - _STEPS :]]


def _located(text: str, problem: SfumatoError | None) -> dict[str, Any]:
    """Return the lines of the config around an error (number, text, whether it is there), and the entry to remove."""
    if problem is None:
        return {"problem_lines": [], "removable": None}
    stated, keys = re.search(r"at line (\d+)", problem.problem), keys_of(problem, text)
    at = int(stated[1]) if stated else line_of(text, keys) if keys else None
    entry, lines = removable_entry(problem, text), text.splitlines()
    around = [] if at is None else range(max(1, at - 2), min(len(lines), at + 2) + 1)
    return {
        "problem_lines": [(number, lines[number - 1], number == at) for number in around],
        "removable": None if entry is None else entry_name(entry, text),
    }


def render_part(session: Session, name: str, values: Mapping[str, Any], query: Values, base: str) -> str:
    """Return a part of a screen."""
    template = environment().get_template(f"{name}_part.html.j2")
    page: str = template.render(base=base, session=session, query=query, history=session.history, **values)
    return page


def render_error(error: SfumatoError) -> str:
    """Return an error as the content of a part."""
    page: str = environment().get_template("error_part.html.j2").render(error=error)
    return page
