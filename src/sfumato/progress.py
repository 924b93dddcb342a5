"""How far long work has got."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Whoever wants to know how far long work has got: called with each step, and its share that is done if that is known.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> steps = []
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> _ = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2), progress=lambda step, share=None: steps.append(step))
    >>> list(dict.fromkeys(steps))
    ['assessing feasibility', 'finding groups', 'publishing']
    """

    def __call__(self, step: str, share: float | None = None) -> None:
        """Hear that a step is under way; `share` is from 0 to 1."""


def silent(step: str, share: float | None = None) -> None:
    """Tell nobody."""
