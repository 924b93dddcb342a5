"""`[after]` of a config: the release that a new version of a table follows."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from sfumato.config.sections import Section
from sfumato.errors import ParameterError
from sfumato.parameters import check_share


class AfterSection(Section):
    """`[after]`: the last release of the table, its private key, and how many counterfeits may be added."""

    release: str
    key: str
    counterfeits: int | Decimal | str = 0

    def check(self) -> None:
        """Check what needs no data."""
        try:
            check_share(self.counterfeits)
        except ParameterError as error:
            raise ParameterError(
                error.problem.replace("suppress", "counterfeits"),
                remedy="Give the share of counterfeits that may be added, at least 0 and below 1, such as 0.01.",
                key="after.counterfeits",
                value=self.counterfeits,
            ) from error

    def arguments(self, near: Callable[[str], Path]) -> dict[str, Any]:
        """Return the arguments of `sf.anonymize`; `near`: returns a path of the config."""
        return {"after": (near(self.release), near(self.key)), "counterfeits": self.counterfeits}
