from ._k_anonymity_levels import KAnonymityLevels, k_anonymity_levels
from ._risk import AttributeRisk, DictionaryRisk, RecordRisk, Risk, risk, risk_of
from ._withhold import PrivateWithheldRelease, WithheldRelease, withhold
from .attackers import AttackerChances
from .consistency.consistency import AttributePairing, Consistency, ConsistentValues, EqualityConsistency
from .consistency.consistency_kinds import CONSISTENCIES, consistency_of
from .consistency.containment import ContainmentConsistency
from .consistency.similarity import SimilarityConsistency
from .dictionaries.dictionary import Dictionary
from .dictionaries.dictionary_order import DictionaryOrder
from .generalized.attribute_levels import AttributeLevels, CellLabels
from .generalized.level_steps import LevelSteps
from .matching.matching import Matching
from .risk_assumptions import RiskAssumptions
from .risk_bound import BoundCondition, RiskBound
from .rules import DisclosureRule, best_by_cells, best_rule, min_risk
from .rules.choice_space import Steps
from .sensitivity.exact_weights import ExactSensitivity
from .sensitivity.sensitivity import (
    SENSITIVITIES,
    Additive,
    ConstantSensitivity,
    CustomSensitivity,
    Multiplicative,
    Sensitivity,
)
from .sensitivity.sensitivity_weights import SensitivityWeights
from .setting import Setting, setting_of

__all__ = [
    "CONSISTENCIES",
    "SENSITIVITIES",
    "Additive",
    "AttackerChances",
    "AttributeLevels",
    "AttributePairing",
    "AttributeRisk",
    "BoundCondition",
    "CellLabels",
    "Consistency",
    "ConsistentValues",
    "ConstantSensitivity",
    "ContainmentConsistency",
    "CustomSensitivity",
    "Dictionary",
    "DictionaryOrder",
    "DictionaryRisk",
    "DisclosureRule",
    "EqualityConsistency",
    "ExactSensitivity",
    "KAnonymityLevels",
    "LevelSteps",
    "Matching",
    "Multiplicative",
    "PrivateWithheldRelease",
    "RecordRisk",
    "Risk",
    "RiskAssumptions",
    "RiskBound",
    "Sensitivity",
    "SensitivityWeights",
    "Setting",
    "SimilarityConsistency",
    "Steps",
    "WithheldRelease",
    "best_by_cells",
    "best_rule",
    "consistency_of",
    "k_anonymity_levels",
    "min_risk",
    "risk",
    "risk_of",
    "setting_of",
    "withhold",
]
