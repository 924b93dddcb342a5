"""Verification: check a release from its written files, with code that does not depend on the code that made it.

This package imports data, distances, principles, io, serialization and the release format, and nothing that makes a
release. The checks of projected and withheld releases are in `sfumato.projections` and `sfumato.disclosure`, and are reached
through `sfumato.releases.kinds.KINDS`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
