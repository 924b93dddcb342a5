"""The process that makes releases, one at a time: it is started ahead, loads the kernels, and waits for requests.

A kernel does not look up for seconds, so a release that is no longer wanted is ended by killing this process; another one
is started at once. Requests and replies are lines of JSON, on standard input and output. It ends when its parent does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from queue import SimpleQueue
from typing import Any, TextIO

COMPILING = "compiling kernels: the first use takes about 20 s longer"
"""What is shown meanwhile."""

_PAUSE = 0.1
"""Seconds between two reports of progress within one step."""


def main() -> None:
    """Answer requests until the parent ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not end up among the replies
    requests: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests,), daemon=True).start()
    _send(replies, {"preparing": "loading kernels"})
    from sfumato.kernels.compile import watch_compilation

    with watch_compilation(lambda: _send(replies, {"preparing": COMPILING}), lambda: _send(replies, {"preparing": ""})):
        _warm_up()
        _send(replies, {"preparing": ""})
        while True:
            _serve(requests.get(), replies)


def _receive(requests: SimpleQueue[dict[str, Any]]) -> None:
    """Queue requests; end the process when the parent has ended, in the middle of whatever it does."""
    for line in sys.stdin.buffer:
        requests.put(json.loads(line))
    from sfumato.temporaries import remove_temporaries

    remove_temporaries()
    os._exit(0)


def _warm_up() -> None:
    from sfumato.anonymization._warm_up import warm_up
    from sfumato.attacks import _attack  # noqa: F401 - imported ahead
    from sfumato.comparison import release_comparison  # noqa: F401 - imported ahead

    warm_up()


def _send(replies: TextIO, reply: dict[str, Any]) -> None:
    replies.write(json.dumps(reply, default=str) + "\n")
    replies.flush()


def _serve(request: dict[str, Any], replies: TextIO) -> None:
    """Do what is requested, and reply with the result or with what went wrong, in words."""
    from sfumato.errors import SfumatoError
    from sfumato.ui.worker_jobs import JOBS, Request

    number = request["number"]
    os.environ.update(request.pop("environment"))  # passwords of databases that were opened meanwhile

    def reply(**content: Any) -> None:
        _send(replies, {"number": number, **content})

    try:
        result = JOBS[request["kind"]](Request.of(request), _Reports(reply), lambda made: reply(made=made))
    except SfumatoError as error:
        reply(error=str(error))
    except MemoryError:
        reply(error='There is not enough memory. Close other programs, or state engine.name = "stream" in the config.')
    except OSError as error:
        reply(error=f"{error.filename or 'a file'}: {error.strerror}. Make room, or check that it is there; then try again.")
    except Exception:  # a fault of sfumato or of a plug-in is shown, and the process goes on
        reply(error=f"This is a fault of sfumato or of a plug-in; please report it:\n{traceback.format_exc()}")
    else:
        reply(result=result)


class _Reports:
    """Sends progress: each step, and its share a few times a second."""

    def __init__(self, reply: Any) -> None:
        self._reply = reply
        self._step, self._last = "", 0.0

    def __call__(self, step: str, share: float | None = None) -> None:
        """Send a report, unless the last one of the same step was just now."""
        now = time.monotonic()
        if step != self._step or now - self._last >= _PAUSE:
            self._step, self._last = step, now
            self._reply(step=step, share=share)


if __name__ == "__main__":
    main()
