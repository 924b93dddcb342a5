"""`[project]`: how several sensitive attributes are published in several tables."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from sfumato.config.sections import Section
from sfumato.errors import SfumatoError
from sfumato.projections._project import checked_limit
from sfumato.serialization import located


class ProjectSection(Section):
    """`[project]`: the thresholds on a plan, or the plan itself, and what becomes of sets."""

    alpha: Any = None  # a number or a text; `check` says what is wrong with it, for true would be read as 1
    beta: Any = None
    plan: list[list[str]] | None = None
    search: Literal["auto", "greedy", "exhaustive"] = "auto"
    sets: Literal["bits", "whole"] = "bits"
    harmless: dict[str, list[Any]] = Field(default_factory=dict)

    def check(self) -> None:
        """Check what needs no data: the thresholds."""
        for key in ("alpha", "beta"):
            try:
                checked_limit(getattr(self, key), key)
            except SfumatoError as error:
                raise located(error, "project") from error

    def options(self) -> dict[str, Any]:
        """What `sf.project` is called with."""
        return self.model_dump(mode="python")
