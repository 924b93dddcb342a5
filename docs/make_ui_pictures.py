"""Make docs/ui-*.png: the screens of `sfumato ui` as a browser shows them. Needs Chromium, playwright and Pillow."""

from __future__ import annotations

import io
import queue
import shutil
import tempfile
import threading
from pathlib import Path

import pyarrow.csv
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from sfumato.census import synthetic_census
from sfumato.ui.opening import open_source
from sfumato.ui.server import serve
from sfumato.ui.session import Session

COLOURS = 96
"""The size of the palette; a small one keeps the files small."""

SCREENS = {
    "data": ("data", 620),
    "columns": ("columns", 700),
    "hierarchy": ("columns?column=education", 0),
    "risk": ("risk", 1000),
    "requirements": ("requirements", 1000),
    "frontier": ("requirements", 0),
    "release": ("release", 1250),
    "distributions": ("release?view=columns", 0),
    "disclosure": ("disclosure", 900),
    "secrets": ("secrets", 760),
    "save": ("save", 860),
}
"""For each picture its address, and how many pixels from the top are shown; 0 for one part alone."""

PARTS = {"distributions": "details"}
"""The part that a picture shows, if it has another name."""

GROUPS = {
    "school": ("grade 9", "grade 10", "grade 11", "grade 12", "high school"),
    "college": ("some college", "bachelor", "master"),
}
"""The groups in the picture of a hierarchy."""


def draw() -> dict[str, Image.Image]:
    """Return each picture, of a synthetic census."""
    pictures = {}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        pyarrow.csv.write_csv(synthetic_census(20_000), Path(place) / "people.csv")
        addresses: queue.Queue[str] = queue.Queue()
        session = Session()
        open_source(session, str(Path(place) / "people.csv"))
        threading.Thread(target=serve, args=(session,), kwargs={"opened": addresses.put}, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1180, "height": 1200})
        page.goto(addresses.get())
        page.wait_for_selector("#step-1", state="attached")
        base = page.url.rpartition("/")[0]
        group_by_hand(page, base)
        make_releases(page, base)
        for name, (address, height) in SCREENS.items():
            page.goto(f"{base}/{address}")
            page.wait_for_selector("html[data-ready=yes]:not(:has([aria-busy=true]))", state="attached")
            pictures[name] = taken(page, height, name)
        browser.close()
        session.folder.close()
    return pictures


def group_by_hand(page: Page, base: str) -> None:
    """Put some values of a column together, for the picture of the editor."""
    page.goto(f"{base}/columns?column=education")
    page.click("#build-button-groups")
    for name, values in GROUPS.items():
        page.wait_for_selector("#group-none")
        for value in values:
            page.check(f'#group-none input[name="value:{value}"]')
        page.fill("#move-new", name)
        page.click("#move")
        page.wait_for_selector(f"legend:has-text('{name}')")


def make_releases(page: Page, base: str) -> None:
    """Make two releases, measure a risk, and measure the trade-off of several tables."""
    page.goto(f"{base}/release")
    for number, method in ((1, "glaze"), (2, "mondrian")):
        page.select_option("#method", method)
        page.wait_for_selector(f"#method option[value={method}][selected]", state="attached")
        page.click("#make")
        page.wait_for_selector(f"#look-{number}", timeout=300_000)
        page.wait_for_selector("#running", state="detached", timeout=300_000)
    page.click("#back-1")
    for screen, button, result in (("disclosure", "measure", "measured"), ("secrets", "curve", "tradeoff")):
        page.goto(f"{base}/{screen}")
        page.click(f"#{button}")
        page.wait_for_selector(f"#{result}", timeout=300_000)
        page.wait_for_selector("#running", state="detached", timeout=300_000)


def taken(page: Page, height: int, part: str) -> Image.Image:
    """Return the head of a page, or one of its parts with a margin."""
    if height:
        page.set_viewport_size({"width": 1180, "height": height})
        clip = {"x": 0, "y": 0, "width": 1180, "height": height}
    else:
        box = page.locator(f"#part-{PARTS.get(part, part)}").bounding_box() or {"x": 0, "y": 0, "width": 1180, "height": 1}
        clip = {"x": box["x"] - 20, "y": box["y"], "width": box["width"] + 40, "height": box["height"] + 10}
    content = page.screenshot(clip=clip, full_page=not height)  # type: ignore[arg-type]
    return Image.open(io.BytesIO(content)).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)


if __name__ == "__main__":
    for name, picture in draw().items():
        picture.save(Path(__file__).parent / f"ui-{name}.png", optimize=True)
