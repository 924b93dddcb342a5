"""Measure again how sensitive attributes depend on one another: entropies, mutual information, and the ratios of a plan.

The definitions are those of Fang, Ashrafi & Ng (2011), computed independently of the code that makes projections. Floats are
sufficient here: a release states its ratios in hundredths, and they were decided exactly before publication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import combined
from sfumato.data.table import Table

Bits = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DependenceMeasurement:
    """Entropies, and for each pair of attributes the information that they share and expose; in bits.

    An attribute shares all of its entropy with itself, and exposes nothing beyond itself.
    """

    names: tuple[str, ...]
    entropy: Bits
    information: Bits
    exposure: Bits

    @classmethod
    def of(cls, tables: Sequence[Table], harmless: Mapping[str, Sequence[str | None]]) -> DependenceMeasurement:
        """Measure the sensitive attributes of tables whose rows are the same people in the same order.

        `harmless`: the labels of values that are not sensitive; None is a missing value.

        >>> import pyarrow as pa
        >>> from sfumato.data.schema import Schema
        >>> table = Table(pa.table({"x": [0, 0, 1, 1], "y": ["a", "a", "b", "c"]}), Schema(sensitive=["x", "y"]))
        >>> measured = DependenceMeasurement.of([table], {"y": ["a"]})
        >>> measured.entropy.tolist(), measured.information[0, 1].tolist(), measured.exposure[0, 1].tolist()
        ([1.0, 1.5], 1.0, 0.25)
        """
        attributes = [
            table.attribute(table.schema.components(name), name) for table in tables for name in table.schema.sensitive
        ]
        entropy = np.array([_entropy(attribute.counts) for attribute in attributes])
        sensitive = [_sensitive_share(attribute, harmless.get(attribute.name, ())) for attribute in attributes]
        information, exposure = np.diag(entropy), np.zeros((len(attributes), len(attributes)))
        for i, one in enumerate(attributes):
            for j, other in enumerate(attributes[:i]):
                joint = _joint_counts(one, other)
                one_given_other = _conditional_entropy(joint, other.counts[joint[:, 1]])
                other_given_one = _conditional_entropy(joint, one.counts[joint[:, 0]])
                independent = _independent(one.counts, other.counts, joint)
                shared = 0.0 if independent else max(0.0, float(entropy[i]) - one_given_other)
                information[i, j] = information[j, i] = shared
                exposure[i, j] = exposure[j, i] = sensitive[i] * one_given_other + sensitive[j] * other_given_one
        return cls(tuple(attribute.name for attribute in attributes), entropy, information, exposure)

    def ratios(self, plan: Sequence[Sequence[str]]) -> dict[str, float]:
        """Return the association loss ("alpha") and the information exposure ("beta") of a plan."""
        table_of = {name: number for number, block in enumerate(plan) for name in block}
        tables = np.array([table_of[name] for name in self.names])
        separate = tables[:, None] != tables[None, :]
        # For each attribute, the share of the attributes that are in its table.
        size = np.bincount(tables)[tables] / len(tables)
        # Sums over the full matrices count every pair twice; the ratios do not change.
        shared, exposable = self.information[~np.eye(len(tables), dtype=bool)].sum(), self.exposure.sum()
        exposed = (self.exposure * ~separate * size[:, None]).sum()
        return {
            "alpha": float(self.information[separate].sum() / shared) if shared else 0.0,
            "beta": float(exposed / exposable) if exposable else 0.0,
        }


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(max(0.0, -(shares * np.log2(shares)).sum()))


def _conditional_entropy(joint: NDArray[np.int64], condition_counts: NDArray[np.int64]) -> float:
    """Return the entropy of one attribute given the other, from joint counts and the counts of the other's values.

    It is exactly 0 if the one is a function of the other.
    """
    counts = joint[:, 2]
    return float((counts * np.log2(condition_counts / counts)).sum() / counts.sum())


def _joint_counts(one: Attribute, other: Attribute) -> NDArray[np.int64]:
    """Return a row for each pair of values that occurs: the two values, and the count."""
    codes, pairs = combined([one.codes.astype(np.int32), other.codes.astype(np.int32)], [len(one), len(other)])
    counts = np.bincount(codes, minlength=len(pairs))
    return np.column_stack([pairs, counts])


def _independent(one: NDArray[np.int64], other: NDArray[np.int64], joint: NDArray[np.int64]) -> bool:
    """Return whether every pair of values occurs exactly as often as under independence."""
    first, second, counts = joint.T
    equal = counts * int(one.sum()) == one[first] * other[second]
    return len(joint) == int((one > 0).sum()) * int((other > 0).sum()) and bool(equal.all())


def _sensitive_share(attribute: Attribute, harmless: Sequence[str | None]) -> float:
    """Return the share of the rows whose value is sensitive."""
    labels = set(harmless)
    rows = sum(int(count) for value, count in enumerate(attribute.counts) if attribute.label_or_none(value) not in labels)
    return rows / int(attribute.counts.sum())
