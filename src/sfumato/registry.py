"""Every name that a config may use, and the class or function behind it.

Each registry below is a mapping from a name to a "module:attribute" text. Nothing is imported until a name is used, so a
registry costs nothing to list. Other distributions add names through entry points of the same group:

    [project.entry-points."sfumato.principles"]
    "my-principle" = "my_package:MyPrinciple"

Only the plug-in that is named is imported. A built-in name always means the built-in class.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from sfumato.errors import ParameterError, PluginError

Value = TypeVar("Value")

PLUGIN_HINT = "If a plug-in provides it, install that."
"""What to do about an unknown name that is not a typing error."""


class Registry(Mapping[str, Any]):
    """Names of one kind, each loaded when it is first used.

    `registry[name]` loads the class or function. Iterating, `len` and `in` import nothing.

    >>> registry = Registry("root", "sfumato.doctest", {"square": "math:sqrt"})
    >>> list(registry), registry["square"](9)
    (['square'], 3.0)
    >>> registry.suggestion("squar")
    "Did you mean 'square'? If a plug-in provides it, install that."
    """

    def __init__(self, kind: str, group: str, entries: dict[str, Any], base: str | None = None) -> None:
        self.kind = kind
        """What the names denote, in the singular: "principle"."""
        self.plural = f"{kind}es" if kind.endswith("s") else f"{kind}s"
        self.group = group
        """The entry-point group in which other distributions add names."""
        self.entries = entries
        """The built-in names, each with "module:attribute", or with the object itself."""
        self.base = base
        """The class, as "module:Class", that a plug-in must inherit from; None if plug-ins are plain functions."""

    def __getitem__(self, name: str) -> Any:
        if name in self.entries:
            entry = self.entries[name]
            return load(entry) if isinstance(entry, str) else entry
        plugins = self.plugins()
        if name not in plugins:
            raise KeyError(name)
        return self._load_plugin(plugins[name])

    def __iter__(self) -> Iterator[str]:
        yield from self.entries
        yield from self.plugins()

    def __len__(self) -> int:
        return len(self.entries) + len(self.plugins())

    def __contains__(self, name: object) -> bool:
        return name in self.entries or name in self.plugins()

    def __repr__(self) -> str:
        return f"<registry of {self.plural}: {', '.join(self)}>"

    def find(self, name: str, key: str = "name") -> Any:
        """Return the class or function of a name; an unknown name is a ParameterError that suggests a near one.

        `key`: the parameter that holds the name, for the error.
        """
        try:
            return self[name]
        except KeyError:
            raise ParameterError(
                f"there is no {self.kind} {name!r}", remedy=self.suggestion(name), key=key, value=name
            ) from None

    def suggestion(self, name: str) -> str:
        """Say which name may be meant instead of an unknown one."""
        names = list(self)
        # A part of a name ("likeness") is as good a hint as a name with a typing error.
        close = [known for known in names if name and name in known] or get_close_matches(name, names, n=1)
        hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"The {self.plural} are: {', '.join(names)}."
        return f"{hint} {PLUGIN_HINT}"

    def plugins(self) -> dict[str, EntryPoint]:
        """Return the entry points of other distributions, by name; nothing is imported.

        They are read anew each time, because a distribution may be installed while Python runs.
        """
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            if point.name in self.entries:
                continue
            if point.name in found and found[point.name].value != point.value:
                raise PluginError(
                    f"the {self.kind} {point.name!r} is provided twice: by {_origin(found[point.name])} and by "
                    f"{_origin(point)}",
                    remedy="Uninstall one of the two distributions.",
                    key=point.name,
                )
            found[point.name] = point
        return found

    def _load_plugin(self, point: EntryPoint) -> Any:
        try:
            loaded = point.load()
        except Exception as error:  # a plug-in may fail in any way while it is imported
            raise self._broken(point, f"cannot be loaded: {type(error).__name__}: {error}") from error
        if self.base is None:
            if not callable(loaded):
                raise self._broken(point, "is not a function")
            return loaded
        if not (isinstance(loaded, type) and issubclass(loaded, load(self.base))):
            raise self._broken(point, f"is not a subclass of {self.base.partition(':')[2]}")
        # A release records `name`, and a reader looks it up here again: the two must agree.
        if getattr(loaded, "name", None) != point.name:
            raise self._broken(point, f"has the name {getattr(loaded, 'name', None)!r}, not {point.name!r}")
        return loaded

    def _broken(self, point: EntryPoint, problem: str) -> PluginError:
        return PluginError(
            f"the {self.kind} {point.name!r} of {_origin(point)} {problem}",
            remedy="Fix, update or uninstall that distribution.",
            key=point.name,
            value=point.value,
        )


def _origin(point: EntryPoint) -> str:
    """Name the distribution and the entry point, for errors."""
    return f"{distribution_of(point)} (entry point {point.group}: {point.name} = {point.value})"


def distribution_of(point: EntryPoint) -> str:
    """Return the name and version of the distribution that provides an entry point."""
    distribution = getattr(point, "dist", None)
    return "an unknown distribution" if distribution is None else f"{distribution.name} {distribution.version}"


def load(location: str) -> Any:
    """Return the class or function that a text "module:attribute" of this package names.

    For locations that are written in this package, never for those of a config or a file: see `sfumato.user_code`.

    >>> load("math:sqrt")(9)
    3.0
    """
    module, _, attribute = location.partition(":")
    return getattr(importlib.import_module(module), attribute)


PRINCIPLES = Registry(
    "principle",
    "sfumato.principles",
    {
        "k-anonymity": "sfumato.principles.k_anonymity:KAnonymity",
        "k-map": "sfumato.principles.k_map:KMap",
        "delta-presence": "sfumato.principles.delta_presence:DeltaPresence",
        "k-m-anonymity": "sfumato.principles.k_m_anonymity:KMAnonymity",
        "dissimilarity": "sfumato.principles.dissimilarity:Dissimilarity",
        "alpha-k-anonymity": "sfumato.principles.alpha_k_anonymity:AlphaKAnonymity",
        "distinct-l-diversity": "sfumato.principles.distinct_l_diversity:DistinctLDiversity",
        "frequency-l-diversity": "sfumato.principles.frequency_l_diversity:FrequencyLDiversity",
        "entropy-l-diversity": "sfumato.principles.entropy_l_diversity:EntropyLDiversity",
        "recursive-l-diversity": "sfumato.principles.recursive_l_diversity:RecursiveLDiversity",
        "p-sensitivity": "sfumato.principles.p_sensitivity:PSensitivity",
        "epsilon-m-anonymity": "sfumato.principles.epsilon_m_anonymity:EpsilonMAnonymity",
        "delta-l-diversity": "sfumato.principles.delta_l_diversity:DeltaLDiversity",
        "k-e-anonymity": "sfumato.principles.k_e_anonymity:KEAnonymity",
        "variance-control": "sfumato.principles.variance_control:VarianceControl",
        "t-closeness": "sfumato.principles.t_closeness:TCloseness",
        "n-t-closeness": "sfumato.principles.n_t_closeness:NTCloseness",
        "guarded-values": "sfumato.principles.guarded_values:GuardedValues",
        "beta-likeness": "sfumato.principles.beta_likeness:BetaLikeness",
        "delta-disclosure": "sfumato.principles.delta_disclosure:DeltaDisclosure",
        "credibility": "sfumato.principles.credibility:Credibility",
    },
    base="sfumato.principles.principle:Principle",
)
"""Privacy principles, in the order in which they are listed."""

DISTANCES = Registry(
    "distance",
    "sfumato.distances",
    {
        "discrete": "sfumato.distances.discrete:Discrete",
        "absolute": "sfumato.distances.absolute:Absolute",
        "lp": "sfumato.distances.lp:Lp",
        "total-variation": "sfumato.distances.total_variation:TotalVariation",
        "min-coordinate": "sfumato.distances.min_coordinate:MinCoordinate",
        "taxonomy": "sfumato.distances.taxonomy:Taxonomy",
        "jaccard": "sfumato.distances.jaccard:Jaccard",
        "jaro": "sfumato.distances.jaro:Jaro",
        "jaro-winkler": "sfumato.distances.jaro_winkler:JaroWinkler",
        "function": "sfumato.distances.custom:Custom",
    },
    base="sfumato.distances.distance:Distance",
)
"""Distances between sensitive values, by the `kind` of a config."""

METHODS = Registry(
    "method",
    "sfumato.methods",
    {
        "glaze": "sfumato.anonymization.methods.glaze:Glaze",
        "deal": "sfumato.anonymization.methods.deal:Deal",
        "exact": "sfumato.anonymization.methods.exact:Exact",
        "lattice": "sfumato.anonymization.methods.lattice:Lattice",
        "mondrian": "sfumato.anonymization.methods.mondrian:Mondrian",
        "xcolor": "sfumato.anonymization.methods.xcolor:XColor",
    },
    base="sfumato.anonymization.methods.method:Method",
)
"""Methods that find groups."""

LOSSES = Registry(
    "loss",
    "sfumato.losses",
    {
        "mean": "sfumato.anonymization.methods.full_domain.transformation_losses:Mean",
        "group-mean": "sfumato.anonymization.methods.full_domain.transformation_losses:GroupMean",
        "normalised": "sfumato.anonymization.methods.full_domain.transformation_losses:Normalised",
        "precision": "sfumato.anonymization.methods.full_domain.transformation_losses:Precision",
        "entropy": "sfumato.anonymization.methods.full_domain.transformation_losses:Entropy",
        "discernibility": "sfumato.anonymization.methods.full_domain.transformation_losses:Discernibility",
        "class-size": "sfumato.anonymization.methods.full_domain.transformation_losses:ClassSize",
    },
    base="sfumato.anonymization.methods.full_domain.transformation_losses:TransformationLoss",
)
"""Losses that the method lattice minimises."""

ATTACKS = Registry(
    "attack",
    "sfumato.attacks",
    {
        "linkage": "sfumato.attacks.linkage:Linkage",
        "singling-out": "sfumato.attacks.singling_out:SinglingOut",
        "linkability": "sfumato.attacks.source_linkability:Linkability",
        "inference": "sfumato.attacks.attribute_inference:AttributeInference",
        "uniqueness": "sfumato.attacks.uniqueness:Uniqueness",
        "homogeneity": "sfumato.attacks.homogeneity:Homogeneity",
        "skewness": "sfumato.attacks.skewness:Skewness",
        "proximity": "sfumato.attacks.proximity:Proximity",
        "learning": "sfumato.attacks.learning:Learning",
        "swap-optimality": "sfumato.attacks.swap_optimality:SwapOptimality",
        "replay": "sfumato.attacks.method_replay:Replay",
        "side-channels": "sfumato.attacks.side_channels:SideChannels",
        "downcoding": "sfumato.attacks.downcoding:Downcoding",
        "composition": "sfumato.attacks.composition:Composition",
    },
    base="sfumato.attacks.base_attack:Attack",
)
"""Attacks on a table that is published in groups, in the order in which they are run."""

PROJECTED_ATTACKS = Registry(
    "attack",
    "sfumato.projected_attacks",
    {
        "background-join": "sfumato.attacks.projected.background_join_attack:background_join",
        "intersection": "sfumato.attacks.projected.intersection_attack:intersection",
        "joint-inference": "sfumato.attacks.projected.joint_inference_attack:joint_inference",
    },
)
"""Attacks on a release of projected tables: functions of the original table and of what the attacker sees."""

REGISTRIES = (PRINCIPLES, DISTANCES, METHODS, LOSSES, ATTACKS, PROJECTED_ATTACKS)
"""Every registry that plug-ins can extend."""

TABLE_READER = "sfumato.io.read_table:as_table"
"""What reads a population. The data package calls it through this location, because it is in a package above."""

CELL_READER = "sfumato.releases.cell_coverage:CellReader"
"""Which values a published cell covers. Principles that compare cells with a population are in a package below."""

RECODER = "sfumato.anonymization.recoding.group_recoding:recode"
"""The cells that groups of unpublished rows would have. Principles that compare them with a population are below."""

ATTACKER_VIEW = "sfumato.attacks.projected.attacker_view:AttackerView"
"""What an attacker sees of one projected table; what each attack gets."""

ATTACK_RUNNER = "sfumato.attacks._attack:attack"
"""What attacks a release. A release calls it for its internal report, because it is in a package above."""

PUBLIC_ATTACKS = "sfumato.attacks._attack:public_attacks"
"""What runs the attacks that need no original, for a public report."""

PROJECTED_ATTACK_RUNNER = "sfumato.attacks.projected.attack_results:attack_projected"
"""What runs attacks by their names. A projection calls it through this location, because it is in a package above."""


def build(kind: type[Value], title: str, parameters: Mapping[str, Any]) -> Value:
    """Make a value of a dataclass from a config's parameters; an unknown or missing parameter is an error.

    `title`: what the value is called in errors.

    >>> from sfumato.principles import KAnonymity
    >>> build(KAnonymity, "k-anonymity", {"k": 5})
    KAnonymity(k=5)
    """
    known = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    for key in parameters:
        if key not in known:
            raise ParameterError(
                f"{title} has no parameter {key!r}",
                remedy=f"Its parameters are: {', '.join(known) or 'none'}.",
                key=key,
                value=parameters[key],
            )
    for key in required_parameters(kind):
        if key not in parameters:
            raise ParameterError(f"{title} requires {key!r}", remedy=f"Write {key} = …", key=key)
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()})


def required_parameters(kind: type[Any]) -> list[str]:
    """Return the parameters of a dataclass that have no default.

    >>> from sfumato.principles import Dissimilarity
    >>> required_parameters(Dissimilarity)
    ['epsilon', 'delta']
    """
    if not is_dataclass(kind):
        return []
    return [field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING]
