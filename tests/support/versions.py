"""Two versions of a small table, of which nobody but one person ever had one of the values."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf

SCHEMA = sf.Schema(["age"], ["ill"], identifiers=["name"])
RULE = sf.DistinctLDiversity(3)
FIRST = {
    "ann": (30, "flu"), "bob": (31, "gout"), "cy": (32, "HIV"), "di": (60, "flu"), "ed": (61, "gout"), "flo": (62, "cold"),
}  # fmt: skip
LATER = {name: value for name, value in FIRST.items() if name != "cy"}
"""Without cy, nobody has HIV, which ann and bob need."""


def people(version):
    """A version as a table."""
    return pa.table(
        {
            "name": list(version),
            "age": [age for age, _ in version.values()],
            "ill": [ill for _, ill in version.values()],
        }
    )


def release_versions(folder, *versions, schema=SCHEMA, rule=RULE, **options):
    """Release versions one after another; return the folder and the key of each."""
    folder.mkdir(exist_ok=True)
    made = []
    for number, version in enumerate(versions, 1):
        follows = {"after": made[-1], **options} if made else {}
        release = sf.anonymize(people(version), schema, rule, method="mondrian", seed=number, **follows)
        key = folder / f"{number}.json"
        made.append((release.save(folder / str(number), key=key), key))
    return made
