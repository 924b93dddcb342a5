"""Who may talk to the server: only the browser that opened its secret address, on this machine. Plain ASGI.

A server on 127.0.0.1 is reachable for every program and every web page of the machine. A page on the web can send requests
to it, or have its own name resolve to 127.0.0.1; a program can try all ports. So every request must name this server as
its host, must not come from a foreign page, and must know two secrets: a path, because a cookie is sent to every port of
127.0.0.1, and a cookie, because a path ends up in the history of a browser.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LARGEST_FORM = 1 << 24
"""The most bytes of an action; a config has at most as many characters."""

UPLOAD = "/upload"
"""The path, below the secret one, that receives files."""

OPEN = "/open/"
"""The path that exchanges a token for the cookie."""

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer; an answer that states one of them itself keeps its own."""

_REASONS = {
    400: "The address is invalid.",
    401: "Open the address that sfumato printed in the terminal. An address that was used already no longer works: the "
    "terminal shows a new one.",
    403: "The request comes from another page.",
    405: "Only GET, HEAD and POST are allowed.",
    411: "The request must state its length.",
    413: "The request is too large.",
    421: "The request names another host.",
}


@dataclass
class Secrets:
    """The secrets of one server: a path, a cookie, and the token that is exchanged for the cookie once."""

    prefix: str = field(default_factory=lambda: "/" + secrets.token_urlsafe(16))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def redeem(self, token: str) -> bool:
        """Return whether a token is the current one; it is then replaced, so that it works once."""
        if not _same(token, self.token):
            return False
        self.token = secrets.token_urlsafe(32)
        return True

    def __repr__(self) -> str:
        return "Secrets(…)"


@dataclass
class AccessGuard:
    """An ASGI application around another one: it refuses what must not reach that one, and adds headers to every answer."""

    inner: Callable[[Scope, Receive, Send], Awaitable[None]]
    secrets: Secrets
    port: int
    largest_upload: int
    redeemed: Callable[[], None] = lambda: None
    """Called when the token was used, so that the terminal can show a new address."""

    @property
    def cookie_name(self) -> str:
        """The name of the cookie: another one for each port, because browsers share cookies between ports."""
        return f"sfumato-{self.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            return await self.inner(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        status = self.refusal(scope, headers)
        if status == 401 and scope["method"] == "GET" and self._redeemed(scope["path"]):
            self.redeemed()
            return await self._admit(send)
        if status is not None:
            return await _answer(send, status, [], f"{status} {_REASONS[status]}\n")
        inner = dict(scope, path=scope["path"].removeprefix(self.secrets.prefix), root_path="")
        return await self.inner(inner, receive, _with_headers(send))

    def refusal(self, scope: Scope, headers: dict[str, str]) -> int | None:
        """Return the status with which a request is refused; None if it may pass."""
        own = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        posted = scope["method"] == "POST"
        checks = (
            (421, headers.get("host") in own and sum(name.lower() == b"host" for name, _ in scope["headers"]) == 1),
            (405, scope["method"] in ("GET", "HEAD", "POST")),
            (403, _is_own(headers, posted)),
            (411, "transfer-encoding" not in headers and (not posted or "content-length" in headers)),
            (413, _within(headers.get("content-length", "0"), self._limit(scope["path"]))),
            (400, re.search(r"[\\\x00-\x1f]|/\.\.?(?:/|$)|//", scope["path"]) is None),
            (401, self._is_secret(scope["path"]) and self._has_cookie(headers)),
        )
        return next((status for status, passes in checks if not passes), None)

    def _redeemed(self, path: str) -> bool:
        return path.startswith(OPEN) and self.secrets.redeem(path.removeprefix(OPEN))

    def _is_secret(self, path: str) -> bool:
        return _same(path.partition("/")[2].partition("/")[0], self.secrets.prefix[1:])

    def _limit(self, path: str) -> int:
        return self.largest_upload if path == self.secrets.prefix + UPLOAD else LARGEST_FORM

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self.cookie_name in cookies and _same(cookies[self.cookie_name].value, self.secrets.cookie)

    async def _admit(self, send: Send) -> None:
        cookie = f"{self.cookie_name}={self.secrets.cookie}; HttpOnly; SameSite=Strict; Path={self.secrets.prefix}"
        place = [(b"location", f"{self.secrets.prefix}/".encode()), (b"set-cookie", cookie.encode())]
        await _answer(send, 303, place, "")


def _is_own(headers: dict[str, str], posted: bool) -> bool:
    """Return whether a request comes from a page of this server, or from the user; browsers always say so of a POST."""
    if posted and not headers.keys() & {"origin", "sec-fetch-site"}:
        return False
    host = f"http://{headers.get('host')}"
    return headers.get("origin", host) == host and headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def _within(length: str, limit: int) -> bool:
    return re.fullmatch(r"[0-9]{1,18}", length) is not None and int(length) <= limit


def _same(one: str, other: str) -> bool:
    """Compare secrets in a time that does not depend on where they differ."""
    return secrets.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode())


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", [])}
            more = [(n.encode(), v.encode()) for n, v in _HEADERS.items() if n.encode() not in own]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sent


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], text: str) -> None:
    body = text.encode()
    headers = [*headers, (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status in (411, 413):
        headers.append((b"connection", b"close"))  # the body is not read
    guarded = _with_headers(send)
    await guarded({"type": "http.response.start", "status": status, "headers": headers})
    await guarded({"type": "http.response.body", "body": body})
