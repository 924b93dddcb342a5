"""The microdata: schema, hierarchies, the encoded table, groups of its rows, and its sensitive attribute."""

from sfumato.data.attribute import Attribute
from sfumato.data.cell_classes import CellClasses
from sfumato.data.column import Column
from sfumato.data.groups import Groups, Histogram
from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders import (
    BUILDERS,
    ICD,
    Consecutive,
    Dates,
    Flat,
    Frequent,
    Intervals,
    Masking,
    NamedGroups,
    Prefix,
    Quantiles,
    Ranges,
)
from sfumato.data.original_people import OriginalPeople
from sfumato.data.schema import Kind, Missing, Role, Schema
from sfumato.data.skeletons import hierarchy_skeleton
from sfumato.data.table import Table
from sfumato.data.units import UnitCounts, Units, UnitValues
from sfumato.exact.numbers import Numbers

__all__ = [
    "BUILDERS",
    "ICD",
    "Attribute",
    "CellClasses",
    "Column",
    "Consecutive",
    "Dates",
    "Flat",
    "Frequent",
    "Groups",
    "Hierarchy",
    "HierarchyBuilder",
    "Histogram",
    "Intervals",
    "Kind",
    "Masking",
    "Missing",
    "NamedGroups",
    "Numbers",
    "OriginalPeople",
    "Prefix",
    "Quantiles",
    "Ranges",
    "Role",
    "Schema",
    "Table",
    "UnitCounts",
    "UnitValues",
    "Units",
    "hierarchy_skeleton",
]
