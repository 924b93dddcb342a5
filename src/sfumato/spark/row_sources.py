"""Where executors take the rows of a table from: a frame of Spark, or anything else that they can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa

from sfumato.io.read_spark import spark_columns
from sfumato.spark.cluster_frames import ClusterFrames

Run = Callable[[Any, Iterator[pa.RecordBatch]], Iterator[tuple[int, bytes]]]
"""Makes numbered contents of what all executors share, and of the rows of a partition; see `ClusterFrames.mapped`."""


class RowSource(Protocol):
    """A table whose rows executors can read, several times."""

    names: Sequence[str]
    """The names of its columns."""
    source: str | None
    """Its name, for errors."""

    def mapped(self, frames: ClusterFrames, names: Sequence[str], run: Run, shared: Any) -> Any:
        """Return the numbered contents that `run` makes of the cells of some columns of each partition."""


class FrameRows:
    """The rows of a frame of Spark; two columns of one name are an error."""

    def __init__(self, frame: Any, source: str | None) -> None:
        self.frame, self.source = frame, source
        self.names: Sequence[str] = list(frame.columns)
        self._columns = spark_columns(frame)

    def mapped(self, frames: ClusterFrames, names: Sequence[str], run: Run, shared: Any) -> Any:
        """Return the numbered contents that `run` makes of the cells of some columns of each partition."""
        # names may contain characters that have a meaning in Spark
        selected = self.frame.select(*(self._columns[name].alias(f"c{i}") for i, name in enumerate(names)))
        return frames.mapped(selected, run, shared)
