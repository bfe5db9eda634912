"""The ways in which a source is broken: one change of its syntax tree at a time.

comparison     each operator by its strict or weak form and by its negation
and, or        the other one; each operand left out
signs          + and -, * and /, a minus or a ``not`` left out
constants      0 and 1 exchanged, small ones moved by 1, larger ones and tolerances times or by 10, True and False
patterns       digits of all scripts for [0-9], every count moved by 1
checks         ``if bad: raise`` (return, continue, break) and calls for their effect left out, a condition of a
               comprehension or of ``a if c else b`` taken as true or false, one exception no longer caught
calls          abs, isfinite and isinstance left out, max for min, all for any, each argument of max and min left out

Words (f-strings, what is raised, docstrings), types and ``strict=`` of zip, an assertion of its own, stay as they are.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
EXCHANGED = {"max": "min", "min": "max", "all": "any", "any": "all", "maximum": "minimum", "minimum": "maximum"}
#: A call that is replaced by its first argument, or by True.
BY_ARGUMENT, BY_TRUE = ("abs",), ("isfinite", "isinstance")
#: In a regular expression: digits, and how often something may occur.
PATTERN = re.compile(r"\[0-9\]|(?<=[{,])\d+(?=[,}])")
#: Keywords whose constants are no part of what is checked.
LEFT_ALONE = ("strict", "frozen", "slots")
#: Characters of a piece of code in the name of a mutant.
LONGEST_NAME = 140


@dataclass(frozen=True)
class Mutant:
    """A source with one change; the name says where and what, whatever the line."""

    name: str
    path: str
    function: str
    lines: range  # of the statement
    tree: ast.Module
    site: tuple[ast.AST, str, int | None, Any]  # parent, field, place in it, what is put there

    @property
    def line(self) -> int:
        """Where the statement begins."""
        return self.lines.start

    @property
    def source(self) -> str:
        """The whole mutated source."""
        undo = _put(*self.site)
        source = ast.unparse(ast.fix_missing_locations(self.tree))
        _put(*undo)
        return source


def mutants(path: str, source: str) -> list[Mutant]:
    """Every mutant of a source."""
    tree, seen, out = ast.parse(source), Counter[str](), []
    for where, lines, parent, field, place, other in _sites(tree, "", range(0)):
        undo = _put(parent, field, place, other)
        child, shown = undo[-1], isinstance(parent, ast.expr) or isinstance(undo[-1], ast.Constant)
        after = ast.unparse(parent if shown else other)
        _put(*undo)
        before = ast.unparse(parent if shown else child)
        if shown and len(before) > LONGEST_NAME:
            before, after = ast.unparse(child), ast.unparse(other)
        name = f"{path.rsplit('/', 1)[-1]} {where or '(module)'}: {_short(before)} -> {_short(after)}"
        seen[name] += 1
        name += f" #{seen[name]}" if seen[name] > 1 else ""
        out.append(Mutant(name, path, where, lines, tree, (parent, field, place, other)))
    return out


def _short(text: str) -> str:
    """A piece of code on one line, without its end where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_NAME else text[:LONGEST_NAME] + "..."


def _put(parent: ast.AST, field: str, place: int | None, node: Any) -> tuple[ast.AST, str, int | None, Any]:
    """Put a node in its place; what undoes it."""
    if place is None:
        old = getattr(parent, field)
        setattr(parent, field, node)
    else:
        old = getattr(parent, field)[place]
        getattr(parent, field)[place] = node
    return parent, field, place, old


def _sites(parent: ast.AST, where: str, lines: range) -> Iterator[tuple[str, range, ast.AST, str, int | None, Any]]:
    """The function, the lines of the statement, the place in the tree, and what may stand there instead."""
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for k, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, (ast.Raise, ast.Assert)):
                continue
            if isinstance(child, ast.JoinedStr) and not (isinstance(parent, ast.Call) and _called(parent) == "compile"):
                continue
            if isinstance(child, ast.keyword) and child.arg in LEFT_ALONE:
                continue
            named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
            inner = f"{where}.{child.name}".lstrip(".") if named else where
            around = _lines(child) if isinstance(child, (ast.stmt, ast.ExceptHandler)) else lines
            for other in _others(child):
                yield inner, around, parent, field, k if isinstance(value, list) else None, other
            yield from _sites(child, inner, around)


def _lines(statement: ast.stmt | ast.ExceptHandler) -> range:
    """The lines of a statement, of one with a body those of its head: a function is entered at its first decorator."""
    body = getattr(statement, "body", None)
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    last = max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno
    return range(first, last + 1)


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand instead of a node."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            for other in COMPARISONS[type(op)]:
                yield ast.Compare(node.left, [*node.ops[:k], other(), *node.ops[k + 1 :]], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        yield from (_without(node.values, k, lambda v: ast.BoolOp(node.op, v)) for k in range(len(node.values)))
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
    elif isinstance(node, ast.Constant):
        yield from map(ast.Constant, _other_constants(node.value))
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.comprehension):
        for k in range(len(node.ifs)):
            yield ast.comprehension(node.target, node.iter, node.ifs[:k] + node.ifs[k + 1 :], node.is_async)
    elif isinstance(node, ast.If) and isinstance(node.body[-1], (ast.Raise, ast.Return, ast.Continue, ast.Break)):
        yield ast.If(ast.Constant(False), node.body, node.orelse)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Tuple):
        for k in range(len(node.type.elts)):
            kept = ast.Tuple(node.type.elts[:k] + node.type.elts[k + 1 :], ast.Load())
            yield ast.ExceptHandler(kept, node.name, node.body)
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)


def _without(values: list[ast.expr], k: int, joined: Callable[[list[ast.expr]], ast.expr]) -> ast.expr:
    kept = values[:k] + values[k + 1 :]
    return kept[0] if len(kept) == 1 else joined(kept)


def _other_constants(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1) if value != 0 else (1,)
        yield from (10 * value, value // 10) if value >= 10 else ()
    elif isinstance(value, float):
        yield from (10 * value, value / 10) if value else (1.0,)
    elif isinstance(value, str) and PATTERN.search(value):
        for found in PATTERN.finditer(value):
            for other in (r"\d",) if found[0] == "[0-9]" else (str(int(found[0]) + 1), str(int(found[0]) - 1)):
                yield value[: found.start()] + other + value[found.end() :]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _other_calls(node: ast.Call) -> Iterator[ast.expr]:
    name = _called(node)
    if name in EXCHANGED:
        other = EXCHANGED[name]
        named = isinstance(node.func, ast.Attribute)
        func = ast.Attribute(node.func.value, other, ast.Load()) if named else ast.Name(other, ast.Load())
        yield ast.Call(func, node.args, node.keywords)
        if len(node.args) > 1 and name not in ("all", "any"):
            yield from (
                _without(node.args, k, lambda a: ast.Call(node.func, a, node.keywords)) for k in range(len(node.args))
            )
    elif name in BY_ARGUMENT and len(node.args) == 1:
        yield node.args[0]
    elif name in BY_TRUE:
        yield ast.Constant(True)
