"""The experiments of paper 001, Section VI, again: Figures 4, 5 and 6 as tables.

On the composite setting (see `settings.composite`). Where this departs from the paper the column names or the page
`docs/experiments.md` say so: other data of the same schema, CPU seconds on another machine, and beside XColor two more
methods. Mondrian cuts under the same principle; where it cannot cut the table at all, it is run again for k-anonymity alone,
and the column `principle` says so.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.anonymize import cpu_seconds, method_named, warm_up
from benchmarks.settings import Setting, composite
from sfumato.anonymization.feasibility import vulnerability
from sfumato.anonymization.methods import Grouping, Method, Mondrian, Task
from sfumato.anonymization.recoding import recode
from sfumato.anonymization.utility import Workload, mean_loss, query_errors
from sfumato.data.groups import Groups
from sfumato.errors import ParameterError
from sfumato.principles import Dissimilarity, FrequencyLDiversity, KAnonymity

Tell = Callable[[str], None]
Row = dict[str, Any]

SLOW = "xcolor"
"""Its budget of exchanges takes minutes where success is not certain: it gets fewer points, and in Figure 6 fewer rows."""


@dataclass(frozen=True)
class Plan:
    """Which points are measured: the values of each parameter, the others at their defaults."""

    contour: tuple[tuple[str, ...], tuple[str, ...]]
    """Figure 4: the values of ε and of δ."""
    quality: dict[str, tuple[str, ...]]
    """Figure 5: the values of ε, δ, k and s."""
    slow_quality: dict[str, tuple[str, ...]]
    """The same for the slow method."""
    cost: dict[str, tuple[str, ...]]
    """Figure 6: the values of ε, δ and k."""
    slow_cost: dict[str, tuple[str, ...]]
    """The same for the slow method."""
    sizes: tuple[str, ...] = ("0.6", "0.8", "1")
    """Figure 6: the numbers of rows, as shares."""
    slow_share: float = 0.1
    """Figure 6: the slow method gets such a share of those rows."""
    queries: int = 1000
    dimensions: tuple[int, ...] = (1, 2, 3)
    """Figure 5: how many quasi-identifiers a query asks for (qd); it asks for two sensitive columns (qs)."""


QUALITY = {"epsilon": "0.1", "delta": "0.8", "k": "10", "s": "0.1"}
"""The defaults of Figure 5."""

COST = {"epsilon": "0.15", "delta": "0.9", "k": "20"}
"""The defaults of Figure 6."""

FULL = Plan(
    contour=(
        tuple(f"{step / 100:g}" for step in range(2, 31, 2)),
        (*(f"{step / 100:g}" for step in range(50, 100, 5)), "0.98"),
    ),
    quality={
        "epsilon": ("0.05", "0.075", "0.1", "0.125", "0.15"),
        "delta": ("0.6", "0.7", "0.8", "0.85", "0.9"),
        "k": ("5", "10", "15", "20", "25"),
        "s": ("0.05", "0.1", "0.15", "0.2", "0.25"),
    },
    slow_quality={
        "epsilon": ("0.05", "0.075", "0.1"),
        "delta": ("0.6", "0.7", "0.8"),
        "k": ("5", "10", "15", "20", "25"),
        "s": ("0.05", "0.1", "0.15", "0.2", "0.25"),
    },
    cost={"epsilon": ("0.05", "0.1", "0.15"), "delta": ("0.7", "0.8", "0.9"), "k": ("5", "10", "15", "20")},
    slow_cost={"epsilon": ("0.05", "0.1", "0.15"), "delta": ("0.7", "0.8", "0.9"), "k": ("10", "20")},
)

QUICK = Plan(
    contour=(("0.05", "0.1", "0.2"), ("0.6", "0.8", "0.9")),
    quality={"epsilon": ("0.05", "0.1"), "delta": ("0.8",), "k": ("10",), "s": ("0.1", "0.2")},
    slow_quality={"epsilon": ("0.05",), "delta": ("0.8",), "k": ("10",), "s": ("0.1",)},
    cost={"epsilon": ("0.05", "0.1"), "delta": ("0.7", "0.8")},
    slow_cost={"epsilon": ("0.05",), "delta": ("0.7",)},
    sizes=("0.5", "1"),
    slow_share=0.5,
    queries=100,
    dimensions=(1, 2),
)


def run(
    rows: int, only: Sequence[str], methods: Sequence[str], out: Path, quick: bool = False, tell: Tell = lambda _: None
) -> list[Path]:
    """Measure, and write one table per figure; return the files."""
    plan = QUICK if quick else FULL
    chosen = [method_named(name) for name in methods]
    for name in only:
        if name not in TABLES:
            raise ParameterError(
                f"there is no figure {name!r}", remedy=f"The figures are: {', '.join(TABLES)}.", key="only", value=name
            )
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name in only:
        file, measure = TABLES[name]
        written.append(out / file)
        write_rows(out / file, measure(rows, chosen, plan, tell))
    return written


@dataclass(frozen=True, eq=False)
class Ran:
    """One method on one wish."""

    setting: Setting
    wish: Dissimilarity
    grouping: Grouping
    seconds: float
    k_only: bool
    """Whether the method could not cut the table for the wish, and did it for k-anonymity alone."""

    @classmethod
    def of(cls, setting: Setting, method: Method, wish: Dissimilarity) -> Ran:
        """Find groups, and measure the CPU time of it."""
        seconds, grouping = cpu_seconds(lambda: method.group(Task(setting.table, (wish,))))
        k_only = isinstance(method, Mondrian) and grouping.count == 1
        if k_only:
            seconds, grouping = cpu_seconds(lambda: method.group(Task(setting.table, (KAnonymity(wish.k),))))
        return cls(setting, wish, grouping, seconds, k_only)

    @cached_property
    def groups(self) -> Groups:
        """The groups that were found."""
        return Groups.partition(self.setting.table, self.grouping.of_row, self.grouping.count)

    def figures(self) -> Row:
        """What every table tells of a run: groups, and those in breach of the wish."""
        fine = Task(self.setting.table, (self.wish,)).satisfied(self.grouping.of_row)
        return {
            "principle": "k-anonymity alone" if self.k_only else "dissimilarity",
            "groups": self.grouping.count,
            "violating_groups": int((~fine).sum()),
            "violating_rows": int(self.groups.sizes[~fine].sum()),
        }


def vulnerability_table(rows: int, methods: Sequence[Method], plan: Plan, tell: Tell) -> Iterator[Row]:
    """Figure 4: the share of groups in breach, over ε and δ, of what Mondrian publishes for l = 20.

    No value of the composite attribute makes up more than 1/20 of a group, which is how the paper explains l. Measured
    under L¹ and under L²; the groups are the same.
    """
    del methods
    for p in (1, 2):
        tell(f"Figure 4, L{p}")
        setting = composite(rows, p)
        grouping = Mondrian().group(Task(setting.table, (FrequencyLDiversity(20, on="whole"),)))
        groups = Groups.partition(setting.table, grouping.of_row, grouping.count)
        contour = vulnerability(setting.table, None, *plan.contour, groups=groups, on="whole")
        for epsilon, counts in zip(plan.contour[0], contour.breached, strict=True):
            for delta, count in zip(plan.contour[1], counts, strict=True):
                yield {
                    "source": setting.source,
                    "rows": setting.table.rows,
                    "norm": f"L{p}",
                    "epsilon": epsilon,
                    "delta": delta,
                    "groups": contour.groups,
                    "breached": count,
                    "vulnerability": round(count / contour.groups, 4),
                }


def quality_table(rows: int, methods: Sequence[Method], plan: Plan, tell: Tell) -> Iterator[Row]:
    """Figure 5: how far off count queries are, against ε, δ, k and s; those that no row matches are left out of the mean."""
    setting = composite(rows)
    workloads = {
        (qd, s): Workload.random(setting.table, plan.queries, qd, 2, s)
        for qd in plan.dimensions
        for s in dict.fromkeys([QUALITY["s"], *plan.quality["s"]])
    }
    for method in methods:
        warm_up(setting, method)
        done: dict[tuple[str, ...], tuple[Ran, Row, Any]] = {}
        for name, at in _points(plan.slow_quality if method.name == SLOW else plan.quality, QUALITY):
            key = at["epsilon"], at["delta"], at["k"]
            if key not in done:
                tell(f"Figure 5, {method.name}, {name} = {at[name]}")
                ran = Ran.of(setting, method, Dissimilarity(at["epsilon"], at["delta"], int(at["k"])))
                done[key] = ran, ran.figures(), recode(setting.table, ran.groups, ran.grouping.levels)
            ran, figures, recoded = done[key]
            for qd in plan.dimensions:
                errors = query_errors(recoded, workloads[qd, at["s"]])
                yield {
                    "source": setting.source,
                    "rows": setting.table.rows,
                    "method": method.name,
                    "against": name,
                    **at,
                    "qd": qd,
                    "relative_error": _rounded(errors.mean),
                    "median_error": _rounded(errors.median),
                    "bounded_error": _rounded(errors.bounded_mean),
                    "zero_queries": errors.zeros,
                    "loss": round(mean_loss(recoded), 4),
                    **figures,
                }


def cost_table(rows: int, methods: Sequence[Method], plan: Plan, tell: Tell) -> Iterator[Row]:
    """Figure 6: the CPU time of finding groups against ε, δ and k, for several numbers of rows."""
    for method in methods:
        for share in plan.sizes:
            setting = composite(round(rows * float(share) * (plan.slow_share if method.name == SLOW else 1)))
            warm_up(setting, method)
            done: dict[tuple[str, ...], Row] = {}
            for name, at in _points(plan.slow_cost if method.name == SLOW else plan.cost, COST):
                key = tuple(at.values())
                if key not in done:
                    tell(f"Figure 6, {method.name}, {setting.table.rows:,} rows, {name} = {at[name]}")
                    ran = Ran.of(setting, method, Dissimilarity(at["epsilon"], at["delta"], int(at["k"])))
                    done[key] = {"cpu_seconds": round(ran.seconds, 3), **ran.figures()}
                yield {
                    "source": setting.source,
                    "rows": setting.table.rows,
                    "method": method.name,
                    "against": name,
                    **at,
                    **done[key],
                }


TABLES: dict[str, tuple[str, Callable[[int, Sequence[Method], Plan, Tell], Iterator[Row]]]] = {
    "4": ("vulnerability.csv", vulnerability_table),
    "5": ("quality.csv", quality_table),
    "6": ("cost.csv", cost_table),
}
"""For each figure its table, and what measures it."""


def _points(values: dict[str, tuple[str, ...]], defaults: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each parameter through its values, the others at their defaults."""
    for name, several in values.items():
        for value in several:
            yield name, {**defaults, name: value}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def write_rows(path: Path, rows: Iterator[Row]) -> None:
    """Write a table line by line: what is measured is there even if the rest is stopped."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()
