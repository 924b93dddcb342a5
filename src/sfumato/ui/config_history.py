"""The config as text, and every earlier text: undo, redo, and a history that one can read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

_TOGETHER = 1.0
"""Changes of one subject within so many seconds are one step: a slider that is dragged makes many."""

_MOST = 500
"""The number of steps that are kept."""


@dataclass(frozen=True)
class Step:
    """A config text, and the change that led to it."""

    label: str
    text: str
    subject: str = ""
    """What was changed; changes of the same subject in quick succession are one step."""


@dataclass
class ConfigHistory:
    """The steps, the one that is current, and a version that counts all changes.

    >>> history = ConfigHistory([Step("opened", "a")])
    >>> history.add(Step("k = 5", "b")); history.add(Step("k = 6", "c")); history.undo(); history.text
    'b'
    >>> history.redo(); history.text, history.version
    ('c', 4)
    """

    steps: list[Step] = field(default_factory=list)
    position: int = 0
    version: int = 0
    """Increases with every change, undo and redo. A browser tab that shows another version is behind."""
    _changed: float = 0.0

    @property
    def text(self) -> str | None:
        """The current text; None before anything was opened."""
        return self.steps[self.position].text if self.steps else None

    @property
    def undoable(self) -> Step | None:
        """The step that `undo` takes back."""
        return self.steps[self.position] if self.position > 0 else None

    @property
    def redoable(self) -> Step | None:
        """The step that `redo` makes again."""
        return self.steps[self.position + 1] if self.position + 1 < len(self.steps) else None

    def start(self, step: Step) -> None:
        """Forget all steps, and begin with this one."""
        self.steps, self.position = [step], 0
        self.version += 1

    def add(self, step: Step) -> None:
        """Make a step; those that were taken back are forgotten."""
        if step.text == self.text:
            return
        now, last = time.monotonic(), self.undoable
        together = last is not None and step.subject and last.subject == step.subject and now - self._changed < _TOGETHER
        del self.steps[self.position + (0 if together else 1) :]
        self.steps.append(step)
        if len(self.steps) > _MOST:
            del self.steps[1]  # the first one, as the config was opened, is kept
        self.position, self._changed = len(self.steps) - 1, now
        self.version += 1

    def undo(self) -> None:
        """Take the current step back, if there is an earlier one."""
        self.go(self.position - 1)

    def redo(self) -> None:
        """Make the step again that was taken back last, if there is one."""
        self.go(self.position + 1)

    def go(self, position: int) -> None:
        """Make another step the current one."""
        if position != self.position and 0 <= position < len(self.steps):
            self.position, self._changed = position, 0.0
            self.version += 1
