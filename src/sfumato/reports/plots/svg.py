"""SVG markup that stretches: horizontal places in percent of the plot's width, vertical ones and all text in pixels.

A drawing therefore keeps the size of its text on a phone, on a desk and on paper, and needs no script. Places are strings
such as `12.5%` (horizontal) or numbers of pixels. Colours are classes of `page.css`, so that dark screens and paper can
have their own.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BEFORE, AFTER, BREACH = "before", "after", "breach"
INK, FAINT, PALE, SAND = "ink", "faint", "pale", "sand"
SERIES = ("line-1", "line-2", "line-3", "line-4", "line-5", "line-6")
"""Colours of lines, which their markers distinguish too."""
SHADES = ("shade-1", "shade-2", "shade-3", "shade-4")
"""One colour from light to dark, for an ordered series."""

_LONGEST = 34
"""Characters of a label in a plot; the table below the plot contains the whole text."""
_WIDTHS = {**dict.fromkeys("mwMW@%—…→∞", 0.95), **dict.fromkeys(" .,:;!|'ijl()[]", 0.36)}
"""The widths of characters of a sans-serif font, in ems, a little too wide on purpose; of all others, see `text_width`."""

SHAPES = {
    "circle": "",
    "diamond": "M0-{s}L{s} 0 0 {s}-{s} 0Z",
    "square": "M-{t}-{t}H{t}V{t}H-{t}Z",
    "triangle": "M0-{s}L{s} {t}-{s} {t}Z",
    "cross": "M-{t}-{t}L{t} {t}M{t}-{t}L-{t} {t}",
    "star": "M0-{s}V{s}M-{s} 0H{s}M-{t}-{t}L{t} {t}M{t}-{t}L-{t} {t}",
    "tick": "M0-{s}V{s}",
}
"""The outlines of markers; `{s}` is the radius, `{t}` 0.8 of it. A circle has an element of its own."""
_OPEN = ("cross", "star", "tick")
"""Markers that are drawn as strokes."""


@dataclass(frozen=True)
class Drawing:
    """The content of an SVG element, with its height and the room that it needs at its sides, all in pixels."""

    content: str
    height: float
    left: int = 0
    right: int = 0
    width: int | None = None
    """The width of a drawing that does not stretch."""

    def markup(self, label: str) -> str:
        """Return the SVG element. `label` describes it for readers who do not see it."""
        width = {} if self.width is None else {"width": self.width}
        margins = "fixed" if self.width is not None else margin_class(self)
        return element(
            "svg", self.content, role="img", aria_label=label, height=self.height, **width, class_=margins, focusable="false"
        )


def margin_class(drawing: Drawing) -> str:
    """Return the name of the CSS class that leaves room beside a drawing."""
    return f"room-{drawing.left}-{drawing.right}"


def margin_rules(drawings: Iterable[Drawing]) -> str:
    """Return the CSS rules of the margin classes that these drawings use.

    The rules are part of the page's one style sheet, because the content security policy forbids `style` attributes.

    >>> margin_rules([Drawing("", 10, 40, 12), Drawing("", 20, 40, 12)])
    '.room-40-12{margin-left:40px;width:calc(100% - 52px)}'
    """
    used = {(drawing.left, drawing.right): margin_class(drawing) for drawing in drawings if drawing.width is None}
    return "".join(
        f".{name}{{margin-left:{left}px;width:calc(100% - {left + right}px)}}"
        for (left, right), name in sorted(used.items())
    )


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element. Attribute values are escaped; `content` is markup already.

    Underscores in attribute names become hyphens, and a trailing one is dropped. None leaves an attribute out.

    >>> element("text", "a &lt; b", x="5%", text_anchor="end", class_='a"b', y=None)
    '<text x="5%" text-anchor="end" class="a&quot;b">a &lt; b</text>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _value(value: object) -> str:
    return short(value) if isinstance(value, float | int) else str(value)


def short(number: float) -> str:
    """Return a number of pixels or percent in as few characters as the eye needs.

    >>> [short(number) for number in (12.0, 0.126, -0.001)]
    ['12', '0.13', '0']
    """
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def across(fraction: float) -> str:
    """Return a fraction of the plot's width as a place.

    >>> across(0.125)
    '12.5%'
    """
    return f"{short(100 * fraction)}%"


def tooltip(text: str) -> str:
    """Return the title of a shape, which browsers show when the pointer is on it."""
    return f"<title>{plain(text, 200)}</title>" if text else ""


def label(
    text: str, x: str | float, y: float, anchor: str = "start", kind: str = "", *, dx: float | None = None, title: str = ""
) -> str:
    """Return a line of text. `text` may contain anything; it is shown as text. `dx`: pixels to the right of `x`."""
    where = None if anchor == "start" else anchor
    return element("text", tooltip(title) + plain(text, 200), x=x, y=y, dx=dx, text_anchor=where, class_=kind)


def marker(
    shape: str, x: str, y: float, size: float, colour: str, title: str = "", *, hollow: bool = False, kind: str = ""
) -> str:
    """Return a marker of a point. `size` is its diameter. A hollow marker is an outline."""
    classes = " ".join(filter(None, [colour, "hollow" if hollow or shape in _OPEN else "", kind]))
    if shape == "circle":
        return element("circle", tooltip(title), cx=x, cy=y, r=size / 2, class_=classes)
    path = SHAPES[shape].format(s=short(size / 2), t=short(0.4 * size))
    return element("svg", element("path", tooltip(title), d=path, class_=classes), x=x, y=y)


def plain(text: object, longest: int = _LONGEST) -> str:
    """Return a text as a plot shows it: shortened, printable and escaped.

    >>> plain("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    return html.escape(shortened(text, longest), quote=False)


def shortened(text: object, longest: int = _LONGEST) -> str:
    r"""Return a text on one line, without control characters, cut at its end.

    >>> shortened("Guinea\npig", 8), shortened(" ")
    ('Guinea …', '(empty)')
    """
    shown = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split()) or "(empty)"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def both_ends(text: object, longest: int) -> str:
    """Return a text cut in its middle: column names, such as those of a set's items, often differ at the end.

    >>> both_ends("household_status=married", 20), both_ends("job", 20)
    ('household…us=married', 'job')
    """
    shown = str(text)
    if len(shown) <= longest:
        return shortened(shown, longest)
    end = longest // 2
    return shortened(f"{shown[: longest - 1 - end]}…{shown[-end:]}", longest)


def text_width(text: str, size: float = 12) -> float:
    """Return about how many pixels a text needs in a font of this size.

    >>> text_width("abc") < text_width("疾病疾")
    True
    """
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return 0.74 if character.isupper() else 0.62


def widest(labels: Sequence[str], size: float = 12) -> float:
    """Return about how many pixels the widest of some labels needs."""
    return max((text_width(text, size) for text in labels), default=0.0)
