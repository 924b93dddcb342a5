from ._attack import Attacks, Skipped
from .attacked_release import AttackedRelease, Secret
from .base_attack import Attack, AttackResult, NotMeasured
from .composition import Composition
from .downcoding import Downcoding
from .homogeneity import Homogeneity
from .learning import Learning
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
from .proximity import Proximity
from .rates import Rate
from .skewness import Skewness

__all__ = [
    "Attack",
    "AttackResult",
    "AttackedRelease",
    "AttackerView",
    "Attacks",
    "BackgroundJoin",
    "Composition",
    "Confidence",
    "Downcoding",
    "Homogeneity",
    "Inference",
    "Intersection",
    "Join",
    "Learning",
    "Link",
    "NotMeasured",
    "ProjectedAttack",
    "ProjectedAttackResult",
    "ProjectedAttackResults",
    "Proximity",
    "Rate",
    "Secret",
    "Skewness",
    "Skipped",
    "SkippedPair",
    "attack_projected",
    "background_join",
    "belief",
    "intersection",
    "theorem_2",
]
