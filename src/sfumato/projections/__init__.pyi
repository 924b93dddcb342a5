from ._project import project
from .codip import Codip, Path
from .dependence import Dependence, PlanRatios
from .harmless import Harmless, harmless_values, judged, listed_harmless
from .partitions import FEW, MOST, Partitions
from .plan import Plan, label_of
from .projection import Projection, Threshold
from .reachability import Asking, Block, Reachable
from .search import SEARCHES, PlanSearch, check_search, search_plans
from .set_bits import EncodedSets, bits, spread
from .tradeoff_curve import Tradeoff, tradeoff

__all__ = [
    "FEW",
    "MOST",
    "SEARCHES",
    "Asking",
    "Block",
    "Codip",
    "Dependence",
    "EncodedSets",
    "Harmless",
    "Partitions",
    "Path",
    "Plan",
    "PlanRatios",
    "PlanSearch",
    "Projection",
    "Reachable",
    "Threshold",
    "Tradeoff",
    "bits",
    "check_search",
    "harmless_values",
    "judged",
    "label_of",
    "listed_harmless",
    "project",
    "search_plans",
    "spread",
    "tradeoff",
]
