"""The screens, in the order of the navigation: one file each."""

from __future__ import annotations

from sfumato.ui.screen import Screen
from sfumato.ui.screens.columns_screen import COLUMNS
from sfumato.ui.screens.data_screen import DATA

SCREENS: dict[str, Screen] = {screen.name: screen for screen in (DATA, COLUMNS)}
"""Every screen by its address."""
