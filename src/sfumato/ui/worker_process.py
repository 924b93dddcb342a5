"""The worker process as its parent sees it: started, asked, listened to, and killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any


class WorkerProcess:
    """A process that runs `sfumato.ui.release_worker`.

    `received` is called with every reply, and `ended` with the status when the process ends without having been killed by
    `kill`; both in a thread of their own.
    """

    def __init__(self, received: Callable[[dict[str, Any]], None], ended: Callable[[int], None]) -> None:
        self._received, self._ended = received, ended
        self._killed = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sfumato.ui.release_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which then ends this process
        )
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, request: dict[str, Any]) -> None:
        """Send a request; the environment goes with it, because passwords are kept there."""
        assert self._process.stdin is not None
        line = json.dumps({**request, "environment": dict(os.environ)}) + "\n"
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        self._killed = True
        self._process.kill()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not self._killed:
                self._received(json.loads(line))
        status = self._process.wait()
        if not self._killed:
            self._ended(status)
