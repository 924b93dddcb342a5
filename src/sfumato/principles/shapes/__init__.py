"""The shapes of a breach: what counts as a narrow range of secrets; one shape per file.

`SHAPES` lists them by their names in a config.
"""

from __future__ import annotations

from sfumato.principles.shapes.ball import BallShape
from sfumato.principles.shapes.chain import ChainShape
from sfumato.principles.shapes.clique import CliqueShape
from sfumato.principles.shapes.cycle import CycleShape
from sfumato.principles.shapes.shape import Shape
from sfumato.principles.shapes.star import StarShape

SHAPES: dict[str, Shape] = {
    shape.name: shape for shape in (StarShape(), BallShape(), CliqueShape(), ChainShape(), CycleShape())
}
"""Every shape, by its name in a config."""

__all__ = ["SHAPES", "Shape"]
