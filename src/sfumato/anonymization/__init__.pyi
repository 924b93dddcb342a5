from ._anonymize import anonymize
from ._full_domain import FullDomain, full_domain
from ._replay import replay
from ._warm_up import warm_up
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
    cycle_bound,
    frontier,
    lemma_1,
    lemma_2,
    stuck_degree,
    swap_bound,
    theorem_3,
    vulnerability,
)
from .joint_assessment import JointFeasibility, joint_feasibility
from .loss_bounds import loss_bound
from .methods import Grouping, Method, Task, renumber
from .methods.full_domain import (
    ClassHistograms,
    EquivalenceClasses,
    NodeCosts,
    TransformationCube,
    TransformationLoss,
)
from .nearest_requirements import NearestRequirement
from .preview import Preview, preview
from .recoding import ColumnLevels, ColumnRecoding, Domain, Recoding, RecodingKind, Strata, recode
from .release import PrivateRelease, Release
from .transformations import Transformation, Transformations, transformations
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
    "JointFeasibility",
    "Loss",
    "Marginal",
    "Method",
    "NearestParameters",
    "NearestRequirement",
    "NodeCosts",
    "Preview",
    "PrivateRelease",
    "QueryErrors",
    "ReachableParameters",
    "Recoding",
    "RecodingKind",
    "Release",
    "RequirementFeasibility",
    "Strata",
    "Task",
    "Transformation",
    "TransformationCube",
    "TransformationLoss",
    "Transformations",
    "Utility",
    "Workload",
    "anonymize",
    "cycle_bound",
    "frontier",
    "full_domain",
    "joint_feasibility",
    "lemma_1",
    "lemma_2",
    "loss_bound",
    "marginals",
    "preview",
    "query_errors",
    "recode",
    "renumber",
    "replay",
    "stuck_degree",
    "swap_bound",
    "theorem_3",
    "transformations",
    "utility_of",
    "vulnerability",
    "warm_up",
]
