"""Temporary files: only their user can read them, and nothing is left of them, however the process ends."""

from __future__ import annotations

import os
import signal
import stat
import time
from urllib.parse import quote

import pytest

from sfumato.ui.private_folder import PrivateFolder
from ui_process import running_ui

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and signals of POSIX")


def uploaded(ui):
    status, _, page = ui.enter().post("/upload", b"age,ill\n30,flu\n41,gout\n", **{"X-File-Name": quote("../peo ple.csv")})
    assert status == 200, page.decode()


def test_it_is_private_and_removed(tmp_path):
    folder = PrivateFolder(tmp_path)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    path = folder.new("a.csv")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert folder.path in path.parents
    other = PrivateFolder(tmp_path)  # does not remove what another one uses
    assert folder.path.is_dir()
    folder.close()
    other.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_is_kept(tmp_path):
    (tmp_path / "sfumato-ui-notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "sfumato-ui-folder").mkdir()
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "lock").touch()
    (tmp_path / "sfumato-ui-link").symlink_to(target)
    PrivateFolder(tmp_path).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "elsewhere", "sfumato-ui-folder", "sfumato-ui-link", "sfumato-ui-notes.txt",
    ]  # fmt: skip


def test_a_signal_leaves_nothing(tmp_path):
    with running_ui(temporary=tmp_path) as ui:
        uploaded(ui)
        assert [path.name for path in tmp_path.rglob("*.csv")] == ["peo ple.csv"]
        assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in tmp_path.iterdir())
        ui.process.send_signal(signal.SIGINT)
        assert ui.process.wait(10) == 128 + signal.SIGINT
    assert list(tmp_path.glob("sfumato-ui-*")) == []


def test_a_killed_process_leaves_nothing_after_the_next_start(tmp_path):
    with running_ui(temporary=tmp_path) as ui:
        uploaded(ui)
        ui.process.kill()
        ui.process.wait(10)
    assert [path.name for path in tmp_path.rglob("*.csv")] == ["peo ple.csv"]
    with running_ui(temporary=tmp_path):
        deadline = time.monotonic() + 20
        while list(tmp_path.rglob("*.csv")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(tmp_path.rglob("*.csv")) == []
