from ._anonymize import anonymize
from ._full_domain import FullDomain, full_domain
from ._replay import replay
from .coverage import Coverage
from .feasibility import (
    Certificate,
    Contour,
    DegreeBounds,
    Feasibility,
    Frontier,
    FrontierCell,
    NearestParameters,
    ReachableParameters,
    RequirementFeasibility,
    frontier,
    vulnerability,
)
from .loss_bounds import loss_bound
from .methods import Grouping, Method, Task, renumber
from .methods.full_domain import (
    ClassHistograms,
    EquivalenceClasses,
    NodeCosts,
    TransformationCube,
    TransformationLoss,
)
from .recoding import ColumnLevels, ColumnRecoding, Domain, Recoding, RecodingKind, Strata, recode
from .release import PrivateRelease, Release
from .utility import (
    Association,
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
    "Association",
    "Certificate",
    "ClassHistograms",
    "ClassSizes",
    "ColumnLevels",
    "ColumnRecoding",
    "Contour",
    "Coverage",
    "DegreeBounds",
    "Domain",
    "EquivalenceClasses",
    "Feasibility",
    "Frontier",
    "FrontierCell",
    "FullDomain",
    "Grouping",
    "Loss",
    "Marginal",
    "Method",
    "NearestParameters",
    "NodeCosts",
    "PrivateRelease",
    "QueryErrors",
    "ReachableParameters",
    "Recoding",
    "RecodingKind",
    "Release",
    "RequirementFeasibility",
    "Strata",
    "Task",
    "TransformationCube",
    "TransformationLoss",
    "Utility",
    "Workload",
    "anonymize",
    "frontier",
    "full_domain",
    "loss_bound",
    "marginals",
    "query_errors",
    "recode",
    "renumber",
    "replay",
    "utility_of",
    "vulnerability",
]
