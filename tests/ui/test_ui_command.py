"""`sfumato ui` on the command line: what it refuses before it answers."""

from __future__ import annotations

import http.client
import importlib

from commandline import sfumato
from sfumato.io import optional_packages
from ui_process import running_ui


def test_a_file_that_does_not_exist(tmp_path):
    done = sfumato("ui", "people.csv", "--no-browser", cwd=tmp_path)
    assert done.returncode == 2
    assert "people.csv: the file does not exist" in done.stderr


def test_a_port_that_is_taken(tmp_path):
    with running_ui() as ui:
        done = sfumato("ui", "--port", str(ui.port), "--no-browser", cwd=tmp_path)
    assert done.returncode == 2
    assert f"port {ui.port} cannot be used" in done.stderr


def test_a_port_is_free_at_once_after_its_server_was_killed():
    """The system keeps connections of a process that ended for a while; a new server does not wait for them."""
    with running_ui() as killed:
        killed.enter()
        stream = http.client.HTTPConnection("127.0.0.1", killed.port, timeout=60)
        stream.request("GET", killed.base + "/events", headers={"Cookie": killed.cookie})
        stream.getresponse().readline()
        killed.process.kill()
        killed.process.wait(10)
        with running_ui("--port", str(killed.port)) as ui:
            assert ui.port == killed.port
        stream.close()


def test_it_says_what_to_install(tmp_path, monkeypatch):
    original = importlib.import_module

    def without(name, *more):
        if name == "starlette":
            raise ImportError(name)
        return original(name, *more)

    monkeypatch.setattr(optional_packages.importlib, "import_module", without)
    done = sfumato("ui", "--no-browser", cwd=tmp_path)
    assert done.returncode == 2
    assert 'pip install "sfumato[ui]"' in done.stderr
