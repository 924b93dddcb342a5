"""Screen 6, risk of disclosure: what an attacker with a dictionary gains, and which values to withhold."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.config import Config
from sfumato.config.risk_section import RiskSection
from sfumato.config_edits import set_values
from sfumato.data.hierarchy import Hierarchy, Intervals
from sfumato.ui.file_answers import report_answer
from sfumato.ui.screen import Change, Screen, Snippets, Values
from sfumato.ui.screens.release_screen import cancel, forget
from sfumato.ui.session import Session
from sfumato.ui.work import work_of

PER = {"record": "per record", "attribute": "per column", "table": "in the whole table"}


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    work, config = work_of(session), session.config
    assert config is not None, "without a config nothing is shown"
    section = config.risk or RiskSection()
    measured = work.results.get("risk")
    made = [one for one in work.candidates if one.kind == "withhold"]
    chosen = next((one for one in made if str(one.number) == query.get("release")), made[-1] if made else None)
    return {
        "work": work,
        "section": section,
        "per": PER,
        "general": _generalizable(config, section),
        "dictionaries": [one.name or one.path or "the table itself" for one in section.dictionaries] or ["the table itself"],
        "measured": measured,
        "current": measured is not None and measured.key == work.key_for("risk"),
        "made": made,
        "chosen": chosen,
        "view": query.get("view", "measured"),
    }


def _generalizable(config: Config, section: RiskSection) -> list[str]:
    """The columns with a hierarchy that a rule can generalize by, and those that the config names."""
    schema = config.schema
    fitting = [name for name, tree in schema.hierarchies.items() if isinstance(tree, str | Path | Hierarchy | Intervals)]
    attributes = fitting if section.attributes is None else section.attributes
    offered = [name for name in fitting if name in attributes and name not in schema.identifiers]
    return [*offered, *(name for name in section.generalize if name not in offered)]


def _settings(session: Session, form: Values, version: int) -> Change:
    values: dict[str, Any] = {key: form.get(key, "").strip() or None for key in ("limit", "disclose")}
    if values["disclose"] is not None and values["disclose"].isdigit():
        values["disclose"] = int(values["disclose"])
    per = form.get("per", "record")
    values["per"] = None if per == "record" else per
    config = session.config
    section = (config.risk if config is not None else None) or RiskSection()
    if config is not None and not isinstance(section.generalize, Mapping):  # the shares of a mapping are edited as text
        values["generalize"] = [name for name in _generalizable(config, section) if f"generalize:{name}" in form] or None

    def change(text: str) -> str:
        changed = set_values(text, ["risk"], values)
        Config.parse(changed, session.place, allow_code=session.allow_code)  # an invalid limit is refused here
        return changed

    session.edit("Risk of disclosure", change, version, "risk")
    return Change("The settings were changed.")


def _measure(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    work_of(session).start("risk", "Measuring the risk")
    return Change("The risk is being measured.")


def _withhold(session: Session, form: Values, version: int) -> Change:
    session.check_version(version)
    work_of(session).start("withhold", "Withholding values")
    return Change("Values are being withheld.")


def _snippets(session: Session) -> Snippets:
    name, config = shlex.quote(str(session.place)), session.config
    assert config is not None, "without a config nothing is shown"
    section = config.risk or RiskSection()
    limit = "" if section.limit is None else ", limit=config.risk.limit"
    withhold = f"sfumato risk {name} --disclose {shlex.quote(str(section.disclose))} --output release\n"
    return Snippets(
        f"sfumato risk {name} --report risk.html\n" + ("" if section.disclose is None else withhold),
        "import sfumato as sf\nfrom sfumato.disclosure import risk_of\n\n"
        f"config = sf.Config.load({str(session.place)!r})\n"
        f"print(risk_of(config.setting(){limit}))\n",
    )


DISCLOSURE = Screen(
    name="disclosure",
    title="Risk of disclosure",
    content=_content,
    snippets=_snippets,
    actions={"settings": _settings, "measure": _measure, "withhold": _withhold, "cancel": cancel, "forget": forget},
    files={"measured": report_answer("risk"), "report": report_answer("release"), "internal": report_answer("internal")},
)
