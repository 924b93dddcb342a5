"""The full-domain generalizations of a table as candidates: what each loses, and how far it protects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import check
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.full_domain import TransformationChecks
from sfumato.anonymization.methods.full_domain.equivalence_classes import TransformationCube
from sfumato.anonymization.methods.lattice import check_loss
from sfumato.anonymization.unit_groups import refuse_units
from sfumato.data.schema import Schema
from sfumato.errors import ParameterError
from sfumato.exact import Number, nearest_float
from sfumato.parameters import check_share
from sfumato.principles import PrincipleRequest, requested_principles
from sfumato.principles.known_original import with_known_original
from sfumato.progress import Progress, silent


@dataclass(frozen=True)
class Transformation:
    """One full-domain generalization: a level for each quasi-identifier, and what follows from it."""

    levels: dict[str, int]
    loss: float
    """The loss, in which suppressed rows count as lost."""
    suppressed: int
    """The rows of classes in which a principle fails; they would have to be suppressed."""
    classes: int
    """The number of other classes."""
    risk: float
    """The chance to pick a person's row in the class, on average over the rows that are kept: classes over rows."""
    admissible: bool
    """Whether no more rows would be suppressed than are allowed."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {**vars(self), "levels": dict(self.levels)}


@dataclass(frozen=True)
class Transformations:
    """Full-domain generalizations of a table. Made by `transformations`."""

    examined: tuple[Transformation, ...]
    total: int
    """How many there are; more than were examined if the lattice is large."""

    @property
    def front(self) -> tuple[Transformation, ...]:
        """The admissible ones to which no other admissible one is preferable in both loss and risk, by loss."""
        best: list[Transformation] = []
        for one in sorted((one for one in self.examined if one.admissible), key=lambda one: (one.loss, one.risk)):
            if not best or one.risk < best[-1].risk:
                best.append(one)
        return tuple(best)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        chosen = {id(one) for one in self.front}
        return {
            "total": self.total,
            "examined": [{**one.to_dict(), "front": id(one) in chosen} for one in self.examined],
        }


def transformations(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    loss: str = "mean",
    suppress: Number = 0,
    most: int = 500,
    progress: Progress = silent,
) -> Transformations:
    """Examine the full-domain generalizations of a table, to choose one by its loss and the risk that it leaves.

    `data`, `schema`, `principles`, `loss` and `suppress`: as in `full_domain`, which finds the one with the least loss.
    `most`: the largest number to examine; of a larger lattice, transformations are taken at equal distances, from the finest
    to the coarsest. To publish one, pass its levels to the method `sf.Lattice`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 34, 47, 48]})
    >>> found = transformations(people, sf.Schema(["age"], hierarchies={"age": sf.Intervals((10, 20))}), sf.KAnonymity(2))
    >>> [(one.levels["age"], one.suppressed, one.risk, one.admissible) for one in found.examined]
    [(0, 4, 0.0, False), (1, 0, 0.5, True), (2, 0, 0.5, True), (3, 0, 0.25, True)]
    >>> [one.levels for one in found.front]
    [{'age': 1}, {'age': 3}]
    """
    requested, share = requested_principles(principles), check_share(suppress)
    check_loss(loss)
    if isinstance(most, bool) or not isinstance(most, int) or most < 2:
        raise ParameterError(f"invalid most {most!r}", remedy="Write a number of at least 2.", key="most", value=most)
    table = table_of(data, schema)
    check(table, requested)
    refuse_units(table, "transformations")
    task = Task(with_known_original(table, requested), requested, suppress=share)
    search = TransformationChecks(task, loss, settled=False, cube=TransformationCube(task))
    total = math.prod(search.shape)
    chosen = np.unique(np.linspace(0, total - 1, min(most, total)).round().astype(np.int64))
    found = []
    for number, place in enumerate(chosen.tolist()):
        progress("examining transformations", number / len(chosen))
        found.append(_examined(search, tuple(int(level) for level in np.unravel_index(place, search.shape))))
    return Transformations(tuple(found), total)


def _examined(search: TransformationChecks, levels: tuple[int, ...]) -> Transformation:
    classes = search.cube.classes(levels)
    violating = classes.sizes < search.least
    for judge in search.judges:
        violating = violating | judge.judged(classes).violating
    suppressed, kept = int(classes.sizes[violating].sum()), int((~violating).sum())
    rows = search.cube.rows - suppressed
    names = search.task.table.schema.quasi_identifiers
    return Transformation(
        dict(zip(names, levels, strict=True)),
        nearest_float(search.loss.score(classes, violating)) if kept else 1.0,
        suppressed,
        kept,
        kept / rows if rows else 0.0,
        suppressed <= search.most,
    )
