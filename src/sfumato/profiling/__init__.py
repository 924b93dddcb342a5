"""Profiles of tables: what columns look like, the roles they should have, and a config to start from."""

from sfumato.profiling.config_draft import draft
from sfumato.profiling.requirement_suggestions import SuggestedRequirement
from sfumato.profiling.table_profile import ColumnProfile, Profile, profile

__all__ = ["ColumnProfile", "Profile", "SuggestedRequirement", "draft", "profile"]
