"""The browser interface: `sfumato ui`. It calls what the command line calls, over the same config.

**State.** `session.Session` holds the config as text with its history, the table, and answers that were computed. All tabs
share it. Every change of the config is a pure function from text to text (`sf.config_edits`), made by `Session.edit`, which
refuses changes after which the config is invalid, and pages that are behind (409).

**How to write a screen.**

1. A file `screens/NAME_screen.py` that defines a `Screen`, and its line in `screens/__init__.py`.
2. `content(session, query)` returns what the template needs. It must be quick (milliseconds): what takes longer is a part.
   `query` is that of the address, such as the selected column, so that reload and the back button work.
3. A template `templates/NAME_screen.html.j2` that extends `frame.html.j2` and fills the block `main`. Use the classes of
   `ui.css`. Never use inline styles or scripts: the security policy forbids both. Text of the table or the config is
   escaped by Jinja2; show cells with `|cell`.
4. Actions: functions `(session, form, version) -> Change` in `Screen.actions`. They call `session.edit("what happened",
   lambda text: set_role(text, …), version)`, and raise `SfumatoError` to refuse. In the template:

       <form method="post" action="{{ base }}/columns/do/role" data-live>
         <input type="hidden" name="column" value="age"> <select name="role">…</select>
       </form>

   `data-live` sends the form with every change of a field, `data-live="input"` with every key press, otherwise a button
   sends it. The script adds the version. The answer is the whole screen, which the script merges into the page: elements
   that are equal stay, elements with the same id are matched, and the element with the focus is never replaced. So give an
   `id` to everything that repeats or can have the focus.
5. Slow parts: a `Part` in `Screen.parts`, a template `templates/PART_part.html.j2`, and in the screen's template
   `{{ part(base, screen, "PART", keys, "Loading …") }}` (a macro of `parts.html.j2`). The part loads itself again
   when its `key` has changed; meanwhile it shows what it showed, marked as old. `answer` runs in a thread. It is computed
   once per key, and skipped if the config changes before it starts.
6. Links that only change the query are `<a data-soft href="?…">`: merged like an answer, with the address kept.
7. Progress: `session.tell({"job": NAME, "step": …, "share": …})` sends an event to every page. An element
   `<progress data-job="NAME">` and an element `data-step="NAME"` show it; `{"job": NAME, "done": True}` makes every page
   load itself again.
8. `snippets(session)` returns the command and the Python that do the same.

No address can be guessed, and nothing is reachable without the cookie: see `access_guard`.
"""
