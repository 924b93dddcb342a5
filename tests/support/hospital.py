"""A hospital in which one disposition is deadly: who has died is never readmitted, and the others differ widely."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

DISPOSITIONS = {
    "home": (0.58, 0.09),
    "home care": (0.13, 0.12),
    "nursing": (0.135, 0.15),
    "rehab": (0.03, 0.20),
    "other hospital": (0.03, 0.16),
    "hospice": (0.025, 0.04),
    "expired": (0.07, 0.0),
}
"""For each disposition its share of the encounters, and the rate of readmission."""


def hospital(rows, seed=1):
    """Encounters with four quasi-identifiers, readmission and a diagnosis."""
    draw = np.random.default_rng(seed)
    share, rate = (np.array(column) for column in zip(*DISPOSITIONS.values(), strict=True))
    end = draw.choice(len(share), rows, p=share / share.sum())
    return pa.table(
        {
            "age": np.clip(draw.normal(66, 15, rows).round().astype(int), 18, 95),
            "race": draw.choice(["Caucasian", "African", "Hispanic", "Asian"], rows, p=[0.75, 0.2, 0.03, 0.02]),
            "admission": draw.choice(["emergency", "urgent", "elective"], rows, p=[0.55, 0.2, 0.25]),
            "disposition": np.array(list(DISPOSITIONS))[end],
            "readmitted": np.where(draw.random(rows) < rate[end], "yes", "no"),
            "diagnosis": draw.choice([f"D{i}" for i in range(12)], rows),
        }
    )
