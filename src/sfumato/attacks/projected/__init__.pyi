from .attack_results import ProjectedAttack, ProjectedAttackResult, ProjectedAttackResults, attack_projected
from .attacker_view import AttackerView
from .background_join_attack import BackgroundJoin, Join, background_join, belief
from .confidence import Confidence
from .inference import Inference, SkippedPair
from .intersection_attack import Intersection, intersection
from .linkability import Link, theorem_2

__all__ = [
    "AttackerView",
    "BackgroundJoin",
    "Confidence",
    "Inference",
    "Intersection",
    "Join",
    "Link",
    "ProjectedAttack",
    "ProjectedAttackResult",
    "ProjectedAttackResults",
    "SkippedPair",
    "attack_projected",
    "background_join",
    "belief",
    "intersection",
    "theorem_2",
]
