"""Pages of `sfumato ui` in a real browser: opened, waited for, and watched for what must not happen."""

from __future__ import annotations

import gc
import shutil
import time
import warnings
from contextlib import contextmanager

import pytest

PATIENCE = 60
"""Seconds after which a state that did not come is an error: many, because they are waited only then."""

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def browser_context():
    """A browser whose pages share cookies."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        found = browser.new_context(viewport={"width": 1280, "height": 900})
        found.set_default_timeout(1000 * PATIENCE)
        yield found
        browser.close()
    with warnings.catch_warnings():  # the pipe to the browser stays open in a cycle of objects
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@contextmanager
def watched_page(context, base):
    """A page; a dialog, an error or a request to elsewhere fails the test."""
    found = context.new_page()
    found.set_viewport_size({"width": 1280, "height": 900})
    trouble = []
    found.on("pageerror", lambda error: trouble.append(str(error)))
    found.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    own = base.rpartition("/")[0]
    found.on("request", lambda request: None if request.url.startswith((own, "data:")) else trouble.append(request.url))
    yield found
    assert trouble == []
    found.close()


@contextmanager
def entered(context, started):
    """A page of another server than that of a module."""
    opened = context.new_page()
    opened.goto(started.address)
    base = opened.url.rpartition("/")[0]
    opened.close()
    with watched_page(context, base) as found:
        yield found, base


def until(page, condition, seconds=PATIENCE):
    """Wait for something in Python: the policy of the pages forbids what `wait_for_function` does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, page.inner_text("main")
        page.wait_for_timeout(20)


def settled(page):
    """Wait until all parts are loaded, and no action, key press or news of the server is on its way."""
    page.wait_for_selector("html[data-ready=yes]:not(:has([aria-busy=true]))", state="attached")


def go(page, base, address):
    page.goto(f"{base}/{address}")
    settled(page)


def config_text(page):
    return page.input_value("#config-text")
