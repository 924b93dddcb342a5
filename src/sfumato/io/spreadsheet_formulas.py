"""Cells that a spreadsheet would run as a formula: escaped where they are written to CSV, and read back as they were.

A cell that begins with =, +, - or @ (plain or full-width; blanks before it do not help) or with a tab or a line break is
written with an apostrophe before it, unless it is a number. So that every cell can be told again, one that begins with
apostrophes before such a sign gets one more.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import compute

_BLANKS = "[\\s\\x0b\\x{85}\\p{Z}\\x{FEFF}]*"
"""Of every script: \\s alone means those of ASCII."""

_SIGNS = f"{_BLANKS}[=+\\-@\\t\\r\\n＝＋－＠]"
_RUN = f"^'*{_SIGNS}"
"""What would be run, or was written to look as if it had been escaped."""

_ESCAPED = f"^''*{_SIGNS}"

_NUMBER = "^\\s*[+\\-]?[0-9.,][0-9., ]*([eE][+\\-]?[0-9]+)?\\s*%?\\s*$"
"""Signs, digits, points and commas run nothing: -1.5, +3, -1.234,50 and -2e-3 stay as they are."""


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
    """Take the apostrophes away that `escape` put there.

    >>> unescape(escape(pa.array(["=1+1", "-5", "'=1", "'tis"]))).to_pylist()
    ['=1+1', '-5', "'=1", "'tis"]
    """
    return compute.if_else(compute.match_substring_regex(cells, _ESCAPED), compute.utf8_slice_codeunits(cells, 1), cells)
