"""Methods: one per file, and the registry that names them all."""

from sfumato.anonymization.methods.glaze import Glaze
from sfumato.anonymization.methods.lattice import Lattice
from sfumato.anonymization.methods.method import Grouping, Method, Task, renumber
from sfumato.anonymization.methods.method_choice import AUTO, METHODS, method_of, suited
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.methods.xcolor import XColor

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
    "renumber",
    "suited",
]
