from ._risk import Risk, risk, risk_of
from ._withhold import WithheldRelease, withhold
from .consistency import Consistency, EqualityConsistency
from .consistency_kinds import CONSISTENCIES, consistency_of
from .containment import ContainmentConsistency
from .dictionary import Dictionary
from .dictionary_order import DictionaryOrder
from .k_anonymity_levels import KAnonymityLevels, k_anonymity_levels
from .risk_bound import RiskBound
from .rules import DisclosureRule, best_by_cells, best_rule
from .sensitivity import (
    SENSITIVITIES,
    Additive,
    ConstantSensitivity,
    CustomSensitivity,
    Multiplicative,
    Sensitivity,
)
from .setting import Setting, setting_of
from .similarity import SimilarityConsistency

__all__ = [
    "CONSISTENCIES",
    "SENSITIVITIES",
    "Additive",
    "Consistency",
    "ConstantSensitivity",
    "ContainmentConsistency",
    "CustomSensitivity",
    "Dictionary",
    "DictionaryOrder",
    "DisclosureRule",
    "EqualityConsistency",
    "KAnonymityLevels",
    "Multiplicative",
    "Risk",
    "RiskBound",
    "Sensitivity",
    "Setting",
    "SimilarityConsistency",
    "WithheldRelease",
    "best_by_cells",
    "best_rule",
    "consistency_of",
    "k_anonymity_levels",
    "risk",
    "risk_of",
    "setting_of",
    "withhold",
]
