"""The microdata: schema, hierarchies, the encoded table, groups of its rows, and its sensitive attribute."""

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.groups import Groups, Histogram
from sfumato.data.hierarchy import Flat, Hierarchy, Intervals
from sfumato.data.schema import Kind, Missing, Role, Schema
from sfumato.data.table import Table
from sfumato.data.units import Units
from sfumato.exact.numbers import Numbers

__all__ = [
    "Attribute",
    "Column",
    "Flat",
    "Groups",
    "Hierarchy",
    "Histogram",
    "Intervals",
    "Kind",
    "Missing",
    "Numbers",
    "Role",
    "Schema",
    "Table",
    "Units",
]
