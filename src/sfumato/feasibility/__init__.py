"""What is guaranteed, possible and impossible: bounds, certificates, the nearest wishes, contours and frontiers."""

from sfumato.feasibility.bounds import Bounds, bounds
from sfumato.feasibility.certificate import Certificate, certificate_of
from sfumato.feasibility.contour import Contour, vulnerability
from sfumato.feasibility.frontier import Attempt, Cell, Frontier, frontier
from sfumato.feasibility.guidance import Feasibility, Outlook, Verdict, feasibility
from sfumato.feasibility.nearest import Nearest, Wishes

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
