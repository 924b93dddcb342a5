"""Changes of a config as text: one value becomes another, and comments, order and spelling of everything else stay.

Each function takes the text of a config and returns the new text; none reads or writes a file. They need the extra `edit`.
"""

from sfumato.config_edits.edits import add_principle, remove_principle, remove_value, set_role, set_value, set_values
from sfumato.config_edits.rebased_paths import rebase_paths
from sfumato.config_edits.toml_sections import keys_of, line_of

__all__ = [
    "add_principle",
    "keys_of",
    "line_of",
    "rebase_paths",
    "remove_principle",
    "remove_value",
    "set_role",
    "set_value",
    "set_values",
]
