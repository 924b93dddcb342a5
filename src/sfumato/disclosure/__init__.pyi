from ._k_anonymity_levels import KAnonymityLevels, k_anonymity_levels
from ._risk import Risk, risk, risk_of
from ._withhold import WithheldRelease, withhold
from .consistency.consistency import Consistency, EqualityConsistency
from .consistency.consistency_kinds import CONSISTENCIES, consistency_of
from .consistency.containment import ContainmentConsistency
from .consistency.similarity import SimilarityConsistency
from .dictionaries.dictionary import Dictionary
from .dictionaries.dictionary_order import DictionaryOrder
from .risk_bound import RiskBound
from .rules import DisclosureRule, best_by_cells, best_rule
from .sensitivity.sensitivity import (
    SENSITIVITIES,
    Additive,
    ConstantSensitivity,
    CustomSensitivity,
    Multiplicative,
    Sensitivity,
)
from .setting import Setting, setting_of

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
