"""The frame of every report: one page that opens without a network, under a policy that forbids it to ask for anything."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.plurals import count_of
from sfumato.reports.plots.figure import Numbered, percent

_HERE = Path(__file__).parent


def framed(template: Path, numbered: Numbered, *, version: str, internal: Any, **told: Any) -> str:
    """A page from its template: figures as data that its own scripts draw, and nothing from elsewhere.

    `template`: the file, which lies beside the code of its product.
    `version`: of the sfumato that measured what is shown. `internal`: whether the page must not be published; it is then
    marked so throughout. `told`: what the template asks for beyond the frame.
    """
    island = json.dumps({f.key: f.spec for f in numbered.figures}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    scripts = [_plotly(), (_HERE / "page.js").read_text(encoding="utf-8")]
    text: str = (
        _templates(template.parent)
        .get_template(template.name)
        .render(
            version=version,
            internal=internal,
            number={figure.key: number for number, figure in enumerate(numbered.figures, 1)},
            island=island.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
            style=(_HERE / "page.css").read_text(encoding="utf-8"),
            scripts=scripts,
            hashes=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
            percent=percent,
            counted=count_of,
            **told,
        )
    )
    return text


@contextmanager
def torn(what: str, remedy: str, key: str) -> Iterator[None]:
    """While a page is drawn from plain data, say of data that cannot be drawn that it is torn."""
    import jinja2

    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, jinja2.TemplateError) as error:
        raise ReleaseError(f"{what} ({type(error).__name__}: {error})", remedy=remedy, key=key) from error


@cache
def _plotly() -> str:
    """The plotting library, as it stands in its package."""
    file = resources.files("plotly") / "package_data" / "plotly.min.js"
    return file.read_text(encoding="utf-8")


@cache
def _templates(folder: Path) -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _HERE]), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
