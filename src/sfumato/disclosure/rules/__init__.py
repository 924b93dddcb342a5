"""Best rules: which cells to disclose so that the risk is least (Lebanon et al. 2006, Section 3)."""

from sfumato.disclosure.rules._best_rule import best_by_cells, best_rule
from sfumato.disclosure.rules.disclosure_rule import DisclosureRule
from sfumato.disclosure.rules.minrisk_algorithm import IndependenceCost, independence_costs, min_risk

__all__ = ["DisclosureRule", "IndependenceCost", "best_by_cells", "best_rule", "independence_costs", "min_risk"]
