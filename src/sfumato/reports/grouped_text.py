"""The sentences of a report: verdicts, levels, and what reviewers look for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomli_w

from sfumato.plurals import count_of
from sfumato.releases.figure_models import PrincipleWords
from sfumato.releases.models import ConfigDeclaration, GroupedDocument, PrincipleClaim
from sfumato.reports.plots.figure import percent


def verdict(document: GroupedDocument) -> str:
    """Return in one sentence what holds. It never says that nobody can be identified."""
    count, groups = len(document.config.principles or []), count_of(document.groups, "group")
    if document.holds:
        subjects = {1: "The requested principle holds", 2: "Both requested principles hold"}
        subject = subjects.get(count, f"All {count} requested principles hold")
        return f"{subject} in {'the one group' if document.groups == 1 else f'every one of the {groups}'}."
    failing = sum(not claim.holds for claim in document.principles)
    return f"{count_of(failing, 'requested principle')} {'does' if failing == 1 else 'do'} not hold in every group."


def heading(claim: PrincipleClaim, *, with_attribute: bool = True) -> str:
    """Return a principle with its parameters and, if there is one, the attribute it was measured on."""
    on = f" on {claim.attribute}" if with_attribute and claim.attribute else ""
    distance = f" ({claim.distance})" if claim.distance else ""
    return f"{claim.label}{on}{distance}".replace("^k", "ᵏ")


def level_text(claim: PrincipleClaim, part: str) -> str:
    """Return the measured level of one part of a principle; an exact ratio in parentheses if it is no decimal."""
    measured, exact = claim.measured[part], claim.exact[part]
    shown = "∞" if measured is None else f"{measured:,}" if isinstance(measured, int) else f"{measured:.4g}"
    return f"{shown} ({exact})" if "/" in exact else shown


def config_text(config: ConfigDeclaration) -> str:
    """Return the config as TOML; hierarchies that release.json lists row by row are only named."""

    def simplified(value: Any) -> Any:
        if isinstance(value, Mapping):
            if isinstance(value.get("rows"), list):
                return f"{count_of(len(value['rows']), 'leaf', 'leaves')}, listed in release.json"
            return {str(key): simplified(inner) for key, inner in value.items() if inner is not None}
        if isinstance(value, list):
            return [simplified(inner) for inner in value if inner is not None]
        return value

    content = simplified(config.to_dict())
    principles = content.pop("principles", [])
    return str(tomli_w.dumps(content)) + "".join(f"\n[[principles]]\n{tomli_w.dumps(entry)}" for entry in principles)


def sources(words: Sequence[PrincipleWords]) -> list[str]:
    """Return the sources of the principles, each once."""
    return list(dict.fromkeys(entry.source for entry in words if entry.source))


@dataclass(frozen=True)
class Criterion:
    """One of the three criteria of WP216: its question, the evidence, and what stays open."""

    name: str
    question: str
    figures: list[str]
    """Keys of figures; one that ends in a hyphen means all that begin with it."""
    evidence: str
    open: str


def criteria(document: GroupedDocument) -> list[Criterion]:
    """Return the three criteria of WP216, with the figures of this release."""
    before, after = document.figures.risk.before, document.figures.risk.after
    return [
        Criterion(
            "Singling out",
            "Can records that belong to one person be isolated?",
            ["gauge-unique", "class-sizes"],
            f"{percent(before.unique)} of the rows were alone with their quasi-identifiers before. After, "
            f"{percent(after.unique)} are, and no row has a risk above {percent(after.highest)}.",
            "This is about the columns that were declared as quasi-identifiers. An attacker who knows a sensitive value, or "
            "a column that is published unchanged, may single out a row by that.",
        ),
        Criterion(
            "Linkability",
            "Can records about one person be linked, within the table or with another?",
            ["gauge-prosecutor", "gauge-marketer"],
            f"A person who is known to be in the table is linked to the right row with a probability of at most "
            f"{percent(after.highest)}, and of {percent(after.mean)} on average (before: {percent(before.highest)} and "
            f"{percent(before.mean)}).",
            "Several releases about the same people can be intersected. This report does not consider other releases.",
        ),
        Criterion(
            "Inference",
            "Can a sensitive value be deduced with significant probability?",
            list(dict.fromkeys(f"level-{table.finding}-" for table in document.figures.levels)),
            _inference(document),
            "What is common to the whole table can be inferred about everybody in it, and about people who are not in it. "
            "Correlations between sensitive and other published columns are not measured unless a principle does so.",
        ),
    ]


def _inference(document: GroupedDocument) -> str:
    claims = [claim for claim in document.principles if claim.attribute is not None]
    if not claims:
        return "No principle about sensitive values was requested: a group whose members share a value reveals it."
    return "; ".join(f"{heading(claim)} {'holds' if claim.holds else 'does not hold'}" for claim in claims) + "."
