"""How long `sfumato ui` takes to answer, as its user waits for it: wall seconds over HTTP, and the memory of the server.

The times are those of a user, so they are compared with goals in seconds, not with a baseline. The CPU time of the server
tells what they would be if nothing else ran.
"""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.csv

from benchmarks.datasets.survey import income
from benchmarks.measurement import Notify, silent
from sfumato.census import synthetic_census
from sfumato.errors import FileError

GOALS = {
    "address printed": 2.0,
    "first page": 1.0,
    "key press to verdict": 0.3,
    "role change to risk": 0.5,
    "frontier": 0.6,
    "cancel": 0.5,
    "rows while a job runs, p95": 0.25,
}
"""The project's goals in seconds, at 295,243 rows."""

GOAL_KB, GOAL_MB = 100, 300
"""The largest first page in kB, and the most memory of the server in MB."""

_DEBOUNCE = 0.06
"""Seconds that the page waits for a further key."""

_REPEATED, _WHILE_RUNNING = 5, 60
"""How often each answer is measured, and how often rows are shown while a job runs."""


class Browser:
    """What a browser sends, without one: it is not what is measured."""

    def __init__(self, address: str) -> None:
        self.port = int(re.findall(r":(\d+)/", address)[0])
        headers, _ = self._sent("GET", re.sub(r"http://[^/]+", "", address))
        self.base, self.cookie = headers["location"].rstrip("/"), headers["set-cookie"].partition(";")[0]

    def _sent(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status < 400, f"{method} {path}: {answer.status} {text[:500]}"
        return dict(answer.getheaders()), text

    def get(self, path: str) -> str:
        """Return a page or a part."""
        return self._sent("GET", self.base + path, Cookie=self.cookie)[1]

    def post(self, path: str, page: str, **form: str) -> str:
        """Do an action; `page`: what the tab shows."""
        found = re.search(r'data-version="(\d+)"', page)
        assert found is not None, "every page states its version"
        body = urlencode({**form, "version": found[1]})
        return self._sent("POST", self.base + path, body, Cookie=self.cookie, Origin=f"http://127.0.0.1:{self.port}")[1]


def run(rows: int, notify: Notify = silent) -> dict[str, Any]:
    """Measure a server on a CSV file of the survey with this many rows, or of the synthetic census without it."""
    with tempfile.TemporaryDirectory() as folder:
        notify("writing the table")
        path = Path(folder) / "people.csv"
        pyarrow.csv.write_csv(_people(rows), path)
        notify("starting")
        started = time.perf_counter()
        with _server(path) as (process, address):
            times = {"address printed": time.perf_counter() - started}
            figures = _measured(Browser(address), process.pid, times, notify)
            peak = _peak_mb(process.pid)
    runs = [
        {
            "what": what,
            "measured": round(seconds, 3),
            "goal": GOALS.get(what),
            "unit": "s",
            "server CPU s": figures["cpu"].get(what),
        }
        for what, seconds in figures["times"].items()
    ]
    runs.append({"what": "first page", "measured": figures["kB"], "goal": GOAL_KB, "unit": "kB"})
    if peak is not None:
        runs.append({"what": "memory of the server", "measured": round(peak), "goal": GOAL_MB, "unit": "MB"})
    return {"rows": rows, "runs": runs}


def _people(rows: int) -> Any:
    try:
        return income(rows).table.data
    except FileError:
        return synthetic_census(rows)


@contextmanager
def _server(path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "sfumato", "ui", str(path), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None, "it was requested"
    try:
        yield process, process.stdout.readline().rpartition(" ")[2].strip()
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def _measured(browser: Browser, process: int, times: dict[str, float], notify: Notify) -> dict[str, Any]:
    notify("first page")
    started = time.perf_counter()
    page = browser.get("/data")
    while "part-rows" not in page:  # the table is read in a thread, and the page is told when it was
        time.sleep(0.02)
        page = browser.get("/data")
    first = len(page) + len(browser.get("/data/part/rows"))
    times["first page"] = time.perf_counter() - started
    notify("draft")
    while "Suggested roles" not in page:
        time.sleep(0.05)
        page = browser.get("/data")
    times["roles suggested"] = time.perf_counter() - started
    for path in ("/columns/part/columns", "/columns/part/uniqueness", "/requirements", "/requirements/part/verdict?at=0"):
        browser.get(path)
    notify("risk, verdicts and frontier")
    questions: dict[str, Callable[[int], float]] = {
        "role change to risk": lambda turn: _role_change(browser, turn),
        "key press to verdict": lambda turn: _DEBOUNCE + _key_press(browser, turn),
        "frontier": lambda turn: _frontier(browser, turn),
        "50 rows": lambda turn: _timed(lambda: browser.get(f"/data/part/rows?row={1 + 1000 * turn}")),
    }
    cpu = {}
    for what, measure in questions.items():
        before = process_cpu_seconds(process)
        times[what] = _worst(measure)
        cpu[what] = (process_cpu_seconds(process) - before) / _REPEATED
    notify("a release, which is cancelled")
    times |= _release(browser)
    return {"times": times, "cpu": cpu, "kB": round(first / 1000, 1)}


def _release(browser: Browser) -> dict[str, float]:
    """Return the seconds until rows are shown while groups are searched for, and until that is cancelled."""
    page = browser.post("/history", browser.get("/data"), go="1", screen="data")  # the draft
    page = browser.post("/release/do/method", page, method="glaze", effort="8", suppress="0")
    page = browser.post("/release/do/make", page)
    while "finding groups" not in page:
        assert 'id="failed"' not in page, re.findall(r'class="failure">([^<]*)', page)
        time.sleep(0.1)
        page = browser.get("/release")
    shown = [_timed(partial(browser.get, f"/data/part/rows?row={1 + 997 * turn}")) for turn in range(_WHILE_RUNNING)]
    rows = sorted(shown)
    cancel = _timed(lambda: browser.post("/release/do/cancel", page))
    assert 'id="cancelled"' in browser.get("/release"), "the job was in progress"
    return {"rows while a job runs, p95": rows[int(0.95 * len(rows))], "cancel": cancel}


def _worst(measure: Callable[[int], float]) -> float:
    return max(measure(turn) for turn in range(_REPEATED))


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _role_change(browser: Browser, turn: int) -> float:
    page = browser.get("/columns")
    role = "other" if turn % 2 == 0 else "quasi-identifier"
    column = re.findall(r"^\[columns\.(\w+)\]$", page, re.MULTILINE)[turn // 2]

    def change() -> None:
        browser.post("/columns/do/role", page, column=column, role=role)
        browser.get("/columns/part/uniqueness")

    return _timed(change)


def _key_press(browser: Browser, turn: int) -> float:
    """Return the seconds until the verdict on a distance, whose neighbours must be counted anew."""
    page = browser.get("/requirements")
    at = _dissimilarity(page)

    def press() -> None:
        browser.post("/requirements/do/set", page, position=str(at), epsilon=str(3 + 2 * turn))
        browser.get(f"/requirements/part/verdict?at={at}")

    return _timed(press)


def _frontier(browser: Browser, turn: int) -> float:
    page = browser.get("/requirements")
    browser.post("/requirements/do/set", page, position=str(_dissimilarity(page)), epsilon=str(100 + 10 * turn))
    return _timed(lambda: browser.get("/requirements/part/frontier"))


def _dissimilarity(page: str) -> int:
    """Return the number of the requirement that has an ε."""
    return int(re.findall(r'id="field-(\d+)-epsilon"', page)[0])


def process_cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far, which other processes hardly affect; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(process: int) -> float | None:
    """Return the most memory that a process had; None where the system does not tell."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1000
