"""The report in a real browser: every figure is readable, nothing is requested, and it fits a desk, a phone and paper."""

from __future__ import annotations

import gc
import re
import shutil
import subprocess
import warnings
from contextlib import contextmanager

import pytest

import projection_shapes
import risk_shapes
import sfumato as sf
from report_shapes import SHAPES
from sfumato.disclosure.risk_report.risk_page import risk_page
from sfumato.projections.projection_page import internal_page, public_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = {"desk": 1280, "phone": 390}
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


LOOK = """() => Object.fromEntries(Array.from(document.querySelectorAll("figure"), function (figure) {
  const frame = figure.getBoundingClientRect();
  const texts = Array.from(figure.querySelectorAll(".plot text"), one => [one.textContent, one.getBoundingClientRect()]);
  const outside = texts.filter(([_, box]) => box.left < frame.left - 1 || box.right > frame.right + 1).map(([text]) => text);
  const covered = [];
  texts.forEach(([one, a], at) => texts.slice(at + 1).forEach(function ([other, b]) {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 2 && down > 4) covered.push([one, other]);
  }));
  const marks = Array.from(figure.querySelectorAll(".plot :is(rect, circle, path)"), one => one.getBoundingClientRect());
  return [figure.id, { outside, covered, marks: marks.filter(box => box.width + box.height > 0).length }];
}))"""
"""For each figure its visible marks, the texts that leave it at a side, and the pairs of texts that overlap."""


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield found
        found.close()
    # the pipe to the browser's driver stays open in a cycle of objects: it is collected here, not in a later test
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@contextmanager
def opened(browser, path, width):
    """Open a page at a width; any request, message or dialog of it is an error."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else trouble.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'yes'", timeout=60_000)
    yield page
    assert trouble == []
    page.close()


def check(page):
    """Every plot has visible marks, every text in it is inside its figure, and no two texts cover each other."""
    found = page.evaluate(LOOK)
    assert found
    for key, look in found.items():
        assert look["marks"], key
        assert look["outside"] == [], key
        assert look["covered"] == [], key
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def check_paper(page):
    """The same on an A4 page, within its margins of 14 mm."""
    page.emulate_media(media="print")
    page.set_viewport_size({"width": int(182 / 25.4 * 96), "height": 900})
    check(page)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The public and the internal page of a shape, as files."""
    folder = tmp_path_factory.mktemp("pages")

    def made(name):
        if not (folder / name).exists():
            SHAPES[name]().save(folder / name, internal=folder / f"{name}.html")
        return folder / name / "report.html", folder / f"{name}.html"

    return made


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", ["numbers", "taxonomy", "no_secret", "tiny", "missing", "evil"])
def test_it_is_drawn(browser, pages, name, width):
    with opened(browser, pages(name)[0], width) as page:
        check(page)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_internal_one_is_drawn(browser, pages, width):
    with opened(browser, pages("numbers")[1], width) as page:
        check(page)
        assert page.is_visible(".banner")


@pytest.mark.parametrize("name", ["prior", "evil", "infinite"])
def test_a_risk_is_drawn(browser, tmp_path, name):
    """On a desk, on a phone and on paper, where every page is marked; any text in the data is shown as text."""
    path = tmp_path / "risk.html"
    path.write_text(risk_page(risk_shapes.content(name)), encoding="utf-8")
    for width in WIDTHS.values():
        with opened(browser, path, width) as page:
            check(page)
            assert page.is_visible(".banner")
            assert page.query_selector_all("img") + page.query_selector_all("a:not([href^='#'])") == []
            if name == "evil":
                assert risk_shapes.EVIL in page.inner_text("main")
                assert risk_shapes.LINK in page.inner_text("main")
            if width == WIDTHS["desk"]:
                check_paper(page)


@pytest.mark.parametrize("name", ["sets", "many", "evil"])
def test_several_tables_are_drawn(browser, tmp_path, name):
    """The public and the internal page, on a desk, on a phone and on paper; every name in the picture stays in its box."""
    content, private = projection_shapes.contents(name)
    path = tmp_path / "report.html"
    document = projection_shapes.document(content)
    pages = [internal_page(document, private), *([public_page(document)] if name == "sets" else [])]
    for html in pages:  # the internal one holds what is on the public one
        path.write_text(html, encoding="utf-8")
        for width in WIDTHS.values():
            with opened(browser, path, width) as page:
                check(page)
                plan = page.query_selector("#plot-plan")
                right = max(
                    text.bounding_box()["x"] + text.bounding_box()["width"] for text in plan.query_selector_all("text")
                )
                assert right <= plan.bounding_box()["x"] + plan.bounding_box()["width"]
                assert page.query_selector_all("img") + page.query_selector_all("a:not([href^='#'])") == []
                if name == "evil":
                    assert projection_shapes.EVIL in page.inner_text("main")
                    assert projection_shapes.LINK in page.inner_text("main")
                if width == WIDTHS["desk"]:
                    check_paper(page)


