"""Long work on the command line: a bar on a terminal, silence elsewhere, and a safe end when it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import sfumato as sf
from commandline import sfumato

pty = pytest.importorskip("pty", reason="there are no terminals to play here")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = sfumato("demo", "--rows", "5000", "--save", "demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "demo"


def started(folder, *arguments, stderr=subprocess.PIPE):
    command = [sys.executable, "-m", "sfumato", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True)


def test_a_bar_on_a_terminal_and_nothing_elsewhere(demo):
    master, terminal = pty.openpty()
    process = started(demo, "anonymize", "sfumato.toml", "--output", "bar", "--json", stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the end of a terminal is an error
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    process.communicate()
    assert process.returncode == 0
    text = shown.decode()
    for step in ("reading", "finding groups", "publishing", "writing", "verifying"):
        assert step in text
    assert "%" in text
    quiet = sfumato("anonymize", "sfumato.toml", "--output", "quiet", "--json", cwd=demo)
    assert (quiet.returncode, quiet.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.8, 2.0])
def test_stopped(demo, tmp_path, number, delay):
    before = sorted(path.name for path in demo.iterdir())
    process = started(demo, "anonymize", "sfumato.toml", "--output", str(tmp_path / "out"))
    time.sleep(delay)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    if process.returncode == 0:
        assert sf.verify(tmp_path / "out"), "it was faster"
    else:
        # Python ends itself by SIGINT, which a shell tells as 130 too, if the interrupt passed through code made at run time
        assert process.returncode in (130, -number, -signal.SIGINT), errors
        assert list(tmp_path.iterdir()) == []
    assert sorted(path.name for path in demo.iterdir()) == before


def test_shares_only_rise(demo):
    steps = []
    config = sf.Config.load(demo / "sfumato.toml")
    sf.anonymize(
        config.table(), None, config.requested_principles, progress=lambda step, share=None: steps.append((step, share))
    )
    shares = [share for step, share in steps if step == "finding groups" and share is not None]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1
