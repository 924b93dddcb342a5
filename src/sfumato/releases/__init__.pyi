from .json_schema import release_schema
from .models import GroupedDocument, ProjectedDocument, WithheldDocument
from .private import Private
from .reader import Manifest

__all__ = [
    "GroupedDocument",
    "Manifest",
    "Private",
    "ProjectedDocument",
    "WithheldDocument",
    "release_schema",
]
