"""Disclosure risk: what an attacker with a dictionary gains from what is disclosed, and what to hold back (paper 002)."""

from sfumato.disclosure.bound import Bound
from sfumato.disclosure.consistencies import CONSISTENCIES, consistency_of
from sfumato.disclosure.consistency import Consistency, Equality
from sfumato.disclosure.containment import Containment
from sfumato.disclosure.dictionary import Dictionary
from sfumato.disclosure.k_anonymity import KLevels, k_levels
from sfumato.disclosure.order import Order
from sfumato.disclosure.risk import Risk, risk, risk_of
from sfumato.disclosure.rules import Best, best_by_cells, best_rule
from sfumato.disclosure.sensitivity import (
    SENSITIVITIES,
    Additive,
    ConstantSensitivity,
    CustomSensitivity,
    Multiplicative,
    Sensitivity,
)
from sfumato.disclosure.setting import Setting, setting_of
from sfumato.disclosure.similarity import Similarity

__all__ = [
    "CONSISTENCIES",
    "SENSITIVITIES",
    "Additive",
    "Best",
    "Bound",
    "Consistency",
    "ConstantSensitivity",
    "Containment",
    "CustomSensitivity",
    "Dictionary",
    "Equality",
    "KLevels",
    "Multiplicative",
    "Order",
    "Risk",
    "Sensitivity",
    "Setting",
    "Similarity",
    "best_by_cells",
    "best_rule",
    "consistency_of",
    "k_levels",
    "risk",
    "risk_of",
    "setting_of",
]
