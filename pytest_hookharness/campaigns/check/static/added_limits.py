"""
Time limits in scripts that surely follow each other, and together are longer than the timeout of their hook.

In Python these are the rounds of a loop over written values, of which none ends it, and the calls in a row of
the part that always runs; in shell scripts commands outside of functions and conditions whose failure is
passed over. A small limit is one of a quick program, and a script that looks at a clock may have a limit for
all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from types import MappingProxyType

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.shell_code.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_functions import functions_of, is_within
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.campaigns.check.static.ended_searches import strict_part
from pytest_hookharness.campaigns.check.static.inner_limits import inner_limits
from pytest_hookharness.campaigns.check.static.timeout_units import is_odd
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_LEAVES = re.compile(r"\b(?:exit|return|exec|break|continue)\b")
_PASSED_OVER = re.compile(r"\|\|[ \t]*(?!exit\b|return\b|\{)\S|\bif\b|\$\?")
_LOOPS = re.compile(r"^[ \t]*(?:for|while|until)\b|^[ \t]*done\b", re.MULTILINE)
_STARTS = frozenset({"run", "call", "check_call", "check_output"})
_BESIDE = re.compile(r"\b(?:Popen|fork|Thread\w*|multiprocessing|create_subprocess_\w+)\b")
# A quick program, whatever the limit of the function that starts it.
_QUICK = frozenset(["git", "which", "date", "hostname", "uname"])
_CLOCK = re.compile(r"\b(?:alarm|setitimer)\(|\bperf_counter\b|\bmonotonic\b|\btime\.time\b|\bSECONDS\b")
_MAIN = re.compile(r"__name__ == '__main__'|'__main__' == __name__")
# What may not be carried out, or not by this process.
_UNSURE = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.DictComp, ast.SetComp)
_MOST, _LONGEST, _SLOW = 20, 200, 10.0


@dataclass(frozen=True, slots=True)
class AddedLimits:
    """
    Limits of programs that run one after the other.

    Attributes:
        seconds: How long all of them may take.
        number: How many there are.
        line: The line of the first.
    """

    seconds: float
    number: int
    line: int


def added_limits(hook_set: HookSet, hook: Hook) -> tuple[str, AddedLimits] | None:
    """Return the limits of a script that are only together longer than each timeout of its hooks."""
    unit = hosts.find(hook_set.host).config.limits.unit
    if hook.type != "command" or not hook.timeout or is_odd(hook.timeout, unit) or hook.options.get("async"):
        return None
    for path, text in hook_set.sources_of(hook):
        allowed = [one.timeout or 0.0 for one in hook_set.hooks_of(path)]
        for one in limits_in_a_row(text):
            single = max((seconds for seconds, _ in inner_limits(text)), default=0.0)
            if all(0 < each < one.seconds for each in allowed) and single <= max(allowed):
                return path, one
    return None


def limits_in_a_row(text: str) -> list[AddedLimits]:
    """Return the limits of a script that surely follow each other, those of each loop together."""
    if _CLOCK.search(text):
        return []
    if SHELL_SCRIPT.match(text):
        return [*_in_shell(code_of(text), text)]
    if "subprocess" not in text or "timeout" not in text:
        return []
    try:
        tree = ast.parse(text)
        return [*_in_python(tree), *([] if _BESIDE.search(text) else _in_a_row(tree))]
    except (SyntaxError, ValueError, RecursionError):
        return []


def _in_shell(shown: str, text: str) -> Iterator[AddedLimits]:
    functions = [*functions_of(text)]
    _, strict = strict_part(text, shown)
    lines, found = shown.split("\n"), list[tuple[float, int]]()
    for seconds, number in [*inner_limits(text)][:_MOST]:
        line = lines[number - 1]
        place = sum(len(one) + 1 for one in lines[: number - 1])
        inside = is_within(place, functions) or conditions_at(shown, place)
        looped = sum(1 if one[0].strip() != "done" else -1 for one in _LOOPS.finditer(shown, 0, place))
        ends = _LEAVES.search(line) or (strict and not _PASSED_OVER.search(line)) or "&&" in line
        if seconds >= _SLOW and not inside and not looped and not ends:
            found.append((seconds, number))
    # What stands between them may end the script.
    first, last = (found[0][1], found[-1][1]) if found else (0, 0)
    if len(found) > 1 and not _LEAVES.search("\n".join(lines[first:last])):
        yield AddedLimits(sum(seconds for seconds, _ in found), len(found), first)


def _in_python(tree: ast.Module) -> Iterator[AddedLimits]:
    nodes = [*ast.walk(tree)]
    values: dict[str, list[ast.expr]] = {}
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                values.setdefault(name, []).append(value)
            case _:
                pass
    functions = _functions(tree)
    for loop in [one for one in nodes if isinstance(one, ast.For)][:_MOST]:
        rounds = _length(loop.iter, values)
        limits = [*_limits(loop.body, functions)]
        if rounds > 1 and limits and not _may_end(loop.body):
            yield AddedLimits(rounds * sum(each for each, _ in limits), rounds * len(limits), limits[0][1])


def _functions(tree: ast.Module) -> dict[str, list[ast.FunctionDef]]:
    """Return the functions of a script whose names have no other meaning in it."""
    functions: dict[str, list[ast.FunctionDef]] = {}
    nodes = [*ast.walk(tree)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    imports = [one for one in nodes if isinstance(one, ast.Import | ast.ImportFrom)]
    others = {alias.asname or alias.name for one in imports for alias in one.names}
    others |= {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return {
        name: found for name, found in functions.items() if name not in others and all(map(_is_plain, found))
    }


def _is_plain(function: ast.FunctionDef) -> bool:
    """Return whether each call of a function carries it out once."""
    yields = (isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(function))
    return not function.decorator_list and not any(yields)


def _in_a_row(tree: ast.Module) -> Iterator[AddedLimits]:
    """Yield the limits of a script, or of a function that it always calls, one after the other."""
    functions = _functions(tree)
    last = tree.body[-1] if tree.body else None
    # As in `if __name__ == "__main__":`.
    end = last.body if isinstance(last, ast.If) and _MAIN.fullmatch(ast.unparse(last.test)) else tree.body
    called = [function.body for one, sure in _flat(end) if sure for function, _ in _calls(one, functions)]
    for body in (end, *called[:_MOST]):
        statements, found = _flat(body)[:_LONGEST], list[tuple[int, float, int]]()
        for place, (one, sure) in enumerate(statements):
            # Of the programs of a function, the first is surely started.
            limits = islice(_limits([one], functions), 1) if sure else ()
            found += [(place, seconds, one.lineno) for seconds, _ in limits]
        between = [one for one, _ in statements[found[0][0] : found[-1][0]]] if found else []
        # A function that they call may end all of the script.
        helping = [function for one in between for function, _ in _calls(one, functions)]
        ends = any(_is_exit(part) for function in helping for part in ast.walk(function))
        if len(found) > 1 and not _may_end(between) and not ends:
            yield AddedLimits(sum(seconds for _, seconds, _ in found), len(found), found[0][2])


def _flat(body: Sequence[ast.stmt]) -> list[tuple[ast.stmt, bool]]:
    """Return some statements, and those of each ``try`` in its place, with whether they surely follow."""
    found: list[tuple[ast.stmt, bool]] = []
    for one in body:
        if isinstance(one, ast.Try):
            others = [*one.orelse, *one.finalbody, *(each for part in one.handlers for each in part.body)]
            found += [*_flat(one.body), *((other, False) for other in others)]
        else:
            found.append((one, True))
    return found


def _calls(
    statement: ast.stmt, functions: dict[str, list[ast.FunctionDef]]
) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    """Yield the functions of a script that a statement surely calls, with the calls."""
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
        for node in _sure_parts(statement):
            match node:
                case ast.Call(func=ast.Name(id=name)) if len(functions.get(name, ())) == 1:
                    yield functions[name][0], node
                case _:
                    pass


def _sure_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement that are carried out whatever holds."""
    yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, _UNSURE):
            yield from _sure_parts(part)


