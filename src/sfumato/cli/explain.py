"""`sfumato explain`: what a principle means, with a worked example, and where it comes from."""

from __future__ import annotations

import json

import click

from sfumato.cli.completion import principle_names
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato explain
  sfumato explain dissimilarity
  sfumato explain t-closeness --json | jq .not_protected"""
)
@click.argument("principle", required=False, shell_complete=principle_names)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def explain(principle: str | None, as_json: bool) -> None:
    """Tell what a principle means: a worked example, what it does not protect against, and its source.

    PRINCIPLE is its name in a config, in the literature or in Python; without it all principles are listed.
    """
    from sfumato._explain import explain as explain_principle
    from sfumato.principles import PRINCIPLES

    if as_json:
        found = (
            [explain_principle(name).to_dict() for name in PRINCIPLES]
            if principle is None
            else explain_principle(principle).to_dict()
        )
        say(json.dumps(found, indent=2, ensure_ascii=False))
        return
    from sfumato.cli.show_explain import show_explanation, show_principles

    if principle is None:
        show_principles()
    else:
        show_explanation(explain_principle(principle))
