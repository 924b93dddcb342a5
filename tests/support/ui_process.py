"""`sfumato ui` as a process of its own, and requests to it."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class RunningUI:
    """A process that answers, and the address that it printed."""

    process: subprocess.Popen
    address: str
    cookie: str = ""
    base: str = ""

    @property
    def port(self):
        return urlsplit(self.address).port

    def request(self, method, path, headers=None, body=None):
        """Send a request with exactly these headers; return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in ({"Host": f"127.0.0.1:{self.port}"} | (headers or {})).items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders()
            if body:
                connection.send(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def enter(self):
        """Redeem the token, as a browser does."""
        status, headers, _ = self.request("GET", urlsplit(self.address).path)
        assert status == 303
        self.base = headers["location"].rstrip("/")
        self.cookie = headers["set-cookie"].partition(";")[0]
        return self

    def get(self, path):
        return self.request("GET", self.base + path, {"Cookie": self.cookie})

    def post(self, path, body, **headers):
        own = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}", "Content-Length": str(len(body))}
        return self.request("POST", self.base + path, own | headers, body)


@contextmanager
def running_ui(*arguments, folder=None, temporary=None):
    """Start `sfumato ui`, and end it; `temporary`: where its temporary files are."""
    env = {**os.environ, **({} if temporary is None else {"TMPDIR": str(temporary)})}
    process = subprocess.Popen(
        [sys.executable, "-m", "sfumato", "ui", "--no-browser", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, env=env,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stdout.read()
        yield RunningUI(process, found[0])
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
