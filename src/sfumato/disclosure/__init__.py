"""Disclosure risk: what an attacker with a dictionary gains from what is disclosed, and what to hold back (paper 002)."""

from sfumato.disclosure.consistency import Consistency, Equality
from sfumato.disclosure.dictionary import Dictionary
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

CONSISTENCIES = {"equality": Equality}

__all__ = [
    "CONSISTENCIES",
    "SENSITIVITIES",
    "Additive",
    "Best",
    "Consistency",
    "ConstantSensitivity",
    "CustomSensitivity",
    "Dictionary",
    "Equality",
    "Multiplicative",
    "Risk",
    "Sensitivity",
    "Setting",
    "best_by_cells",
    "best_rule",
    "risk",
    "risk_of",
    "setting_of",
]
