"""The best rules: which cells to disclose so that the risk is least (paper 002, Section 3)."""

from sfumato.disclosure.rules.best_rule import best_by_cells, best_rule
from sfumato.disclosure.rules.min_risk import Independence, independence_costs, min_risk
from sfumato.disclosure.rules.optimal_rule import DisclosureRule

__all__ = ["DisclosureRule", "Independence", "best_by_cells", "best_rule", "independence_costs", "min_risk"]
