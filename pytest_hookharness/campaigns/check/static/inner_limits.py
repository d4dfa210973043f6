"""
Time limits in scripts that are longer than the timeout of their own hook, so that they are never reached.

The host ends the hook first, and the answer for a slow program is never printed. Only written numbers count:
``timeout 240 make`` in shell scripts, and ``subprocess.run(..., timeout=240)`` in Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.shell_code.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.campaigns.check.static.timeout_units import is_odd
from pytest_hookharness.judging.recurrence.python_tree import parse_python
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_LIMITED = re.compile(
    r"(?:^|[;&|({!]|\$\(|(?<![\w$-])(?:then|do|else|if|elif|while|until)[ \t])[ \t]*"
    r"(?:[A-Za-z_]\w*=\S*[ \t]+)?g?timeout[ \t]+"
    r"(?:--?(?:foreground|preserve-status|verbose|v|k[ \t]+\w+|s[ \t]+\w+|\w[\w-]*=\S+)[ \t]+)*"
    r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[smh]?)[ \t]+(?P<rest>[^\n]*)",
    re.MULTILINE,
)
# What goes on when the hook has ended: then a limit may be that of another process.
_BEHIND = re.compile(r"(?<![&>])&[ \t]*(?:$|disown\b|[)}#])|\b(?:nohup|setsid|disown|coproc)\b", re.MULTILINE)
_BESIDE = re.compile(r"\b(?:Popen|fork|multiprocessing|start_new_session|create_subprocess_\w+)\b")
# The input of a hook ends at once, whatever limit its reader has.
_READS_INPUT = re.compile(r"(?:cat|head|tee|dd)\b")
# What only holds where somebody else starts the script.
_ELSEWHERE = re.compile(r"\$\{?(?:[1@*]|CI\b)")
_CALLS = frozenset({"run", "call", "check_call", "check_output"})
_MOST = 40


def longest_limit(hook_set: HookSet, hook: Hook) -> tuple[float, str, int]:
    """
    Return the longest limit in a hook's scripts that its own timeout never lets end.

    Returns:
        The limit in seconds, and the script and the line of it; 0 for none.
    """
    unit = hosts.find(hook_set.host).config.limits.unit
    if hook.type != "command" or not hook.timeout or is_odd(hook.timeout, unit) or hook.options.get("async"):
        return (0.0, "", 0)
    found = (
        (seconds, path, line)
        for path, text in hook_set.sources_of(hook)
        for seconds, line in inner_limits(text)
        # Another entry of the script may be the one that needs so much time.
        if all(one.timeout and seconds > one.timeout for one in hook_set.hooks_of(path))
    )
    return max(found, key=lambda one: one[0], default=(0.0, "", 0))


def inner_limits(text: str) -> Iterator[tuple[float, int]]:
    """Yield the limits in seconds that a script sets for its programs, each with its line."""
    if SHELL_SCRIPT.match(text):
        yield from _of_shell(text, code_of(text))
    elif "subprocess" in text and not _BESIDE.search(text):
        yield from _of_python(text)


def _of_shell(text: str, shown: str) -> Iterator[tuple[float, int]]:
    if _BEHIND.search(shown):
        return
    for found in islice(_LIMITED.finditer(shown), _MOST):
        place = found.start("number")
        around = (text[one.begin : one.end] for one in conditions_at(shown, place))
        if not _READS_INPUT.match(found["rest"]) and not any(map(_ELSEWHERE.search, around)):
            seconds = float(found["number"]) * _UNITS[found["unit"]]
            yield seconds, shown.count("\n", 0, place) + 1


def _of_python(text: str) -> Iterator[tuple[float, int]]:
    tree = parse_python(text)
    if tree is None:
        return
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    helping = {call for one in functions for call in _calls_of_anything(one)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not _starts(node.func) or node in helping:
            continue
        for keyword in node.keywords:
            limit = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg == "timeout" and isinstance(limit, int | float) and limit is not True:
                yield float(limit), keyword.value.lineno


def _calls_of_anything(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    """Yield the calls in a function that run what it is given; their limit is meant for any program."""
    given = {one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Name) and first.id in given:
                yield node


def _starts(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Name(id="subprocess" | "sp"), attr=name):
            return name in _CALLS
        case _:
            return False
