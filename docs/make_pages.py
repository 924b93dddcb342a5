"""Write the pages that repeat docstrings: principles.md and reference.md. A test compares them with what is there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import sfumato as sf
from sfumato.distances import DISTANCES
from sfumato.principles import PRINCIPLES

HERE = Path(__file__).parent

PRINCIPLES_HEAD = """\
# Principles

A principle is a condition on every group. `measure` gives each group's level, `holds` the verdict; both are exact. A
principle is *monotone* if the union of two groups that satisfy it always satisfies it, with the table as a whole
unchanged; a property test proves each claim, and a counter-example stands for each principle that is not.

The papers that are cited by number: 000 *A General Proximity Privacy Principle*, 001 *XColor: Protecting General Proximity
Privacy*, 003 *(δ,l)-diversity*. Where a paper is wrong the text says what is done instead.

Every principle but k-anonymity also takes `on`: which sensitive attributes it is about (see [audit](audit.md)).
"""

REFERENCE_HEAD = """\
# Reference

Every public name of `import sfumato as sf`. Each has a docstring with its definition: `help(sf.audit)`.
"""

REFERENCE_TAIL = """\
All errors are `SfumatoError`s and carry what they speak of: `file`, `key`, `column`, `row`, `value`, beside `problem` and
`remedy`.

```python
>>> import pyarrow as pa
>>> import sfumato as sf
>>> try:
...     sf.Table(pa.table({"income": [1]}), sf.Schema(sensitive=["incom"]))
... except sf.SfumatoError as error:
...     print(type(error).__name__, error.column, "-", error.remedy)
ColumnProblem incom - Did you mean 'income'?
>>> sf.Role.SENSITIVE.value, sf.Kind.SET.value
('sensitive', 'set')
>>> issubclass(sf.KAnonymity, sf.Principle), issubclass(sf.Absolute, sf.Distance)
(True, True)
>>> [type(finding) is sf.Finding for finding in sf.audit(pa.table({"a": [1]}), sf.Schema(["a"]), sf.KAnonymity(1))]
[True]

```
"""

SECTIONS = {
    "Anonymize": ["anonymize", "Release", "verify", "Verification", "report"],
    "Methods": ["Glaze", "Mondrian", "XColor", "Method", "Task", "Grouping", "recode", "Recoded"],
    "Audit": ["audit", "Audit", "Finding", "Principle", "View"],
    "Is it possible?": [
        "feasibility",
        "Feasibility",
        "Outlook",
        "Certificate",
        "frontier",
        "Frontier",
        "vulnerability",
        "Contour",
    ],
    "Utility": [
        "utility_of",
        "Utility",
        "Loss",
        "ClassSizes",
        "Workload",
        "query_errors",
        "QueryErrors",
        "marginals",
        "Marginal",
    ],
    "Data": ["read_table", "Table", "Attribute", "Groups", "NeighbourGraph", "synthetic_census"],
    "What is declared": ["Schema", "Role", "Kind", "Missing", "Hierarchy", "Intervals", "Flat", "Config"],
    "Principles": [kind.__name__ for kind in PRINCIPLES.values()],
    "Distances": ["Distance", *(kind.__name__ for kind in DISTANCES.values())],
    "Errors": [
        "SfumatoError",
        "FileProblem",
        "ColumnProblem",
        "CellProblem",
        "HierarchyProblem",
        "ConfigProblem",
        "ParameterProblem",
        "DistanceProblem",
        "ReleaseProblem",
        "Unreached",
    ],
}


def principles_page() -> str:
    """One section per principle: its names, its definition in bold, and the rest of its docstring."""
    parts = [PRINCIPLES_HEAD]
    for name, kind in PRINCIPLES.items():
        definition, _, rest = str(kind.__doc__).partition("\n\n")
        body = " ".join(rest.split(">>>")[0].split())
        parameters = ", ".join(
            field.name if field.default is dataclasses.MISSING else f"{field.name}={field.default!r}"
            for field in dataclasses.fields(kind)  # type: ignore[arg-type]
            if field.name != "on"
        )
        parts.append(
            f'## {kind.title}\n\n`"{name}"` in a config, `sf.{kind.__name__}({parameters})` in Python.\n\n'
            f"**{' '.join(definition.split())}** {body}\n"
        )
    return "\n".join(parts)


def reference_page() -> str:
    """Every public name with the first paragraph of its docstring."""
    parts = [REFERENCE_HEAD]
    for title, names in SECTIONS.items():
        lines = [
            f"- `{name}`: {' '.join(str(getattr(sf, name).__doc__).partition(chr(10) * 2)[0].split())}" for name in names
        ]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join([*parts, REFERENCE_TAIL])


PAGES = {"principles.md": principles_page, "reference.md": reference_page}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
