"""Build the reference of public names from their docstrings.

`reference_page` is a list of all names with the first sentence of each docstring; it is kept in reference.md. `api_pages`
gives every name in full, one page per namespace; conf.py writes them when the site is built, so the text exists once.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from itertools import pairwise

import sfumato as sf

NAMESPACES = sorted(name for name in sf.__all__ if isinstance(getattr(sf, name), types.ModuleType))
"""The namespaces of the package: sf.distances and the like."""

SECTIONS = {
    "Functions": inspect.isfunction,
    "Principles": lambda thing: isinstance(thing, type) and issubclass(thing, sf.Principle),
    "Methods": lambda thing: isinstance(thing, type) and issubclass(thing, sf.Method),
    "Data, schema, config and results": lambda thing: isinstance(thing, type),
}
"""How the names of the top level are divided: a name belongs to the first section that accepts it."""

HEAD = """\
# Reference

Every public name. `import sfumato as sf` gives the verbs, principles, methods and result types. Everything else is
in a namespace such as `sf.distances`. `help(sf.audit)` shows a docstring in full; the site shows all of them below "API".
"""

TAIL = """\
All errors are `SfumatoError`s. They carry the place they refer to (`file`, `key`, `column`, `row`, `value`), the `problem`
and the `remedy`.

```python
>>> import pyarrow as pa
>>> import sfumato as sf
>>> try:
...     sf.Table(pa.table({"income": [1]}), sf.Schema(sensitive=["incom"]))
... except sf.SfumatoError as error:
...     print(type(error).__name__, error.column, "-", error.remedy)
ColumnError incom - Did you mean 'income'?
>>> sf.data.Role.SENSITIVE.value, sf.data.Kind.SET.value
('sensitive', 'set')
>>> issubclass(sf.KAnonymity, sf.Principle), issubclass(sf.distances.Absolute, sf.distances.Distance)
(True, True)
>>> [type(finding) is sf.Finding for finding in sf.audit(pa.table({"a": [1]}), sf.Schema(["a"]), sf.KAnonymity(1))]
[True]
>>> isinstance(sf.explain("k-anonymity").measured, sf.MeasuredExample)
True

```
"""


def public_names(namespace: str | None = None) -> list[str]:
    """Return the public classes and functions of a namespace, or of the top level."""
    module = sf if namespace is None else getattr(sf, namespace)
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    things = {name: getattr(module, name) for name in names}
    return sorted(
        name
        for name, thing in things.items()
        if (isinstance(thing, type) or inspect.isfunction(thing)) and str(thing.__module__).startswith("sfumato")
    )


def top_level_sections() -> dict[str, list[str]]:
    """Divide the names of the top level into sections."""
    sections: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for name in public_names():
        title = next(title for title, accepts in SECTIONS.items() if accepts(getattr(sf, name)))
        sections[title].append(name)
    return sections


def reference_page() -> str:
    """List every public name with the first paragraph of its docstring."""
    parts = [HEAD]
    for title, names in top_level_sections().items():
        parts.append(f"## {title}\n\n" + "\n".join(_entry("sf", sf, name) for name in names) + "\n")
    for namespace in NAMESPACES:
        module = getattr(sf, namespace)
        entries = "\n".join(_entry(f"sf.{namespace}", module, name) for name in public_names(namespace))
        parts.append(f"## sf.{namespace}\n\n{_first_paragraph(module)}\n\n{entries}\n")
    return "\n".join([*parts, TAIL])


def _entry(prefix: str, module: types.ModuleType, name: str) -> str:
    return f"- `{prefix}.{name}`: {_first_paragraph(getattr(module, name))}"


def _first_paragraph(thing: object) -> str:
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def api_pages() -> dict[str, str]:
    """Return the pages of the API by file name: the top level, and one per namespace."""
    pages = {"top-level.md": _api_page("sfumato", "sf", sf, public_names())}
    for namespace in NAMESPACES:
        pages[f"{namespace}.md"] = _api_page(
            f"sf.{namespace}", f"sf.{namespace}", getattr(sf, namespace), public_names(namespace)
        )
    contents = "\n".join(page.removesuffix(".md") for page in pages)
    pages["index.md"] = f"# API\n\nThe docstrings of every public name.\n\n```{{toctree}}\n:maxdepth: 2\n\n{contents}\n```\n"
    return pages


def _api_page(title: str, prefix: str, module: types.ModuleType, names: list[str]) -> str:
    parts = [f"# {title}\n\n{_as_markdown(inspect.getdoc(module) or '')}\n"]
    for name in names:
        thing = getattr(module, name)
        parts.append(
            f"## {prefix}.{name}\n\n```text\n{_signature(name, thing)}\n```\n\n{_as_markdown(inspect.getdoc(thing) or '')}\n"
        )
        parts += [
            f"`{member}`\n: {textwrap.indent(_as_markdown(text), '  ').strip()}\n"
            for member, text in _members(thing).items()
        ]
    return "\n".join(parts)


def _signature(name: str, thing: object) -> str:
    """Return a signature as one would write the call, wrapped if it is long."""
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    shown = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    # an object in a default, such as a function, would show an address that differs from run to run
    shown = re.sub(r"<[^>]* at 0x[0-9a-f]+>|<function \w+>|<[^<>]*>", "…", shown)
    return "\n    ".join(textwrap.wrap(f"{name}{shown}", 110))


def _members(thing: object) -> dict[str, str]:
    """Return the documented public fields, methods and properties of a class, with their docstrings."""
    if not isinstance(thing, type):
        return {}
    members = _field_texts(thing)
    for name, member in vars(thing).items():
        function = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        if not name.startswith("_") and inspect.isfunction(function) and function.__doc__:
            arguments = "" if function is not member and not isinstance(member, classmethod | staticmethod) else "()"
            members[f"{name}{arguments}"] = inspect.cleandoc(function.__doc__)
    return members


def _field_texts(kind: type) -> dict[str, str]:
    """Return the texts below the public fields of a class; Python does not keep them, so they are read from the source."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # type: ignore[attr-defined]
    except (OSError, TypeError):
        return {}
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and not field.target.id.startswith("_")
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _as_markdown(docstring: str) -> str:
    """Fence the examples and the indented blocks of a docstring; the rest is Markdown as it is."""
    out, lines = [], docstring.splitlines()
    i = 0
    while i < len(lines):
        if lines[i].lstrip().startswith(">>>"):
            start = i
            while i < len(lines) and lines[i].strip():
                i += 1
            out += ["```python", *textwrap.dedent("\n".join(lines[start:i])).splitlines(), "```"]
        elif lines[i].startswith("    ") and (not out or not out[-1].strip()):
            start = i
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                i += 1
            out += ["```text", *textwrap.dedent("\n".join(lines[start:i])).rstrip().splitlines(), "```", ""]
        else:
            out.append(lines[i])
            i += 1
    return "\n".join(out)
