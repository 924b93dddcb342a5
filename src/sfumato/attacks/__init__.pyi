from ._attack import Attacks, Skipped
from .attacked_release import AttackedRelease, Secret
from .attribute_inference import AttributeInference
from .base_attack import Attack, AttackResult, NotMeasured
from .homogeneity import Homogeneity
from .linkage import Linkage
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
from .singling_out import SinglingOut
from .source_linkability import Linkability
from .uniqueness import Uniqueness

__all__ = [
    "Attack",
    "AttackResult",
    "AttackedRelease",
    "AttackerView",
    "Attacks",
    "AttributeInference",
    "BackgroundJoin",
    "Confidence",
    "Homogeneity",
    "Inference",
    "Intersection",
    "Join",
    "Link",
    "Linkability",
    "Linkage",
    "NotMeasured",
    "ProjectedAttack",
    "ProjectedAttackResult",
    "ProjectedAttackResults",
    "Rate",
    "Secret",
    "SinglingOut",
    "Skipped",
    "SkippedPair",
    "Uniqueness",
    "attack_projected",
    "background_join",
    "belief",
    "intersection",
    "theorem_2",
]
