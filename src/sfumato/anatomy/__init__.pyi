from ._anatomize import anatomize
from .anatomy_queries import CountErrorComparison, anatomy_errors
from .anatomy_release import Anatomy, PrivateAnatomy

__all__ = [
    "Anatomy",
    "CountErrorComparison",
    "PrivateAnatomy",
    "anatomize",
    "anatomy_errors",
]
