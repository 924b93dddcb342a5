"""What is guaranteed, possible and impossible: bounds, nearby parameters, contours and frontiers."""

from sfumato.anonymization.feasibility.assessment import Feasibility, RequirementFeasibility, Verdict, feasibility
from sfumato.anonymization.feasibility.degree_bounds import DegreeBounds, bounds, lemma_2, swap_bound, theorem_3
from sfumato.anonymization.feasibility.exchange_bounds import cycle_bound, lemma_1, stuck_degree
from sfumato.anonymization.feasibility.frontier_grid import Attempt, Frontier, FrontierCell, frontier
from sfumato.anonymization.feasibility.nearest_parameters import NearestParameters, ReachableParameters
from sfumato.anonymization.feasibility.vulnerability_contour import Contour, vulnerability
from sfumato.principles.certificate import Certificate

__all__ = [
    "Attempt",
    "Certificate",
    "Contour",
    "DegreeBounds",
    "Feasibility",
    "Frontier",
    "FrontierCell",
    "NearestParameters",
    "ReachableParameters",
    "RequirementFeasibility",
    "Verdict",
    "bounds",
    "cycle_bound",
    "feasibility",
    "frontier",
    "lemma_1",
    "lemma_2",
    "stuck_degree",
    "swap_bound",
    "theorem_3",
    "vulnerability",
]
