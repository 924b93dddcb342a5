"""Missing cells and empty texts in a CSV, which has no null: a missing cell is empty, and an empty text is `""`.

A text that consists of quotes alone gets quotes around it, those within it doubled, so that every cell can be restored.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import compute

_QUOTES = '^"*$'
"""Matches a text that an empty one could be taken for once it is quoted: the empty text itself, or quotes alone."""


def mark_empty(texts: pa.Array) -> pa.Array:
    """Write null as an empty cell, and an empty text as two quotes.

    >>> mark_empty(pa.array(["a", "", None, '"a"'])).to_pylist()
    ['a', '""', '', '"a"']
    """
    doubled = compute.replace_substring(texts, '"', '""')
    quoted = compute.binary_join_element_wise("", doubled, "", '"')
    return compute.if_else(compute.match_substring_regex(texts, _QUOTES), quoted, texts).fill_null("")


def restore_empty(cells: pa.Array) -> pa.Array:
    """Return the texts that `mark_empty` wrote; null for an empty cell.

    >>> restore_empty(mark_empty(pa.array(["a", "", None, '""', '"a"']))).to_pylist()
    ['a', '', None, '""', '"a"']
    """
    inner = compute.utf8_slice_codeunits(cells, 1, -1)
    texts = compute.if_else(
        compute.match_substring_regex(cells, _QUOTES), compute.replace_substring(inner, '""', '"'), cells
    )
    return compute.if_else(compute.equal(cells, ""), None, texts)
