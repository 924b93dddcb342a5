"""What is guaranteed, possible and impossible: bounds, certificates, the nearest wishes, contours and frontiers."""

from sfumato.feasible.bounds import Bounds, bounds
from sfumato.feasible.certificate import Certificate, certificate_of
from sfumato.feasible.contour import Contour, vulnerability
from sfumato.feasible.feasibility import Feasibility, Outlook, Verdict, feasibility
from sfumato.feasible.frontier import Attempt, Cell, Frontier, frontier
from sfumato.feasible.nearest import Nearest, Wishes

__all__ = [
    "Attempt",
    "Bounds",
    "Cell",
    "Certificate",
    "Contour",
    "Feasibility",
    "Frontier",
    "Nearest",
    "Outlook",
    "Verdict",
    "Wishes",
    "bounds",
    "certificate_of",
    "feasibility",
    "frontier",
    "vulnerability",
]
