"""Long work on the command line: a bar on a terminal, plain lines elsewhere, and a prompt, safe end when it is stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from itertools import pairwise

import numba
import pytest

import sfumato as sf
from commandline import sfumato
from sfumato.cli.interruption import run_interruptibly
from sfumato.cli.progress import ProgressLines, _CompilationNotice
from sfumato.io.atomic_replace import folder_aside, put_in_place
from sfumato.kernels.compile import kernel
from sfumato.temporaries import remove_temporaries

pty = pytest.importorskip("pty", reason="there are no terminals to play here")

SOON = 30
"""Seconds. The work takes minutes, and ends within two on an idle machine; a busy one may need longer to start a process."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = sfumato("demo", "--rows", "5000", "--save", "demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "demo"


def started(folder, *arguments):
    """Start a verb whose standard error is a terminal, and return the process and the other side of the terminal."""
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "sfumato", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    return process, master


def read_until(master, step):
    """Read what is shown up to a step, or up to the end."""
    shown = b""
    while step not in shown.decode(errors="replace"):
        try:
            piece = os.read(master, 65536)
        except OSError:  # the end of a terminal is an error
            break
        if not piece:
            break
        shown += piece
    return shown.decode(errors="replace")


def test_a_bar_on_a_terminal(demo):
    process, master = started(demo, "anonymize", "sfumato.toml", "--output", "bar", "--json")
    text = read_until(master, "no such step")
    os.close(master)
    assert process.wait() == 0
    for step in ("reading", "finding groups", "publishing", "writing", "verifying"):
        assert step in text
    assert "%" in text


def test_plain_lines_elsewhere_and_none_if_quiet(demo):
    done = sfumato("anonymize", "sfumato.toml", "--output", "lines", "--json", cwd=demo, quiet=False)
    assert done.returncode == 0
    for line in done.stderr.splitlines():
        assert re.fullmatch(r"sfumato: [a-z ]+(, \d+ %)? \(\d+ s\)", line)
    quiet = sfumato("anonymize", "sfumato.toml", "--output", "quiet", "--json", cwd=demo)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_lines_are_few_but_never_absent():
    now, lines = 0.0, []
    progress = ProgressLines(lambda text: lines.append((now, text)), clock=lambda: now)
    for tenth in range(1200):  # two minutes: one of steps of a second, one in a kernel that reports nothing
        now = tenth / 10
        progress.show(f"step {tenth // 10}", (tenth % 10) / 10) if tenth < 600 else progress.tick()
    times = [when for when, _ in lines]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert times[0] == 2
    assert all(2 <= gap < 10.2 for gap in gaps)
    assert len([when for when in times if when >= 60]) == 6


def test_compilation_is_shown_in_place_of_the_current_step(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # where no earlier run has compiled the kernel

    @kernel
    def one_more(x):
        return x + 1

    shown = []
    with ExitStack() as listening:
        notice = _CompilationNotice(lambda step, share=None: shown.append((step, share)), listening)
        notice("finding groups", 0.25)
        assert one_more(1) == 2
        assert one_more(2) == 3  # compiled already
    assert [step.split(":")[0] for step, _ in shown] == ["finding groups", "compiling kernels", "finding groups"]
    assert shown[-1] == ("finding groups", 0.25)


def test_a_short_run_writes_no_line():
    lines = []
    progress = ProgressLines(lines.append, clock=lambda: 0.0)
    progress.show("reading")
    progress.tick()
    assert lines == []


@pytest.mark.parametrize(
    ("step", "number"),
    [
        ("reading", signal.SIGINT),
        ("finding groups", signal.SIGTERM),
        ("writing", signal.SIGINT),
        ("verifying what", signal.SIGTERM),
        ("matching", signal.SIGTERM),
    ],
)
def test_stopped(demo, tmp_path, step, number):
    before = sorted(path.name for path in demo.iterdir())
    verb = "risk" if step == "matching" else "anonymize"
    more = ["--disclose", "2"] if verb == "risk" else []
    process, master = started(demo, verb, "sfumato.toml", "--output", str(tmp_path / "out"), *more)
    assert step in read_until(master, step)
    process.send_signal(number)
    sent = time.monotonic()
    shown = read_until(master, "no such step")
    os.close(master)
    status = process.wait()
    if status == 0:
        assert sf.verify(tmp_path / "out"), "it was faster"
    else:
        assert time.monotonic() - sent < SOON
        assert status == 128 + number, shown
        assert "stopped; nothing was left half-written" in shown
        assert list(tmp_path.iterdir()) == []
    assert sorted(path.name for path in demo.iterdir()) == before


IN_A_LONG_CALL = """
import hashlib, sys
from pathlib import Path
from sfumato.cli.interruption import run_interruptibly
from sfumato.io.atomic_replace import folder_aside

def work():
    with folder_aside(Path(sys.argv[1])) as aside:
        (aside / "data.csv").write_text("half")
        print("ready", flush=True)
        hashlib.pbkdf2_hmac("sha512", b"", b"", 400_000_000)  # minutes in one call, as a kernel: without the lock

run_interruptibly(work)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_a_call_that_takes_minutes(tmp_path, number):
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_LONG_CALL, tmp_path / "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(number)
    sent = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - sent < SOON
    assert (process.returncode, errors) == (128 + number, "sfumato: stopped; nothing was left half-written.\n")
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored(tmp_path):
    """A shell starts a background job with Ctrl-C ignored."""
    code = (
        "import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from sfumato.cli.interruption import run_interruptibly\n"
        "run_interruptibly(lambda: os.kill(os.getpid(), signal.SIGINT))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_errors_and_results_of_the_work_arrive():
    assert run_interruptibly(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(SystemExit, match="7"):
        run_interruptibly(lambda: sys.exit(7))
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 / 0)


def test_a_folder_that_takes_its_place_is_not_removed(tmp_path):
    """If a process is stopped just after two folders were exchanged, the old one must survive until it may go."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").touch()
    seen = []

    def may_go(folder):
        remove_temporaries(patience=0.01)  # as the main thread does when it ends the process
        seen.append((folder / "precious").exists())
        return False

    with pytest.raises(FileExistsError), folder_aside(tmp_path / "out") as aside:
        put_in_place(aside, tmp_path / "out", may_go)
    assert seen == [True]
    assert (tmp_path / "out" / "precious").exists()


def test_shares_only_rise(demo):
    steps = []
    config = sf.Config.load(demo / "sfumato.toml")
    sf.anonymize(
        config.table(), None, config.requested_principles, progress=lambda step, share=None: steps.append((step, share))
    )
    shares = [share for step, share in steps if step == "finding groups" and share is not None]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1
