"""
Hash orders: Python that may decide by the order of a set, or by a hash, which differ in each process.

What cannot be read as a program counts as such as soon as it has one of the words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_hookharness.judging.recurrence.python_tree import parse_python

# In code of Python that is part of another text, such as a command line or a here-document.
_PYTHON = re.compile(rb"(?<![\w.])(?:hash|set|frozenset)\(|\bpop\(\)|__hash__")
_SETS = frozenset(("set", "frozenset"))
# Calls and methods whose result is the same in any order of what they get.
_INDIFFERENT = frozenset(("sorted", "len", "bool", "any", "all", "sum", "isinstance", *_SETS))
_METHODS = frozenset(
    (
        *("add", "discard", "remove", "clear", "copy", "issubset", "issuperset", "isdisjoint"),
        *("update", "intersection_update", "difference_update", "symmetric_difference_update"),
        *("union", "intersection", "difference", "symmetric_difference"),
    )
)
_OPERATORS = (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)


def python_shows_order(text: bytes) -> bool:
    """Return whether code of Python may show a hash, an address, or the order of a set."""
    tree = parse_python(text)
    if tree is None:
        return _PYTHON.search(text) is not None
    return _Sets(tree).shown


class _Sets:
    """The expressions of one program that are sets, and whether one of them shows its order."""

    def __init__(self, tree: ast.Module) -> None:
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._names: set[str] = set()
        nodes = [*self._parents]
        # A name that is bound to a set is one, whichever scope it belongs to; that may make others sets.
        known = -1
        while known != len(self._names):
            known = len(self._names)
            self._names.update(name for node in nodes if self._is_set(node) for name in self._bound(node))
        self.shown = any(
            (isinstance(node, ast.Name) and node.id == "hash")
            or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id")
            or (isinstance(node, ast.Attribute) and node.attr == "__hash__")
            or (self._is_set(node) and not self._hidden(node))
            for node in nodes
        )

    def _is_set(self, node: ast.AST) -> bool:
        match node:
            case ast.Set() | ast.SetComp():
                return True
            case ast.Name(id=name, ctx=ast.Load()):
                return name in self._names
            case ast.Call(func=ast.Name(id=name)):
                return name in _SETS
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return self._is_set(value) and name in _METHODS
            case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
                return any(self._is_set(side) or _is_view(side) for side in (left, right))
            case _:
                return False

    def _bound(self, node: ast.AST) -> Iterator[str]:
        """Yield the names that an expression is bound to."""
        match self._parents[node]:
            case ast.Assign(targets=targets, value=value) if value is node:
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ) if value is node:
                yield name
            case _:
                return

    def _hidden(self, node: ast.AST) -> bool:
        """Return whether nothing shows the order of a set."""
        match self._parents[node]:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp() | ast.Expr() | ast.If() | ast.While():
                return True
            case ast.IfExp(test=test) if test is node:
                return True
            case ast.Assign(targets=targets, value=value):
                return value is node and all(isinstance(target, ast.Name) for target in targets)
            case ast.AnnAssign(target=ast.Name()) | ast.AugAssign(target=ast.Name()) | ast.NamedExpr():
                return True
            case ast.Call(func=ast.Name(id=name)):
                return name in _INDIFFERENT
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return name in _METHODS and self._is_set(value)
            case ast.Attribute(attr=name) as attribute:
                called = self._parents[attribute]
                return name in _METHODS and isinstance(called, ast.Call) and called.func is attribute
            case ast.BinOp() as operation:
                return self._is_set(operation)
            case ast.comprehension() as clause:
                return self._is_unordered(self._parents[clause])
            case _:
                return False

    def _is_unordered(self, made: ast.AST) -> bool:
        """Return whether a comprehension gives the same in any order."""
        if isinstance(made, ast.SetComp):
            return True
        around = self._parents[made]
        return (
            isinstance(made, ast.GeneratorExp | ast.ListComp)
            and isinstance(around, ast.Call)
            and isinstance(around.func, ast.Name)
            and around.func.id in _INDIFFERENT
        )


def _is_view(node: ast.AST) -> bool:
    """Return whether an expression is the keys or items of a mapping, which make a set with an operator."""
    match node:
        case ast.Call(func=ast.Attribute(attr="keys" | "items")):
            return True
        case _:
            return False
