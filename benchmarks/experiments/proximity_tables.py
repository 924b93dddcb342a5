"""Figures 4, 5 and 6 of Wang & Liu (2010), Section VI, as tables.

The setting is `survey.composite`. The column names and the page `docs/experiments.md` state the differences from the paper:
other data with the same schema, CPU seconds on another machine, and two more methods in addition to XColor. Mondrian splits
under the same principle. If it cannot split the table at all, it runs again for k-anonymity only, and the column `principle`
says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.costs.anonymize_cost import method_by_name, warm_up
from benchmarks.datasets.survey import Setting, composite
from benchmarks.measurement import Notify, Row, cpu_seconds, silent, write_rows
from sfumato.anonymization.feasibility import vulnerability
from sfumato.anonymization.methods import Grouping, Method, Mondrian, Task
from sfumato.anonymization.recoding import Recoding, recode
from sfumato.anonymization.utility import Workload, mean_loss, query_errors
from sfumato.data.groups import Groups
from sfumato.errors import ParameterError
from sfumato.principles import Dissimilarity, FrequencyLDiversity, KAnonymity

SLOW = "xcolor"
"""At the defaults of Figure 6 it finds no groups and uses up its budget, which takes minutes: there it has fewer rows."""


@dataclass(frozen=True)
class Points:
    """The points that are measured: the values of each parameter, with the others at their defaults."""

    contour: tuple[tuple[str, ...], tuple[str, ...]]
    """Figure 4: the values of ε and of δ."""
    quality: dict[str, tuple[str, ...]]
    """Figure 5: the values of ε, δ, k and s."""
    cost: dict[str, tuple[str, ...]]
    """Figure 6: the values of ε, δ and k."""
    slow_cost: dict[str, tuple[str, ...]]
    """The same for the slow method: where it ends with groups."""
    stuck_cost: dict[str, tuple[str, ...]]
    """Where the slow method ends without."""
    sizes: tuple[str, ...] = ("0.6", "0.8", "1")
    """Figure 6: the numbers of rows, as shares of all."""
    stuck_size: str = "0.1"
    """The share of the rows on which the slow method runs where it ends without groups."""
    queries: int = 1000
    dimensions: tuple[int, ...] = (1, 2, 3)
    """Figure 5: the number of quasi-identifiers in a query (qd); every query has two sensitive columns (qs)."""


QUALITY = {"epsilon": "0.1", "delta": "0.8", "k": "10", "s": "0.1"}
"""The defaults of Figure 5."""

COST = {"epsilon": "0.15", "delta": "0.9", "k": "20"}
"""The defaults of Figure 6."""

FULL = Points(
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
    cost={"epsilon": ("0.05", "0.1", "0.15"), "delta": ("0.7", "0.8", "0.9"), "k": ("5", "10", "15", "20")},
    slow_cost={"epsilon": ("0.05", "0.1"), "delta": ("0.7", "0.8")},
    stuck_cost={"epsilon": ("0.15",), "delta": ("0.9",), "k": ("20",)},
)

QUICK = Points(
    contour=(("0.05", "0.1", "0.2"), ("0.6", "0.8", "0.9")),
    quality={"epsilon": ("0.05", "0.1"), "delta": ("0.8",), "k": ("10",), "s": ("0.1", "0.2")},
    cost={"epsilon": ("0.05", "0.1"), "delta": ("0.7", "0.8")},
    slow_cost={"epsilon": ("0.05",), "delta": ("0.7",)},
    stuck_cost={},
    sizes=("0.5", "1"),
    queries=100,
    dimensions=(1, 2),
)


def run(
    rows: int, figures: Sequence[str], methods: Sequence[str], out: Path, quick: bool = False, notify: Notify = silent
) -> list[Path]:
    """Measure and write one table per figure; return the files."""
    points = QUICK if quick else FULL
    chosen = [method_by_name(name) for name in methods]
    for name in figures:
        if name not in TABLES:
            raise ParameterError(
                f"unknown figure {name!r}", remedy=f"Use one of: {', '.join(TABLES)}.", key="figures", value=name
            )
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for name in figures:
        file, measure = TABLES[name]
        write_rows(out / file, measure(rows, chosen, points, notify))
        files.append(out / file)
    return files


@dataclass(frozen=True, eq=False)
class MethodRun:
    """The result of one method for one requirement."""

    setting: Setting
    requirement: Dissimilarity
    grouping: Grouping
    seconds: float
    k_only: bool
    """Whether the method could not split the table for the requirement and ran for k-anonymity only."""

    @classmethod
    def measure(cls, setting: Setting, method: Method, requirement: Dissimilarity) -> MethodRun:
        """Find groups and measure the CPU time."""
        seconds, grouping = cpu_seconds(lambda: method.group(Task(setting.table, (requirement,))))
        k_only = isinstance(method, Mondrian) and grouping.count == 1
        if k_only:
            seconds, grouping = cpu_seconds(lambda: method.group(Task(setting.table, (KAnonymity(requirement.k),))))
        return cls(setting, requirement, grouping, seconds, k_only)

    @cached_property
    def groups(self) -> Groups:
        """The groups of the result."""
        return Groups.partition(self.setting.table, self.grouping.of_row, self.grouping.count)

    def figures(self) -> Row:
        """Return the columns that every table has: the number of groups, and of those in breach of the requirement."""
        holds = Task(self.setting.table, (self.requirement,)).satisfied(self.grouping.of_row)
        return {
            "principle": "k-anonymity only" if self.k_only else "dissimilarity",
            "groups": self.grouping.count,
            "violating_groups": int((~holds).sum()),
            "violating_rows": int(self.groups.sizes[~holds].sum()),
        }


def vulnerability_table(rows: int, methods: Sequence[Method], points: Points, notify: Notify) -> Iterator[Row]:
    """Yield Figure 4: the share of groups in breach by ε and δ, for the groups of Mondrian with l = 20.

    No value of the composite attribute makes up more than 1/20 of a group, which is how the paper explains l. The share is
    measured under L¹ and under L²; the groups are the same.
    """
    del methods
    for p in (1, 2):
        notify(f"Figure 4, L{p}")
        setting = composite(rows, p)
        grouping = Mondrian().group(Task(setting.table, (FrequencyLDiversity(20, on="whole"),)))
        groups = Groups.partition(setting.table, grouping.of_row, grouping.count)
        contour = vulnerability(setting.table, None, *points.contour, groups=groups, on="whole")
        for epsilon, counts in zip(points.contour[0], contour.breached, strict=True):
            for delta, count in zip(points.contour[1], counts, strict=True):
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


def quality_table(rows: int, methods: Sequence[Method], points: Points, notify: Notify) -> Iterator[Row]:
    """Yield Figure 5: the errors of count queries by ε, δ, k and s; the mean omits queries that no row matches."""
    setting = composite(rows)
    workloads = {
        (qd, s): Workload.random(setting.table, points.queries, qd, 2, s)
        for qd in points.dimensions
        for s in dict.fromkeys([QUALITY["s"], *points.quality["s"]])
    }
    for method in methods:
        warm_up(setting, method)
        done: dict[tuple[str, ...], tuple[Row, Recoding]] = {}
        for name, at in _points(points.quality, QUALITY):
            key = at["epsilon"], at["delta"], at["k"]
            if key not in done:
                notify(f"Figure 5, {method.name}, {name} = {at[name]}")
                result = MethodRun.measure(setting, method, Dissimilarity(at["epsilon"], at["delta"], int(at["k"])))
                done[key] = result.figures(), recode(setting.table, result.groups, result.grouping.levels)
            figures, recoded = done[key]
            for qd in points.dimensions:
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
                    "pooled_error": _rounded(errors.pooled),
                    "zero_queries": errors.zeros,
                    "loss": round(mean_loss(recoded), 4),
                    **figures,
                }


def cost_table(rows: int, methods: Sequence[Method], points: Points, notify: Notify) -> Iterator[Row]:
    """Yield Figure 6: the CPU time of finding groups by ε, δ and k, for several numbers of rows."""
    for method in methods:
        slow = method.name == SLOW
        sizes = dict.fromkeys(points.sizes, points.slow_cost if slow else points.cost)
        if slow:
            sizes = {points.stuck_size: points.stuck_cost, **sizes}
        for share, choices in sizes.items():
            setting = composite(round(rows * float(share)))
            warm_up(setting, method)
            done: dict[tuple[str, ...], Row] = {}
            for name, at in _points(choices, COST):
                key = tuple(at.values())
                if key not in done:
                    notify(f"Figure 6, {method.name}, {setting.table.rows:,} rows, {name} = {at[name]}")
                    result = MethodRun.measure(setting, method, Dissimilarity(at["epsilon"], at["delta"], int(at["k"])))
                    done[key] = {"cpu_seconds": round(result.seconds, 3), **result.figures()}
                yield {
                    "source": setting.source,
                    "rows": setting.table.rows,
                    "method": method.name,
                    "against": name,
                    **at,
                    **done[key],
                }


TABLES: dict[str, tuple[str, Callable[[int, Sequence[Method], Points, Notify], Iterator[Row]]]] = {
    "4": ("vulnerability.csv", vulnerability_table),
    "5": ("quality.csv", quality_table),
    "6": ("cost.csv", cost_table),
}
"""The file of each figure, and the function that measures it."""


def _points(values: dict[str, tuple[str, ...]], defaults: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each value of each parameter, with the other parameters at their defaults."""
    for name, choices in values.items():
        for value in choices:
            yield name, {**defaults, name: value}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
