"""Full-domain generalization: one level per quasi-identifier, the best of all such transformations."""

from sfumato.anonymization.methods.full_domain.equivalence_classes import (
    ClassHistograms,
    EquivalenceClasses,
    TransformationCube,
)
from sfumato.anonymization.methods.full_domain.transformation_losses import TransformationLoss
from sfumato.anonymization.methods.full_domain.transformation_search import SearchResult, TransformationSearch

__all__ = [
    "ClassHistograms",
    "EquivalenceClasses",
    "SearchResult",
    "TransformationCube",
    "TransformationLoss",
    "TransformationSearch",
]
