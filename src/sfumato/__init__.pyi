from . import (
    analysis,
    anonymization,
    attacks,
    comparison,
    data,
    disclosure,
    distances,
    engines,
    errors,
    principles,
    profiling,
    projections,
    releases,
    verification,
)
from ._apply import Application, UnfitRow, apply
from ._audit import audit
from ._explain import Explanation, MeasuredExample, explain
from ._report import report
from .analysis import ReleasedTable, ReleasedTables, combine, read_release
from .anonymization import Feasibility, Frontier, FullDomain, Release, anonymize, frontier, full_domain, replay, warm_up
from .anonymization.feasibility import feasibility
from .anonymization.methods import Deal, Exact, Glaze, Lattice, Method, Mondrian, XColor
from .attacks._attack import Attacks, attack
from .audits.audit_result import Audit, Finding
from .census import synthetic_census
from .config import Config
from .data.hierarchy import Hierarchy, Intervals
from .data.hierarchy_builders import Dates, Prefix, Quantiles, Ranges
from .data.population import Population
from .data.schema import Schema
from .data.table import Table
from .disclosure import Risk, WithheldRelease, risk, withhold
from .errors import SfumatoError
from .io.read_table import read_table
from .principles import (
    AlphaKAnonymity,
    BetaLikeness,
    Credibility,
    DeltaDisclosure,
    DeltaLDiversity,
    DeltaPresence,
    Dissimilarity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    GuardedValues,
    KAnonymity,
    KEAnonymity,
    KMAnonymity,
    KMap,
    NTCloseness,
    Principle,
    PSensitivity,
    RecursiveLDiversity,
    TCloseness,
    VarianceControl,
)
from .profiling import Profile, profile
from .progress import Cancellation, Progress
from .projections import Projection, project
from .verification import Verification, verify, verify_sequence
from .version import __version__

__all__ = [
    "AlphaKAnonymity",
    "Application",
    "Attacks",
    "Audit",
    "BetaLikeness",
    "Cancellation",
    "Config",
    "Credibility",
    "Dates",
    "Deal",
    "DeltaDisclosure",
    "DeltaLDiversity",
    "DeltaPresence",
    "Dissimilarity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "Exact",
    "Explanation",
    "Feasibility",
    "Finding",
    "FrequencyLDiversity",
    "Frontier",
    "FullDomain",
    "Glaze",
    "GuardedValues",
    "Hierarchy",
    "Intervals",
    "KAnonymity",
    "KEAnonymity",
    "KMAnonymity",
    "KMap",
    "Lattice",
    "MeasuredExample",
    "Method",
    "Mondrian",
    "NTCloseness",
    "PSensitivity",
    "Population",
    "Prefix",
    "Principle",
    "Profile",
    "Progress",
    "Projection",
    "Quantiles",
    "Ranges",
    "RecursiveLDiversity",
    "Release",
    "ReleasedTable",
    "ReleasedTables",
    "Risk",
    "Schema",
    "SfumatoError",
    "TCloseness",
    "Table",
    "UnfitRow",
    "VarianceControl",
    "Verification",
    "WithheldRelease",
    "XColor",
    "__version__",
    "analysis",
    "anonymization",
    "anonymize",
    "apply",
    "attack",
    "attacks",
    "audit",
    "combine",
    "comparison",
    "data",
    "disclosure",
    "distances",
    "engines",
    "errors",
    "explain",
    "feasibility",
    "frontier",
    "full_domain",
    "principles",
    "profile",
    "profiling",
    "project",
    "projections",
    "read_release",
    "read_table",
    "releases",
    "replay",
    "report",
    "risk",
    "synthetic_census",
    "verification",
    "verify",
    "verify_sequence",
    "warm_up",
    "withhold",
]
