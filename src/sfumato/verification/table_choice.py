"""Where the rows of a release are compared with those of its original: in this process, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sfumato.data.schema import Schema
from sfumato.errors import ParameterError
from sfumato.io.read_spark import is_spark_frame
from sfumato.part_maps import active_part_map
from sfumato.principles import Principle
from sfumato.releases.expectations import Expectations
from sfumato.releases.reader import TableManifest
from sfumato.verification.compared_tables import ComparedTables, LocalTables


@contextmanager
def opened_tables(
    manifest: TableManifest, declared: Schema, requested: Sequence[Principle], original: Any, expected: Expectations
) -> Iterator[ComparedTables]:
    """Yield the published table and its original where they are compared.

    That is on a cluster if one of them is a frame of Spark and the engine is spark. What only the driver can compare is
    collected, and a remark says why.
    """
    published = expected.published
    if not (is_spark_frame(original) or published is not None):
        yield LocalTables(manifest, declared, original)
        return
    from sfumato.spark.cluster_frames import ClusterFrames
    from sfumato.spark.cluster_parts import ClusterParts
    from sfumato.verification.cluster_tables import cluster_reason, opened_cluster_tables

    cluster, reason = active_part_map(), None
    if not isinstance(cluster, ClusterParts):
        if published is not None:
            raise ParameterError(
                "published rows of Spark are checked by the engine spark",
                remedy='Use engine="spark", or leave out published.',
                key="published",
            )
        yield LocalTables(manifest, declared, original)  # another engine was chosen: the rows are collected
        return
    reason = cluster_reason(manifest, declared, requested, original, published, expected.key)
    if reason is None:
        with ClusterFrames(cluster) as frames:
            tables = opened_cluster_tables(frames, manifest, declared, original, published)
            if not isinstance(tables, str):
                yield tables
                return
            reason = tables
    expected.remarks.append(f"the rows were collected and checked by the driver, because {reason}")
    yield LocalTables(manifest, declared, original, published)
