"""The interface of every privacy principle: a condition on every group, the level that each group reaches, capabilities.

A principle needs `name`, `scope` and `measure` only. Everything else that it can do is a capability with a safe default:
a principle that declares none works with the methods mondrian and lattice, with audits, verification and reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from fractions import Fraction
from functools import cached_property
from inspect import isabstract
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.exact import Ratios as Ratios  # noqa: PLC0414 - public as sf.principles.Ratios
from sfumato.parameters import ParameterChecks
from sfumato.parameters import ParameterRange as ParameterRange  # noqa: PLC0414 - public as sf.principles.ParameterRange
from sfumato.principles.certificate import Certificate, whole_table_certificate
from sfumato.principles.view import View
from sfumato.summaries import short_repr

if TYPE_CHECKING:
    from sfumato.data.table import Table
    from sfumato.distances.neighbour_graph import Neighbours
    from sfumato.principles.dissimilarity import Dissimilarity
    from sfumato.principles.earth_mover import TableDistance
    from sfumato.principles.search_conditions import HistogramCondition, NeighbourLimit
    from sfumato.principles.worked_example import Example

On = str | tuple[str, ...] | None
"""The sensitive attributes that a principle applies to.

None: as the principle's `scope` says. "each": every sensitive attribute alone. "whole": all of them as one attribute. A
name, or several names taken together as one attribute.
"""

Units = Literal["size", "every choice", "shares", "one row", "rows"]
"""How a principle counts units, which are people or households with several rows each; `UNITS` describes each way."""

UNITS: dict[Units, str] = {
    "size": "It counts people, or households if those are declared, however many rows they have.",
    "every choice": "Of people with several rows it counts people, and holds if it holds for every choice of one row per "
    "person: a person with several values counts for each of them.",
    "shares": "Of people with several rows it counts people: the share of a value is that of the people with at least one "
    "row of the value, in a group as in the table.",
    "one row": "Of people with several rows it counts one row per person. Values that vary within a person are an error.",
    "rows": "It takes each row for a person. A schema that declares people or households with several rows is an error.",
}
"""How principles count people, or households, with several rows, in a sentence. `measure` decides which one is true."""

Scope = Literal["groups", "each", "whole"]
"""What a principle measures: the groups alone, each sensitive attribute alone, or all of them as one."""


@dataclass(frozen=True, eq=False)
class Part:
    """One condition of a principle: the level of every group, and whether it suffices."""

    name: str
    levels: Ratios | NDArray[np.float64]
    holds: NDArray[np.bool_]
    relation: Literal["at least", "at most", "below"]
    threshold: Fraction

    @classmethod
    def at_least(cls, name: str, levels: Ratios, threshold: Number) -> Part:
        """Require a level of at least a threshold in every group."""
        exact = as_fraction(threshold, name)
        return cls(name, levels, _exact_levels(name, levels).at_least(exact), "at least", exact)

    @classmethod
    def at_most(cls, name: str, levels: Ratios, threshold: Number) -> Part:
        """Require a level of at most a threshold in every group."""
        exact = as_fraction(threshold, name)
        return cls(name, levels, _exact_levels(name, levels).at_most(exact), "at most", exact)

    @classmethod
    def below(cls, name: str, levels: Ratios, threshold: Number) -> Part:
        """Require a level below a threshold in every group."""
        exact = as_fraction(threshold, name)
        return cls(name, levels, _exact_levels(name, levels).below(exact), "below", exact)

    @property
    def wanted(self) -> str:
        """The condition in words, such as "at most 0.2"."""
        return f"{self.relation} {written(self.threshold)}"

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher level is safer."""
        return self.relation == "at least"

    @cached_property
    def worst(self) -> Fraction | float:
        """The level of the worst group: exact where it is rational."""
        if isinstance(self.levels, Ratios):
            return self.levels.smallest() if self.higher_is_better else self.levels.largest()
        return float(self.levels.min() if self.higher_is_better else self.levels.max())

    @property
    def worst_group(self) -> int:
        """A group that has the worst level."""
        # floats may not tell the worst level from others that are near it
        near = np.flatnonzero(np.isclose(self.floats(), float(self.worst), rtol=1e-9, atol=0))
        return next(int(group) for group in near if self.at(int(group)) == self.worst)

    def of_groups(self, groups: NDArray[np.int64]) -> Part:
        """Return the part for some of the groups, in their order."""
        levels = self.levels
        if isinstance(levels, Ratios):
            return replace(
                self, levels=Ratios(levels.numerators[groups], levels.denominators[groups]), holds=self.holds[groups]
            )
        return replace(self, levels=levels[groups], holds=self.holds[groups])

    def floats(self) -> NDArray[np.float64]:
        """Return the levels as floats, for display and sorting only."""
        return self.levels.floats() if isinstance(self.levels, Ratios) else self.levels

    def at(self, group: int) -> Fraction | float:
        """Return the level of one group."""
        return self.levels[group] if isinstance(self.levels, Ratios) else float(self.levels[group])


