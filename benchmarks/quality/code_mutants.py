"""Mutants of a module: its code with one small change that a test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """One change of a module."""

    path: Path
    line: int
    change: str
    """The old and the new code."""
    text: str
    """The whole module with the change."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


def mutants_of(path: Path, text: str) -> Iterator[Mutant]:
    r"""Yield every mutant of a module.

    Messages, annotations, decorators, `__repr__` and code for type checkers are left alone: no verdict depends on them.

    >>> [str(mutant) for mutant in mutants_of(Path("a.py"), "def f(x):\n    return x < 1\n")]
    ['a.py:2: x < 1 → x <= 1', 'a.py:2: 1 → 2']
    """
    tree = ast.parse(text)
    for number, node in enumerate(_code(tree)):
        for change in _changes(node):
            other = copy.deepcopy(tree)
            target = next(one for place, one in enumerate(_code(other)) if place == number)
            before = ast.unparse(node)
            change(target)
            yield Mutant(path, getattr(node, "lineno", 0), f"{before} → {_shown(target)}", ast.unparse(other))


def _shown(node: ast.AST) -> str:
    return "nothing" if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else ast.unparse(node)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed, always in the same order."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(child, ast.FunctionDef) and child.name == "__repr__":
            continue
        if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
            continue
        if _is_annotation(tree, child):
            continue
        yield child
        yield from _code(child)


def _is_annotation(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, ast.FunctionDef):
        return child is parent.returns or child in parent.decorator_list
    if isinstance(parent, ast.ClassDef):
        return child in parent.decorator_list or child in parent.keywords
    return isinstance(parent, ast.arg | ast.AnnAssign) and child is parent.annotation


def _changes(node: ast.AST) -> Iterator[Callable[[ast.AST], None]]:
    """Yield functions that change a copy of a node in place."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        other = _COMPARISONS[type(node.ops[0])]
        yield lambda copied: copied.ops.__setitem__(0, other())  # type: ignore[attr-defined]
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATORS and not _is_text(node):
        operator = _OPERATORS[type(node.op)]
        yield lambda copied: setattr(copied, "op", operator())
    elif isinstance(node, ast.BoolOp):
        boolean = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield lambda copied: setattr(copied, "op", boolean())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield lambda copied: setattr(copied, "value", value)
    elif isinstance(node, ast.Name) and node.id in _FUNCTIONS:
        yield lambda copied: setattr(copied, "id", _FUNCTIONS[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in _FUNCTIONS:
        yield lambda copied: setattr(copied, "attr", _FUNCTIONS[node.attr])
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        yield lambda copied: setattr(copied, "test", ast.UnaryOp(ast.Not(), copied.test))  # type: ignore[attr-defined]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield lambda copied: setattr(copied, "value", ast.Constant(None))


def _is_text(node: ast.BinOp | ast.AugAssign) -> bool:
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    return any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in sides)
