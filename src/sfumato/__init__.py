"""Publish tables about people so that nobody can pin a person, or a narrow range around a secret, to a row.

Names are imported when they are first used, so that `import sfumato` and `sfumato --help` cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.attribute import Attribute
    from sfumato.auditing import Audit, Finding, audit
    from sfumato.census import synthetic_census
    from sfumato.config import Config
    from sfumato.distances import (
        Absolute,
        Custom,
        Discrete,
        Distance,
        Jaccard,
        Jaro,
        JaroWinkler,
        Lp,
        MinCoordinate,
        Taxonomy,
        TotalVariation,
    )
    from sfumato.errors import (
        CellProblem,
        ColumnProblem,
        ConfigProblem,
        DistanceProblem,
        ExtraMissing,
        FileProblem,
        HierarchyProblem,
        ParameterProblem,
        SfumatoError,
    )
    from sfumato.groups import Groups
    from sfumato.hierarchy import Flat, Hierarchy, Intervals
    from sfumato.io.read import read_table
    from sfumato.neighbours import NeighbourGraph
    from sfumato.principles import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        DeltaLDiversity,
        Dissimilarity,
        DistinctLDiversity,
        EntropyLDiversity,
        EpsilonMAnonymity,
        FrequencyLDiversity,
        KAnonymity,
        KEAnonymity,
        NTCloseness,
        Principle,
        PSensitivity,
        RecursiveLDiversity,
        TCloseness,
        VarianceControl,
        View,
    )
    from sfumato.schema import Kind, Missing, Role, Schema
    from sfumato.table import Table

_HOME = {
    "sfumato.attribute": ("Attribute",),
    "sfumato.auditing": ("Audit", "Finding", "audit"),
    "sfumato.census": ("synthetic_census",),
    "sfumato.config": ("Config",),
    "sfumato.distances": (
        "Absolute",
        "Custom",
        "Discrete",
        "Distance",
        "Jaccard",
        "Jaro",
        "JaroWinkler",
        "Lp",
        "MinCoordinate",
        "Taxonomy",
        "TotalVariation",
    ),
    "sfumato.errors": (
        "CellProblem",
        "ColumnProblem",
        "ConfigProblem",
        "DistanceProblem",
        "ExtraMissing",
        "FileProblem",
        "HierarchyProblem",
        "ParameterProblem",
        "SfumatoError",
    ),
    "sfumato.groups": ("Groups",),
    "sfumato.hierarchy": ("Flat", "Hierarchy", "Intervals"),
    "sfumato.io.read": ("read_table",),
    "sfumato.neighbours": ("NeighbourGraph",),
    "sfumato.principles": (
        "AlphaKAnonymity",
        "BetaLikeness",
        "DeltaDisclosure",
        "DeltaLDiversity",
        "Dissimilarity",
        "DistinctLDiversity",
        "EntropyLDiversity",
        "EpsilonMAnonymity",
        "FrequencyLDiversity",
        "KAnonymity",
        "KEAnonymity",
        "NTCloseness",
        "PSensitivity",
        "Principle",
        "RecursiveLDiversity",
        "TCloseness",
        "VarianceControl",
        "View",
    ),
    "sfumato.schema": ("Kind", "Missing", "Role", "Schema"),
    "sfumato.table": ("Table",),
}

_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
