"""The web application: addresses, and what happens at each. It answers only what the access guard lets pass.

GET  /                      the first screen
GET  /SCREEN                a screen; its query is what is selected on it
GET  /SCREEN/part/NAME      a slow part of a screen, computed in a thread
GET  /SCREEN/file/NAME      a report, which is shown in a frame, or a file to store
POST /SCREEN/do/ACTION      an action; the answer is the screen, as it is then
POST /history               undo, redo, or go to a step
POST /config                the whole text of the config, edited by hand
POST /config/remove         remove the entry that makes the config invalid
POST /upload                a file with a table, stored in the private folder of this process
GET  /events                progress and changes, as server-sent events
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sfumato.config_edits import remove_value
from sfumato.errors import ConfigError, FileError, ParameterError, SfumatoError
from sfumato.ui.file_answers import FRAMED, FileAnswer
from sfumato.ui.invalid_entries import entry_name, removable_entry
from sfumato.ui.opening import open_source, upload_name
from sfumato.ui.pages import digest, render_error, render_part, render_screen
from sfumato.ui.screen import Change, Screen, Values
from sfumato.ui.screens import SCREENS
from sfumato.ui.server_events import event_stream
from sfumato.ui.session import BehindError, Session, SupersededError
from sfumato.visible_text import visible

_HERE = Path(__file__).parent
_FILES = {"ui.css": "text/css", "releases.css": "text/css", "ui.js": "text/javascript"}

_BEHIND = "Another tab changed the config meanwhile, so this change was not made. The page now shows the current state."


class Application:
    """The handlers of all addresses. `base`: the secret path, with which links begin."""

    def __init__(self, session: Session, base: str, largest_upload: int) -> None:
        self.session, self.base, self.largest_upload = session, base, largest_upload
        self.routes = Starlette(
            routes=[
                Route("/", self.first),
                Route("/history", self.history, methods=["POST"]),
                Route("/config", self.config, methods=["POST"]),
                Route("/config/remove", self.remove_invalid, methods=["POST"]),
                Route("/upload", self.upload, methods=["POST"]),
                Route("/events", self.events),
                Route("/file/{name}", self.file),
                Route("/{screen}", self.screen),
                Route("/{screen}/part/{part}", self.part),
                Route("/{screen}/file/{file}", self.screen_file),
                Route("/{screen}/do/{action}", self.action, methods=["POST"]),
            ],
            exception_handlers={Exception: _bug},
        )

    async def first(self, request: Request) -> Response:
        """Lead to the first screen."""
        return RedirectResponse(f"{self.base}/{next(iter(SCREENS))}", 303)

    async def file(self, request: Request) -> Response:
        """Return the style sheet or the script."""
        name = request.path_params["name"]
        if name not in _FILES:
            return _not_found()
        return Response((_HERE / name).read_text(encoding="utf-8"), media_type=_FILES[name])

    async def screen(self, request: Request) -> Response:
        """Return a screen."""
        screen = SCREENS.get(request.path_params["screen"])
        if screen is None:
            return _not_found()
        return await run_in_threadpool(self._page, screen, dict(request.query_params))

    def _page(self, screen: Screen, query: Values, status: int = 200, **fields: Any) -> Response:
        # before the page is drawn: a change meanwhile makes the page old
        version, state = self.session.history.version, self.session.state
        text = render_screen(
            self.session,
            SCREENS,
            screen,
            query,
            self.base,
            largest_upload=self.largest_upload,
            version=version,
            state=state,
            **fields,
        )
        return HTMLResponse(text, status)

    async def part(self, request: Request) -> Response:
        """Return a part of a screen; 204 if it is asked for another config meanwhile."""
        screen = SCREENS.get(request.path_params["screen"])
        name = request.path_params["part"]
        if screen is None or name not in screen.parts:
            return _not_found()
        return await run_in_threadpool(self._part, screen, name, dict(request.query_params))

    def _part(self, screen: Screen, name: str, query: Values) -> Response:
        part, session = screen.parts[name], self.session
        try:
            key = part.key(session, query)
            topic = f"{screen.name}/{name}/{query.get('at', '')}"
            known = (screen.name, name, key)
            values = session.answer(topic, known, lambda: part.answer(session, query), gives_way=True)
            text = render_part(session, name, values, query, self.base)
        except SupersededError:
            return Response(status_code=204)
        except SfumatoError as error:
            text, key = render_error(error), None
        return HTMLResponse(text, headers={} if key is None else {"x-key": digest(key)})

    async def screen_file(self, request: Request) -> Response:
        """Return a report for a frame, or a file to store."""
        screen = SCREENS.get(request.path_params["screen"])
        answer = None if screen is None else screen.files.get(request.path_params["file"])
        if answer is None:
            return _not_found()
        return await run_in_threadpool(self._file, answer, dict(request.query_params))

    def _file(self, answer: Callable[[Session, dict[str, str]], FileAnswer], query: dict[str, str]) -> Response:
        try:
            found = answer(self.session, query)
        except SfumatoError as error:
            return HTMLResponse(render_error(error), 404, headers=dict(FRAMED))
        return Response(found.content, media_type=found.media, headers=found.headers)

    async def action(self, request: Request) -> Response:
        """Do an action of a screen; the answer is the screen as it is then."""
        screen = SCREENS.get(request.path_params["screen"])
        action = None if screen is None else screen.actions.get(request.path_params["action"])
        if screen is None or action is None:
            return _not_found()
        form, query = await _form(request), dict(request.query_params)
        return await run_in_threadpool(self._done, screen, query, lambda: action(self.session, form, _version(form)))

    async def history(self, request: Request) -> Response:
        """Undo, redo, or go to a step of the history."""
        form = await _form(request)

        def move() -> Change:
            self.session.move(form.get("go", "undo"), _version(form))
            return Change(self.session.history.steps[self.session.history.position].label)

        return await self._elsewhere(request, form, move)

    async def config(self, request: Request) -> Response:
        """Replace the text of the config by one that was edited by hand."""
        form = await _form(request)

        def replace() -> Change:
            text = form.get("text", "").replace("\r\n", "\n")
            self.session.edit("Edited the text of the config", lambda _: text, _version(form))
            return Change("The config was changed.")

        return await self._elsewhere(request, form, replace)

    async def remove_invalid(self, request: Request) -> Response:
        """Remove the entry of the config that is invalid or does not fit the table, so that the rest can be used."""
        form = await _form(request)

        def remove() -> Change:
            problem, text = self.session.config_error or self.session.misfit, self.session.text or ""
            entry = None if problem is None else removable_entry(problem, text)
            if entry is None:
                raise ConfigError("no entry of the config is to be removed", remedy="Reload the page.")
            label = f"Removed {entry_name(entry, text)}"
            self.session.edit(label, lambda stated: remove_value(stated, entry), _version(form))
            return Change(label)

        return await self._elsewhere(request, form, remove)

    async def _elsewhere(self, request: Request, form: Values, act: Callable[[], Change]) -> Response:
        """Do what every screen can do; the answer is the screen that the form names."""
        screen = SCREENS.get(form.get("screen", ""), next(iter(SCREENS.values())))
        return await run_in_threadpool(self._done, screen, dict(request.query_params), act)

    def _done(self, screen: Screen, query: Values, act: Callable[[], Change]) -> Response:
        try:
            change = act()
        except BehindError:
            return self._page(screen, query, 409, error=_BEHIND)
        except SfumatoError as error:
            return self._page(screen, query, 422, error=str(error))
        except OSError as error:
            return self._page(screen, query, 422, error=f"{error.filename or ''}: {error.strerror}. Nothing was changed.")
        if change.goto is not None:
            return Response(status_code=204, headers={"x-goto": f"{self.base}/{change.goto}"})
        return self._page(screen, query, said=change.said)

    async def upload(self, request: Request) -> Response:
        """Store a file in the private folder, and open it."""
        screen = next(iter(SCREENS.values()))
        name = upload_name(unquote(request.headers.get("x-file-name", "")))
        path = self.session.folder.new(name)
        try:
            with path.open("xb") as file:
                async for chunk in request.stream():
                    file.write(chunk)
        except (OSError, ClientDisconnect) as error:
            path.unlink(missing_ok=True)
            reason = getattr(error, "strerror", None) or "the connection ended"
            failed = FileError(
                f"the file cannot be stored: {reason}", remedy="Make room, or open it by its path.", file=name
            )
            return await run_in_threadpool(self._page, screen, {}, 422, error=str(failed))

        drop = request.headers.get("x-drop") == "yes"

        def opened() -> Change:
            try:
                self.session.check_unsaved(drop)
            except SfumatoError:
                path.unlink()
                raise
            open_source(self.session, os.fspath(path))
            return Change(f"{name} is open.")

        return await run_in_threadpool(self._done, screen, {}, opened)

    async def events(self, request: Request) -> Response:
        """Return the stream of events."""
        return StreamingResponse(event_stream(self.session), media_type="text/event-stream")


async def _bug(request: Request, error: Exception) -> Response:
    """Report an error of sfumato itself: the terminal shows where, the page says so. Nothing that was entered is lost."""
    sys.stderr.write(visible("".join(traceback.format_exception(error))) + "\n")
    text = (
        '<!doctype html><html lang="en"><title>sfumato</title><main id="main"><p>This is a fault of sfumato; the '
        "terminal shows where. Nothing is lost: reload the page, or undo the last change.</p></main></html>"
    )
    return HTMLResponse(text, 500)


class Form(dict[str, str]):
    """The values of a form; one that is missing is an error of the request, not a fault."""

    def __missing__(self, key: str) -> str:
        raise ParameterError("the request lacks a value", remedy="Reload the page.", key=key)


async def _form(request: Request) -> Form:
    """Return the values of a form; the last one of each name."""
    body = (await request.body()).decode("utf-8", "replace")
    return Form(parse_qsl(body, keep_blank_values=True, max_num_fields=10_000))


def _version(form: Values) -> int:
    """Return the version that the page showed; a form without one is always behind."""
    text = form.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _not_found() -> Response:
    return Response("404 There is no such address.\n", 404, media_type="text/plain")
