"""How quasi-identifiers are published: the domain of each column, and the recoding of groups."""

from sfumato.recoding.domain import Domain, How, domains_of
from sfumato.recoding.ladder import Ladder, ladders_of
from sfumato.recoding.recode import Recoded, RecodedColumn, recode

__all__ = ["Domain", "How", "Ladder", "Recoded", "RecodedColumn", "domains_of", "ladders_of", "recode"]
