from .attack_results import ProjectedAttack, ProjectedAttackResult, ProjectedAttackResults, attack_projected
from .attacker_view import AttackerView
from .background_join_attack import BackgroundJoin, Join, background_join, belief
from .confidence import Confidence
from .inference import Inference, SkippedPair
from .intersection_attack import Intersection, intersection
from .joint_inference_attack import JointInference, JointInferences, SkippedSet, joint_inference
from .linkability import Link, theorem_2

__all__ = [
    "AttackerView",
    "BackgroundJoin",
    "Confidence",
    "Inference",
    "Intersection",
    "Join",
    "JointInference",
    "JointInferences",
    "Link",
    "ProjectedAttack",
    "ProjectedAttackResult",
    "ProjectedAttackResults",
    "SkippedPair",
    "SkippedSet",
    "attack_projected",
    "background_join",
    "belief",
    "intersection",
    "joint_inference",
    "theorem_2",
]
