"""Who may talk to `sfumato ui`: every refusal over HTTP, to a process of its own."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ui_process import running_ui


@pytest.fixture(scope="module")
def ui():
    with running_ui() as found:
        yield found.enter()


def own(ui, **changed):
    headers = {
        "Host": f"127.0.0.1:{ui.port}", "Cookie": ui.cookie, "Origin": f"http://127.0.0.1:{ui.port}",
        "Sec-Fetch-Site": "same-origin",
    }  # fmt: skip
    return headers | {name.replace("_", "-"): value for name, value in changed.items()}


REFUSALS = [
    ("GET", "{base}/data", {}, 200),
    ("HEAD", "{base}/data", {}, 200),
    ("GET", "{base}/data", {"Origin": None, "Sec_Fetch_Site": "none"}, 200),
    ("GET", "{base}/data", {"Host": "localhost:{port}", "Origin": None}, 200),
    ("GET", "{base}/data", {"Host": "evil.test"}, 421),
    ("GET", "{base}/data", {"Host": "evil.test:{port}"}, 421),
    ("GET", "{base}/data", {"Host": "127.0.0.1"}, 421),
    ("GET", "{base}/data", {"Host": "127.0.0.1:1"}, 421),
    ("GET", "{base}/data", {"Host": "127.0.0.1:{port}.evil.test"}, 421),
    ("GET", "{base}/data", {"Host": ""}, 421),
    ("PUT", "{base}/data", {"Content_Length": "0"}, 405),
    ("OPTIONS", "{base}/data", {}, 405),
    ("TRACE", "{base}/data", {}, 405),
    ("GET", "{base}/data", {"Origin": "http://evil.test"}, 403),
    ("GET", "{base}/data", {"Origin": "null"}, 403),
    ("GET", "{base}/data", {"Origin": "http://127.0.0.1:1"}, 403),
    ("GET", "{base}/data", {"Origin": "https://127.0.0.1:{port}"}, 403),
    ("GET", "{base}/data", {"Sec_Fetch_Site": "cross-site"}, 403),
    ("GET", "{base}/data", {"Sec_Fetch_Site": "same-site"}, 403),
    ("POST", "{base}/history", {"Content_Length": "0", "Origin": None, "Sec_Fetch_Site": None}, 403),
    ("POST", "{base}/history", {}, 411),
    ("POST", "{base}/history", {"Transfer_Encoding": "chunked"}, 411),
    ("GET", "{base}/data", {"Transfer_Encoding": "chunked"}, 411),
    ("POST", "{base}/history", {"Content_Length": str((1 << 24) + 1)}, 413),
    ("POST", "{base}/upload", {"Content_Length": str((4 << 30) + 1)}, 413),
    ("POST", "{base}/config", {"Content_Length": str(4 << 30)}, 413),
    ("GET", "{base}/../etc/passwd", {}, 400),
    ("GET", "{base}/file/..%2f..%2fsession.py", {}, 400),
    ("GET", "{base}/file/%2e%2e/access_guard.py", {}, 400),
    ("GET", "{base}/file/..%5caccess_guard.py", {}, 400),
    ("GET", "{base}/file/ui.js%00", {}, 400),
    ("GET", "{base}//file/ui.js", {}, 400),
    ("GET", "{base}/file/session.py", {}, 404),
    ("GET", "{base}/nonsense", {}, 404),
    ("GET", "{base}/data/part/nonsense", {}, 404),
    ("POST", "{base}/data/do/nonsense", {"Content_Length": "0"}, 404),
    ("GET", "{base}/data", {"Cookie": None}, 401),
    ("GET", "{base}/data", {"Cookie": "sfumato-{port}=wrong"}, 401),
    ("GET", "{base}/data", {"Cookie": "sfumato-{port}="}, 401),
    ("GET", "{base}/data", {"Cookie": "other=1"}, 401),
    ("GET", "/data", {}, 401),
    ("GET", "/", {}, 401),
    ("GET", "/open/wrong", {}, 401),
    ("GET", "/open/", {"Cookie": None}, 401),
    ("GET", "{used}", {}, 401),
]
"""Method, address, headers that differ from those of the own page, and the status."""


@pytest.mark.parametrize(("method", "path", "headers", "status"), REFUSALS)
def test_status(ui, method, path, headers, status):
    filled = {n: v and v.format(port=ui.port) for n, v in headers.items()}
    address = path.format(base=ui.base, used=urlsplit(ui.address).path)
    found, answered, body = ui.request(method, address, own(ui, **filled))
    assert found == status, body
    assert answered["x-content-type-options"] == "nosniff"
    assert answered["cache-control"] == "no-store"
    assert answered["referrer-policy"] == "no-referrer"
    policy = answered["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
    assert "unsafe" not in policy
    if status != 200:
        assert ui.cookie.partition("=")[2].encode() not in body
        assert "set-cookie" not in answered


def test_a_websocket_is_refused(ui):
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": "x", "Sec_WebSocket_Version": "13"}
    status, _, _ = ui.request("GET", f"{ui.base}/events-of-nobody", own(ui, **upgrade))
    assert status == 404  # not upgraded: nothing speaks that protocol


def test_the_cookie(ui):
    """It is for this port only, for the secret path only, and no script can read it."""
    with running_ui() as other:
        status, headers, _ = other.request("GET", urlsplit(other.address).path)
        assert status == 303
        name, _, rest = headers["set-cookie"].partition("=")
        assert name == f"sfumato-{other.port}"
        assert rest.split("; ")[1:] == ["HttpOnly", "SameSite=Strict", f"Path={headers['location'].rstrip('/')}"]
        assert len(rest.split(";")[0]) >= 43
        # the terminal shows a new address, which works once as well
        other.process.stdout.readline()
        again = other.process.stdout.readline().rpartition(" ")[2].strip()
        assert again != other.address
        assert [other.request("GET", urlsplit(again).path)[0] for _ in range(2)] == [303, 401]
        # the secrets of one process open nothing at another one
        assert ui.request("GET", headers["location"] + "data", own(ui))[0] == 401


def test_it_listens_on_the_loopback_address_only(ui):
    sockets = Path("/proc/net/tcp")
    if not sockets.exists():
        pytest.skip("the system does not list its sockets in a file")
    fields = [line.split() for line in sockets.read_text(encoding="ascii").splitlines()]
    listening = [field[1] for field in fields if field[1].endswith(f":{ui.port:04X}") and field[3] == "0A"]
    assert listening == [f"0100007F:{ui.port:04X}"]
