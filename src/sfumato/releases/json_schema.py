"""The JSON Schema of release.json, generated from its models."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from sfumato.releases.kinds import KINDS
from sfumato.releases.models import FORMAT


def release_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that every release.json of the current format satisfies.

    It states types and keys. That the figures are true is for `sf.verify` to check.

    >>> [kind["$ref"].removeprefix("#/$defs/") for kind in release_schema()["oneOf"]]
    ['GroupedDocument', 'ProjectedDocument', 'WithheldDocument', 'AnatomizedDocument']
    """
    references, definitions = models_json_schema([(kind.document, "validation") for kind in KINDS.values()])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "release.json",
        "description": f"What a release of sfumato states about itself, format {FORMAT}.",
        "oneOf": [references[kind.document, "validation"] for kind in KINDS.values()],
        "$defs": definitions["$defs"],
    }
