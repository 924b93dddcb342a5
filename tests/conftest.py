"""Profiles of the property tests, and the real data where it is there.

The default profile keeps the suite short, and the same every time. The thorough one, SFUMATO_PROFILE=thorough, runs
10,000 random cases of every property.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("default", max_examples=150, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=10_000, **_COMMON)
settings.load_profile(os.environ.get("SFUMATO_PROFILE", "default"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real microdata."""
    folder = os.environ.get("SFUMATO_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SFUMATO_DATA does not point at the real microdata")
    return Path(folder)
