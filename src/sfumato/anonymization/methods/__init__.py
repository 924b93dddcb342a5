"""Methods that find groups, one per file; `sfumato.registry` lists them by name."""

from sfumato.anonymization.methods.deal import Deal
from sfumato.anonymization.methods.exact import Exact
from sfumato.anonymization.methods.glaze import Glaze
from sfumato.anonymization.methods.lattice import Lattice
from sfumato.anonymization.methods.method import Grouping, Method, Task
from sfumato.anonymization.methods.method_choice import AUTO, default_method, method_of
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.methods.xcolor import XColor
from sfumato.data.groups import renumber

__all__ = [
    "AUTO",
    "Deal",
    "Exact",
    "Glaze",
    "Grouping",
    "Lattice",
    "Method",
    "Mondrian",
    "Task",
    "XColor",
    "default_method",
    "method_of",
    "renumber",
]
