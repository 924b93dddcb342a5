"""The microdata: schema, hierarchies, the encoded table, groups of its rows, and its sensitive attribute."""

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups
from sfumato.data.hierarchy import Flat, Hierarchy, Intervals
from sfumato.data.schema import Kind, Missing, Role, Schema
from sfumato.data.table import Table

__all__ = ["Attribute", "Flat", "Groups", "Hierarchy", "Intervals", "Kind", "Missing", "Role", "Schema", "Table"]
