"""A proven lower bound on the information loss of every grouping that satisfies the requirements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.anonymization.loss_bounds.charges import distinct_rows, sound_charges
from sfumato.anonymization.loss_bounds.crowds import Crowds, least_size
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.data.table import Table
from sfumato.exact import Number
from sfumato.parameters import check_share
from sfumato.principles import Principle

_ROUNDING = 1 - 1e-9
"""Charges are products of few floats: their sum is lowered by more than all rounding together."""


def loss_bound(
    table: Table,
    principles: Sequence[Principle],
    *,
    suppress: Number = 0,
    secrets: bool = True,
    recodings: Mapping[str, str] | None = None,
) -> float:
    """Return a loss that every grouping of a table has at least, if all its groups satisfy the principles.

    The loss is that of `Loss.mean`: the mean share of the cells, suppressed rows with the share 1. Each column is published
    as `recodings` says ("interval", "ancestor" or "set"), otherwise as the schema declares it, or by default. The bound
    holds for every partition of the rows, whatever method found it, and for every partition of some of them if at most the
    share `suppress` of the rows is suppressed. It uses how many rows a group has at least and, with `secrets`, how many near
    sensitive values it can contain. What else the principles require is ignored.

    `secrets=False` uses quasi-identifiers and parameters only. A bound with secrets must not be published: it depends on
    which row has which secret.

    The proof is in docs/loss-bound.md. Cost: that of a fixed number of steps for each distinct row; if they do not suffice,
    the bound is looser. It is loose for columns without a hierarchy of which groups need three values and more, for several
    columns of numbers, for many columns, and where groups are large because of what it ignores.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = sf.Table(pa.table({"age": [20, 21, 40, 60]}), sf.Schema(["age"]))
    >>> round(loss_bound(people, [sf.KAnonymity(2)]), 4)  # {20, 21}, {40, 60}: the mean of 1/40, 1/40, 20/40, 20/40
    0.2625
    """
    rows, share = table.rows, check_share(suppress)
    how = {**table.schema.recodings, **(recodings or {})}
    domains = [domain_of(table.column(name), how.get(name)) for name in table.schema.quasi_identifiers]
    if not domains:
        return 0.0
    size = min(least_size(principles), rows)
    crowds = Crowds.of(Task(table, tuple(principles))) if secrets else Crowds.unlimited(rows)
    distinct = distinct_rows(domains, crowds, size)
    charge = sound_charges(distinct)[distinct.of_row]
    # a suppressed row costs 1 in each cell, whatever it is charged
    saved = np.sort(np.maximum(charge - len(domains), 0.0))[::-1][: int(share * rows)]
    total = math.fsum(charge.tolist()) - math.fsum(saved.tolist())
    return max(0.0, total * _ROUNDING / (rows * len(domains)))
