from ._read_release import read_release
from .cell_values import PublishedCell
from .combination import Combined, combine
from .estimates import Estimate, EstimateOptions, Estimates
from .released_anatomy import ReleasedAnatomy
from .released_column import ReleasedColumn
from .released_table import ReleasedTable, ReleasedTables

__all__ = [
    "Combined",
    "Estimate",
    "EstimateOptions",
    "Estimates",
    "PublishedCell",
    "ReleasedAnatomy",
    "ReleasedColumn",
    "ReleasedTable",
    "ReleasedTables",
    "combine",
    "read_release",
]
