"""Profiles of tables: what columns look like, the roles they should have, and a config to start from."""

from sfumato.profiling.column_facts import Facts
from sfumato.profiling.config_draft import draft
from sfumato.profiling.identifying_combinations import Combination, SingledOut, most_identifying, singled_out, uniqueness_of
from sfumato.profiling.missing_markers import Markers
from sfumato.profiling.requirement_suggestions import SuggestedRequirement
from sfumato.profiling.role_suggestions import Suggestion
from sfumato.profiling.table_profile import ColumnProfile, Profile, profile

__all__ = [
    "ColumnProfile",
    "Combination",
    "Facts",
    "Markers",
    "Profile",
    "SingledOut",
    "SuggestedRequirement",
    "Suggestion",
    "draft",
    "most_identifying",
    "profile",
    "singled_out",
    "uniqueness_of",
]
