"""The shapes of a breach: what counts as a narrow range of secrets; one shape per file, imported when it is first used."""

from __future__ import annotations

from functools import cache

from sfumato.principles.shapes.shape import Shape
from sfumato.registry import load

_LOCATIONS = {
    "star": "sfumato.principles.shapes.star:StarShape",
    "ball": "sfumato.principles.shapes.ball:BallShape",
    "clique": "sfumato.principles.shapes.clique:CliqueShape",
    "chain": "sfumato.principles.shapes.chain:ChainShape",
    "cycle": "sfumato.principles.shapes.cycle:CycleShape",
}

SHAPES = tuple(_LOCATIONS)
"""The name of every shape in a config."""


@cache
def shape_named(name: str) -> Shape:
    """Return the shape of a name.

    >>> shape_named("clique").monotone
    True
    """
    shape: Shape = load(_LOCATIONS[name])()
    return shape


__all__ = ["SHAPES", "Shape", "shape_named"]