def _exact_levels(name: str, levels: Any) -> Ratios:
    """Return levels that can be compared without rounding; anything but `Ratios` is an error of the principle's author."""
    if not isinstance(levels, Ratios):
        raise TypeError(
            f"the levels of the part {name!r} are of type {type(levels).__name__}, not Ratios: pass "
            "Ratios(numerators, denominators), or Ratios.whole(integers)"
        )
    return levels


@dataclass(frozen=True, eq=False)
class Measurement:
    """The result of measuring a principle on a table: its parts, group by group."""

    parts: tuple[Part, ...]

    @property
    def group_holds(self) -> NDArray[np.bool_]:
        """For each group whether every part holds in it."""
        return np.asarray(np.logical_and.reduce([part.holds for part in self.parts]))

    @property
    def holds(self) -> bool:
        """Whether the principle holds in every group."""
        return bool(self.group_holds.all())

    @property
    def level(self) -> Fraction | float:
        """The level reached: that of the worst group in the principle's first part."""
        return self.parts[0].worst

    @property
    def levels(self) -> dict[str, Fraction | float]:
        """The level reached in each part."""
        return {part.name: part.worst for part in self.parts}

    def of_groups(self, groups: NDArray[np.int64]) -> Measurement:
        """Return the measurement of some of the groups, in their order."""
        return Measurement(tuple(part.of_groups(groups) for part in self.parts))

    def worst_everywhere(self) -> Measurement:
        """Return the measurement in which every group has the worst level and the verdict of the whole."""

        def worst(part: Part) -> Part:
            groups, level = len(part.holds), part.worst
            levels: Ratios | NDArray[np.float64] = np.full(groups, level)
            if isinstance(part.levels, Ratios):
                at = part.worst_group
                ends = part.levels.numerators[at], part.levels.denominators[at]
                levels = Ratios(*(np.repeat(end, groups) for end in ends))
            return replace(part, levels=levels, holds=np.full(groups, bool(part.holds.all())))

        return Measurement(tuple(map(worst, self.parts)))

    def badness(self) -> NDArray[np.int64]:
        """Return the groups from worst to best: violating ones first, then by the level of the first part that differs."""
        keys = [-part.floats() if not part.higher_is_better else part.floats() for part in reversed(self.parts)]
        return np.lexsort([*keys, self.group_holds])

    def worst_groups(self, most: int) -> NDArray[np.int64]:
        """Return the worst groups, as many as requested, and one with the worst level of each part; in the groups' order.

        The measurement of these groups has the same levels and verdict, and the same worst groups.
        """
        return np.unique(np.concatenate([self.badness()[:most], [part.worst_group for part in self.parts]]))

    @staticmethod
    def joined(measurements: Sequence[Measurement]) -> Measurement:
        """Return measurements of one principle on different groups as that of all these groups, one after another.

        >>> one = Measurement((Part.at_least("k", Ratios.whole(np.array([3, 1])), 2),))
        >>> Measurement.joined([one, one.of_groups(np.array([0]))]).group_holds.tolist()
        [True, False, True]
        """
        return Measurement(tuple(map(_joined_part, zip(*(one.parts for one in measurements), strict=True))))


def _joined_part(parts: tuple[Part, ...]) -> Part:
    levels: Any = [part.levels for part in parts]
    if isinstance(levels[0], Ratios):
        ends = ("numerators", "denominators")
        together: Any = Ratios(*(np.concatenate([getattr(level, end) for level in levels]) for end in ends))
    else:
        together = np.concatenate(levels)
    return replace(parts[0], levels=together, holds=np.concatenate([part.holds for part in parts]))


