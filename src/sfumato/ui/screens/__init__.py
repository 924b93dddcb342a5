"""The screens, in the order of the navigation: one file each."""

from __future__ import annotations

from sfumato.ui.screen import Screen
from sfumato.ui.screens.columns_screen import COLUMNS
from sfumato.ui.screens.data_screen import DATA
from sfumato.ui.screens.disclosure_screen import DISCLOSURE
from sfumato.ui.screens.release_screen import RELEASE
from sfumato.ui.screens.requirements_screen import REQUIREMENTS
from sfumato.ui.screens.risk_screen import RISK
from sfumato.ui.screens.save_screen import SAVE
from sfumato.ui.screens.secrets_screen import SECRETS

_ORDER = (DATA, COLUMNS, RISK, REQUIREMENTS, RELEASE, DISCLOSURE, SECRETS, SAVE)

SCREENS: dict[str, Screen] = {screen.name: screen for screen in _ORDER}
"""Every screen by its address."""
