"""Methods: one per file, and the dict that names them all."""

from sfumato.methods.base import Grouping, Method, Task, numbered

__all__ = ["Grouping", "Method", "Task", "numbered"]
