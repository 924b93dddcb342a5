"""Privacy principles: one per file, and the dict that names them all."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from sfumato.errors import ParameterError
from sfumato.principles.alpha_k_anonymity import AlphaKAnonymity
from sfumato.principles.base import Measurement, Part, Principle
from sfumato.principles.beta_likeness import BetaLikeness
from sfumato.principles.delta_disclosure import DeltaDisclosure
from sfumato.principles.delta_l_diversity import DeltaLDiversity
from sfumato.principles.description import Description, told
from sfumato.principles.dissimilarity import Dissimilarity
from sfumato.principles.distinct_l_diversity import DistinctLDiversity
from sfumato.principles.entropy_l_diversity import EntropyLDiversity
from sfumato.principles.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.principles.frequency_l_diversity import FrequencyLDiversity
from sfumato.principles.k_anonymity import KAnonymity
from sfumato.principles.k_e_anonymity import KEAnonymity
from sfumato.principles.n_t_closeness import NTCloseness
from sfumato.principles.p_sensitivity import PSensitivity
from sfumato.principles.recursive_l_diversity import RecursiveLDiversity
from sfumato.principles.scope import attributes_of, in_projection
from sfumato.principles.t_closeness import TCloseness
from sfumato.principles.variance_control import VarianceControl
from sfumato.principles.view import View
from sfumato.registry import built

PRINCIPLES: dict[str, type[Principle]] = {
    principle.name: principle
    for principle in (
        KAnonymity,
        Dissimilarity,
        AlphaKAnonymity,
        DistinctLDiversity,
        FrequencyLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        PSensitivity,
        EpsilonMAnonymity,
        DeltaLDiversity,
        KEAnonymity,
        VarianceControl,
        TCloseness,
        NTCloseness,
        BetaLikeness,
        DeltaDisclosure,
    )
}
"""Every principle under its name in a config."""


def principle_of(name: str, parameters: Mapping[str, Any]) -> Principle:
    """Return the principle of a name with its parameters, as a config states them.

    >>> principle_of("k-anonymity", {"k": 5})
    KAnonymity(k=5)
    """
    kind = PRINCIPLES.get(name)
    if kind is None:
        close = [known for known in PRINCIPLES if name and name in known] or get_close_matches(name, PRINCIPLES, n=1)
        hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"The principles are: {', '.join(PRINCIPLES)}."
        raise ParameterError(f"there is no principle {name!r}", remedy=hint, key="name", value=name)
    return built(kind, name, parameters)


__all__ = [
    "PRINCIPLES",
    "AlphaKAnonymity",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaLDiversity",
    "Description",
    "Dissimilarity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "FrequencyLDiversity",
    "KAnonymity",
    "KEAnonymity",
    "Measurement",
    "NTCloseness",
    "PSensitivity",
    "Part",
    "Principle",
    "RecursiveLDiversity",
    "TCloseness",
    "VarianceControl",
    "View",
    "attributes_of",
    "in_projection",
    "principle_of",
    "told",
]
