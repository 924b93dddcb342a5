from ._project import project
from .encoded_sets import EncodedSets, encode_sets
from .plan_choice import Threshold
from .plans.codip import Codip, MergePath
from .plans.dependence import Dependence, PlanRatios
from .plans.dependent_pairs import DependentPair, dependent_pairs
from .plans.harmless_values import Harmless
from .plans.information import CountSpectra
from .plans.partitions import Partitions
from .plans.plan import Plan
from .plans.plan_search import PlanSearch, search_plans
from .plans.reachability import Block, ReachabilityCache, Reachable
from .plans.superfluous_separations import superfluous_separations
from .plans.tradeoff_curve import Tradeoff, tradeoff
from .projection import PrivateProjection, Projection
from .projection_parameters import SEARCHES

__all__ = [
    "SEARCHES",
    "Block",
    "Codip",
    "CountSpectra",
    "Dependence",
    "DependentPair",
    "EncodedSets",
    "Harmless",
    "MergePath",
    "Partitions",
    "Plan",
    "PlanRatios",
    "PlanSearch",
    "PrivateProjection",
    "Projection",
    "ReachabilityCache",
    "Reachable",
    "Threshold",
    "Tradeoff",
    "dependent_pairs",
    "encode_sets",
    "project",
    "search_plans",
    "superfluous_separations",
    "tradeoff",
]
