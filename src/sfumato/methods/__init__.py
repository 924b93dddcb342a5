"""Methods: one per file, and the dict that names them all."""

from sfumato.methods.base import Grouping, Method, Task, numbered
from sfumato.methods.registry import METHODS, method_of

__all__ = ["METHODS", "Grouping", "Method", "Task", "method_of", "numbered"]