class Principle(ParameterChecks, ABC):
    """A condition on every group: `measure` returns the level of each group, `holds` the verdict.

    A subclass is a small frozen dataclass whose fields are the parameters. It must define `name`, `scope` and `measure`. The
    other attributes and methods are capabilities that make methods faster, or more things possible. Each default is safe.
    A subclass that overrides `measure` does not inherit the capabilities of its parent, which may not be true of it.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pairs(Principle):
    ...     "Every group contains an even number of rows."
    ...     name = "pairs"
    ...     scope = "groups"
    ...     def measure(self, view):
    ...         odd = Ratios.whole(view.groups.sizes % 2)
    ...         return Measurement((Part.at_most("odd", odd, 0),))
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> sf.audit(pa.table({"age": [30, 30, 41]}), sf.Schema(["age"]), Pairs())[0].levels
    {'odd': Fraction(1, 1)}
    """

    name: ClassVar[str]
    """The name in a config and in release.json."""
    title: ClassVar[str]
    """The name in the literature; `name` if none is declared."""
    family: ClassVar[str] = "other"
    """What the principle looks at, for the documentation: "size", "nearness", "diversity", "distribution",
    "membership" or "other"."""
    scope: ClassVar[Scope]
    """What is measured unless `on` is given: the groups alone, each sensitive attribute alone, or all of them as one."""
    monotone: ClassVar[bool] = False
    """Whether the union of two groups that satisfy it always satisfies it, with the table as a whole unchanged."""
    absorbing: ClassVar[bool] = False
    """Whether the union of a group that satisfies it with any other group satisfies it; implies `monotone`."""
    relative: ClassVar[bool] = True
    """Whether a group is compared with the whole table, so that dropping rows elsewhere may change its verdict."""
    covers: ClassVar[bool] = True
    """Whether it protects every value of the attributes that it is measured on, and not only some of them."""
    uses_distance: ClassVar[bool] = False
    """Whether the verdict depends on the distance that is declared for the sensitive attribute."""
    uses_population: ClassVar[bool] = False
    """Whether it compares the published cells of groups with the population that the schema declares."""
    compares_groups: ClassVar[bool] = False
    """Whether the verdict on a group depends on which other groups there are; the method exact refuses it."""
    histogram_only: ClassVar[bool] = False
    """Whether `measure` reads group sizes and the attribute's histogram only, and no rows; makes lattice faster."""
    size_only: ClassVar[bool] = False
    """Whether a group satisfies it exactly if it contains at least `implied_k` people."""
    units: ClassVar[Units] = "one row"
    """How it counts people or households with several rows: see `UNITS`."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "title" not in cls.__dict__ and "name" in cls.__dict__:
            cls.title = cls.name
        if cls.__repr__ is object.__repr__:  # that of a dataclass would list each of a hundred columns
            cls.__repr__ = short_repr  # type: ignore[method-assign]
        if "measure" in cls.__dict__ and Principle not in cls.__bases__:
            # What was true of the parent's measure need not be true of this one: fall back to the safe defaults.
            for capability in _CAPABILITIES:
                if capability not in cls.__dict__:
                    setattr(cls, capability, Principle.__dict__[capability])

    @abstractmethod
    def measure(self, view: View) -> Measurement:
        """Return the level of every group, and whether it suffices. Verdicts must be exact: see `Ratios`."""

    def holds(self, view: View) -> bool:
        """Return whether the principle holds in every group."""
        return measurement_of(self, view).holds

    @property
    def implied_k(self) -> int | None:
        """The k for which the principle implies k-anonymity, if its parameters say so: no smaller group satisfies it."""
        return None

    def check_table(self, table: Table, attributes: Sequence[tuple[str, ...]]) -> None:
        """Raise an error if the parameters cannot be meant for a table, when the principle is requested for it.

        `attributes`: the sensitive attributes that it is measured on. `measure` must accept such a table nevertheless,
        because a part of a table, or a release, may lack what the whole contains.
        """

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return conditions that a local search can satisfy step by step, beside `implied_k`.

        A group that satisfies all of them satisfies the principle, up to float rounding. Defining this makes the method
        glaze available; see `searchable`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no search conditions")

    @property
    def searchable(self) -> bool:
        """Whether the principle has search conditions, so that the method glaze can serve it."""
        return type(self).search_conditions is not Principle.search_conditions

    def cut_order(self, view: View) -> NDArray[np.float64]:
        """Return for each group and quasi-identifier how much a cut along it promises, if the group violates the principle.

        Defining this makes the method mondrian cut violating groups further; see `helped_by_cuts`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no order of cuts")

    @property
    def helped_by_cuts(self) -> bool:
        """Whether the parts of a group that violates it may satisfy it because their cells are narrower."""
        return type(self).cut_order is not Principle.cut_order

    def certificate(self, view: View) -> Certificate | None:
        """Return a proof that no grouping of the view's rows satisfies the principle; None if there is none.

        By default: a monotone principle that fails on the table as one group fails in every grouping.
        """
        return whole_table_certificate(self, view)

    def neighbours(self, view: View) -> Neighbours | None:
        """Return which values the principle regards as near one another; None if nearness is not what it measures.

        The report draws the worst group as a graph of these neighbours.
        """
        del view
        return None

    def as_dissimilarity(self) -> Dissimilarity | None:
        """Return the (ε,δ)^k-dissimilarity that equals this requirement; None if there is none.

        The method xcolor, bounds, frontiers and contours serve exactly that principle.
        """
        return None

    def table_distance(self) -> TableDistance | None:
        """Return the earth mover's distance from the table that the principle limits; None if it limits another level.

        The method lattice measures and bounds such distances faster.
        """
        return None

    @classmethod
    def example(cls) -> Example | None:
        """Return a worked example for `sfumato explain` and the documentation; None if there is none."""
        return None

    @property
    def described_by(self) -> type:
        """The class whose docstring describes this requirement: its own, unless a parameter changes what is measured."""
        return type(self)

    @property
    def label(self) -> str:
        """The principle with its parameters, for display."""
        shown = {key: value for key, value in self.parameters().items() if key != "on"}
        return f"{self.title} ({', '.join(f'{key} = {value}' for key, value in shown.items())})" if shown else self.title


