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


def hospital(rows: int, seed: int = 0, strength: float = 1.0, patients: float = 0.7) -> pa.Table:
    """Return encounters: disposition depends on age and diagnosis, and readmission on disposition and diagnosis.

    `strength`: how strong these associations are; 0 for none except that nobody is readmitted who died. `patients`: how many
    there are per encounter. The encounters of a patient are within 200 days.
    """
    random = np.random.default_rng(seed)
    patient = np.sort(random.integers(0, int(patients * rows), rows))
    people = int(patient.max()) + 1
    age = np.clip(random.normal(66, 15, people), 18, 95).round().astype(int)[patient]
    sex = np.where(random.random(people) < 0.47, "male", "female")[patient]
    race = random.choice(["white", "black", "hispanic", "asian"], people, p=[0.75, 0.18, 0.05, 0.02])[patient]
    diagnosis = random.integers(0, len(ICD), rows)
    shares = np.array([share for share, _ in DISPOSITIONS.values()])
    older = np.outer((age - 66) / 15, [-0.3, 0.1, 0.7, 0.0, 0.3, -0.6, 0.6, 0.5])
    worse = np.outer(diagnosis % 5 == 0, [0, 0, 0.3, 0.2, 0.4, 0, 0.2, 0.6])
    scores = np.log(shares) + strength * (older + worse)
    disposition = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    died = disposition == len(DISPOSITIONS) - 1
    relative = np.array([rate for _, rate in DISPOSITIONS.values()])[disposition] / _USUAL
    more = np.exp(0.25 * strength * (diagnosis % 3 == 0))
    rate = np.where(died, 0, _USUAL * relative**strength * more)
    later = np.where(died, 0, 0.33)
    chance = random.random(rows)
    first = random.integers(0, 800, people)[patient]
    return pa.table(
        {
            "patient": patient,
            "admitted": np.datetime64("2015-01-01") + first + random.integers(0, 200, rows),
            "age": age,
            "sex": sex,
            "race": race,
            "diagnosis": np.array(ICD)[diagnosis],
            "disposition": np.array(list(DISPOSITIONS))[disposition],
            "stay": 1 + random.poisson(3 + 2 * strength * (disposition > 1) + 0.02 * np.maximum(age - 60, 0)),
            "readmitted": np.where(chance < rate, "<30", np.where(chance < rate + later, ">30", "NO")),
        }
    )


_USUAL = 0.11
"""The rate of readmission if there are no associations."""


def hospital_schema() -> Schema:
    """Return the schema of the hospital: patients are counted, and dates of admission are quasi-identifiers."""
    return Schema(
        quasi_identifiers=["admitted", "age", "sex", "race", "diagnosis", "disposition"],
        sensitive=["readmitted", "stay"],
        person_id="patient",
    )
