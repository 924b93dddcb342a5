"""Make the release that a config requests: what the command line and the browser interface both do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.config.config import Config
from sfumato.config.sections import MethodSection
from sfumato.errors import ColumnError
from sfumato.progress import Progress

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release


def configured_release(
    declared: Config, data: str | None, seed: int | None, progress: Progress, follows: Mapping[str, Any] | None = None
) -> Release:
    """Return the release that a config requests.

    `data`: in place of the config's own table. `seed`: in place of the config's own; one is drawn if neither has one.
    `follows`: which release is followed, as arguments of `sf.anonymize`; by default what the config declares.
    """
    from sfumato.anonymization._anonymize import anonymize

    method = declared.method or MethodSection()
    progress("reading")
    try:
        return anonymize(
            declared.table(data),
            None,
            declared.require_principles(),
            method=declared.grouping_method,
            seed=method.seed if seed is None else seed,
            suppress=method.suppress,
            resist=method.resist,
            progress=progress,
            **(declared.follows if follows is None else follows),
        )
    except ColumnError as error:
        if error.key not in ("never_mix", "coarsest"):
            raise
        # the limit is stated in the config, and does not fit the data
        raise declared.locate(f"columns.{error.column}", error) from None
