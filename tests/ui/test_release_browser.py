"""Releases in the browser: the same bytes as the command line's, progress, comparison, and what goes wrong on the way."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pyarrow.csv
import pytest

import sfumato as sf
from commandline import sfumato
from sfumato.releases.row_key import read_key
from ui_pages import PATIENCE, config_text, entered, go, settled, until, watched_page
from ui_process import running_ui

ROWS = 600
NEAR = """
[[principles]]
name = "dissimilarity"
epsilon = 2
delta = "0.5"
k = 5
on = "income"
"""
SLOW = f"""
[method]
name = "glaze"
effort = 20000
{NEAR}"""
"""What takes minutes: without a limit on nearness, the search of so few rows soon converges whatever the effort."""


@pytest.fixture(scope="module")
def ui(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    people = sf.synthetic_census(ROWS, 0)
    pyarrow.csv.write_csv(people, folder / "people.csv")
    config = sf.Config.of(
        sf.Schema(["age", "sex", "marital"], ["education", "income"], undeclared="drop"),
        "people.csv",
        [sf.KAnonymity(5)],
    )
    config.save(folder / "sfumato.toml")
    with running_ui(folder / "sfumato.toml", temporary=folder) as found:
        found.folder = folder
        yield found


@pytest.fixture
def page(context, base):
    with watched_page(context, base) as found:
        yield found


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()


def quiet(page):
    """Wait until no job runs."""
    page.wait_for_selector("#running", state="detached", timeout=180_000)
    settled(page)


def make(page, base):
    """Make a release, and return its number."""
    go(page, base, "release")
    before = page.locator("#made thead a").count()
    page.click("#make")
    until(page, lambda: page.locator("#made thead a").count() > before, seconds=180)
    quiet(page)
    return int(page.locator("#made thead a").last.inner_text().removeprefix("Release "))


def first(page, base):
    """Return the number of a release; make it if there is none."""
    go(page, base, "release")
    made = page.locator("#made thead a")
    return int(made.first.inner_text().removeprefix("Release ")) if made.count() else make(page, base)


def searching(page):
    """Wait until groups are searched for, which takes minutes here."""
    step = page.locator("#running-step")
    until(page, lambda: any("finding groups" in text for text in step.all_text_contents()))


def edit(page, text):
    page.eval_on_selector("#code", "one => { one.open = true; }")
    page.fill("#config-text", text)
    page.click("#config-apply")
    settled(page)
    assert config_text(page) == text, page.inner_text("#messages")


def test_two_releases_are_compared_and_the_first_config_comes_back(page, base):
    go(page, base, "release")
    text = config_text(page)
    make(page, base)
    page.select_option("#method", "mondrian")
    until(page, lambda: 'name = "mondrian"' in config_text(page))
    two = make(page, base)
    assert page.locator("#made tbody th:has-text('Loss')").count() == 1
    row = page.locator("#made tr", has=page.locator("th:text-is('Loss')")).locator("td").all_inner_texts()
    losses = [float(cell.partition(" %")[0]) for cell in row]
    assert losses[0] < losses[1] and "best" in row[0] and "best" not in row[1]  # glaze searches longer than mondrian
    assert "Attack: homogeneity on income" in page.text_content("#column-by-column")
    words = page.inner_text("#in-words")
    assert words.startswith(f"{row[1]} of the detail in the quasi-identifiers is lost, most in "), "what the figures mean"
    assert "Half of the counts" in words
    page.click("#back-1")
    until(page, lambda: config_text(page) == text)
    settled(page)
    assert page.inner_text("#made tr:has-text('Config') td >> nth=0") == "the current one"
    page.click(f"#forget-{two}")
    page.wait_for_selector(f"#look-{two}", state="detached")


def test_rows_before_and_after(page, base):
    number = first(page, base)
    go(page, base, f"release?release={number}&view=rows&row=551")
    assert page.inner_text("#aligned-title").startswith("Rows 551 to 600 of 600")
    head = page.locator(".aligned thead th").all_inner_texts()
    people = sf.synthetic_census(ROWS, 0)
    for at in (0, 49):
        cells = page.locator(".aligned tbody tr").nth(at).locator("td").all_inner_texts()
        was, _, now = cells[head.index("age") - 1].partition("\n")
        assert int(was) == people["age"][550 + at].as_py()
        low, _, high = now.strip("[]").partition(", ")
        assert now == "the same" or int(low) <= int(was) <= int(high or low)
        assert cells[head.index("income") - 1] == str(people["income"][550 + at].as_py())


def test_a_report_draws_and_requests_nothing(page, base, ui):
    number = first(page, base)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    for view in ("report", "internal"):
        go(page, base, f"release?release={number}&view={view}")
        frame = page.locator(f"#frame-{view}")
        assert frame.get_attribute("sandbox") == ""
        frame.scroll_into_view_if_needed()
        frame.element_handle().content_frame().wait_for_load_state()
        shot = frame.screenshot()
        blank = page.locator("h1").screenshot()
        assert len(shot) > 8 * len(blank)  # letters and figures, not a white page
    assert [url for url in requests if "/file/" in url and not url.startswith(base)] == []
    status, headers, body = page_request(page, base, f"/release/file/report?release={number}")
    assert status == 200 and b"<h1" in body
    assert headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert page_request(page, base, "/release/file/report?release=99")[0] == 404
    assert page_request(page, base, "/release/file/nothing?release=1")[0] == 404


def page_request(page, base, path):
    answer = page.request.get(base + path)
    return answer.status, answer.headers, answer.body()


def test_work_is_cancelled_at_once_and_can_be_done_again(page, base, ui):
    number = first(page, base)
    text = config_text(page)
    edit(page, text + SLOW)
    page.click("#make")
    searching(page)
    page.focus("#cancel")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cancelled")
    settled(page)
    assert page.evaluate("document.activeElement.closest('main') !== null"), "the button is gone, the reader is still here"
    assert "Nothing was changed" in page.inner_text("#cancelled")
    until(page, lambda: len(list(ui.folder.glob("sfumato-ui-*/*/release"))) == page.locator("#made thead a").count())
    edit(page, text)
    assert make(page, base) > number


def test_trying_the_cells_of_the_frontier_is_cancelled_and_done_again(page, base):
    go(page, base, "requirements")
    text = config_text(page)
    edit(page, text + SLOW)
    page.click("#try-cells")
    step = page.locator("#running-step")
    until(page, lambda: any("which is cell" in text for text in step.all_text_contents()))
    page.click("#cancel")
    page.wait_for_selector("#cancelled")
    edit(page, text + '\n[method]\nname = "mondrian"\n' + NEAR)
    page.click("#try-cells")
    page.wait_for_selector("#without-losses", timeout=120_000)
    shown = page.locator("#frontier-form button.cell").all_inner_texts()
    assert all(one.endswith(" %") or one in ("not reached", "impossible") for one in shown), shown
    assert any(one.endswith(" %") for one in shown)
    page.click("#without-losses")
    page.wait_for_selector("#with-losses")
    edit(page, text)


def test_long_requirements_fit_a_narrow_page(page, base):
    """Each states the column that it is about."""
    go(page, base, "release")
    text = config_text(page)
    edit(page, text + NEAR)
    page.set_viewport_size({"width": 390, "height": 900})
    assert "(epsilon = 2, delta = 0.5, k = 5) of income" in page.inner_text("#wanted")
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    edit(page, text)


def worker_of(ui):
    """Return the number of the worker process, which is a child of the server."""
    found = subprocess.run(["pgrep", "-P", str(ui.process.pid)], capture_output=True, text=True, check=True).stdout.split()
    return int(found[-1])


def test_a_worker_that_dies_is_explained(page, base, ui):
    number = first(page, base)
    text = config_text(page)
    edit(page, text + SLOW)
    page.click("#make")
    searching(page)
    os.kill(worker_of(ui), signal.SIGKILL)
    page.wait_for_selector("#failed")
    assert "SIGKILL" in page.inner_text("#failed") and "memory" in page.inner_text("#failed")
    assert page.is_visible(f"#look-{number}")
    edit(page, text)
    page.click("#try")  # another worker is there
    page.wait_for_selector("#preview", timeout=120_000)
    quiet(page)


def test_a_requirement_that_cannot_be_met_is_explained(page, base):
    first(page, base)
    text = config_text(page)
    edit(
        page, text.replace("k = 5", "k = 550") + '\n[[principles]]\nname = "distinct-l-diversity"\nl = 500\non = "income"\n'
    )
    page.click("#make")
    page.wait_for_selector("#failed", timeout=120_000)
    assert "no grouping of these rows can satisfy distinct l-diversity" in page.inner_text("#failed")
    edit(page, text)


def late(route):
    answer = route.fetch()
    time.sleep(3)
    route.fulfill(response=answer)


def test_a_table_that_vanishes_is_explained_and_nothing_is_lost(page, base, ui):
    number = first(page, base)
    path = ui.folder / "people.csv"
    content = path.read_bytes()
    try:
        path.unlink()
        page.click("#make")
        page.wait_for_selector("#failed:has-text('people.csv')", timeout=120_000)
        assert page.is_visible(f"#look-{number}")
        # the answer to the click says that work is in progress, and comes when the work has failed already
        page.route("**/release/do/make", late)
        with page.expect_response("**/release/do/make"):
            page.click("#make")
        page.wait_for_selector("body:not([aria-busy])", state="attached")
        page.wait_for_selector("#failed:has-text('people.csv')", timeout=120_000)
    finally:
        page.unroute("**/release/do/make", late)
        path.write_bytes(content)
    go(page, base, "release")
    if page.query_selector("#read-again"):
        page.click("#read-again")
        page.wait_for_selector("#file-changed", state="detached")


def test_a_sample_is_named_as_such(page, base):
    first(page, base)
    page.click("#try")
    page.wait_for_selector("#preview", timeout=120_000)
    assert "on all 600 rows" in page.inner_text("#preview")
    quiet(page)


def test_saving_without_room_loses_nothing(page, base, ui):
    """The system refuses to write more than a few bytes, as on a full disk."""
    number = first(page, base)
    go(page, base, f"save?release={number}")
    page.fill("#save-folder", "saved")
    limits = resource.prlimit(ui.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(ui.process.pid, resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        page.click("#save-release")
        page.wait_for_selector("#error")
        assert "cannot be written" in page.inner_text("#error") and "still here" in page.inner_text("#error")
        assert not (ui.folder / "saved").exists() and not list(ui.folder.glob(".saved*"))
        text = config_text(page)
        edit(page, text + "# what was decided, and why\n" * 100)
        page.fill("#save-config-path", str(ui.folder / "roomless.toml"))
        page.click("#save-config")
        page.wait_for_selector("#error:has-text('roomless.toml')")
        assert "cannot be written" in page.inner_text("#error")
        assert not list(ui.folder.glob("*roomless*"))
        assert config_text(page).endswith("# what was decided, and why\n"), "it is still here"
        edit(page, text)
    finally:
        resource.prlimit(ui.process.pid, resource.RLIMIT_FSIZE, limits)
    page.fill("#save-folder", "saved")
    page.fill("#save-key", "saved-key.json")
    page.fill("#save-internal", "internal.html")
    page.click("#save-release")
    page.wait_for_selector(f"#saved-{number}")
    assert sf.verify(
        ui.folder / "saved", sf.read_table(ui.folder / "people.csv", sf.Schema()).data, key=ui.folder / "saved-key.json"
    )
    seed = read_key(ui.folder / "saved-key.json").seed
    done = sfumato("anonymize", "sfumato.toml", "--output", "own", "--seed", str(seed), cwd=ui.folder)
    assert done.returncode == 0, done.stderr
    ours, theirs = ({path.name: path.read_bytes() for path in (ui.folder / one).iterdir()} for one in ("saved", "own"))
    assert sorted(ours) == ["data.csv", "release.json", "report.html"]
    assert ours == theirs, "the same bytes as the command line's"
    assert (ui.folder / "saved-key.json").stat().st_mode & 0o077 == 0
    assert (ui.folder / "internal.html").stat().st_mode & 0o077 == 0
    page.fill("#save-folder", "saved")
    page.click("#save-release")
    page.wait_for_selector("#error:has-text('something exists here already')")
    page.fill("#save-key", "saved/key.json")
    page.fill("#save-folder", "saved2")
    page.click("#save-release")
    page.wait_for_selector("#error:has-text('inside the release')")


def test_a_download_contains_only_what_may_be_published(page, base):
    number = first(page, base)
    go(page, base, f"save?release={number}")
    with page.expect_download() as started:
        page.click("#download")
    with zipfile.ZipFile(io.BytesIO(Path(started.value.path()).read_bytes())) as archive:
        names = sorted(name.partition("/")[2] for name in archive.namelist())
    assert names == ["data.csv", "release.json", "report.html"]
    assert [
        link for link in page.locator("a[download], a[href*='/file/']").all() if "internal" in link.get_attribute("href")
    ] == []
    assert page_request(page, base, f"/save/file/internal?release={number}")[0] == 404


def test_a_config_saved_elsewhere_names_the_same_files(page, base, ui):
    first(page, base)
    (ui.folder / "configs").mkdir(exist_ok=True)
    go(page, base, "save")
    own = page.input_value("#save-config-path")
    page.fill("#save-config-path", str(ui.folder / "configs" / "mine.toml"))
    page.click("#save-config")
    until(page, lambda: "mine.toml" in page.inner_text("#main section >> nth=0"))
    config = sf.Config.load(ui.folder / "configs" / "mine.toml")
    assert config.data.path == "../people.csv" and config.table().rows == ROWS
    page.fill("#save-config-path", own)
    page.click("#save-config")
    page.wait_for_selector("#error:has-text('something exists here already')")
    page.fill("#save-config-path", own)
    page.check("#replace-config")
    page.click("#save-config")
    until(page, lambda: own in page.inner_text("#main section >> nth=0"))
    assert sf.Config.load(own).data.path == "people.csv"


def risk_of_config(ui):
    """The risk that the command line states."""
    command = [sys.executable, "-m", "sfumato", "risk", "sfumato.toml", "--json"]
    return json.loads(subprocess.run(command, cwd=ui.folder, capture_output=True, text=True, check=False).stdout)["risk"]


def test_the_risk_of_disclosure(page, base, ui):
    go(page, base, "disclosure")
    page.fill("#limit", "5")
    page.fill("#disclose", "2")
    page.press("#disclose", "Tab")
    until(page, lambda: "disclose = 2" in config_text(page))
    settled(page)
    page.click("#measure")
    page.wait_for_selector("#measured", timeout=120_000)
    quiet(page)
    shown = float(page.inner_text("#measured .verdict").partition("gains ")[2].partition(" ")[0])
    assert shown == pytest.approx(float(risk_of_config(ui)), abs=0.001)
    assert page.locator("#measured tbody tr").count() >= 4
    page.click("#withhold")
    page.wait_for_selector("#withheld, #failed", timeout=120_000)
    quiet(page)
    assert "values withheld of" in page.inner_text("#withheld")
    page.fill("#limit", "-1")
    page.press("#limit", "Tab")
    page.wait_for_selector("#error:has-text('negative')")


def test_several_secrets(page, base):
    go(page, base, "secrets")
    page.click("#curve")
    page.wait_for_selector("#tradeoff", timeout=120_000)
    quiet(page)
    apart = page.locator("#tradeoff tbody tr", has_text="education | income").locator("button")
    apart.click()
    until(page, lambda: "plan" in config_text(page))
    settled(page)
    assert sf.Config.parse(config_text(page)).project.plan == [["education"], ["income"]]
    page.fill("#discernibility", "-1")
    page.press("#discernibility", "Tab")
    page.wait_for_selector("#error:has-text('discernibility = -1 is not positive')")
    page.fill("#discernibility", "1e9")
    page.press("#discernibility", "Tab")
    until(page, lambda: 'discernibility = "1e9"' in config_text(page))
    settled(page)
    assert sf.Config.parse(config_text(page)).project.discernibility == "1e9"
    page.click("#project")
    page.wait_for_selector("#projected, #failed", timeout=180_000)
    quiet(page)
    tables = page.locator("#projected tbody tr td:nth-of-type(1)").all_inner_texts()
    assert page.query_selector("#failed") is None, page.inner_text("#failed")
    assert sorted(("education" in one, "income" in one) for one in tables) == [(False, True), (True, False)]


@pytest.mark.parametrize(
    "screen",
    ["release?row=598", "release?view=columns", "release?view=attacks", "disclosure", "secrets", "save"],
)
def test_every_screen_is_accessible_and_fits(page, base, axe, screen):
    """With releases, a measured risk and a trade-off, as the tests before left them."""
    first(page, base)
    go(page, base, screen)
    for width, colors in ((1280, "light"), (390, "dark")):
        page.emulate_media(color_scheme=colors)
        page.set_viewport_size({"width": width, "height": 900})
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        found = axe.run(page, options={"iframes": False}).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []


def test_a_server_that_is_killed_leaves_nothing(ui, tmp_path):
    """Its worker ends with it, and the next start removes its folder."""
    with running_ui(ui.folder / "sfumato.toml", temporary=tmp_path) as killed:
        killed.enter()
        assert killed.get("/release")[0] == 200
        worker = worker_of(killed)
        killed.process.kill()
        killed.process.wait(10)
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{worker}").exists() and "Z" not in Path(f"/proc/{worker}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert list(tmp_path.glob("sfumato-ui-*"))
    with running_ui(ui.folder / "sfumato.toml", temporary=tmp_path):
        assert len(list(tmp_path.glob("sfumato-ui-*"))) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.data
def test_the_whole_way_on_adult_gives_the_bytes_of_the_command_line(context, tmp_path, real_data):
    data = real_data / "adult" / "adult_30162.csv"
    shutil.copy(data, tmp_path / "adult.csv")
    with running_ui(tmp_path / "adult.csv") as started, entered(context, started) as (page, base):
        go(page, base, "columns")
        until(page, lambda: "Suggested" in page.text_content("#steps"))
        settled(page)
        page.get_by_role("combobox", name="Role of occupation", exact=True).select_option("sensitive")
        settled(page)
        go(page, base, "requirements")
        page.fill("#field-0-k", "10")
        until(page, lambda: "k = 10" in config_text(page))
        settled(page)
        go(page, base, "release")
        page.click("#make")
        page.wait_for_selector("#look-1", timeout=180_000)  # it is written and verified; the attacks go on
        go(page, base, "save")
        page.click("#save-config")
        page.wait_for_selector(".pill.holds:text('saved')")
        page.click("#save-release")
        page.wait_for_selector("#saved-1")
    seed = read_key(tmp_path / "release-key.json").seed
    command = ["anonymize", "sfumato.toml", "--output", "own", "--key", "own-key.json", "--seed", str(seed)]
    subprocess.run([sys.executable, "-m", "sfumato", *command], cwd=tmp_path, check=True, capture_output=True)
    ours, theirs = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("release", "own"))
    assert sorted(ours) == ["data.csv", "release.json", "report.html"]
    assert ours == theirs
    assert (tmp_path / "release-key.json").read_bytes() == (tmp_path / "own-key.json").read_bytes()
