"""
Time limits in scripts that surely follow each other, and together are longer than the timeout of their hook.

In Python these are the rounds of a loop over written values, of which none ends it; in shell scripts commands
outside of functions and conditions whose failure is passed over. A small limit is one of a quick program, and
a script that looks at a clock may have a limit for all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.command_guards.command_tests import functions_of
from pytest_hookharness.campaigns.check.lone_programs.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.static.ended_searches import strict_part
from pytest_hookharness.campaigns.check.static.inner_limits import inner_limits
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.campaigns.check.static.timeout_units import is_odd
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_LEAVES = re.compile(r"\b(?:exit|return|exec|break|continue)\b")
_PASSED_OVER = re.compile(r"\|\|[ \t]*(?!exit\b|return\b|\{)\S|\bif\b|\$\?")
_LOOPS = re.compile(r"^[ \t]*(?:for|while|until)\b|^[ \t]*done\b", re.MULTILINE)
_STARTS = frozenset({"run", "call", "check_call", "check_output"})
_CLOCK = re.compile(r"\bsignal\.(?:alarm|setitimer)\b|\bmonotonic\b|\btime\.time\b|\bSECONDS\b")
_MOST, _SLOW = 20, 10.0


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
        return [*_in_python(ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError):
        return []


def _in_shell(shown: str, text: str) -> Iterator[AddedLimits]:
    bodies = [(begin, end) for _, begin, end in functions_of(text)]
    _, strict = strict_part(text, shown)
    lines, found = shown.split("\n"), list[tuple[float, int]]()
    for seconds, number in [*inner_limits(text)][:_MOST]:
        line = lines[number - 1]
        place = sum(len(one) + 1 for one in lines[: number - 1])
        inside = any(begin <= place < end for begin, end in bodies) or conditions_at(shown, place)
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
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                values.setdefault(name, []).append(value)
            case ast.FunctionDef(name=name):
                functions.setdefault(name, []).append(node)
            case _:
                pass
    for loop in [one for one in nodes if isinstance(one, ast.For)][:_MOST]:
        rounds = _length(loop.iter, values)
        limits = [*_limits(loop.body, functions)]
        if rounds > 1 and limits and not _may_end(loop):
            yield AddedLimits(rounds * sum(each for each, _ in limits), rounds * len(limits), limits[0][1])


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
    body: Sequence[ast.stmt], functions: dict[str, list[ast.FunctionDef]], depth: int = 0
) -> Iterator[tuple[float, int]]:
    """Yield the limits of the programs that some statements surely start, with their lines."""
    for statement in body:
        if isinstance(statement, ast.Try):
            yield from _limits(statement.body, functions, depth)
        if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
            continue
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr=name)) if (
                    name in _STARTS
                ):
                    yield from _limit(node)
                case ast.Call(func=ast.Name(id=name)) if len(functions.get(name, ())) == 1 and not depth:
                    yield from _limits(functions[name][0].body, functions, depth + 1)
                case _:
                    pass


def _limit(call: ast.Call) -> Iterator[tuple[float, int]]:
    for word in call.keywords:
        value = word.value.value if isinstance(word.value, ast.Constant) else None
        if word.arg == "timeout" and isinstance(value, int | float) and value >= _SLOW:
            yield float(value), call.lineno


def _may_end(loop: ast.For) -> bool:
    """Return whether a loop may end before its last value."""
    return any(
        isinstance(node, ast.Break | ast.Return | ast.Raise | ast.Continue)
        or (isinstance(node, ast.Call) and "exit" in ast.unparse(node.func))
        for statement in loop.body
        for node in ast.walk(statement)
    )
