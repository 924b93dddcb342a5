"""How quasi-identifiers are published: the domain of each column, and the recoding of groups."""

from sfumato.anonymization.recoding.domain import Domain, RecodingKind, domains_of
from sfumato.anonymization.recoding.generalization_levels import ColumnLevels, column_levels
from sfumato.anonymization.recoding.group_recoding import ColumnRecoding, Recoding, recode
from sfumato.anonymization.recoding.strata import Strata, strata_of

__all__ = [
    "ColumnLevels",
    "ColumnRecoding",
    "Domain",
    "Recoding",
    "RecodingKind",
    "Strata",
    "column_levels",
    "domains_of",
    "recode",
    "strata_of",
]
