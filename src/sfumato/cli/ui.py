"""`sfumato ui`: the whole job in a browser, on this machine only."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from sfumato.cli.options import allow_code_option
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato ui people.csv
  sfumato ui sfumato.toml --port 8765 --no-browser
  sfumato ui sqlite:///people.db --table people"""
)
@click.argument("source", required=False)
@click.option("--query", help="The SQL query to read from a database.")
@click.option("--table", help="The table to read from a database.")
@click.option("--sheet", help="The sheet to read from an Excel file. Default: the first.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port. Default: one that is free.")
@click.option("--no-browser", is_flag=True, help="Only print the address. Open it yourself.")
@allow_code_option
def ui(
    source: str | None,
    query: str | None,
    table: str | None,
    sheet: str | None,
    port: int,
    no_browser: bool,
    allow_code: bool,
) -> None:
    """Work in a browser: open a table, decide about columns, see the risk, choose requirements, make a release.

    SOURCE is a config, a file with a table, or a database URI; it can also be opened in the browser. The server answers
    only this machine, and only the browser that opens the printed address, which works once. Ctrl-C ends it. Exit status:
    2 bad input; 130 ended by Ctrl-C.
    """
    from sfumato.ui.process_memory import keep_little_memory, plug_ins_installed

    keep_little_memory(foreign_code=allow_code or plug_ins_installed())
    from sfumato.io.database_uri import is_uri, shown
    from sfumato.io.missing_files import refuse_missing
    from sfumato.ui.server import require_packages, serve

    require_packages()
    if source is not None and not is_uri(source):
        refuse_missing(Path(source))
    from sfumato.ui.opening import open_source
    from sfumato.ui.session import Session

    session = Session(allow_code=allow_code)
    if source is not None:
        named = source
        session.open_in_thread(
            shown(named) if is_uri(named) else Path(named).name,
            lambda: open_source(session, named, query=query, table=table, sheet=sheet),
        )

    def opened(address: str) -> None:
        say(f"sfumato is open at {address}\nOnly this computer can reach it. Press Ctrl-C to end it.")
        if not no_browser:
            webbrowser.open(address)

    try:
        serve(session, port, opened, lambda address: say(f"To open it in another browser: {address}"))
    finally:
        session.folder.close()
