"""What is expected of a release when it is verified, beyond what its files state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.errors import ParameterError
from sfumato.principles import Principle
from sfumato.releases.kinds import KINDS
from sfumato.releases.predecessor import Predecessor
from sfumato.releases.reader import Manifest


@dataclass(frozen=True)
class Expectations:
    """What a maker, or a caller of `verify`, expects of a release; None is not compared.

    The checks of a kind get this, with the manifest and the original, and use what concerns them.
    """

    schema: Schema | None = None
    principles: tuple[Principle, ...] | None = None
    project: Mapping[str, Any] | None = None
    """Of a projected release: arguments of `sf.project`."""
    dictionaries: Any = None
    """Of a withheld release: the dictionaries against which the risk is measured again."""
    risk: Any = None
    """Of a withheld release: the dictionaries with everything else that the risk depends on."""
    key: str | Path | None = None
    """Of a grouped or an anatomized release: the file that maps each published row to its row in the original; see
    `releases.row_key`."""
    rows: NDArray[np.int64] | None = None
    """For each published row its row in the original, which only the maker knows."""
    suppress: Fraction | None = None
    """Of a grouped or an anatomized release: the largest share of rows that may be suppressed."""
    figures: bool = True
    """Of a grouped release: whether the figures of its report are computed again. Its maker has just computed them."""
    published: Any = None
    """Of a grouped release: a frame of Spark with the published rows, to be checked in place of the data file."""
    remarks: list[str] = field(default_factory=list)
    """Filled by the checks: remarks on how they were made."""
    after: Predecessor | None = None
    """Of a grouped release: the one that it follows."""

    def check_kind(self, manifest: Manifest) -> None:
        """Raise for an argument that releases of this kind have no check for: it must not be ignored silently."""
        for key in dict.fromkeys(key for kind in KINDS.values() for key in kind.arguments):
            if getattr(self, key) is not None and key not in manifest.release_kind.arguments:
                kinds = [repr(name) for name, kind in KINDS.items() if key in kind.arguments]
                names = " and ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
                of_kind = f"the kind{'s' if len(kinds) > 1 else ''} {names}"
                verb = "are" if key == "principles" else "is"
                raise ParameterError(
                    f"{key} {verb} compared for releases of {of_kind} only, and this is {manifest.kind!r}",
                    remedy=f"Leave out {key}.",
                    file=str(manifest.folder),
                    key=key,
                )
