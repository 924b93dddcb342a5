"""The frame of every report: one page that opens without a network, under a policy that forbids all requests."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.plurals import count_of
from sfumato.reports.plots.figure import Numbered, percent
from sfumato.reports.plots.svg import margin_rules

_HERE = Path(__file__).parent
_INTERNAL_STYLE = (
    '@page { @top-center { content: "Internal: for the review board, not for publication"; '
    "font: bold 9pt sans-serif; color: #b3261e; } }"
)


def render_page(template: Path, numbered: Numbered, *, version: str, internal: Any, **fields: Any) -> str:
    """Return a page as HTML. It contains its drawings, one style sheet and one script, and refers to nothing outside.

    `template`: the file, which is located beside the code of its product. `version`: of the sfumato that measured what is
    shown. `internal`: whether the page must not be published; it is then marked so throughout. `fields`: what the template
    uses beyond the frame.
    """
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    style = (_HERE / "page.css").read_text(encoding="utf-8") + margin_rules(figure.drawing for figure in numbered.figures)
    if internal:
        style += _INTERNAL_STYLE
    text: str = (
        _templates(template.parent)
        .get_template(template.name)
        .render(
            version=version,
            internal=internal,
            number={figure.key: number for number, figure in enumerate(numbered.figures, 1)},
            style=style,
            style_hash=_hash(style),
            script=script,
            script_hash=_hash(script),
            percent=percent,
            counted=count_of,
            **fields,
        )
    )
    return text


def _hash(text: str) -> str:
    """Return the digest by which the content security policy allows a script or a style sheet."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@contextmanager
def invalid_content(problem: str, remedy: str, key: str) -> Iterator[None]:
    """Turn any error from drawing invalid plain data into a `ReleaseError` with this problem."""
    import jinja2

    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, jinja2.TemplateError) as error:
        raise ReleaseError(f"{problem} ({type(error).__name__}: {error})", remedy=remedy, key=key) from error


@cache
def _templates(folder: Path) -> Any:
    """Return the templates of a product and those of the frame."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
