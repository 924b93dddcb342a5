"""A synthetic hospital: several encounters per patient, ICD codes, dates, and dispositions with a deadly outcome."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.data.schema import Schema

DISPOSITIONS = {
    "home": (0.60, 0.09),
    "home care": (0.13, 0.12),
    "nursing facility": (0.14, 0.15),
    "short-term hospital": (0.03, 0.16),
    "rehab": (0.03, 0.28),
    "left against advice": (0.02, 0.15),
    "hospice": (0.02, 0.08),
    "expired": (0.03, 0.0),
}
"""For each disposition its share and the rate of readmission within 30 days; nobody who died is readmitted."""

ICD = ("250.0", "401.9", "410.7", "414.0", "428.0", "434.9", "486", "491.2", "584.9", "599.0", "715.9", "786.5")


def hospital(rows: int, seed: int = 0) -> pa.Table:
    """Return encounters: disposition depends on age and diagnosis, and readmission on disposition and diagnosis."""
    random = np.random.default_rng(seed)
    patient = np.sort(random.integers(0, int(0.7 * rows), rows))  # a patient has 1.4 encounters on average
    people = int(patient.max()) + 1
    age = np.clip(random.normal(66, 15, people), 18, 95).round().astype(int)[patient]
    sex = np.where(random.random(people) < 0.47, "male", "female")[patient]
    race = random.choice(["white", "black", "hispanic", "asian"], people, p=[0.75, 0.18, 0.05, 0.02])[patient]
    diagnosis = random.integers(0, len(ICD), rows)
    shares = np.array([share for share, _ in DISPOSITIONS.values()])
    older = np.outer((age - 66) / 15, [-0.3, 0.1, 0.7, 0.0, 0.3, -0.6, 0.6, 0.5])
    scores = np.log(shares) + older + np.outer(diagnosis % 5 == 0, [0, 0, 0.3, 0.2, 0.4, 0, 0.2, 0.6])
    disposition = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    rate = np.array([rate for _, rate in DISPOSITIONS.values()])[disposition] * np.exp(0.25 * (diagnosis % 3 == 0))
    later = np.where(disposition == len(DISPOSITIONS) - 1, 0, 0.33)
    chance = random.random(rows)
    return pa.table(
        {
            "patient": patient,
            "admitted": np.datetime64("2015-01-01") + random.integers(0, 1000, rows),
            "age": age,
            "sex": sex,
            "race": race,
            "diagnosis": np.array(ICD)[diagnosis],
            "disposition": np.array(list(DISPOSITIONS))[disposition],
            "stay": 1 + random.poisson(3 + 2 * (disposition > 1) + 0.02 * np.maximum(age - 60, 0)),
            "readmitted": np.where(chance < rate, "<30", np.where(chance < rate + later, ">30", "NO")),
        }
    )


def hospital_schema() -> Schema:
    """Return the schema of the hospital without its patients and dates."""
    return Schema(
        quasi_identifiers=["age", "sex", "race", "diagnosis", "disposition"],
        sensitive=["readmitted", "stay"],
        identifiers=["patient", "admitted"],
    )
