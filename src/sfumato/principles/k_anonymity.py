"""k-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.principles.base import Measurement, Principle, size_part
from sfumato.principles.view import View


@dataclass(frozen=True)
class KAnonymity(Principle):
    """Every group holds at least k people.

    In plain words: by the quasi-identifiers nobody can be narrowed down to fewer than k people.

    - `k`: how many people a group holds at least.

    Monotone.

    Does not protect against learning the secret of everybody in a group: sensitive values are not looked at, and a
    group whose members all have the same disease tells it.

    Source: Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002.

    >>> KAnonymity(5).label
    'k-anonymity (k = 5)'
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "k-anonymity"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["groups"]] = "groups"

    def __post_init__(self) -> None:
        self._check_whole("k")

    def measure(self, view: View) -> Measurement:
        """Return each group's number of people."""
        return Measurement((size_part(view, self.k),))
