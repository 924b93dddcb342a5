"""How quasi-identifiers are published: the domain of each column, and the recoding of groups."""

from sfumato.recoding.domain import Domain, How, domains_of
from sfumato.recoding.recode import Recoded, RecodedColumn, recode

__all__ = ["Domain", "How", "Recoded", "RecodedColumn", "domains_of", "recode"]
