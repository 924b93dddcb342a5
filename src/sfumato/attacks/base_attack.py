"""The interface of every attack: it guesses something about people from a release, and counts how often it is right."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.rates import Rate
from sfumato.parameters import ParameterChecks


@dataclass(frozen=True)
class AttackResult:
    """What one attack achieves.

    It depends on the original, unless the attack states that it needs none, so it must not be published.

    >>> AttackResult("homogeneity", "ill", Rate.of(6, 10), {"without the release": Rate.of(5, 10)}, certain=2, right=2)
    homogeneity on ill: 60.0 % (31.3 % to 83.2 %) of 10
      without the release: 50.0 % (23.7 % to 76.3 %) of 10
      certain of 2, of whom 2 rightly
    """

    attack: str
    """The name of the attack."""
    about: str | None
    """What is guessed, such as a sensitive attribute; None if the attack is about no attribute."""
    success: Rate
    """How often the attacker is right."""
    baselines: Mapping[str, Rate] = field(default_factory=dict)
    """What the success must be compared with, such as guesses without the release."""
    certain: int = 0
    """The number of people about whom the attacker is certain: above 99 %, or by elimination."""
    right: int = 0
    """The number of those about whom the attacker is right."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Further figures of this attack, as plain data."""
    notes: Sequence[str] = ()
    """What a reader must know, such as the size of a sample."""

    @property
    def gain(self) -> float:
        """By how much the success exceeds the best baseline; negative if it does not."""
        return self.success.share - max((rate.share for rate in self.baselines.values()), default=0.0)

    @property
    def exceeds(self) -> bool:
        """Whether the success exceeds every baseline beyond chance: its interval is above theirs."""
        return bool(self.baselines) and all(self.success.low > rate.high for rate in self.baselines.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "attack": self.attack,
            "about": self.about,
            "success": self.success.to_dict(),
            "baselines": {name: rate.to_dict() for name, rate in self.baselines.items()},
            "exceeds": self.exceeds,
            "certain": self.certain,
            "right": self.right,
            "figures": dict(self.figures),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        lines = [f"{self.attack}{'' if self.about is None else f' on {self.about}'}: {self.success!r}"]
        lines += [f"  {name}: {rate!r}" for name, rate in self.baselines.items()]
        lines += [f"  certain of {self.certain:,}, of whom {self.right:,} rightly"] if self.certain else []
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


class Attack(ParameterChecks, ABC):
    """An attack: a frozen dataclass whose fields are its parameters, with a `name` and `run`.

    Its docstring states what is guessed, "The attacker knows …", and "Compare with …", each in a paragraph of its own.
    """

    name: ClassVar[str]
    needs_original: ClassVar[bool] = True
    """Whether the attack can only be run by somebody who has the original, because it counts right guesses."""
    needs_secret: ClassVar[bool] = True
    """Whether the attack is about sensitive attributes: a table without one cannot be attacked in this way."""
    needs_cells: ClassVar[bool] = True
    """Whether it looks at published cells, or at rows; others look at nothing but the secrets of groups and their people."""
    counts_rows: ClassVar[bool] = False
    """Whether its figures are about rows, so that they are right also where a person has several rows."""
    counts_people: ClassVar[bool] = False
    """Whether its figures are about people where they have several rows, such as `one_row_each` of an attacked release."""

    @abstractmethod
    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack a release; one result for each thing that is guessed, such as each sensitive attribute."""

    def is_fast(self, release: AttackedRelease) -> bool:
        """Return whether its cost grows about linearly with the rows, so that every release can be attacked."""
        return True

    @classmethod
    def assumptions(cls) -> str:
        """Return what the attacker is assumed to know: the paragraph of the docstring that says so."""
        return cls._paragraph("The attacker knows")

    @classmethod
    def comparison(cls) -> str:
        """Return what the success must be compared with: the paragraph of the docstring that says so."""
        return cls._paragraph("Compare with")

    @classmethod
    def summary(cls) -> str:
        """Return the first paragraph of the docstring."""
        return cls._paragraph("")

    @classmethod
    def _paragraph(cls, start: str) -> str:
        paragraphs = (inspect.getdoc(cls) or "").split("\n\n")
        return next((" ".join(text.split()) for text in paragraphs if text.startswith(start)), "")


class NotMeasured(Exception):  # noqa: N818 - not an error: the attack has no answer for this release
    """Raised by an attack that cannot be measured on a release, with the reason as its text."""
