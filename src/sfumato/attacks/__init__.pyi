from ._attack import Attacks, Skipped
from .attacked_cells import AttackedCells
from .attacked_release import AttackedRelease, Secret
from .attribute_inference import AttributeInference
from .base_attack import Attack, AttackResult, NotMeasured
from .composition import Composition
from .downcoding import Downcoding
from .homogeneity import Homogeneity
from .learning import Learning
from .linkage import Linkage
from .method_replay import Replay
from .projected import (
    AttackerView,
    BackgroundJoin,
    Confidence,
    Inference,
    Intersection,
    Join,
    JointInference,
    JointInferences,
    Link,
    ProjectedAttack,
    ProjectedAttackResult,
    ProjectedAttackResults,
    SkippedPair,
    SkippedSet,
    attack_projected,
    background_join,
    belief,
    intersection,
    joint_inference,
    theorem_2,
)
from .proximity import Proximity
from .rates import Rate
from .side_channels import SideChannels
from .singling_out import SinglingOut
from .skewness import Skewness
from .source_linkability import Linkability
from .swap_optimality import SwapOptimality
from .uniqueness import Uniqueness

__all__ = [
    "Attack",
    "AttackResult",
    "AttackedCells",
    "AttackedRelease",
    "AttackerView",
    "Attacks",
    "AttributeInference",
    "BackgroundJoin",
    "Composition",
    "Confidence",
    "Downcoding",
    "Homogeneity",
    "Inference",
    "Intersection",
    "Join",
    "JointInference",
    "JointInferences",
    "Learning",
    "Link",
    "Linkability",
    "Linkage",
    "NotMeasured",
    "ProjectedAttack",
    "ProjectedAttackResult",
    "ProjectedAttackResults",
    "Proximity",
    "Rate",
    "Replay",
    "Secret",
    "SideChannels",
    "SinglingOut",
    "Skewness",
    "Skipped",
    "SkippedPair",
    "SkippedSet",
    "SwapOptimality",
    "Uniqueness",
    "attack_projected",
    "background_join",
    "belief",
    "intersection",
    "joint_inference",
    "theorem_2",
]
