"""Plans over several sensitive attributes: which to publish together, so that they do not betray one another (paper 004)."""

from sfumato.projections.asking import Asking, Block, Reachable
from sfumato.projections.codip import Codip, Path
from sfumato.projections.dependence import Dependence, Weighed
from sfumato.projections.harmless import Harmless, harmless_values, judged, listed_harmless
from sfumato.projections.partitions import FEW, MOST, Partitions
from sfumato.projections.plan import Plan, label_of
from sfumato.projections.search import SEARCHES, PlanSearch, check_search, search_plans
from sfumato.projections.sets import Spread, bits, spread
from sfumato.projections.tradeoff import Tradeoff, tradeoff

__all__ = [
    "FEW",
    "MOST",
    "SEARCHES",
    "Asking",
    "Block",
    "Codip",
    "Dependence",
    "Harmless",
    "Partitions",
    "Path",
    "Plan",
    "PlanSearch",
    "Reachable",
    "Spread",
    "Tradeoff",
    "Weighed",
    "bits",
    "check_search",
    "harmless_values",
    "judged",
    "label_of",
    "listed_harmless",
    "search_plans",
    "spread",
    "tradeoff",
]
