"""Config files with random damage: read as a config, or refused with a typed error that names the file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from damage import damaged_bytes
from test_config import FULL

pytestmark = pytest.mark.fuzz

KEYS = (
    b"\nformat = 9\n",
    b"[data]\n",
    b"[[principles]]\n",
    b"[columns.age]\n",
    b"epsilon = ",
    b"1e9999",
    b"9" * 400,
    b"a." * 50,
)


@given(content=damaged_bytes([FULL.encode()], KEYS), code=st.booleans())
def test_damaged_configs_are_read_or_refused(content, code):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sfumato.toml"
        path.write_bytes(content)
        try:
            config = sf.Config.load(path, allow_code=code)
        except sf.errors.SfumatoError as error:
            assert str(error)
        else:
            assert sf.Config.parse(config.to_toml(), path, allow_code=code).to_toml() == config.to_toml()
