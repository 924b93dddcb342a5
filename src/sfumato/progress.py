"""The progress of long work."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback for the progress of long work: called with each step, and the share of it that is done, if it is known.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> steps = []
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> _ = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2), progress=lambda step, share=None: steps.append(step))
    >>> list(dict.fromkeys(steps))
    ['assessing feasibility', 'finding groups', 'publishing']
    """

    def __call__(self, step: str, share: float | None = None) -> None:
        """Report that a step is in progress; `share` is from 0 to 1."""


def silent(step: str, share: float | None = None) -> None:
    """Report nothing."""