_CAPABILITIES = (
    "monotone",
    "absorbing",
    "relative",
    "uses_population",
    "compares_groups",
    "histogram_only",
    "size_only",
    "units",
    "implied_k",
    "search_conditions",
    "cut_order",
    "certificate",
    "neighbours",
    "as_dissimilarity",
    "table_distance",
    "described_by",
    "example",
)
"""What a subclass does not inherit if it overrides `measure`."""


def check_principle_class(kind: type[Principle]) -> None:
    """Check that a class defines what every principle needs; what is missing is an error that says what to add."""
    place = f"{kind.__module__}.{kind.__qualname__}"
    problem = remedy = None
    if isabstract(kind):
        problem, remedy = "does not define measure()", "Define measure(self, view), which returns a Measurement."
    elif not is_dataclass(kind):
        problem, remedy = "is not a dataclass", "Decorate the class with @dataclass(frozen=True)."
    elif not isinstance(getattr(kind, "name", None), str):
        problem, remedy = "has no name", 'Add name = "…", the name in a config, to the class.'
    elif getattr(kind, "scope", None) not in get_args(Scope):
        scope = getattr(kind, "scope", None)
        problem = "has no scope" if scope is None else f"has the invalid scope {scope!r}"
        remedy = f"Add scope = … to the class, one of: {', '.join(map(repr, get_args(Scope)))}."
    if problem is not None and remedy is not None:
        raise ParameterError(f"the principle class {place} {problem}", remedy=remedy, key="principles", value=place)


def measurement_of(principle: Principle, view: View) -> Measurement:
    """Measure a principle, and check that the result is a Measurement with a verdict for every group.

    A principle that does not count units itself is measured on one row of each unit.
    """
    if principle.units == "one row":
        view = view.one_row_per_unit(principle.title)
    result: Any = principle.measure(view)
    problem = None
    if not isinstance(result, Measurement):
        problem = f"returns {type(result).__name__}, not a Measurement"
    elif not isinstance(result.parts, tuple) or not result.parts or not all(isinstance(p, Part) for p in result.parts):
        problem = "returns a Measurement whose parts are not a tuple of Part: write Measurement((part,))"
    else:
        odd = [part.name for part in result.parts if len(part.holds) != view.groups.count]
        problem = f"returns a part {odd[0]!r} that does not have one level for every group" if odd else None
    if problem is not None:
        kind = type(principle)
        raise ParameterError(
            f"{kind.__module__}.{kind.__qualname__}.measure() {problem}",
            remedy="Fix the principle: see sf.principles.Measurement.",
            value=principle.name,
        )
    return result  # type: ignore[no-any-return]


def exactly(value: Number) -> Fraction:
    """Return a parameter that construction has already turned into a fraction."""
    assert isinstance(value, Fraction)
    return value


def size_part(view: View, k: int) -> Part:
    """Require at least k people in every group; rows, if the schema does not declare whose row it is."""
    groups = view.groups
    if k > groups.population:
        counted = "rows" if groups.units is None else groups.units.plural
        raise ParameterError(
            f"k = {k} is larger than the table, which contains {groups.population} {counted}",
            remedy=f"No grouping can reach it: give k at most {groups.population}, or more rows.",
            key="k",
            value=k,
            file=view.table.source,
        )
    heads = groups.heads
    return Part.at_least("k", Ratios.whole(heads), Fraction(k))
