"""Compare releases with one another, and a release with its original row by row. The results must not be published."""

from sfumato.comparison.aligned_rows import AlignedRows, aligned_rows
from sfumato.comparison.release_comparison import ReleaseComparison, ReleaseFigures, compare_releases

__all__ = ["AlignedRows", "ReleaseComparison", "ReleaseFigures", "aligned_rows", "compare_releases"]
