"""Where the computation runs: in memory, with the table and all arrays of its length on disk, or on a Spark cluster.

Every engine runs the same code, so the same data and seed give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sfumato.errors import FileError, ParameterError
from sfumato.io.read_spark import is_spark_frame
from sfumato.part_maps import active_part_map, mapping_parts
from sfumato.storage import Storage, active_storage

__all__ = ["Local", "Spark", "Storage", "Stream"]

_BYTES_PER_BYTE = 10
"""The memory that a release needs for each byte of a CSV file; measured."""

_BYTES_PER_CELL = 100
"""The memory that a release needs for each cell of a Parquet file; measured."""


@dataclass(frozen=True)
class Local:
    """Keep the table in memory."""

    name: ClassVar[str] = "local"

    @contextmanager
    def running(self) -> Iterator[Storage | None]:
        """Run the code inside on this engine; a storage that is active already stays so."""
        yield active_storage()


@dataclass(frozen=True)
class Stream:
    """Read files piece by piece, and keep the table and arrays of its length on disk, in files without names.

    `folder`: where these files are; by default the folder for temporary files. They need about twice the size of the table
    as CSV, and are gone when the process ends, however it ends.

    >>> Stream().name
    'stream'
    """

    folder: str | Path | None = None

    name: ClassVar[str] = "stream"

    def __post_init__(self) -> None:
        _require_folder(self.folder)

    @contextmanager
    def running(self) -> Iterator[Storage | None]:
        """Run the code inside on this engine; a storage that is active already is used again."""
        with (active_storage() or Storage(self.folder)).active() as storage:
            yield storage


@dataclass(frozen=True)
class Spark:
    """Search the parts of a table, and audit and verify frames of Spark, on a Spark cluster; else do as `Stream` does.

    `master`: the address of the cluster, such as "spark://host:7077", "yarn", or "local-cluster[2,1,1024]" for processes of
    this machine; by default what Spark's own configuration says. `session`: a SparkSession to use. That one, or else the
    active one, is left running; only a session that is started here is stopped. `folder`: where arrays are stored, as in
    `Stream`. `timeout`: the seconds after which a master that does not answer, or a cluster on which nothing runs, is an
    error. `settings`: those of a session that is started here, such as {"spark.executor.memory": "4g"}; they may be secret,
    and are not shown.

    >>> Spark(master="yarn", settings={"spark.ssl.keyPassword": "hush"})
    Spark(master='yarn', folder=None, timeout=60)
    """

    master: str | None = None
    session: Any = field(default=None, repr=False)
    folder: str | Path | None = None
    timeout: float = 60
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    name: ClassVar[str] = "spark"

    def __post_init__(self) -> None:
        _require_folder(self.folder)
        if self.master is not None and (not isinstance(self.master, str) or not self.master.strip()):
            raise ParameterError(
                f"invalid master {self.master!r}",
                remedy='Write an address such as "spark://host:7077", or leave it out.',
                key="master",
                value=self.master,
            )
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, int | float) or not self.timeout > 0:
            raise ParameterError(
                f"invalid timeout {self.timeout!r}: it must be a number of seconds above 0",
                remedy="Write a number such as 60.",
                key="timeout",
                value=self.timeout,
            )

    @contextmanager
    def running(self) -> Iterator[Storage | None]:
        """Run the code inside on this engine; a storage or a session that is active already is used again."""
        with (active_storage() or Storage(self.folder)).active() as storage:
            if active_part_map() is not None:
                yield storage
                return
            from sfumato.spark.cluster_parts import ClusterParts
            from sfumato.spark.spark_session import starting_session

            with starting_session(self.master, self.session, self.settings, self.timeout) as session:
                parts = ClusterParts(session, self.timeout)
                try:
                    with mapping_parts(parts):
                        yield storage
                finally:
                    parts.close()


Engine = Local | Stream | Spark

ENGINES = (Local.name, Stream.name, Spark.name)
"""The names of the engines, as a config writes them."""


def engine_of(engine: Engine | str | None, data: Any = None, folder: str | Path | None = None, **options: Any) -> Engine:
    """Return the engine of a name; without one that which suits the data.

    A file larger than memory is streamed, and a DataFrame of Spark is read and searched in its session.

    `options`: of the engine spark alone; for another engine they are an error.

    >>> engine_of("stream"), engine_of(None, "people.csv")
    (Stream(folder=None), Local())
    """
    if isinstance(engine, Local | Stream | Spark):
        return engine
    given = {name: value for name, value in options.items() if value is not None}
    if engine == Spark.name:
        return Spark(folder=folder, session=data.sparkSession if is_spark_frame(data) else None, **given)
    if given:
        raise ParameterError(
            f"only the engine spark has a {next(iter(given))}",
            remedy="Name the engine spark, or leave it out.",
            key=f"engine.{next(iter(given))}",
            value=next(iter(given.values())),
        )
    if engine is None and is_spark_frame(data):
        return Spark(session=data.sparkSession, folder=folder)
    if engine is None:
        return Stream(folder) if _is_larger_than_memory(data) else Local()
    if engine == Local.name:
        return Local()
    if engine == Stream.name:
        return Stream(folder)
    raise ParameterError(
        f"there is no engine {engine!r}", remedy=f"Write one of: {', '.join(ENGINES)}.", key="engine", value=engine
    )


def _require_folder(folder: str | Path | None) -> None:
    if folder is not None and not Path(folder).is_dir():
        raise FileError("there is no such folder", remedy="Name an existing folder.", file=str(folder))


def _is_larger_than_memory(data: Any) -> bool:
    """Return whether a file probably needs more than half of this machine's memory."""
    if not isinstance(data, str | Path) or not hasattr(os, "sysconf") or not Path(data).is_file():
        return False
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = Path(data).stat().st_size * _BYTES_PER_BYTE
    if Path(data).suffix.lower() in (".parquet", ".pq"):
        from pyarrow import ArrowException, parquet

        try:
            content = parquet.read_metadata(data)
        except (ArrowException, OSError):
            return False  # reading it says why
        needed = content.num_rows * content.num_columns * _BYTES_PER_CELL
    return needed > memory // 2
