"""The screens of `sfumato ui` in a real browser: one process, one browser, and nothing that leaves this computer."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.ui.screens.release_screen import VIEWS
from ui_pages import config_text, entered, go, settled, until, watched_page
from ui_process import running_ui

EVIL = "<img src=x onerror=alert(1)>"
LONG = "a" * 300
"""The name of a column, which must not make a page wider than the window."""

ADDRESSES = [
    "data", "columns", "columns?column=race", f"columns?column={LONG}", "risk", "risk?requirement=0&group=0", "requirements",
]  # fmt: skip


@pytest.fixture(scope="module")
def ui(tmp_path_factory):
    """A census with a hostile column, whose name and cells are markup."""
    folder = tmp_path_factory.mktemp("ui")
    people = sf.synthetic_census(1500, 0)
    people = people.append_column(LONG, pa.array(["x", "y", "z"] * (people.num_rows // 3)))
    people = people.append_column(EVIL, pa.array([f"<script>alert({n % 3})</script>" for n in range(people.num_rows)]))
    pyarrow.csv.write_csv(people, folder / "people.csv")
    with running_ui(folder / "people.csv") as found:
        found.folder = folder
        yield found


@pytest.fixture
def page(context, base):
    with watched_page(context, base) as found:
        yield found


def restore(page):
    """Go back to the config as it was drafted."""
    if page.get_attribute("#step-button-1", "aria-current") != "step":
        page.eval_on_selector("#steps", "one => { one.open = true; }")
        page.click("#step-button-1")
    settled(page)


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()


def test_the_draft_arrives(page, base):
    """The table is shown at once; roles and requirements come as a step of the history."""
    go(page, base, "data")
    page.wait_for_selector("#step-1", state="attached")
    assert page.inner_text("#step-button-1") == "" or "Suggested roles" in page.text_content("#step-button-1")
    assert "1,500" in page.inner_text("#part-reading")


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_screen_is_accessible_and_fits(page, base, axe, address):
    go(page, base, address)
    for width, colors in ((1280, "light"), (390, "dark")):
        page.emulate_media(color_scheme=colors)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        found = axe.run(page).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    assert page.query_selector_all("main img, main script") == []


def test_hostile_names_and_cells_are_text(page, base):
    go(page, base, "data")
    assert "<script>alert(0)</script>" in page.inner_text(".grid-rows")
    assert EVIL in page.inner_text(".grid-rows")
    page.goto(f"{base}/columns")
    settled(page)
    page.click(f"a:text-is('{EVIL}')")
    page.wait_for_selector("#part-values table")
    assert page.inner_text("h1") == EVIL
    assert "<script>alert(2)</script>" in page.inner_text("#part-values")
    page.goto(f"{base}/columns?column=%3Cscript%3Ealert(9)%3C/script%3E")
    page.wait_for_selector("#part-values .alert")
    assert "there is no such column" in page.inner_text("#part-values")


def test_a_role_changes_the_risk_and_undo_takes_it_back(page, base):
    """By keyboard only; the focus stays on the field although everything around it is drawn anew."""
    go(page, base, "columns")
    restore(page)
    before, text = page.inner_text("#part-uniqueness"), config_text(page)
    row = page.get_by_role("combobox", name="Role of age", exact=True)
    row.focus()
    page.keyboard.press("o")  # Other
    until(page, lambda: page.inner_text("#part-uniqueness") != before)
    settled(page)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Role of age"
    assert "age" not in re.split(r"with their", page.inner_text("#part-uniqueness"))[-1].split(",")[0]
    assert sf.Config.parse(config_text(page)).columns["age"].role == "other"
    assert page.text_content("#said") == "age: other"
    page.keyboard.press("Control+z")
    until(page, lambda: page.inner_text("#part-uniqueness") == before)
    settled(page)
    assert config_text(page) == text
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Role of age"
    page.keyboard.press("Control+Shift+z")
    until(page, lambda: page.inner_text("#part-uniqueness") != before)


def test_the_verdict_follows_the_keys(page, base):
    go(page, base, "requirements")
    restore(page)
    field = page.locator("#field-0-k")
    field.focus()
    field.fill("")
    page.keyboard.type("50000")
    page.wait_for_selector("#part-verdict-0 .pill.fails:text('impossible')")
    settled(page)
    assert page.evaluate("document.activeElement.id") == "field-0-k"
    assert field.input_value() == "50000"
    assert "1,500" in page.inner_text("#part-verdict-0") or "1500" in page.inner_text("#part-verdict-0")
    assert "impossible" in page.inner_text("#together")
    # the nearest that is not ruled out is a button
    page.locator("[id^=step-to-button]").first.click()
    page.wait_for_selector("#together:not(.fails)")
    settled(page)
    k = sf.Config.parse(config_text(page)).principles[0]["k"]
    assert 1 < k <= 1500
    if k == 1500:
        assert "one group only" in page.inner_text("#together")
        assert page.get_attribute("#together", "class") == "verdict open"
    field.fill("-3")
    page.wait_for_selector("#error")
    assert "-3" in page.inner_text("#error")
    assert sf.Config.parse(config_text(page)).principles[0]["k"] == k
    restore(page)
    assert sf.Config.parse(config_text(page)).principles[0]["k"] == 5
    assert page.locator("#slide-0-k").input_value() == "5"


def test_a_part_that_takes_long_says_how_long(page, base):
    held, released = [], False

    def hold(route):
        if released:
            route.continue_()
        else:
            held.append(route)

    page.route("**/risk/part/groups*", hold)
    page.goto(f"{base}/risk")
    page.wait_for_selector("#part-groups > .waiting:text-matches('… [1-9][0-9]* s$')")
    released = True
    for route in held:
        route.continue_()
    page.wait_for_selector("#part-groups table")
    assert page.query_selector("#part-groups > .waiting") is None


def test_one_group_only_is_no_success(page, base):
    go(page, base, "requirements")
    restore(page)
    page.fill("#field-0-k", "1500")
    page.wait_for_selector("#part-verdict-0 .pill:text('one group only')")
    assert page.query_selector("#part-verdict-0 .pill.holds") is None
    restore(page)


def test_a_cell_of_the_frontier_is_taken_over(page, base):
    go(page, base, "requirements")
    restore(page)
    cell = page.locator("#frontier-form button.cell:not([aria-current])").first
    epsilon, delta, k = cell.get_attribute("value").split()
    cell.click()
    page.wait_for_selector(f'#frontier-form button[aria-current][value="{epsilon} {delta} {k}"]')
    stated = next(one for one in sf.Config.parse(config_text(page)).principles if one["name"] == "dissimilarity")
    assert (str(stated["epsilon"]), str(stated["delta"]), stated["k"]) == (epsilon, delta, int(k))
    page.click("#undo")
    page.wait_for_selector(f'#frontier-form button:not([aria-current])[value="{epsilon} {delta} {k}"]')


def test_a_requirement_is_added_and_removed(page, base):
    go(page, base, "requirements")
    restore(page)
    count = len(sf.Config.parse(config_text(page)).principles)
    page.select_option("#add-name", "entropy-l-diversity")
    page.click("#add")
    page.wait_for_selector(f"#requirement-{count}")
    settled(page)
    assert sf.Config.parse(config_text(page)).principles[-1]["name"] == "entropy-l-diversity"
    page.click(f"#remove-{count}")
    page.wait_for_selector(f"#requirement-{count}", state="detached")
    assert len(sf.Config.parse(config_text(page)).principles) == count


def test_the_focus_stays_near_what_goes_away(page, base):
    """By keyboard: a button that is gone with what it removed, made or closed does not take the reader to the top."""
    go(page, base, "requirements")
    restore(page)
    last = len(sf.Config.parse(config_text(page)).principles) - 1
    page.focus(f"#remove-{last}")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#remove-{last}", state="detached")
    settled(page)
    beside = page.evaluate("[document.activeElement.closest('section').id, document.activeElement.tagName]")
    assert beside[0] == f"requirement-{last - 1}" or beside[1] in ("BUTTON", "SELECT"), beside
    page.keyboard.press("Control+z")
    page.wait_for_selector(f"#remove-{last}")
    go(page, base, "risk")
    page.locator("#part-groups tbody a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#part-group_rows table")
    settled(page)
    page.focus("#close-group")
    page.keyboard.press("Enter")
    page.wait_for_selector("#part-group_rows table", state="detached")
    settled(page)
    assert page.evaluate("document.activeElement !== document.body")
    go(page, base, "columns?column=marital")
    page.focus("#build-button-groups")
    page.keyboard.press("Enter")
    page.wait_for_selector("#group-none")
    settled(page)
    assert page.evaluate("document.activeElement.closest('#part-hierarchy') !== null")
    restore(page)


def test_a_double_click_is_one_click(page, base):
    """The second one does not remove what took the place of the first."""
    go(page, base, "requirements")
    restore(page)
    names = [one["name"] for one in sf.Config.parse(config_text(page)).principles]
    page.dblclick("#remove-0")
    until(page, lambda: len(sf.Config.parse(config_text(page)).principles) < len(names))
    page.wait_for_timeout(200)
    settled(page)
    assert [one["name"] for one in sf.Config.parse(config_text(page)).principles] == names[1:]
    restore(page)


def test_values_are_grouped_by_hand(page, base):
    """With the keyboard, and by dragging."""
    go(page, base, "columns?column=marital")
    restore(page)
    page.click("#build-button-groups")
    page.wait_for_selector("#group-none")
    settled(page)
    loose = page.locator("#group-none input[type=checkbox]")
    names = [name.removeprefix("value:") for name in loose.evaluate_all("all => all.map(one => one.name)")]
    loose.nth(0).focus()
    page.keyboard.press("Space")
    loose.nth(1).focus()
    page.keyboard.press("Space")
    page.focus("#move-new")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    page.wait_for_selector("#group-0 >> text=two")
    settled(page)
    section = sf.Config.parse(config_text(page)).columns["marital"].hierarchy
    assert section.groups == [{"two": names[:2]}]
    page.drag_and_drop("#group-none li >> nth=0", "#group-0")
    until(page, lambda: page.locator("#group-0 li").count() == 3)
    settled(page)
    config = sf.Config.parse(config_text(page))
    assert config.columns["marital"].hierarchy.groups == [{"two": names[:3]}]
    # what the screen made is what the library builds
    tree = config.schema.hierarchies["marital"].build(names, "marital")
    assert [tree.generalize(name, 1) for name in names] == ["two"] * 3 + ["other"] * (len(names) - 3)
    assert "two" in page.inner_text("#part-hierarchy table")
    restore(page)


def test_a_builder_that_does_not_fit_is_refused(page, base):
    go(page, base, "columns?column=age")
    restore(page)
    text = config_text(page)
    page.fill("#steps-intervals", "5, 12")
    page.click("#build-button-intervals")
    page.wait_for_selector("#error")
    assert config_text(page) == text
    page.fill("#steps-intervals", "5, 10")
    page.click("#build-button-intervals")
    page.wait_for_selector("#part-hierarchy table")
    assert [str(width) for width in sf.Config.parse(config_text(page)).columns["age"].hierarchy.intervals] == ["5", "10"]
    restore(page)


def test_reload_and_back(page, base):
    go(page, base, "data")
    page.click("#rows-next")
    page.wait_for_selector("#rows-title:text('Rows 51 to 100')")
    assert page.url.endswith("?row=51")
    page.reload()
    page.wait_for_selector("#rows-title:text('Rows 51 to 100')")
    page.go_back()
    page.wait_for_selector("#rows-title:text('Rows 1 to 50')")
    page.fill("#row", "1500")
    page.press("#row", "Enter")
    page.wait_for_selector("#rows-title:text('Rows 1,500 to 1,500')")
    page.click("#to-risk a")
    page.wait_for_selector("#part-groups table")
    page.go_back()
    page.wait_for_selector("#rows-title:text('Rows 1,500 to 1,500')")


def test_a_group_is_followed_to_its_rows(page, base):
    go(page, base, "risk")
    restore(page)
    link = page.locator("#part-groups tbody a").first
    link.click()
    page.wait_for_selector("#part-group_rows table")
    values = link.get_attribute("aria-label").partition(": ")[2].split(", ")
    cells = page.locator("#part-group_rows tbody tr").first.locator("td").all_inner_texts()
    assert cells[1 : 1 + len(values)] == values
    page.click("#close-group")
    page.wait_for_selector("#part-group_rows table", state="detached")


def test_a_tab_that_is_behind_changes_nothing(page, base, context):
    """It is told so with 409; and a tab that is open shows what another one changed."""
    go(page, base, "columns")
    restore(page)
    other = context.new_page()
    go(other, base, "columns")
    old = page.get_attribute("html", "data-version")
    other.get_by_role("combobox", name="Role of race", exact=True).select_option("")
    settled(other)
    until(page, lambda: page.get_attribute("html", "data-version") != old)
    settled(page)
    assert page.get_by_role("combobox", name="Role of race", exact=True).input_value() == ""
    send = """([base, version]) => fetch(base + "/columns/do/role", {
      method: "POST", body: new URLSearchParams({ column: "sex", role: "", version }),
    }).then(answer => answer.status)"""
    text = config_text(page)
    assert page.evaluate(send, [base, old]) == 409
    assert page.evaluate(send, [base, ""]) == 409
    page.reload()
    settled(page)
    assert config_text(page) == text
    restore(page)
    other.close()


def test_the_text_of_the_config_is_changed_by_hand(page, base):
    go(page, base, "requirements")
    restore(page)
    page.click("#code > summary")
    text = config_text(page)
    page.fill("#config-text", text.replace("k = 5", "k = 7", 1))
    page.click("#config-apply")
    until(page, lambda: page.input_value("#field-0-k") == "7")
    page.fill("#config-text", text.replace("\n[data]\n", "\n[date]\n"))
    page.click("#config-apply")
    page.wait_for_selector("#error")
    assert "date" in page.inner_text("#error")
    restore(page)
    for snippet in ("#command", "#python"):
        assert "sfumato" in page.inner_text(snippet)


def test_a_file_that_changes_or_vanishes(page, base, ui):
    path = ui.folder / "people.csv"
    content = path.read_bytes()
    try:
        path.unlink()
        go(page, base, "risk")
        assert "no longer there" in page.inner_text("#file-changed")
        assert page.is_visible("#part-groups table")
        path.write_bytes(content + content.splitlines(keepends=True)[-1])
        page.reload()
        settled(page)
        page.click("#read-again")
        page.wait_for_selector("#file-changed", state="detached")
        go(page, base, "data")
        assert "1,501" in page.inner_text("#part-reading")
    finally:
        path.write_bytes(content)
        go(page, base, "data")
        page.click("#read-again")
        page.wait_for_selector("#file-changed", state="detached")


@pytest.mark.long
def test_hostile_names_and_cells_are_text_in_every_view_of_a_release(page, base):
    """The column whose name and cells are markup is published, measured, withheld and split off."""
    go(page, base, "columns")
    restore(page)
    page.get_by_role("combobox", name=f"Role of {EVIL}", exact=True).select_option("sensitive")
    settled(page)
    go(page, base, "release")
    page.select_option("#method", "mondrian")
    until(page, lambda: 'name = "mondrian"' in config_text(page))
    settled(page)
    for screen, button, result in (
        ("release", "#make", "#look-1"), ("release", "#lattice", ".plot"), ("disclosure", "#measure", "#measured"),
        ("secrets", "#curve", "#tradeoff"), ("secrets", "#project", "#projected"),
    ):  # fmt: skip
        go(page, base, screen)
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        page.click(button)
        page.wait_for_selector(f"{result}, #failed", timeout=180_000)
        page.wait_for_selector("#running", state="detached", timeout=180_000)
        settled(page)
        assert page.query_selector("#failed") is None, page.inner_text("#failed")
    for address in ("risk", *(f"release?view={view}" for view in VIEWS), "disclosure", "secrets", "save"):
        go(page, base, address)
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        page.wait_for_timeout(200)  # frames draw
        assert page.query_selector_all("main img, main script") == [], address
        assert EVIL in page.content().replace("&lt;", "<").replace("&gt;", ">"), address
        assert [frame.url for frame in page.frames[1:] if frame.query_selector("img[src=x]")] == []
    restore(page)


@pytest.mark.long
def test_a_page_says_that_its_server_ended_and_that_another_one_was_started(context, tmp_path):
    """Without anything being clicked."""
    (tmp_path / "people.csv").write_text("age,ill\n" + "30,flu\n41,gout\n" * 10, encoding="utf-8")
    with running_ui(tmp_path / "people.csv") as killed, entered(context, killed) as (page, base):
        go(page, base, "columns")
        killed.process.kill()
        page.wait_for_selector("#error:has-text('sfumato does not answer')")
        assert page.is_visible("#part-columns table"), "what it shows stays"
        with running_ui(tmp_path / "people.csv", "--port", str(killed.port)):
            page.wait_for_selector("#error:has-text('was started again since')")


def test_a_config_with_errors_is_usable_in_the_rest(context, tmp_path):
    """Each error is shown at its line, the rows as well, and the entry is removed with a button."""
    people = "age,ill\n" + "30,flu\n41,gout\n" * 10
    (tmp_path / "people.csv").write_text(people, encoding="utf-8")
    text = """# mine
