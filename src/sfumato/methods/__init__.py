"""Methods: one per file, and the dict that names them all."""

from sfumato.methods.base import Grouping, Method, Task, numbered
from sfumato.methods.glaze import Glaze
from sfumato.methods.lattice import Lattice
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.registry import AUTO, METHODS, method_of, suited
from sfumato.methods.xcolor import XColor

__all__ = [
    "AUTO",
    "METHODS",
    "Glaze",
    "Grouping",
    "Lattice",
    "Method",
    "Mondrian",
    "Task",
    "XColor",
    "method_of",
    "numbered",
    "suited",
]
