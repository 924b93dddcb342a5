from .attack_results import AttackResults, attack
from .attacker_view import AttackerView
from .background_join_attack import BackgroundJoin, Join, background_join, belief
from .confidence import Confidence
from .dependence_warnings import DependentPair, warnings_of
from .inference import Inference
from .intersection_attack import Intersection, intersection
from .linkability import Link, theorem_2

__all__ = [
    "AttackResults",
    "AttackerView",
    "BackgroundJoin",
    "Confidence",
    "DependentPair",
    "Inference",
    "Intersection",
    "Join",
    "Link",
    "attack",
    "background_join",
    "belief",
    "intersection",
    "theorem_2",
    "warnings_of",
]
