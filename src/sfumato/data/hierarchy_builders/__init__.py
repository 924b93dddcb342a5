"""Builders of hierarchies: each makes the hierarchy of a column from its values."""

from sfumato.data.hierarchy import Flat, HierarchyBuilder, Intervals
from sfumato.data.hierarchy_builders.consecutive import Consecutive
from sfumato.data.hierarchy_builders.dates import Dates
from sfumato.data.hierarchy_builders.frequent import Frequent
from sfumato.data.hierarchy_builders.icd import ICD
from sfumato.data.hierarchy_builders.masked_codes import Masking
from sfumato.data.hierarchy_builders.named_groups import NamedGroups
from sfumato.data.hierarchy_builders.prefix import Prefix
from sfumato.data.hierarchy_builders.quantiles import Quantiles
from sfumato.data.hierarchy_builders.ranges import Ranges

BUILDERS: dict[str, type[HierarchyBuilder]] = {
    builder.key: builder
    for builder in (Intervals, Flat, Prefix, Masking, Ranges, Quantiles, NamedGroups, Consecutive, Frequent, Dates, ICD)
}
"""For each key of a config the builder that it names."""

__all__ = [
    "BUILDERS",
    "ICD",
    "Consecutive",
    "Dates",
    "Flat",
    "Frequent",
    "HierarchyBuilder",
    "Intervals",
    "Masking",
    "NamedGroups",
    "Prefix",
    "Quantiles",
    "Ranges",
]
