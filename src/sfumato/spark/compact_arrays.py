"""Pickle arrays of whole numbers in the narrowest type that holds them: codes are small, and parts travel over a network."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALL = 256
"""Bytes up to which an array is sent as it is."""


class _CompactPickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is not np.ndarray or value.dtype.kind not in "iu" or value.nbytes <= _SMALL:
            return NotImplemented
        narrow = np.result_type(np.min_scalar_type(value.min()), np.min_scalar_type(value.max()))
        if narrow.kind not in "iu" or narrow.itemsize >= value.dtype.itemsize:
            return NotImplemented
        return widened, (value.astype(narrow, order="C"), value.dtype.str)


def widened(values: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return an array in the type that it had before it was sent."""
    return values.astype(kind)


def compact_pickle(value: Any) -> bytes:
    """Return a value as bytes; `pickle.loads` returns it with every array in its own type.

    >>> codes = np.arange(1000) % 7
    >>> content = compact_pickle(codes)
    >>> len(content) < 1300, bool((pickle.loads(content) == codes).all()), pickle.loads(content).dtype == codes.dtype
    (True, True, True)
    """
    content = io.BytesIO()
    _CompactPickler(content, pickle.HIGHEST_PROTOCOL).dump(value)
    return content.getvalue()
