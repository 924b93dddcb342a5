"""Skeletons of hierarchy files, for a person to fill in."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sfumato.data.hierarchy import ROOT


def hierarchy_skeleton(values: Sequence[str], levels: int = 1) -> str:
    r"""Return the text of a hierarchy file with empty labels between the values and the root: a line `leaf;;*` per value.

    `levels`: the number of labels to fill in. A file with an empty label is an error when it is read.

    >>> print(hierarchy_skeleton(["flu", "ulcer"], levels=2))
    flu;;;*
    ulcer;;;*
    <BLANKLINE>
    """
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows([value, *[""] * levels, ROOT] for value in values)
    return text.getvalue()