[data]
path = "people.csv"

[columns.age]
role = "quasi-identifier"

[columns.sick]
role = "sensitive"

[[principles]]
name = "k-anonymity"
k = "five"
"""
    (tmp_path / "sfumato.toml").write_text(text, encoding="utf-8")
    with running_ui(tmp_path / "sfumato.toml") as started, entered(context, started) as (page, base):
        go(page, base, "data")
        page.wait_for_selector(".grid-rows >> text=gout")
        assert page.inner_text("#problem strong") == '  13  k = "five"'
        assert page.is_visible("#config-text"), "what has to be corrected is open"
        page.fill("#config-text", text.replace('"five"', "2"))
        page.click("#config-apply")
        page.wait_for_selector("#problem strong:text('[columns.sick]')")
        assert "there is no such column" in page.inner_text("#problem")
        page.click("#remove-invalid")
        page.wait_for_selector("#problem", state="detached")
        go(page, base, "requirements")
        page.wait_for_selector("#part-verdict-0 .pill.holds:text('holds')")
        assert (tmp_path / "sfumato.toml").read_text(encoding="utf-8") == text


def test_files_are_uploaded(page, base, ui):
    """Last, because it opens another table."""
    big = ui.folder / "big.csv"
    with big.open("wb") as file:
        file.truncate((4 << 30) + 1)  # takes no room on the disk
    go(page, base, "data")
    page.click("#opening-ways > summary")
    page.set_input_files("#upload", big)
    page.wait_for_selector("#error")
    assert "too large" in page.inner_text("#error")
    nonsense = ui.folder / "nonsense.parquet"
    nonsense.write_bytes(b"no table")
    page.set_input_files("#upload", nonsense)
    page.wait_for_selector("#error:has-text('not Parquet')")
    assert "1,500" in page.inner_text("#part-reading")
    small = ui.folder / "small <b>.csv"
    small.write_text("age,ill\n" + "30,flu\n41,gout\n" * 20, encoding="utf-8")
    page.set_input_files("#upload", small)
    page.wait_for_selector("#part-reading >> text=small <b>.csv")
    until(page, lambda: "Suggested" in page.text_content("#steps"))
    assert sf.Config.parse(config_text(page)).schema.quasi_identifiers == ("age",)
