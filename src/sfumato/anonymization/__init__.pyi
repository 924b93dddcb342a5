from ._anonymize import anonymize
from ._full_domain import FullDomain, full_domain
from ._replay import replay
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
from .methods import Grouping, Method, Task
from .methods.full_domain import ClassHistograms, EquivalenceClasses, TransformationCube, TransformationLoss
from .recoding import ColumnLevels, ColumnRecoding, Domain, Recoding, RecodingKind, recode
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
    "ClassHistograms",
    "ClassSizes",
    "ColumnLevels",
    "ColumnRecoding",
    "Contour",
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
    "PrivateRelease",
    "QueryErrors",
    "ReachableParameters",
    "Recoding",
    "RecodingKind",
    "Release",
    "RequirementFeasibility",
    "Task",
    "TransformationCube",
    "TransformationLoss",
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
