"""Privacy principles, one per file.

`sfumato.registry` lists the principles by their names in a config. The public names of this package are those of
`__init__.pyi`; each is imported when it is first used. The class of any other registered principle is found here too.
"""

from typing import Any

import lazy_loader

_attach, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _attach(name)
    except AttributeError:
        from sfumato.registry import PRINCIPLES

        for principle, location in PRINCIPLES.entries.items():
            if isinstance(location, str) and location.endswith(f":{name}"):
                return PRINCIPLES[principle]
        raise
