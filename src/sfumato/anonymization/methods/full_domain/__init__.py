"""Full-domain generalization: one level per quasi-identifier, the best of all such transformations."""

from sfumato.anonymization.methods.full_domain.equivalence_classes import (
    ClassHistograms,
    EquivalenceClasses,
    TransformationCube,
)
from sfumato.anonymization.methods.full_domain.search_choice import search_lattice
from sfumato.anonymization.methods.full_domain.transformation_checks import SearchResult, TransformationChecks
from sfumato.anonymization.methods.full_domain.transformation_losses import NodeCosts, TransformationLoss

__all__ = [
    "ClassHistograms",
    "EquivalenceClasses",
    "NodeCosts",
    "SearchResult",
    "TransformationChecks",
    "TransformationCube",
    "TransformationLoss",
    "search_lattice",
]
