"""What an attacker does with a release of projected tables (paper 004): background joins and intersections."""

from sfumato.attacks.attacks import Attacks, attack
from sfumato.attacks.background import BackgroundJoin, Join, background_join, belief
from sfumato.attacks.confidence import Confidence
from sfumato.attacks.inference import Inference
from sfumato.attacks.intersection import Intersection, intersection
from sfumato.attacks.linking import Link, theorem_2
from sfumato.attacks.seen import Seen
from sfumato.attacks.warnings import Warned, warnings_of

__all__ = [
    "Attacks",
    "BackgroundJoin",
    "Confidence",
    "Inference",
    "Intersection",
    "Join",
    "Link",
    "Seen",
    "Warned",
    "attack",
    "background_join",
    "belief",
    "intersection",
    "theorem_2",
    "warnings_of",
]
