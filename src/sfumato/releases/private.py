"""Keep what must not be published apart from what may be."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from sfumato.errors import ReleaseError


class Private:
    """The base of objects that hold what must not be published: the original, and which rows became which.

    Such an object cannot be pickled, its `repr` shows its type alone, and copying returns the object itself. It is an
    attribute of a public object, which leaves it out when it is pickled.

    >>> import pickle
    >>> Private()
    Private(not for publication)
    >>> try:
    ...     pickle.dumps(Private())
    ... except ReleaseError as error:
    ...     print(error.problem)
    Private cannot be pickled: it holds what must not be published
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(not for publication)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise ReleaseError(
            f"{type(self).__name__} cannot be pickled: it holds what must not be published",
            remedy="Pickle the public object that it belongs to, or save the release to a folder.",
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def private_part(part: Any, what: str) -> Any:
    """Return the private part of a public object, or raise if the object was unpickled and has none.

    >>> try:
    ...     private_part(None, "the original table")
    ... except ReleaseError as error:
    ...     print(error.problem)
    the original table is not available: a pickle holds only what may be published
    """
    if part is None:
        raise ReleaseError(
            f"{what} is not available: a pickle holds only what may be published",
            remedy="Use the object that was made from the original.",
        )
    return part
