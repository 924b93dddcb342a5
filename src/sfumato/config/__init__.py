"""Config files: what is published, how it is declared, and what must hold."""

from sfumato.config.config import Config, write_config
from sfumato.config.sections import MethodSection

__all__ = ["Config", "MethodSection", "write_config"]
