"""Publish tables about people so that nobody can pin a person, or a narrow range around a secret, to a row.

The public names are those of `__init__.pyi`. Each is imported when it is first used, so that `import sfumato` and
`sfumato --help` cost nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
