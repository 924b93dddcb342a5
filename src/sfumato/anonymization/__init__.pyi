from ._anonymize import anonymize
from ._full_domain import FullDomain, full_domain
from ._replay import replay
from .feasibility import (
    Certificate,
    Contour,
    Feasibility,
    Frontier,
    RequirementFeasibility,
    frontier,
    vulnerability,
)
from .methods import Grouping, Method, Task
from .recoding import Recoding, recode
from .release import PrivateRelease, Release
from .utility import (
    ClassSizes,
    Loss,
    Marginal,
    QueryErrors,
    Utility,
    Workload,
    marginals,
    query_errors,
    utility_of,
)

__all__ = [
    "Certificate",
    "ClassSizes",
    "Contour",
    "Feasibility",
    "Frontier",
    "FullDomain",
    "Grouping",
    "Loss",
    "Marginal",
    "Method",
    "PrivateRelease",
    "QueryErrors",
    "Recoding",
    "Release",
    "RequirementFeasibility",
    "Task",
    "Utility",
    "Workload",
    "anonymize",
    "frontier",
    "full_domain",
    "marginals",
    "query_errors",
    "recode",
    "replay",
    "utility_of",
    "vulnerability",
]
