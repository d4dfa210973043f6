"""
Answers that a Python script builds key by key in a variable, and then prints.

A variable counts only if one block sets it to a literal object, adds values under constant keys and prints
it, and nothing else uses it. One condition in the block may add keys too; the answer then has these keys, as
the script may print it in this form.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

_PRINTS = r"(?:print|sys\.stdout\.write)\(json\.dumps\({0}[,)]|json\.dump\({0}, sys\.stdout[,)]"
_TO_FILE = re.compile(r"\bfile=(?!sys\.stdout)")
_BUILT = re.compile(r"^[ \t]*\w+\[[\"']\w+[\"']\][ \t]*=(?!=)", re.MULTILINE)
_DUMPS = "json.dump"
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def built_answers(script: str) -> Iterator[tuple[int, str]]:
    """Yield the objects that a Python script builds and prints, as one text, with the line."""
    if _DUMPS not in script or not _BUILT.search(script):
        return
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError, RecursionError):
        return
    functions = (one for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
    # The innermost function counts, which comes last.
    owners = {id(block): (block, scope) for scope in (tree, *functions) for block in _blocks(scope)}
    for block, scope in owners.values():
        names = Counter(one.id for one in ast.walk(scope) if isinstance(one, ast.Name))
        yield from _in_block(block, names)


def _blocks(scope: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for node in ast.walk(scope):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _in_block(block: Sequence[ast.stmt], names: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    for number, statement in enumerate(block):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as first)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict() as first)
            ):
                built = _built(block[number + 1 :], name)
                # The object itself, each key, and the call that prints it.
                if built and names[name] == len(built) + 2:
                    keys = [*first.keys, *(key for key, _ in built)]
                    values = [*first.values, *(value for _, value in built)]
                    yield statement.lineno, ast.unparse(ast.Dict(keys=keys, values=values))
            case _:
                pass


def _built(rest: Sequence[ast.stmt], name: str) -> list[tuple[ast.expr, ast.expr]]:
    """Return the keys and values that a variable gets before it is printed; empty if that is not certain."""
    found, has_condition = list[tuple[ast.expr, ast.expr]](), False
    for statement in rest:
        if key := _key_of(statement, name):
            found.append(key)
        elif isinstance(statement, ast.If) and not statement.orelse and not has_condition:
            keys = [key for one in statement.body if (key := _key_of(one, name))]
            # A branch that leaves does not come to the call that prints.
            if keys and any(isinstance(one, _LEAVES) for one in ast.walk(statement)):
                return []
            has_condition = bool(keys)
            found += keys
        elif isinstance(statement, ast.Expr):
            written = ast.unparse(statement)
            if re.match(_PRINTS.format(re.escape(name)), written):
                return found if not _TO_FILE.search(written) else []
    return []


def _key_of(statement: ast.stmt, name: str) -> tuple[ast.expr, ast.expr] | None:
    match statement:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=base), slice=ast.Constant(value=str()) as key)],
            value=value,
        ) if base == name:
            return key, value
        case _:
            return None
