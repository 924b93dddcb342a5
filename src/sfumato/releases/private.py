"""Keep what must not be published apart from what may be."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from sfumato.errors import ReleaseError


class Private:
    """The base of objects that hold what must not be published: the original, and which rows became which.

    Such an object cannot be pickled, its `repr` shows its type alone, and copying returns the object itself. It is the
    attribute `private` of a public object, which puts `Unavailable` in its place when it is pickled.

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


class Unavailable(Private):
    """The replacement of the private part in a public object that was unpickled: every attribute raises an error.

    >>> try:
    ...     Unavailable().original
    ... except ReleaseError as error:
    ...     print(error.problem)
    'original' is not available: a pickle holds only what may be published
    """

    def __getattr__(self, name: str) -> NoReturn:
        raise ReleaseError(
            f"{name!r} is not available: a pickle holds only what may be published",
            remedy="Use the object that was made from the original.",
        )
