"""`sfumato explain`: what a principle means, with a worked example and its source."""

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
  sfumato explain dissimilarity --shape ball
  sfumato explain t-closeness --json | jq .not_protected"""
)
@click.argument("principle", required=False, shell_complete=principle_names)
@click.option("--shape", help="Explain this shape of a dissimilarity: star, ball, clique, chain or cycle.")
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def explain(principle: str | None, shape: str | None, as_json: bool) -> None:
    """Explain a principle: a worked example, what it does not protect against, and its source.

    PRINCIPLE is its name in a config, in the literature or in Python. Without it all principles are listed, including
    those of installed plug-ins.
    """
    from sfumato._explain import explain as explain_principle
    from sfumato._explain import summaries
    from sfumato.registry import PRINCIPLES

    if principle is None and shape is not None:
        principle = "dissimilarity"
    if as_json:
        content = (
            [explain_principle(name).to_dict() for name in PRINCIPLES]
            if principle is None
            else explain_principle(principle, shape).to_dict()
        )
        say(json.dumps(content, indent=2, ensure_ascii=False))
        return
    from sfumato.cli.show_explain import show_explanation, show_principles

    if principle is None:
        show_principles(summaries())
    else:
        show_explanation(explain_principle(principle, shape))
