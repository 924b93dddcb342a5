"""Full-domain generalization: one level per quasi-identifier, the best of all such transformations."""

from sfumato.methods.fulldomain.losses import LOSSES
from sfumato.methods.fulldomain.search import Found, Search

__all__ = ["LOSSES", "Found", "Search"]