def test_markup_in_the_data_is_not_run(browser, pages):
    with opened(browser, pages("evil")[0], 1280) as page:
        assert page.query_selector_all("img") == []
        assert page.query_selector_all("a:not([href^='#'])") == []
        shown = page.inner_text("main")
        assert "<script>alert(1)</script>" in shown
        assert "<a href='javascript" in shown


def test_the_policy_forbids_what_is_not_part_of_the_page(browser, pages, tmp_path):
    """A script that gets into the page after all does not run, and nothing can be sent anywhere."""
    text = pages("numbers")[0].read_text(encoding="utf-8")
    bad = "<script>document.documentElement.dataset.bad = 'yes'</script><img src='http://127.0.0.1:9/x'>"
    path = tmp_path / "bad.html"
    path.write_text(text.replace("</main>", f"{bad}</main>"), encoding="utf-8")
    page = browser.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'yes'", timeout=60_000)
    assert page.evaluate("document.documentElement.dataset.bad") is None
    assert len([line for line in refused if "Content Security Policy" in line]) >= 2
    page.close()


def test_a_tooltip_appears_at_once(browser, pages):
    with opened(browser, pages("numbers")[0], 390) as page:
        bar = page.locator("#class-sizes .plot rect.after").last
        bar.scroll_into_view_if_needed()
        bar.hover()
        assert page.text_content(".tip") == "10–19 rows: 100 %, after"
        page.hover("h1")
        assert not page.is_visible(".tip")


def test_it_is_whole_without_javascript(browser, pages):
    page = browser.new_page(java_script_enabled=False)
    page.goto(pages("numbers")[0].as_uri())
    assert page.is_visible("#class-sizes .plot rect.after >> nth=-1")
    assert "10–19 rows" in page.text_content("#class-sizes .plot title >> nth=-1")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_screen(browser, pages, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto(pages("numbers")[0].as_uri())
    paper, ink = (
        page.eval_on_selector("main", f"one => getComputedStyle(one.closest('body')).{name}")
        for name in ("backgroundColor", "color")
    )
    lightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (paper, ink)]
    assert (lightness[0] < lightness[1]) == (scheme == "dark")
    page.close()


def test_numbers_open_below_their_plot(browser, pages):
    with opened(browser, pages("numbers")[0], 390) as page:
        page.click("#class-sizes summary")
        assert "3–4" in page.inner_text("#class-sizes table")


def test_contents_lead_to_every_section(browser, pages):
    with opened(browser, pages("numbers")[0], 1280) as page:
        sections = page.eval_on_selector_all("main > [id]", "all => all.map(one => one.id)")
        linked = page.eval_on_selector_all("nav a", "all => all.map(one => one.getAttribute('href').slice(1))")
        assert linked == sections


def test_print(browser, pages, tmp_path):
    """On paper: nothing is cut at the side, the contents and tables that are closed stay away, every page is marked."""
    public, internal = pages("numbers")
    with opened(browser, public, 1280) as page:
        check_paper(page)
        assert not page.is_visible("nav")
        assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    if shutil.which("pdftotext") is None:
        pytest.skip("there is no pdftotext")
    with opened(browser, internal, 1280) as page:
        path = tmp_path / "internal.pdf"
        path.write_bytes(page.pdf(prefer_css_page_size=True))
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    leaves = text.removesuffix("\f").split("\f")
    assert len(leaves) > 3
    assert all(re.search("Internal: for the review board, not for publication", leaf) for leaf in leaves)


@pytest.mark.data
@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_a_large_release(browser, tmp_path_factory, real_data, width):
    """295,243 rows with seven quasi-identifiers."""
    from benchmarks.datasets.survey import income

    folder = tmp_path_factory.getbasetemp() / "large"
    if not folder.exists():
        table = income(295_243).table
        requirements = [sf.KAnonymity(10), sf.Dissimilarity(0, "0.05")]
        release = sf.anonymize(table, None, requirements, method="mondrian", suppress="0.2")
        release.save(folder)
    assert (folder / "report.html").stat().st_size < 400_000
    with opened(browser, folder / "report.html", width) as page:
        check(page)
