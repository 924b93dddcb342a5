"""Make docs/report.png: the demo's report as a browser shows it. Needs Chromium, playwright and Pillow."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from sfumato.census import synthetic_census
from sfumato.demo import released

COLOURS = 160
"""The size of the palette; a small one keeps the file small."""


def draw() -> Image.Image:
    """Return the head of the demo's report, its dials, and its neighbour graph, side by side."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = released(synthetic_census(20_000)).save(Path(place) / "release")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.goto((folder / "report.html").as_uri())
        page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        parts = [
            Image.open(io.BytesIO(page.locator(chosen).first.screenshot())).convert("RGB")
            for chosen in ("header", ".grid.four", "#class-sizes", "[id^=worst]", "[id^=contour-]")
        ]
        browser.close()
    left, right = parts[:3], parts[3:]
    height = max(sum(part.height for part in side) + 20 for side in (left, right))
    sheet = Image.new("RGB", (2 * parts[0].width + 60, height), "#fffdf9")
    for number, side in enumerate((left, right)):
        top = 10
        for part in side:
            sheet.paste(part, (20 + number * (parts[0].width + 20), top))
            top += part.height
    return sheet.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)


if __name__ == "__main__":
    draw().save(Path(__file__).parent / "report.png", optimize=True)
