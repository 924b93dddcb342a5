"""Start the server on this machine's loopback address, and tell the user its address."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable

from sfumato.errors import ParameterError
from sfumato.io.optional_packages import import_extra
from sfumato.ui.session import Session

LARGEST_UPLOAD = 4 << 30
"""The most bytes of a file that is uploaded; larger ones are opened by their path."""


def require_packages() -> None:
    """Raise an error that says how to install what the browser interface needs, if it is not installed."""
    for module in ("starlette", "uvicorn", "tomlkit"):
        import_extra(module, "ui", "the browser interface", "sfumato ui")


def serve(
    session: Session,
    port: int = 0,
    opened: Callable[[str], None] = print,
    again: Callable[[str], None] = lambda address: None,
    largest_upload: int = LARGEST_UPLOAD,
) -> None:
    """Answer requests until the process is stopped.

    `opened` is called with the address to open, once the server answers; `again` with a new one after each was used.
    """
    from sfumato.ui.access_guard import OPEN, AccessGuard, Secrets

    listening = _listening(port)
    own = listening.getsockname()[1]
    secrets = Secrets()

    def address() -> str:
        return f"http://127.0.0.1:{own}{OPEN}{secrets.token}"

    # the socket listens already, so requests wait until all is imported
    threading.Thread(target=opened, args=(address(),), daemon=True).start()
    import uvicorn

    from sfumato.kernels.compile import watch_compilation
    from sfumato.ui.application import Application
    from sfumato.ui.release_worker import COMPILING
    from sfumato.ui.work import end_work

    def tell_kernels(step: str) -> None:
        session.tell({"job": "kernels", "step": step})

    inner = Application(session, secrets.prefix, largest_upload).routes
    guard = AccessGuard(inner, secrets, own, largest_upload, lambda: again(address()))
    config = uvicorn.Config(
        guard, log_level="critical", access_log=False, server_header=False, lifespan="off", ws="none", http="h11",
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    try:
        with watch_compilation(lambda: tell_kernels(COMPILING), lambda: tell_kernels("")):
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        end_work(session)
        session.folder.close()


def _listening(port: int) -> socket.socket:
    """Return a socket that listens on the loopback address, on a random port if `port` is 0."""
    result = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # a port is free at once after its server ended; elsewhere the option would share a port in use
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        result.bind(("127.0.0.1", port))
    except OSError as error:
        result.close()
        raise ParameterError(
            f"port {port} cannot be used: {error.strerror}", remedy="Choose another one, or none.", key="--port", value=port
        ) from error
    result.listen(128)
    return result
