from .alpha_k_anonymity import AlphaKAnonymity
from .beta_likeness import BetaLikeness
from .certificate import Certificate
from .credibility import Credibility
from .delta_disclosure import DeltaDisclosure
from .delta_l_diversity import DeltaLDiversity
from .delta_presence import DeltaPresence
from .description import Description, describe
from .dissimilarity import Dissimilarity
from .distinct_l_diversity import DistinctLDiversity
from .earth_mover import TableDistance
from .entropy_l_diversity import EntropyLDiversity
from .epsilon_m_anonymity import EpsilonMAnonymity
from .frequency_l_diversity import FrequencyLDiversity
from .guarded_values import GuardedValues
from .k_anonymity import KAnonymity
from .k_e_anonymity import KEAnonymity
from .k_m_anonymity import KMAnonymity
from .k_map import KMap
from .n_t_closeness import NTCloseness
from .p_sensitivity import PSensitivity
from .parameter_controls import ParameterControl, parameter_controls
from .principle import Measurement, On, ParameterRange, Part, Principle, Ratios, exactly, size_part
from .recursive_l_diversity import RecursiveLDiversity
from .requests import PrincipleRequest, principle_of, requested_principles
from .scope import attributes_of, in_projection
from .search_conditions import HistogramCondition, NeighbourLimit
from .t_closeness import TCloseness
from .variance_control import VarianceControl
from .view import View
from .worked_example import Example, ExampleGroup

__all__ = [
    "AlphaKAnonymity",
    "BetaLikeness",
    "Certificate",
    "Credibility",
    "DeltaDisclosure",
    "DeltaLDiversity",
    "DeltaPresence",
    "Description",
    "Dissimilarity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "EpsilonMAnonymity",
    "Example",
    "ExampleGroup",
    "FrequencyLDiversity",
    "GuardedValues",
    "HistogramCondition",
    "KAnonymity",
    "KEAnonymity",
    "KMAnonymity",
    "KMap",
    "Measurement",
    "NTCloseness",
    "NeighbourLimit",
    "On",
    "PSensitivity",
    "ParameterControl",
    "ParameterRange",
    "Part",
    "Principle",
    "PrincipleRequest",
    "Ratios",
    "RecursiveLDiversity",
    "TCloseness",
    "TableDistance",
    "VarianceControl",
    "View",
    "attributes_of",
    "describe",
    "exactly",
    "in_projection",
    "parameter_controls",
    "principle_of",
    "requested_principles",
    "size_part",
]
