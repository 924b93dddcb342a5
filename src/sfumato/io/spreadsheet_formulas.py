"""Cells that a spreadsheet would run as a formula: escaped when they are written to CSV, and restored when they are read.

A cell that begins with =, +, - or @ (plain or full-width, also after blanks) or with a tab or a line break is written with
an apostrophe before it, unless it is a number. A cell that begins with apostrophes before such a sign gets one more, so
that every cell can be restored.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import compute

_BLANKS = "[\\s\\x0b\\x{85}\\p{Z}\\x{FEFF}]*"
"""Blanks of every script; \\s alone matches those of ASCII."""

_SIGNS = f"{_BLANKS}[=+\\-@\\t\\r\\n＝＋－＠]"
_RUN = f"^'*{_SIGNS}"
"""Matches a cell that would be run, or that looks as if it had been escaped."""

_ESCAPED = f"^''*{_SIGNS}"

_NUMBER = "^\\s*[+\\-]?[0-9.,][0-9., ]*([eE][+\\-]?[0-9]+)?\\s*%?\\s*$"
"""Numbers are not formulas: -1.5, +3, -1.234,50 and -2e-3 are written unchanged."""


def escape(cells: pa.Array) -> pa.Array:
    """Put an apostrophe before every cell that a spreadsheet would run.

    >>> escape(pa.array(["=1+1", "-5", "- 5 apples", "plain", "'=1"])).to_pylist()
    ["'=1+1", '-5', "'- 5 apples", 'plain', "''=1"]
    """
    runs = compute.and_(
        compute.match_substring_regex(cells, _RUN), compute.invert(compute.match_substring_regex(cells, _NUMBER))
    )
    return compute.if_else(runs, compute.binary_join_element_wise("'", cells, ""), cells)


def unescape(cells: pa.Array) -> pa.Array:
    """Remove the apostrophes that `escape` added.

    >>> unescape(escape(pa.array(["=1+1", "-5", "'=1", "'tis"]))).to_pylist()
    ['=1+1', '-5', "'=1", "'tis"]
    """
    return compute.if_else(compute.match_substring_regex(cells, _ESCAPED), compute.utf8_slice_codeunits(cells, 1), cells)
