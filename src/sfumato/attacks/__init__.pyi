from ._attack import Attacks, Skipped
from .attacked_release import AttackedRelease, Secret
from .base_attack import Attack, AttackResult, NotMeasured
from .homogeneity import Homogeneity
from .method_replay import Replay
from .projected import (
    AttackerView,
    BackgroundJoin,
    Confidence,
    Inference,
    Intersection,
    Join,
    Link,
    ProjectedAttack,
    ProjectedAttackResult,
    ProjectedAttackResults,
    SkippedPair,
    attack_projected,
    background_join,
    belief,
    intersection,
    theorem_2,
)
from .rates import Rate
from .side_channels import SideChannels
from .swap_optimality import SwapOptimality

__all__ = [
    "Attack",
    "AttackResult",
    "AttackedRelease",
    "AttackerView",
    "Attacks",
    "BackgroundJoin",
    "Confidence",
    "Homogeneity",
    "Inference",
    "Intersection",
    "Join",
    "Link",
    "NotMeasured",
    "ProjectedAttack",
    "ProjectedAttackResult",
    "ProjectedAttackResults",
    "Rate",
    "Replay",
    "Secret",
    "SideChannels",
    "Skipped",
    "SkippedPair",
    "SwapOptimality",
    "attack_projected",
    "background_join",
    "belief",
    "intersection",
    "theorem_2",
]
