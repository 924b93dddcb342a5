"""What the worker process does: each job reads the config as the command line does, and writes to the folder of the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.config import Config, MethodSection
from sfumato.config.configured_release import configured_release
from sfumato.config.project_section import ProjectSection
from sfumato.config.risk_section import RiskSection
from sfumato.errors import ConfigError
from sfumato.progress import Progress
from sfumato.releases.folder import write_page
from sfumato.ui.job_folder import INTERNAL, KEY, RELEASE

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release
    from sfumato.attacks._attack import Attacks
    from sfumato.principles import Dissimilarity, Principle


@dataclass(frozen=True)
class Request:
    """What is to be done, over which config."""

    text: str
    place: str
    allow_code: bool
    folder: Path
    seed: int
    options: Mapping[str, Any]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Request:
        """Return a request from what the parent sent."""
        return cls(
            content["text"], content["place"], content["allow_code"], Path(content["folder"]), int(content["seed"]),
            content["options"],
        )  # fmt: skip

    @property
    def config(self) -> Config:
        """The config, as it would be read from its file."""
        return Config.parse(self.text, Path(self.place), allow_code=self.allow_code)


Made = Callable[[dict[str, Any]], None]
"""Called with what is known once the release is written and verified, while the rest is still measured."""


def release(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Make a grouped release, as `sfumato anonymize` does; then measure what attackers achieve."""
    from sfumato.attacks._attack import attack
    from sfumato.comparison.release_comparison import figures_of

    declared = request.config
    with declared.chosen_engine(folder=request.folder).running():
        result = configured_release(declared, None, request.seed, progress)
        form = declared.output.format if declared.output else "csv"
        result.save(request.folder / RELEASE, format=form, key=request.folder / KEY, progress=progress)
        original = result.private.original
        figures = figures_of("", result.document, result.audit, result.recodings, original)
        content = {
            **figures.to_dict(),
            "notes": [*result.private.notes, *result.notes, *result.exposure],
            "warnings": [warning.text for warning in result.warnings],
            "checks": _checks(request.folder, original, key=request.folder / KEY),
        }
        made(content)
        done = attack(result, progress=progress)
        _write_internal(result, done, request.folder / INTERNAL)
    return {**content, **done.to_dict()}


def _checks(folder: Path, original: Any, **options: Any) -> list[dict[str, Any]]:
    """Verify a release from its files, and return each check."""
    from sfumato.verification import verify

    return [
        {"name": check.name, "state": check.state, "detail": check.detail}
        for check in verify(folder / RELEASE, original, **options).checks
    ]


def _write_internal(result: Release, attacks: Attacks, path: Path) -> None:
    """Write the internal report, with attacks that were run already."""
    from sfumato.anonymization.figures.figure_tables import internal_figures
    from sfumato.reports.grouped_page import grouped_page

    private = result.private
    figures = internal_figures(
        private.original, result.audit, result.recodings, notes=private.notes, attacks=attacks.to_dict()
    )
    write_page(grouped_page(result.document, figures), path, private=True)


