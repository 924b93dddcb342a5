"""Exact answers for small tables: whether any grouping satisfies the principles, and which loses least."""

from sfumato.anonymization.exact_search.best_partition import best_partition
from sfumato.anonymization.exact_search.possible_groups import MOST_ROWS, PossibleGroups

__all__ = ["MOST_ROWS", "PossibleGroups", "best_partition"]
