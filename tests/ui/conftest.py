"""What the tests of a module share: one browser, and the address of the server that their fixture `ui` started."""

from __future__ import annotations

import pytest

from ui_pages import browser_context


@pytest.fixture(scope="module")
def context(ui):
    with browser_context() as found:
        yield found


@pytest.fixture(scope="module")
def base(ui, context):
    """The address of the screens: the printed one works once."""
    page = context.new_page()
    page.goto(ui.address)
    ui.base = page.url.rpartition("/")[0]
    page.close()
    return ui.base
