"""How quasi-identifiers are published: the domain of each column, and the recoding of groups."""

from sfumato.anonymization.recoding.domain import Domain, RecodingKind, domains_of
from sfumato.anonymization.recoding.generalization_levels import Ladder, ladders_of
from sfumato.anonymization.recoding.group_recoding import ColumnRecoding, Recoding, recode

__all__ = ["ColumnRecoding", "Domain", "Ladder", "Recoding", "RecodingKind", "domains_of", "ladders_of", "recode"]
