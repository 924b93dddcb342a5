"""The server keeps little memory: what it sets holds for its own process alone, and code of others gets what it expects."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from sfumato.data.schema import Schema
from sfumato.ui.opening import open_source
from sfumato.ui.session import Session

SCRIPT = """
import json, os, sys
from sfumato.ui.process_memory import keep_little_memory, return_memory
keep_little_memory(foreign_code={foreign_code})
import pyarrow as pa
made = pa.array(["a", None]).to_pylist()
imported = "pandas" in sys.modules
return_memory()
import pandas
frame = pa.table({{"x": [1]}}).to_pandas()
print(json.dumps([
    made, imported, pa.default_memory_pool().backend_name, os.environ.get("ARROW_DEFAULT_MEMORY_POOL"),
    frame.x.tolist(), pa.array(pandas.Series(["a", None])).to_pylist(),
]))
"""


@pytest.mark.parametrize("foreign_code", [False, True])
def test_what_is_set(foreign_code, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    script = SCRIPT.format(foreign_code=foreign_code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["a", None], foreign_code, "system", None, [1], ["a", None]]


def test_columns_are_encoded_once(tmp_path):
    """Those of the profile are those of the table with the roles that were drafted from it."""
    (tmp_path / "people.csv").write_text("age,ill\n" + "30,flu\n41,gout\n" * 10, encoding="utf-8")
    session = Session()
    try:
        open_source(session, str(tmp_path / "people.csv"))
        deadline = time.monotonic() + 60
        while session.drafting and time.monotonic() < deadline:
            time.sleep(0.01)
        profile = session.profile()
        assert session.table.schema.quasi_identifiers == ("age",)
        assert session.table.column("age").codes is profile.table.column("age").codes
        assert session.raw.schema == Schema()
    finally:
        session.folder.close()
