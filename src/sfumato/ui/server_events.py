"""Server-sent events: every open page learns of progress and of changes that another tab made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from sfumato.ui.session import Session

_PAUSE = 15.0
"""Seconds after which an empty comment is sent, so that a closed connection is noticed."""


async def event_stream(session: Session) -> AsyncIterator[bytes]:
    """Yield the events of a session as text/event-stream, beginning with the current version."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def put(event: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, event)  # events come from other threads

    session.listeners.append(put)
    try:
        yield _encoded({"version": session.history.version, "state": session.state})
        while True:
            try:
                yield _encoded(await asyncio.wait_for(queue.get(), _PAUSE))
            except TimeoutError:
                yield b":\n\n"
    finally:
        session.listeners.remove(put)


def _encoded(event: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()
