"""Mutants of a module: its code with one small change that a test should notice."""

from __future__ import annotations

import ast
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
    function: str
    """The function or method that is changed; empty if it is code of the module or of a class."""
    code: str
    """The line, so that a mutant is found again when lines are added above it."""
    change: str
    """The old and the new code."""
    number: int
    """Which of the changes of the module it is."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


def mutants_of(path: Path, text: str) -> Iterator[Mutant]:
    r"""Yield every mutant of a module.

    Left alone is what no verdict depends on, by construction: docstrings, annotations, decorators, assertions, imports,
    `__slots__`, `__repr__`, code for type checkers, the text of messages and the choice between two texts, what is raised,
    `strict` of `zip`, `stacklevel` of warnings, and the `usual` range of a parameter.

    >>> [str(mutant) for mutant in mutants_of(Path("a.py"), "def f(x):\n    return x < 1\n")]
    ['a.py:2: x < 1 → x <= 1', 'a.py:2: 1 → 2']
    """
    number, lines = 0, ["", *text.splitlines()]
    for node, function in _code(ast.parse(text), ""):
        before = _shown(node)
        for change in _changes(node):
            undo = change(node)
            line = getattr(node, "lineno", 0)
            yield Mutant(path, line, function, lines[line].strip(), f"{before} → {_shown(node)}", number)
            undo()
            number += 1


def mutated(text: str, mutant: Mutant) -> str:
    r"""Return the text of a module with the change of a mutant.

    >>> text = "def f(x):\n    return x < 1\n"
    >>> [mutated(text, mutant).splitlines()[-1] for mutant in mutants_of(Path("a.py"), text)]
    ['    return x <= 1', '    return x < 2']
    """
    tree = ast.parse(text)
    changes = (change for node, _ in _code(tree, "") for change in [(node, one) for one in _changes(node)])
    node, change = next(one for place, one in enumerate(changes) if place == mutant.number)
    change(node)
    return ast.unparse(tree)


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    return "nothing" if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else ast.unparse(node)


def _code(tree: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes that may be changed and the functions that they are in, always in the same order."""
    for child in ast.iter_child_nodes(tree):
        if _without_effect(tree, child):
            continue
        name = function
        if isinstance(child, ast.ClassDef | ast.FunctionDef) and not (function and isinstance(tree, ast.FunctionDef)):
            name = f"{function}.{child.name}" if function else child.name
        yield child, name
        yield from _code(child, name)


def _without_effect(parent: ast.AST, child: ast.AST) -> bool:
    """Return whether no verdict can depend on a node; `mutants_of` lists what these are."""
    match child:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            found = True
        case ast.FunctionDef(name="__repr__" | "__str__") | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            found = True
        case ast.Assign(targets=[ast.Name(id="__slots__")]) | ast.keyword(arg="strict" | "stacklevel" | "usual"):
            found = True
        case ast.IfExp(body=one, orelse=other):
            found = _is_text(one) and _is_text(other)
        case _:
            found = _is_annotation(parent, child)
    return found


def _is_annotation(parent: ast.AST, child: ast.AST) -> bool:
    if isinstance(parent, ast.FunctionDef):
        return child is parent.returns or child in parent.decorator_list
    if isinstance(parent, ast.ClassDef):
        return child in parent.decorator_list or child in parent.keywords
    return isinstance(parent, ast.arg | ast.AnnAssign) and child is parent.annotation


_Undo = Callable[[], None]


def _changes(node: ast.AST) -> Iterator[Callable[[ast.AST], _Undo]]:
    """Yield functions that change a node in place, each of which returns a function that restores it."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield _setting("ops", [_COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATORS and not _joins_text(node):
        yield _setting("op", _OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _setting("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        if other != node.value:  # 1e300 + 1 is 1e300
            yield _setting("value", other)
    elif isinstance(node, ast.Name) and node.id in _FUNCTIONS:
        yield _setting("id", _FUNCTIONS[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in _FUNCTIONS:
        yield _setting("attr", _FUNCTIONS[node.attr])
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.BoolOp):
        yield _setting("test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield _setting("value", ast.Constant(None))


def _setting(name: str, value: object) -> Callable[[ast.AST], _Undo]:
    def change(node: ast.AST) -> _Undo:
        before = getattr(node, name)
        setattr(node, name, value)
        return lambda: setattr(node, name, before)

    return change


def _joins_text(node: ast.BinOp | ast.AugAssign) -> bool:
    return any(_is_text(side) for side in ([node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)