def _length(iterated: ast.expr, values: dict[str, list[ast.expr]], depth: int = 0) -> int:
    """Return how many written values a loop may go through; 0 if that is unknown."""
    match iterated:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return 0 if any(isinstance(one, ast.Starred) for one in items) else len(items)
        case ast.ListComp(generators=[ast.comprehension(iter=inner)]) if depth < _MOST:
            return _length(inner, values, depth + 1)
        case ast.Name(id=name) if len(values.get(name, ())) == 1 and depth < _MOST:
            return _length(values[name][0], values, depth + 1)
        case _:
            return 0


def _limits(
    body: Sequence[ast.stmt],
    functions: dict[str, list[ast.FunctionDef]],
    given: Mapping[str, ast.expr] = MappingProxyType({}),
    depth: int = 0,
) -> Iterator[tuple[float, int]]:
    """Yield the limits of the programs that some statements surely start, with their lines."""
    for place, statement in enumerate(body):
        if depth and place and _may_end(body[place - 1 : place]):
            return
        if isinstance(statement, ast.Try):
            yield from _limits(statement.body, functions, given, depth)
        if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
            continue
        for node in _sure_parts(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr=name)) if (
                    name in _STARTS and not _is_quick(node)
                ):
                    yield from _limit(node, given)
                case _:
                    pass
        for function, call in _calls(statement, functions) if not depth else ():
            if not _is_quick(call):
                yield from _limits(function.body, functions, _arguments(function, call), depth + 1)


def _is_quick(call: ast.Call) -> bool:
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "args")]
    command = given[0] if given else None
    if isinstance(command, ast.List | ast.Tuple) and command.elts:
        command = command.elts[0]
    text = command.value if isinstance(command, ast.Constant) else None
    words = text.split() if isinstance(text, str) else []
    return bool(words) and PurePath(words[0]).name in _QUICK


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """Return what the parameters of a function get by a call, or by their defaults, if it keeps them."""
    if any(isinstance(one, ast.Starred) for one in call.args) or not all(word.arg for word in call.keywords):
        return {}
    named = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    defaults = function.args.defaults
    found = dict(zip(named[len(named) - len(defaults) :], defaults, strict=True))
    only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    found |= {one.arg: value for one, value in only if value is not None}
    found |= dict(zip(named, call.args, strict=False))
    found |= {word.arg: word.value for word in call.keywords if word.arg}
    stored = {
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    return {name: value for name, value in found.items() if name not in stored}


def _limit(call: ast.Call, given: Mapping[str, ast.expr]) -> Iterator[tuple[float, int]]:
    for word in call.keywords:
        limit = given.get(word.value.id) if isinstance(word.value, ast.Name) else word.value
        value = limit.value if isinstance(limit, ast.Constant) else None
        if word.arg == "timeout" and isinstance(value, int | float) and value >= _SLOW:
            yield float(value), call.lineno


def _may_end(statements: Sequence[ast.stmt]) -> bool:
    """Return whether some statements may end what they stand in."""
    return any(
        isinstance(node, ast.Break | ast.Return | ast.Continue) or _is_exit(node)
        for statement in statements
        for node in ast.walk(statement)
    )


def _is_exit(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and "exit" in ast.unparse(node.func))
