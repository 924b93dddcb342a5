"""Full-domain generalization: one level per quasi-identifier, the best of all such transformations."""

from sfumato.anonymization.methods.full_domain.transformation_losses import FullLoss, NodeCosts
from sfumato.anonymization.methods.full_domain.transformation_search import SearchResult, TransformationSearch

__all__ = ["FullLoss", "NodeCosts", "SearchResult", "TransformationSearch"]
