"""The release that a new one follows, as a caller names it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.errors import ParameterError
from sfumato.exact import Number
from sfumato.parameters import check_share
from sfumato.releases.predecessor import Predecessor


class FollowedRelease(NamedTuple):
    """A release, and the largest share of counterfeits that the one which follows it may contain."""

    release: Predecessor
    counterfeits: Fraction


def followed_release(after: Any, counterfeits: Number = 0) -> FollowedRelease | None:
    """Return the release that is named by a pair of its folder and its key; None if none is named."""
    try:
        share = check_share(counterfeits)
    except ParameterError as error:
        raise ParameterError(
            error.problem.replace("suppress", "counterfeits"),
            remedy="Give the share of counterfeits that may be added, at least 0 and below 1, such as 0.01.",
            key="counterfeits",
            value=counterfeits,
        ) from error
    if after is None:
        if share:
            raise ParameterError(
                "counterfeits take the place of people who left, and this release follows no other",
                remedy="Remove counterfeits, or name the release that this one follows.",
                key="counterfeits",
                value=counterfeits,
            )
        return None
    if isinstance(after, str | Path):
        after = (after, None)
    if not isinstance(after, tuple | list) or len(after) != 2:
        raise ParameterError(
            f"{after!r} does not name an earlier release",
            remedy="Pass the folder of the last release and its private key, as after=(folder, key).",
            key="after",
            value=after,
        )
    return FollowedRelease(Predecessor.read(*after), share)
