"""What sensitive attributes share, measured again: entropies, mutual information, and the two ratios of a plan (paper 004).

Floats will do here: what is claimed is told in hundredths, and was decided exactly before it was published.
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
class Shared:
    """Entropies, and for each pair of attributes what they share and what one exposes beyond the other; in bits.

    An attribute shares all of its entropy with itself, and exposes nothing beyond itself.
    """

    names: tuple[str, ...]
    entropy: Bits
    information: Bits
    exposure: Bits

    @classmethod
    def of(cls, tables: Sequence[Table], harmless: Mapping[str, Sequence[str | None]]) -> Shared:
        """Measure the sensitive attributes of tables whose rows are about the same people in the same order.

        `harmless`: the values, as they are shown, that are not sensitive; None stands for a missing one.

        >>> import pyarrow as pa
        >>> from sfumato.data.schema import Schema
        >>> table = Table(pa.table({"x": [0, 0, 1, 1], "y": ["a", "a", "b", "c"]}), Schema(sensitive=["x", "y"]))
        >>> found = Shared.of([table], {"y": ["a"]})
        >>> found.entropy.tolist(), found.information[0, 1].tolist(), found.exposure[0, 1].tolist()
        ([1.0, 1.5], 1.0, 0.25)
        """
        found = [table.attribute(table.schema.components(name), name) for table in tables for name in table.schema.sensitive]
        entropy = np.array([_entropy(attribute.counts) for attribute in found])
        sensitive = [_sensitive(attribute, harmless.get(attribute.name, ())) for attribute in found]
        information, exposure = np.diag(entropy), np.zeros((len(found), len(found)))
        for i, one in enumerate(found):
            for j, other in enumerate(found[:i]):
                joint = _joint(one, other)
                alone = _left(joint, other.counts[joint[:, 1]]), _left(joint, one.counts[joint[:, 0]])
                shared = 0.0 if _independent(one.counts, other.counts, joint) else max(0.0, float(entropy[i]) - alone[0])
                information[i, j] = information[j, i] = shared
                exposure[i, j] = exposure[j, i] = sensitive[i] * alone[0] + sensitive[j] * alone[1]
        return cls(tuple(attribute.name for attribute in found), entropy, information, exposure)

    def ratios(self, plan: Sequence[Sequence[str]]) -> dict[str, float]:
        """The association loss and the information exposure of a plan, by the key of the threshold on them."""
        table_of = {name: number for number, block in enumerate(plan) for name in block}
        tables = np.array([table_of[name] for name in self.names])
        apart = tables[:, None] != tables[None, :]
        size = np.bincount(tables)[tables] / len(tables)
        shared, exposable = self.information[~np.eye(len(tables), dtype=bool)].sum(), self.exposure.sum()
        exposed = (self.exposure * ~apart * size[:, None]).sum()
        return {
            "alpha": float(self.information[apart].sum() / shared) if shared else 0.0,
            "beta": float(exposed / exposable) if exposable else 0.0,
        }


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(max(0.0, -(shares * np.log2(shares)).sum()))


def _left(joint: NDArray[np.int64], known: NDArray[np.int64]) -> float:
    """The entropy that is left of one attribute where the other is known, `known` of whose values occur so often.

    Nothing is left, exactly, if the one is a function of the other.
    """
    counts = joint[:, 2]
    return float((counts * np.log2(known / counts)).sum() / counts.sum())


def _joint(one: Attribute, other: Attribute) -> NDArray[np.int64]:
    """The pairs of values that occur, in the first two columns, and how often they do."""
    codes, pairs = combined([one.codes.astype(np.int32), other.codes.astype(np.int32)], [len(one), len(other)])
    counts = np.bincount(codes, minlength=len(pairs))
    return np.column_stack([pairs, counts])


def _independent(one: NDArray[np.int64], other: NDArray[np.int64], joint: NDArray[np.int64]) -> bool:
    """Whether every pair of values occurs exactly as often as if the attributes had nothing to do with each other."""
    first, second, counts = joint.T
    same = counts * int(one.sum()) == one[first] * other[second]
    return len(joint) == int((one > 0).sum()) * int((other > 0).sum()) and bool(same.all())


def _sensitive(attribute: Attribute, harmless: Sequence[str | None]) -> float:
    """The share of the rows whose value is sensitive."""
    told = set(harmless)
    counted = sum(int(count) for value, count in enumerate(attribute.counts) if attribute.label_or_none(value) not in told)
    return counted / int(attribute.counts.sum())
