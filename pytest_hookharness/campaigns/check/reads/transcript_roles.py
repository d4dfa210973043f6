"""
Conditions in Python scripts that compare `role` of a transcript's line, and are never true.

A line of Claude Code's transcript has `type` at its top, and `role` below `message` (observed in version
2.1.329). A line counts only if a function parses it in a loop over the transcript, and uses it only under the
condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts

_HOST, _KEY, _PATH, _NAMED = "claude-code", "role", "transcript_path", "transcript"
_OPENS = frozenset({"open", "read_text", "read_bytes"})


def unfound_roles(text: str) -> Iterator[tuple[str, int]]:
    """Yield why a comparison of a line's role is never true, with its line in the script."""
    # The transcripts of other hosts have other lines.
    if not all(word in text for word in (_PATH, _KEY, "json.loads")) or any(named_hosts(_HOST, text)):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    functions = [one for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for nodes in [[*ast.walk(one)] for one in functions] or [[*ast.walk(tree)]]:
        if _opens_transcripts_only(nodes):
            yield from _compared(nodes)


def _opens_transcripts_only(nodes: Sequence[ast.AST]) -> bool:
    """Return whether all files that a function opens are the transcript, by their names."""
    known = {
        ast.unparse(target)
        for one in nodes
        if isinstance(one, ast.Assign) and _NAMED in ast.unparse(one.value).lower()
        for target in one.targets
    }
    opened = list[str]()
    for one in nodes:
        match one:
            case ast.Call(func=ast.Name(id="open"), args=[path, *_]):
                opened.append(ast.unparse(path))
            case ast.Call(func=ast.Attribute(value=path, attr=attr)) if attr in _OPENS:
                opened.append(ast.unparse(path))
            case _:
                pass
    return bool(opened) and all(one in known or _NAMED in one.lower() for one in opened)


def _compared(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield the comparisons that never hold of a line that a function parses."""
    loops = {one.target.id for one in nodes if isinstance(one, ast.For) and isinstance(one.target, ast.Name)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _parses(call, loops):
                uses = [one for one in nodes if isinstance(one, ast.Name) and one.id == name]
                conditions = [one for one in nodes if isinstance(one, ast.If)]
                if condition := next((one for one in conditions if _is_vain(one, name, uses)), None):
                    words = (
                        f"the script compares `{_KEY}` at the top level of a line, but no line of the "
                        "transcript has it there"
                    )
                    yield words, condition.test.lineno
            case _:
                pass


def _parses(call: ast.Call, loops: set[str]) -> bool:
    """Return whether a call parses the variable of a loop, perhaps without the blanks around it."""
    written = ast.unparse(call)
    return any(written in (f"json.loads({one})", f"json.loads({one}.strip())") for one in loops)


def _is_vain(condition: ast.If, name: str, uses: Sequence[ast.Name]) -> bool:
    """Return whether a condition needs the role of a line, and nothing is done with the line without it."""
    parts = condition.test.values if isinstance(condition.test, ast.BoolOp) else [condition.test]
    if isinstance(condition.test, ast.BoolOp) and not isinstance(condition.test.op, ast.And):
        return False
    within = {id(one) for one in ast.walk(condition)}
    outside = [one for one in uses if isinstance(one.ctx, ast.Load) and id(one) not in within]
    stored = sum(isinstance(one.ctx, ast.Store) for one in uses)
    for part in parts:
        match part:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str() as role)]):
                if _is_role(left, name, role):
                    return stored == 1 and not condition.orelse and not outside
            case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[ast.Constant(value=str() as role)]):
                leaves = len(condition.body) == 1 and isinstance(condition.body[0], ast.Continue)
                if _is_role(left, name, role) and leaves and len(parts) == 1:
                    last = condition.end_lineno or condition.lineno
                    return stored == 1 and all(one.lineno > last for one in outside)
            case _:
                pass
    return False


def _is_role(node: ast.expr, name: str, role: str) -> bool:
    """Return whether an expression is the role at the top of a line, without a default that fits."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr="get"), args=[key, *default]):
            known = all(isinstance(one, ast.Constant) and one.value != role for one in default)
        case ast.Subscript(value=ast.Name(id=base), slice=key):
            known = True
        case _:
            return False
    return known and base == name and isinstance(key, ast.Constant) and key.value == _KEY
