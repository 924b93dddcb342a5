"""`[project]`: how several sensitive attributes are published in several tables."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from sfumato.config.sections import Section
from sfumato.errors import ParameterError, SfumatoError
from sfumato.parameters import check_discernibility, check_ratio
from sfumato.registry import PROJECTED_ATTACKS
from sfumato.serialization import located


class ProjectSection(Section):
    """`[project]`: the thresholds on a plan, or the plan itself, and the encoding of sets."""

    # A number or a text; `check` validates it, because pydantic would read true as 1.
    alpha: Any = None
    beta: Any = None
    plan: list[list[str]] | None = None
    discernibility: Any = None
    search: Literal["auto", "greedy", "exhaustive"] = "auto"
    sets: Literal["bits", "whole"] = "bits"
    harmless: dict[str, list[Any]] = Field(default_factory=dict)
    attacks: list[str] | None = None

    def check(self) -> None:
        """Check what needs no data: the thresholds, and the names of attacks. No attack is imported."""
        for name in self.attacks or ():
            if name not in PROJECTED_ATTACKS:
                raise ParameterError(
                    f"there is no attack {name!r}",
                    remedy=PROJECTED_ATTACKS.suggestion(name),
                    key="project.attacks",
                    value=name,
                )
        for key in ("alpha", "beta"):
            value = getattr(self, key)
            try:
                if value is not None:
                    check_ratio(value, key)
            except SfumatoError as error:
                raise located(error, "project") from error
        try:
            check_discernibility(self.discernibility)
        except SfumatoError as error:
            raise located(error, "project") from error

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `sf.project`."""
        return self.model_dump(mode="python")
