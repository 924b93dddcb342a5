"""Full-domain generalization: one level per quasi-identifier, the best of all such transformations."""

from sfumato.anonymization.methods.full_domain.equivalence_classes import (
    ClassHistograms,
    EquivalenceClasses,
    TransformationCube,
)
from sfumato.anonymization.methods.full_domain.transformation_losses import NodeCosts, TransformationLoss
from sfumato.anonymization.methods.full_domain.transformation_search import SearchResult, TransformationSearch

__all__ = [
    "ClassHistograms",
    "EquivalenceClasses",
    "NodeCosts",
    "SearchResult",
    "TransformationCube",
    "TransformationLoss",
    "TransformationSearch",
]
