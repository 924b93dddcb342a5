"""The progress of long work."""

from __future__ import annotations

import threading
from typing import Protocol


class Progress(Protocol):
    """A callback for the progress of long work: called with each step, and the share of it that is done, if it is known.

    It may raise an exception, which ends the work: nothing is left half-written. See `Cancellation`.

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


class CancelledError(Exception):
    """The work was cancelled on request; see `Cancellation`."""


class Cancellation:
    """A progress callback that ends the work to which it is passed, when `cancel` is called in another thread.

    The work ends at its next report, with `CancelledError`; most work reports several times a second, but a compiled kernel
    may run for seconds before it does. To end that at once, run the work in a process and kill the process. `reports`: a
    callback that receives the progress as well.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> cancellation = sf.Cancellation()
    >>> cancellation.cancel()
    >>> sf.anonymize(pa.table({"age": [30, 31]}), sf.Schema(["age"]), sf.KAnonymity(2), progress=cancellation)
    Traceback (most recent call last):
    ...
    sfumato.progress.CancelledError: cancelled while assessing feasibility
    """

    def __init__(self, reports: Progress = silent) -> None:
        self._reports = reports
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the work at its next report."""
        self._cancelled.set()

    def __call__(self, step: str, share: float | None = None) -> None:
        """Report progress, or end the work."""
        if self.cancelled:
            raise CancelledError(f"cancelled while {step}")
        self._reports(step, share)