def preview(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Estimate the loss from a sample."""
    from sfumato.anonymization.preview import preview as estimate

    declared = request.config
    progress("reading")
    found = estimate(
        declared.table(), None, declared.require_principles(), method=declared.grouping_method, progress=progress
    )
    return {"sentence": repr(found), "is_sample": found.is_sample}


def lattice(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Examine the full-domain generalizations."""
    from sfumato.anonymization.transformations import transformations

    declared = request.config
    progress("reading")
    suppress = (declared.method or MethodSection()).suppress
    return transformations(
        declared.table(), None, declared.require_principles(), suppress=suppress, progress=progress
    ).to_dict()


def risk(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Measure the risk of disclosure, as `sfumato risk --report` does."""
    from sfumato.disclosure import risk_of
    from sfumato.disclosure.risk_report.risk_page import risk_page
    from sfumato.disclosure.risk_report.risk_tables import risk_content

    declared = request.config
    section = declared.risk or RiskSection()
    progress("reading")
    found = risk_of(declared.setting(), limit=section.limit, progress=progress)
    content = risk_content(found, seed=request.seed, progress=progress)
    progress("drawing the report")
    write_page(risk_page(content), request.folder / INTERNAL, private=True)
    return _risk_figures(content)


def withhold(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Withhold values so that the risk is low, as `sfumato risk --disclose` does."""
    from sfumato.disclosure._withhold import withhold_in
    from sfumato.disclosure.risk_report.risk_page import risk_page
    from sfumato.disclosure.risk_report.risk_tables import risk_content
    from sfumato.errors import RequirementError

    declared = request.config
    section = declared.risk or RiskSection()
    if section.disclose is None:
        raise ConfigError(
            "the config does not say how much is disclosed", remedy="Write risk.disclose.", key="risk.disclose"
        )
    progress("reading")
    setting = declared.setting(publish=True)
    result = withhold_in(
        setting, section.disclose, per=section.per, against=section.against, search=section.search, seed=request.seed,
        limit=section.limit, progress=progress,
    )  # fmt: skip
    if result.risk.holds is False:
        raise RequirementError(
            f"nothing is published: the risk is {float(result.risk.risk):.4g}, and at most {section.limit} is allowed",
            remedy="Disclose fewer values, or raise the limit.",
        )
    form = declared.output.format if declared.output else "csv"
    result.save(request.folder / RELEASE, format=form, key=request.folder / KEY, progress=progress)
    content = risk_content(result.risk, curves=False, seed=request.seed, progress=progress)
    write_page(risk_page(content), request.folder / INTERNAL, private=True)
    return {
        **_risk_figures(content),
        "method": "withhold",
        "withheld": result.withheld_cells,
        "generalized": result.generalized_cells,
        "cells": result.cells,
        "per": result.per,
        "exact": result.rule.exact,
        "how": result.rule.how,
        "rows": content["records"],
        "notes": list(content["notes"]),
        "warnings": [],
        "checks": _checks(request.folder, setting.table),
    }


def _risk_figures(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures that the screen shows; records stay in the report."""
    keys = ("records", "attributes", "disclosed", "risk", "over", "limit", "holds", "dictionaries", "by_attribute", "notes")
    return {key: content[key] for key in keys}


def curve(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Measure how sensitive attributes depend on one another, and the trade-off of all plans: `sfumato project --curve`."""
    from sfumato.projections._project import measure_attributes
    from sfumato.projections.plans.tradeoff_curve import tradeoff
    from sfumato.projections.projection_document import curve_content

    options = (request.config.project or ProjectSection()).options()
    progress("reading")
    table = request.config.table()
    progress("measuring how the attributes depend on one another")
    return curve_content(tradeoff(measure_attributes(table, options["sets"], options["harmless"])[1]))


def project(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Publish several tables, as `sfumato project` does."""
    from sfumato.anonymization.methods import AUTO
    from sfumato.projections._project import project as publish

    declared = request.config
    method = declared.method or MethodSection()
    progress("reading")
    table = declared.table()
    result = publish(
        table,
        None,
        declared.require_principles(),
        **(declared.project or ProjectSection()).options(),
        method=None if method.name == AUTO else declared.grouping_method,
        seed=request.seed,
        suppress=method.suppress,
        progress=progress,
    )
    form = declared.output.format if declared.output else "csv"
    folder = request.folder
    result.save(folder / RELEASE, format=form, key=folder / KEY, internal=folder / INTERNAL, progress=progress)
    document = result.document.to_dict()
    losses = [one.loss for one in result.releases]
    return {
        "method": " | ".join(" + ".join(block) for block in document["plan"]),
        "rows": result.releases[0].table.rows,
        "groups": sum(one.audit.groups.count for one in result.releases),
        "suppressed": result.releases[0].suppressed,
        "loss": sum(losses) / len(losses),
        "tables": [{"columns": list(one.table.data.column_names), "loss": one.loss} for one in result.releases],
        "notes": list(document["notes"]),
        "warnings": [warning.text for one in result.releases for warning in one.warnings],
        "checks": _checks(folder, table),
    }


def losses(request: Request, progress: Progress, made: Made) -> dict[str, Any]:
    """Try the cells of the frontier on a sample, as `sfumato frontier --try` does, at the requested k."""
    from sfumato.anonymization.attempt import attempt_with
    from sfumato.anonymization.feasibility import frontier
    from sfumato.anonymization.feasibility.parameter_grid import grid_around
    from sfumato.anonymization.feasibility.varied_requirement import varied_requirement

    declared = request.config
    progress("reading")
    table = declared.table()
    varied = varied_requirement(declared.require_principles(), table.schema)
    if varied.requirement is None:
        raise ConfigError("no requirement limits nearness", remedy="Add (ε,δ)^k-dissimilarity first.", key="principles")
    epsilons, deltas, _ = grid_around(varied.requirement)
    attempt = attempt_with(table, declared.grouping_method, 0, request.options["sample"], varied.others)
    tried: list[Principle] = []

    def told(principle: Dissimilarity) -> float | None:
        progress(f"trying {principle.label}, which is cell {len(tried) + 1} of at most {len(epsilons) * len(deltas)}")
        tried.append(principle)
        return attempt(principle)

    found = frontier(table, None, epsilons, deltas, [varied.requirement.k], varied.on, told, "all", varied.others)
    return {"cells": found.to_dict()["cells"]}


JOBS: dict[str, Callable[[Request, Progress, Made], dict[str, Any]]] = {
    "release": release,
    "preview": preview,
    "lattice": lattice,
    "losses": losses,
    "risk": risk,
    "withhold": withhold,
    "curve": curve,
    "project": project,
}
"""Every job by its name."""
