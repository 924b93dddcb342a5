"""Config files: what is published, how it is declared, and what must hold."""

from sfumato.config.config import Config, write_config
from sfumato.config.project_section import ProjectSection
from sfumato.config.sections import MethodSection

__all__ = ["Config", "MethodSection", "ProjectSection", "write_config"]
