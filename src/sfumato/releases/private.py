"""Keep what must not be published apart from what may be."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any, NoReturn, Self, dataclass_transform

from sfumato.errors import ReleaseError, UnavailableError


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True)
class Private:
    """The base of objects that hold what must not be published: the original, and which rows became which.

    Such an object cannot be pickled, its `repr` shows its type alone, and copying returns the object itself. It is the
    attribute `private` of a public object, a `Publication`, which puts `Unavailable` in its place when it is pickled.

    A subclass annotates its fields, which become keyword arguments and cannot be set again. It is not a dataclass:
    `dataclasses.asdict` would open it.

    >>> import pickle
    >>> Private()
    Private(not for publication)
    >>> try:
    ...     pickle.dumps(Private())
    ... except ReleaseError as error:
    ...     print(error.problem)
    Private cannot be pickled: it holds what must not be published
    """

    def __init__(self, **values: Any) -> None:
        names = [name for kind in reversed(type(self).__mro__) for name in inspect.get_annotations(kind)]
        unknown = [name for name in values if name not in names]
        missing = [name for name in names if name not in values and not hasattr(type(self), name)]
        if unknown or missing:
            raise TypeError(f"{type(self).__name__}: unknown fields {unknown}, missing fields {missing}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

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


class Publication:
    """The base of public objects with a private part, the attribute `private`.

    A copy shares the private part, because it stays in the process; a pickle leaves it out. A subclass returns from
    `__getstate__` what may be published.
    """

    def __copy__(self) -> Self:
        return self._with_state(vars(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._with_state({name: copy.deepcopy(value, memo) for name, value in vars(self).items()})

    def _with_state(self, state: Mapping[str, Any]) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(state)
        return other

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, private=Unavailable())


class Unavailable(Private):
    """The replacement of the private part in a public object that was unpickled: every attribute raises an error.

    The error is also an `AttributeError`, so that `hasattr` and `inspect` work on such an object.

    >>> try:
    ...     Unavailable().original
    ... except ReleaseError as error:
    ...     print(error.problem)
    'original' is not available: a pickle holds only what may be published
    """

    def __getattr__(self, name: str) -> NoReturn:
        raise UnavailableError(
            f"{name!r} is not available: a pickle holds only what may be published",
            remedy="Use the object that was made from the original.",
        )
