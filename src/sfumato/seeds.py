"""Seeds: the secret one, which decides how groups are found, and the public one, which decides the published order.

Whoever knows the seed of a release can run its method again on guesses of a person's secret, and see which guess gives the
published groups. So the seed of a release is drawn at random unless the publisher names one, and is never published. What
everybody must be able to check is drawn with the public seed instead.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.parameters import check_seed

PUBLIC_SEED = 0
"""The seed of everything random that is published: the order of rows, the numbers of groups, the queries of figures."""

_BITS = 128
"""The bits of a seed that is drawn."""


def secret_seed(seed: Any = None) -> int:
    """Return a seed that was given, a whole number from 0, or draw one of 128 bits.

    >>> secret_seed(7), secret_seed() != secret_seed()
    (7, True)
    """
    return secrets.randbits(_BITS) if seed is None else check_seed(seed)


def secret_order(seed: int, rows: int) -> NDArray[np.int64]:
    """Return a permutation of the rows that only the seed reveals.

    The rows are sorted by the output of SHAKE-256, so that parts of the permutation say nothing about the rest of it.

    >>> sorted(secret_order(7, 4).tolist())
    [0, 1, 2, 3]
    >>> secret_order(7, 1000).tolist() == secret_order(8, 1000).tolist()
    False
    """
    keys = np.frombuffer(hashlib.shake_256(_message("rows", seed)).digest(8 * rows), "<u8")
    return np.argsort(keys, kind="stable")


def table_secret(seed: int, place: int) -> int:
    """Return the secret seed of one of several tables, from the common one and the position of its first attribute.

    >>> table_secret(0, 0) != table_secret(0, 1)
    True
    """
    return int.from_bytes(hashlib.shake_256(_message(f"table {place}", seed)).digest(_BITS // 8), "little")


def _message(purpose: str, seed: int) -> bytes:
    """Return what is hashed: distinct for distinct purposes and seeds."""
    return f"sfumato {purpose}:{seed:x}".encode()
