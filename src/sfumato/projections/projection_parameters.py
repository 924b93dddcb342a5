"""The parameters of a projection that can be checked without data."""

from __future__ import annotations

from typing import Any

from sfumato.errors import ParameterError

SEARCHES = ("auto", "greedy", "exhaustive")
"""The strategies of `search_plans`."""

SETS = ("bits", "whole")
"""How a set-valued attribute is published: one bit for each item, or one attribute whose values are sets."""


def check_search(search: Any) -> None:
    """Raise an error unless the search strategy exists."""
    if search not in SEARCHES:
        raise ParameterError(
            f"unknown search {search!r}", remedy=f"Expected one of: {', '.join(SEARCHES)}.", key="search", value=search
        )


def check_sets(sets: Any) -> None:
    """Raise an error unless sets can be published in this way."""
    if sets not in SETS:
        raise ParameterError(
            f"invalid sets = {sets!r}", remedy=f"Expected one of: {', '.join(SETS)}.", key="sets", value=sets
        )
