"""What the browser works on: configs with errors, files that cannot be opened, and questions that are no longer asked."""

from __future__ import annotations

import html
import resource
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

from sfumato.config_edits import remove_value
from sfumato.errors import FileError, SfumatoError
from sfumato.ui.invalid_entries import removable_entry
from sfumato.ui.opening import open_source
from sfumato.ui.pages import environment, render_part
from sfumato.ui.screens.disclosure_screen import DISCLOSURE
from sfumato.ui.session import Session, SupersededError
from sfumato.ui.work import Job, MadeRelease
from ui_process import running_ui

CONFIG = """# mine
[data]
path = "people.csv"

[columns.age]
role = "quasi-identifier"  # known

[columns.ill]
role = "sensitve"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n" + "30,flu\n41,gout\n" * 10, encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


@pytest.fixture
def session():
    found = Session()
    yield found
    found.folder.close()


def version(page):
    return page.partition('data-version="')[2].partition('"')[0]


def test_an_invalid_config_is_shown_at_its_line_and_corrected(folder):
    with running_ui("sfumato.toml", folder=folder) as ui:
        ui.enter()
        deadline = time.monotonic() + 60
        page = ui.get("/columns")[2].decode()
        while "The config is invalid" not in page and time.monotonic() < deadline:
            page = ui.get("/columns")[2].decode()
        assert "<strong>   9  role = &#34;sensitve&#34;</strong>" in page
        assert "Did you mean &#39;sensitive&#39;?" in page
        form = {"version": version(page), "screen": "columns", "text": CONFIG.replace("sensitve", "sensitive")}
        status, _, page = ui.post("/config", urlencode(form).encode())
        assert status == 200
        assert "The config is invalid" not in page.decode()
        assert ui.get("/columns/part/columns")[0] == 200
        assert (folder / "sfumato.toml").read_text(encoding="utf-8") == CONFIG, "it is written on the screen Save only"


def test_the_rest_of_an_invalid_config_is_usable(folder):
    """The rows are shown, and the invalid entry is removed with a button, which can be undone."""
    with running_ui("sfumato.toml", folder=folder) as ui:
        ui.enter()
        deadline = time.monotonic() + 60
        page = ui.get("/data")[2].decode()
        while "The config is invalid" not in page and time.monotonic() < deadline:
            page = ui.get("/data")[2].decode()
        assert "gout" in ui.get("/data/part/rows")[2].decode()
        assert "Remove the column ill from the config" in page
        form = {"version": version(page), "screen": "columns"}
        status, _, answer = ui.post("/config/remove", urlencode(form).encode())
        page = answer.decode()
        assert (status, "The config is invalid" in page) == (200, False)
        assert ui.get("/columns/part/columns")[0] == 200
        status, _, answer = ui.post("/config/remove", urlencode({**form, "version": version(page)}).encode())
        assert status == 422, "nothing is invalid"
        answer = ui.post("/history", urlencode({"version": version(page), "go": "undo"}).encode())[2].decode()
        assert "<strong>   9  role = &#34;sensitve&#34;</strong>" in answer


def test_a_config_that_does_not_fit_the_table_is_shown_at_its_line(folder, session):
    """Its rows are shown; what does not fit is known once the table was read, and then every page is told."""
    text = CONFIG.replace("columns.ill", "columns.sick").replace("sensitve", "sensitive")
    (folder / "sfumato.toml").write_text(text, encoding="utf-8")
    session.open_config(folder / "sfumato.toml")
    told = []
    session.listeners.append(told.append)
    assert session.misfit is None and session.config is not None
    assert session.raw.rows == 20
    assert session.misfit.column == "sick" and "sick" in told[-1]["state"]
    assert removable_entry(session.misfit, session.text) == ["columns", "sick"]
    session.edit("removed", lambda stated: remove_value(stated, ["columns", "sick"]))
    assert session.misfit is None and session.table.rows == 20


def test_what_cannot_be_opened_is_explained_and_nothing_is_lost(folder):
    (folder / "empty.csv").write_bytes(b"")
    (folder / "broken.toml").write_text("[data\n", encoding="utf-8")
    with running_ui("people.csv", folder=folder) as ui:
        ui.enter()
        deadline = time.monotonic() + 60
        page = ui.get("/data")[2].decode()
        while "Suggested roles" not in page and time.monotonic() < deadline:
            page = ui.get("/data")[2].decode()
        for source, words in {
            "missing.csv": "does not exist", "empty.csv": "empty", ".": "folder", "sqlite:///x.db": "query", "": "no file",
        }.items():  # fmt: skip
            status, _, answer = ui.post("/data/do/open", urlencode({"version": version(page), "source": source}).encode())
            assert status == 422, source
            assert words in html.unescape(answer.decode()), source
            assert "Suggested roles" in answer.decode()
        assert "20" in ui.get("/data/part/reading")[2].decode()
        limits = resource.prlimit(ui.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(ui.process.pid, resource.RLIMIT_FSIZE, (2000, limits[1]))  # as on a full disk
        status, _, answer = ui.post("/upload", b"age,ill\n" + b"30,flu\n" * 9000, **{"x-file-name": "large.csv"})
        resource.prlimit(ui.process.pid, resource.RLIMIT_FSIZE, limits)
        assert status == 422
        assert "large.csv: the file cannot be stored" in html.unescape(answer.decode())
        assert "Suggested roles" in answer.decode(), "what was open stays open"
        for path, form in {
            "/columns/do/role": {"role": "other"},
            "/columns/do/kind": {},
            "/columns/do/groups": {"column": "age", "level": "x"},
            "/columns/do/hierarchy": {"column": "nonsense", "builder": "groups"},
            "/requirements/do/set": {"position": "99", "k": "3"},
            "/requirements/do/add": {"name": "nonsense"},
            "/requirements/do/cell": {"cell": "a b c"},
            "/history": {"go": "back"},
        }.items():  # what no page sends
            status, _, answer = ui.post(path, urlencode({"version": version(page), **form}).encode())
            assert status == 422, path
        changed = {"version": version(page), "column": "age", "role": "other"}
        status, _, answer = ui.post("/columns/do/role", urlencode(changed).encode())
        page = answer.decode()
        assert status == 200, page
        form = {"version": version(page), "source": "broken.toml"}
        status, _, answer = ui.post("/data/do/open", urlencode(form).encode())
        assert status == 422, "opening another config would lose a change"
        assert "not saved" in answer.decode() and 'id="open-drop"' in answer.decode()
        status, _, answer = ui.post("/upload", b"x\n1\n", **{"x-file-name": "other.csv"})
        assert status == 422
        assert "age: other" in answer.decode()
        page = ui.post("/history", urlencode({"version": version(page), "go": "undo", "screen": "data"}).encode())[
            2
        ].decode()
        assert 'id="open-drop"' not in page, "the draft can be made again"
        page = ui.post("/history", urlencode({"version": version(page), "go": "redo", "screen": "data"}).encode())[
            2
        ].decode()
        form = {"version": version(page), "source": "broken.toml", "drop": "yes"}
        status, _, answer = ui.post("/data/do/open", urlencode(form).encode())
        assert status == 200, "a config with an error is opened, so that it can be corrected"
        assert "<strong>   1  [data</strong>" in answer.decode()


def test_a_change_that_makes_the_config_invalid_is_refused(folder, session):
    (folder / "sfumato.toml").write_text(CONFIG.replace("sensitve", "sensitive"), encoding="utf-8")
    open_source(session, str(folder / "sfumato.toml"))
    text = session.text
    with pytest.raises(SfumatoError):
        session.edit(
            "nonsense", lambda old: old.replace("age", "edge"), check=lambda config: session.check_column(config, "age")
        )
    with pytest.raises(SfumatoError):
        session.edit("nonsense", lambda old: old.replace("role", "roll"))
    assert session.text == text
    assert session.history.undoable is None


def test_a_password_is_not_shown(folder, session, monkeypatch):
    monkeypatch.delenv("SFUMATO_PASSWORD", raising=False)
    with pytest.raises(SfumatoError) as raised:
        open_source(session, "postgresql://me:s3cret@127.0.0.1:1/people", table="t")
    assert "s3cret" not in str(raised.value)
    monkeypatch.delenv("SFUMATO_PASSWORD", raising=False)


def test_only_the_last_of_the_questions_that_wait_is_answered(session):
    started, go_on, computed, answers = threading.Event(), threading.Event(), [], {}

    def compute(name):
        computed.append(name)
        if name == "first":
            started.set()
            go_on.wait(60)
        return name

    def ask(name):
        try:
            answers[name] = session.answer("topic", name, lambda: compute(name), gives_way=True)
        except SupersededError:
            answers[name] = None

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("first", "second", "third")]
    threads[0].start()
    started.wait(60)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        deadline = time.monotonic() + 60
        while session._asked["topic"][0] != ("first", "second", "third")[number] and time.monotonic() < deadline:
            time.sleep(0.005)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert answers == {"first": "first", "second": None, "third": "third"}
    assert computed == ["first", "third"]
    assert session.answer("topic", "third", lambda: compute("again")) == "third", "an answer is kept"


def test_a_page_needs_its_answers_whatever_is_asked_later(session):
    started, go_on, answers = threading.Event(), threading.Event(), []

    def slow():
        started.set()
        go_on.wait(60)
        return "first"

    threads = [threading.Thread(target=lambda: answers.append(session.answer("topic", "first", slow)))]
    threads += [
        threading.Thread(target=lambda key=key: answers.append(session.answer("topic", key, lambda: key))) for key in "abc"
    ]
    threads[0].start()
    started.wait(60)
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == ["a", "b", "c", "first"]


def test_the_table_is_read_once(folder, session, monkeypatch):
    from sfumato.io import read_table

    reads = []
    original = read_table.read_table
    monkeypatch.setattr(read_table, "read_table", lambda *a, **k: (reads.append(a), original(*a, **k))[1])
    (folder / "sfumato.toml").write_text(CONFIG.replace("sensitve", "sensitive"), encoding="utf-8")
    open_source(session, str(folder / "sfumato.toml"))
    assert session.table.schema.sensitive == ("ill",)
    encoded = session.table.column("ill")
    session.edit("other role", lambda text: text.replace('"sensitive"', '"quasi-identifier"'))
    assert session.table.schema.quasi_identifiers == ("age", "ill")
    assert session.table.column("ill") is encoded
    session.move("undo")
    assert session.table.schema.sensitive == ("ill",)
    assert len(reads) == 1
    assert session.opened.change_of_file() is None
    (folder / "people.csv").write_text("age,ill\n5,flu\n6,flu\n", encoding="utf-8")
    assert session.opened.change_of_file() == "changed"
    session.read_again()
    assert session.table.rows == 2
    (folder / "people.csv").unlink()
    assert session.opened.change_of_file() == "missing"
    assert session.table.rows == 2


@pytest.mark.parametrize(("measuring", "words"), [(True, "are being measured"), (False, "were not measured")])
def test_attackers_are_shown_before_they_were_measured(folder, session, measuring, words):
    """Then the figures of a release have no attacks, nor any that could not be measured."""
    made = MadeRelease(1, "release", "", folder, 0, {"attacks": []}, 1.0, complete=False)
    values = {"chosen": made, "view": "attacks", "measuring": measuring}
    assert words in render_part(session, "details", values, {}, "")


def test_pages_learn_what_the_draft_does(folder, session):
    told = []
    session.listeners.append(told.append)
    open_source(session, str(folder / "people.csv"))
    until = time.monotonic() + 60
    while session.drafting and time.monotonic() < until:
        time.sleep(0.01)
    steps = [event["step"] for event in told if event.get("job") == "draft"]
    assert steps == [
        "examining column 1 of 2 …", "examining column 2 of 2 …", "suggesting roles …", "suggesting requirements …",
    ]  # fmt: skip
    assert not any("share" in event for event in told), "a share of one step is not the share of the whole"


def test_pages_learn_that_a_table_cannot_be_opened(session):
    """Their version stays the same, so it is the state that differs from the one that they show."""
    told, shown = [], session.state
    session.listeners.append(told.append)

    def fail():
        raise FileError("no table", remedy="Name another file.")

    session.open_in_thread("people.csv", fail)
    assert session.state != shown
    until = time.monotonic() + 60
    while not told and time.monotonic() < until:
        time.sleep(0.01)
    (event,) = told
    assert event["version"] == session.history.version == 0
    assert event["state"] == session.state
    assert "no table" in event["state"] and "people.csv" not in event["state"]


def test_a_release_that_is_made_is_not_called_in_progress(folder):
    """While its attacks are measured it can be looked at; that is what is cancelled, or fails."""
    job = Job(1, "release", "Making a release", "", folder, 0, None, None)
    work = SimpleNamespace(job=job, running=job, progress=job.progress)

    def shown():
        macro = environment().get_template("work.html.j2").module.job
        return html.unescape(str(macro(work, "", SimpleNamespace(name="release"), ["release"])))

    assert "Making a release" in shown() and "The release is made" not in shown()
    job.result = {"loss": 0.1}
    assert "Measuring what attackers achieve" in shown() and "The release is made" in shown()
    job.state, job.ended = "cancelled", job.started + 3
    assert "was cancelled after 3 s. The release that was made stays." in shown()


RISK = """[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20] }
[columns.ill]
role = "sensitive"
[risk]
generalize = [] # none yet
"""


def test_columns_are_chosen_that_a_rule_may_generalize(folder):
    """Only columns with a hierarchy are offered. Shares that the config states are shown, and not replaced."""
    (folder / "sfumato.toml").write_text(RISK, encoding="utf-8")
    with running_ui("sfumato.toml", folder=folder) as ui:
        ui.enter()
        page = ui.get("/disclosure")[2].decode()
        assert 'name="generalize:age" value="yes">' in page
        assert "generalize:ill" not in page

        def change(**form):
            fields = {
                "version": version(page),
                "screen": "disclosure",
                "limit": "",
                "disclose": "1",
                "per": "record",
                **form,
            }
            status, _, answer = ui.post("/disclosure/do/settings", urlencode(fields).encode())
            assert status in (200, 303)
            return answer.decode() or ui.get("/disclosure")[2].decode()

        page = change(**{"generalize:age": "yes"})
        assert 'name="generalize:age" value="yes" checked>' in ui.get("/disclosure")[2].decode()
        page = ui.get("/disclosure")[2].decode()
        change()
        assert 'name="generalize:age" value="yes">' in ui.get("/disclosure")[2].decode()


def test_shares_that_the_config_states_stay(folder, session):
    text = RISK.replace("[] # none yet", '{ age = [1, "0.5", "0.1", 0] }')
    (folder / "sfumato.toml").write_text(text, encoding="utf-8")
    open_source(session, str(folder / "sfumato.toml"))
    DISCLOSURE.actions["settings"](session, {"limit": "0.5", "disclose": "1", "per": "record"}, session.history.version)
    assert session.config.risk.limit is not None
    assert list(session.config.risk.generalize) == ["age"]
