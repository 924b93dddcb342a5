"""Write the tables of Figures 5 to 9 of Fang, Ashrafi & Ng (2011)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.experiments.closeness_tables import anonymizations_table, attacks_table, closeness_table
from benchmarks.experiments.plan_tables import FULL, QUICK, Subject, attributes_table, tradeoff_table
from benchmarks.experiments.transformations import Transformations
from benchmarks.measurement import Notify, Row, silent, write_rows

TRADEOFF, ATTRIBUTES = "projection_tradeoff.csv", "projection_attributes.csv"
CLOSENESS, ANONYMIZATIONS = "projection_closeness.csv", "projection_anonymizations.csv"
ATTACKS = "projection_attacks.csv"


def run(out: Path, quick: bool = False, notify: Notify = silent) -> list[Path]:
    """Measure and write the tables; return the files."""
    out.mkdir(parents=True, exist_ok=True)
    subject = Subject.read(QUICK if quick else FULL, notify)
    transformations = Transformations.measure(subject.table, subject.dependence.names, notify=notify)
    tables: dict[str, Iterator[Row]] = {
        TRADEOFF: tradeoff_table(subject),
        ATTRIBUTES: attributes_table(subject),
        CLOSENESS: closeness_table(subject, transformations),
        ANONYMIZATIONS: anonymizations_table(subject, transformations),
        ATTACKS: attacks_table(subject, transformations),
    }
    for name, rows in tables.items():
        write_rows(out / name, rows)
    return [out / name for name in tables]
