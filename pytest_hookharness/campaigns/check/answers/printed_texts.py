"""Texts that Python scripts print to standard output as they are written, and the exit status after them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator, Sequence

from pytest_hookharness.judging.recurrence.python_tree import parse_python

# Code that may redirect the output, or let a person start the script.
_ELSEWHERE = re.compile(r"redirect_stdout|sys\.stdout\s*=|argparse|sys\.argv|isatty")
_EXITS = re.compile(r"(?:sys\.|os\._?)?exit\((?P<code>[^()]*)\)|raise SystemExit\((?P<raised>[^()]*)\)")


def printed_texts(text: str) -> Iterator[str]:
    """Yield the texts that a Python script prints to standard output, unless it then ends with a failure."""
    if _ELSEWHERE.search(text):
        return
    for block in blocks_of(text):
        for number, statement in enumerate(block):
            status = next((code for one in block[number:] if (code := exit_status(one) or _result(one))), "0")
            if (
                (words := printed(statement))
                and status in ("0", "None")
                and not words.startswith(("{", "[{"))
            ):
                yield words


def blocks_of(text: str) -> Iterator[Sequence[ast.stmt]]:
    """Yield the blocks of statements that a Python script may run; none if it cannot be parsed."""
    tree = parse_python(text)
    if tree is None:
        return
    named = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    tree.body = [one for one in tree.body if not _is_idle(one, named)]
    for parent in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list):
                yield block


def _is_idle(statement: ast.stmt, named: Collection[str]) -> bool:
    """Return whether a statement is a function that nothing in the script names."""
    return (
        isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        and statement.name not in named
        and not statement.decorator_list
    )


def exit_status(statement: ast.stmt) -> str:
    """Return the status with which a statement ends the script, as it is written; empty for none."""
    ends = isinstance(statement, (ast.Expr, ast.Raise))
    found = _EXITS.fullmatch(ast.unparse(statement)) if ends else None
    return (found["code"] or found["raised"] or "0") if found else ""


def _result(statement: ast.stmt) -> str:
    """Return what a statement returns, which may be the status, as it is written; empty for nothing."""
    match statement:
        case ast.Return(value=ast.Constant(value=None | False | True | 0)) | ast.Return(value=None):
            return "0"
        case ast.Return(value=ast.expr() as value):
            return ast.unparse(value)
        case _:
            return ""


def printed(statement: ast.stmt) -> str:
    """Return the text that a statement prints to standard output, as far as it is written; empty for none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[first, *_], keywords=words)):
            return "" if any(word.arg == "file" for word in words) else _literal(first)
        case _:
            return ""


def names_of(text: str, pattern: re.Pattern[str]) -> frozenset[str]:
    """
    Return the names of what may do something in a Python script, also by way of another one.

    These are functions, classes and values whose text fits a pattern, and all that no standard module has.
    """
    named: list[tuple[str, ast.stmt]] = []
    found: set[str] = set()
    for node in (node for block in blocks_of(text) for node in block):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                named.append((name, node))
            case ast.Assign(targets=[ast.Name(id=name), *_]):
                named.append((name, node))
            case ast.ImportFrom(module=module, names=names) if module not in sys.stdlib_module_names:
                found |= {one.asname or one.name for one in names}
            case ast.Import(names=names):
                found |= {one.asname or one.name for one in names if one.name not in sys.stdlib_module_names}
            case _:
                pass
    found |= {name for name, node in named if pattern.search(ast.unparse(node))}
    for _ in named:
        found |= {name for name, node in named if uses(node, found)}
    return frozenset(found)


def uses(node: ast.AST, names: Collection[str]) -> bool:
    """Return whether one of some names stands in a part of a script, also as an attribute."""
    return any(
        isinstance(one, ast.Name | ast.Attribute)
        and (one.id if isinstance(one, ast.Name) else one.attr) in names
        for one in ast.walk(node)
    )


def _literal(node: ast.expr) -> str:
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.JoinedStr(values=values):
            return "".join(str(one.value) if isinstance(one, ast.Constant) else "{...}" for one in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _literal(left) + _literal(right)
        case ast.Name():
            return f"{{{node.id}}}"
        case _:
            # An answer in JSON, or what nobody knows.
            return ""
