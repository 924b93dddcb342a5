"""The demonstration: a synthetic census, the same census coarsened as by tools that ignore proximity, and a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.release import Release
from sfumato.census import census_schema
from sfumato.config import Config
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import FileError
from sfumato.principles import Dissimilarity, DistinctLDiversity, FrequencyLDiversity, KAnonymity, Principle
from sfumato.progress import Progress, silent

K = 10
LEVELS = {"age": 3, "marital": 1, "race": 1}
"""The hierarchy level that each quasi-identifier of the coarsened census is published at."""

PRINCIPLES: tuple[Principle, ...] = (
    KAnonymity(K),
    DistinctLDiversity(5, on="whole"),
    FrequencyLDiversity(5, on="whole"),
    Dissimilarity(epsilon="0.15", delta="0.8", k=K),
)


def coarsened(people: pa.Table) -> tuple[pa.Table, Schema]:
    """Generalize the quasi-identifiers to fixed levels, and drop groups of fewer than k. Return the table and its schema."""
    table = Table(people, census_schema())
    for name, level in LEVELS.items():
        column = table.column(name)
        assert column.hierarchy is not None
        assert column.paths is not None
        labels = np.array(column.hierarchy.labels[level], object)[column.paths[:, level]]
        people = people.set_column(people.column_names.index(name), name, pa.array(labels[column.codes], pa.string()))
    kinds = {name: kind for name, kind in table.schema.kinds.items() if name not in LEVELS}
    schema = replace(table.schema, kinds=kinds, hierarchies={"workclass": table.schema.hierarchies["workclass"]})
    groups = Groups.of(Table(people, schema))
    return people.filter(pa.array(groups.sizes[groups.of_row] >= K)), schema


def released(people: pa.Table, seed: int = 0, saved: Path | None = None, progress: Progress = silent) -> Release:
    """Anonymize the census for the principles of the demonstration; by the config in the folder `saved`, if it is given."""
    if saved is None:
        return anonymize(people, census_schema(), PRINCIPLES, seed=seed, progress=progress)
    config = Config.load(saved / "sfumato.toml")
    return anonymize(config.table(), None, config.requested_principles, seed=seed, progress=progress)


def save_demo(people: pa.Table, folder: Path) -> None:
    """Write the census, its hierarchies and a config for it to a new or empty folder."""
    schema = census_schema()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError("something exists here already", remedy="Name a new or an empty folder.", file=str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        arrow_csv.write_csv(people, folder / "people.csv")
        (folder / "hierarchies").mkdir(exist_ok=True)
        table = Table(people, schema)
        files = {}
        for name in schema.hierarchies:
            hierarchy = table.column(name).hierarchy
            assert hierarchy is not None
            rows = zip(
                *(np.array(nodes, object)[path] for nodes, path in zip(hierarchy.labels, hierarchy.paths.T, strict=True)),
                strict=True,
            )
            files[name] = f"hierarchies/{name}.csv"
            (folder / files[name]).write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"the folder cannot be written: {error.strerror}", remedy="Name a writable folder.", file=str(folder)
        ) from error
    Config.of(replace(schema, hierarchies=files), "people.csv", PRINCIPLES).save(folder / "sfumato.toml")
