"""
Programs that a Python gate starts, and whose failure to start or to end in time nothing catches.

`subprocess` raises an error for both, the hook ends with a traceback and status 1, and most hosts then allow
what it was asked about. A call is followed through the functions of the script up to its first statement; it
counts only if the script may refuse behind it.
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.failed_refusals import is_allowed_by_failure
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import GATES, REFUSES_IN_JSON
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

_CALLS = frozenset({"run", "call", "check_call", "check_output"})
_REFUSES = re.compile(r"\bexit\(\s*2\s*\)|\bSystemExit\(\s*2\s*\)|\breturn 2\b")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
# What may handle an error elsewhere, or look for a program before.
_HANDLES = re.compile(r"\bexcepthook\b|\bfaulthandler\b")
_LOOKS = re.compile(r"\bwhich\b|\bnode_modules\b|\bfind_executable\b|os\.access\b|\bshell\s*=\s*True\b")
# Errors of the two kinds, with their bases.
_LATE = frozenset({"TimeoutExpired", "SubprocessError", "Exception", "BaseException"})
_MISSING = frozenset(
    {"FileNotFoundError", "OSError", "IOError", "EnvironmentError", "Exception", "BaseException"}
)
# Errors of modules that are neither.
_OTHERS = frozenset({"CalledProcessError", "JSONDecodeError", "YAMLError", "TOMLDecodeError"})
_OF_SUBPROCESS = frozenset({"TimeoutExpired", "SubprocessError"})
# What a machine may lack that runs Python hooks.
_CHECKS = frozenset(
    [
        *("npm", "npx", "pnpm", "yarn", "bun", "bunx", "deno", "node", "eslint", "prettier", "tsc", "biome"),
        *(
            "pytest",
            "ruff",
            "mypy",
            "pyright",
            "black",
            "flake8",
            "uv",
            "uvx",
            "poetry",
            "tox",
            "nox",
            "bandit",
        ),
        *(
            "cargo",
            "go",
            "gofmt",
            "golangci-lint",
            "make",
            "mvn",
            "gradle",
            "dotnet",
            "mix",
            "bundle",
            "rspec",
        ),
        *("rubocop", "composer", "phpunit", "swift", "flutter", "dart", "jq", "gh", "docker", "terraform"),
    ]
)
# What catches no error of its body.
_OPENS = frozenset(
    {"open", "chdir", "Popen", "TemporaryDirectory", "NamedTemporaryFile", "ThreadPoolExecutor"}
)
_MOST, _DEEPEST, _FIRST = 40, 12, 50


@dataclass(frozen=True, slots=True)
class UncaughtProgram:
    """
    A call of a program whose failure nothing catches.

    Attributes:
        program: The program that may be missing; empty if it is its time that may end.
        line: The line of the call.
    """

    program: str
    line: int


def uncaught_programs(hook_set: HookSet, hook: Hook) -> Iterator[tuple[str, UncaughtProgram]]:
    """Yield the calls of a gate in Python that end it without an answer, with the path of the script."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    if rule is None or rule.role not in GATES or hook.type != "command":
        return
    if not is_allowed_by_failure(hook_set.host, hook):
        return
    sources = hook_set.sources_of(hook)
    # Another script may start this one and look at its status.
    for path, text in sources if len(sources) == 1 else ():
        for one in find_uncaught(text):
            # What starts the hook itself is there.
            if not one.program or one.program not in re.findall(r"[\w-]+", f"{hook.command} {text[:_FIRST]}"):
                yield path, one


def find_uncaught(text: str) -> list[UncaughtProgram]:
    """Return the calls that end a Python script which refuses: the first that is slow, and the missing."""
    code = _COMMENT.sub("", text)
    refusals = _refusals(code)
    if "subprocess" not in code or not refusals or _HANDLES.search(code):
        return []
    try:
        script = _Script(ast.parse(text), refusals)
    except (SyntaxError, ValueError, RecursionError):
        return []
    calls = [one for one in islice(script.calls(), _MOST) if script.decides(one)]
    late = (one for one in calls if any(word.arg == "timeout" for word in one.keywords))
    found = [UncaughtProgram("", one.lineno) for one in late if script.is_open(one, _LATE)][:1]
    for one in calls if not _LOOKS.search(code) else ():
        names = script.programs(one)
        if (
            names
            and script.is_open(one, _MISSING)
            and not any(name in known.program for known in found for name in names)
        ):
            found.append(UncaughtProgram(names[0], one.lineno))
    return found


def _refusals(code: str) -> list[int]:
    """Return the lines of a script that refuse."""
    answers = [one for one in REFUSES_IN_JSON.finditer(code) if not one[0].endswith("ask")]
    return [code.count("\n", 0, one.start()) + 1 for one in (*answers, *_REFUSES.finditer(code))]


class _Script:
    """A parsed script, with what stands around each of its nodes, and the lines that refuse."""

    def __init__(self, tree: ast.Module, refusals: list[int]) -> None:
        self._nodes = [*ast.walk(tree)]
        self._parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._sites: dict[str, list[ast.Call]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Call):
                self._sites.setdefault(_name(node.func), []).append(node)
        self._bodies = [one for one in self._nodes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        self._inside = {line for one in self._bodies for line in range(one.lineno, _end(one) + 1)}
        self._refusals = sorted(refusals)
        for _ in range(3):
            refusing = {one.name for one in self._bodies if self._refuses(one.lineno, one)}
            called = {site.lineno for name in refusing for site in self._sites.get(name, [])}
            self._refusals = sorted({*self._refusals, *called})
        outside = (line for line in reversed(self._refusals) if line not in self._inside)
        self._last_outside = next(outside, 0)

    def _refuses(self, line: int, body: ast.FunctionDef | ast.AsyncFunctionDef | None) -> bool:
        """Return whether a refusal stands behind a line in a function, or outside of all functions."""
        if body is not None:
            place = bisect_left(self._refusals, line)
            return place < len(self._refusals) and self._refusals[place] <= _end(body)
        return line <= self._last_outside

    def decides(self, call: ast.Call) -> bool:
        """Return whether the script may refuse behind a call, or behind a call of the function around it."""
        todo, met = [call], set[str]()
        while todo:
            line = todo.pop().lineno
            bodies = [one for one in self._bodies if one.lineno <= line <= _end(one)]
            body = max(bodies, key=lambda one: one.lineno, default=None)
            if self._refuses(line, body):
                return True
            if body is not None and body.name not in met:
                met.add(body.name)
                todo += self._sites.get(body.name, [])[:_MOST]
        return False

    def calls(self) -> Iterator[ast.Call]:
        """Yield the calls that start a program and wait for it."""
        for node in self._nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr=name)) if (
                    name in _CALLS
                ):
                    yield node
                case _:
                    pass

    def programs(self, call: ast.Call) -> list[str]:
        """Return the program that a call names, or that the script names where the call gets its words."""
        given = call.args[0] if call.args else None
        if isinstance(given, ast.List | ast.Tuple):
            return _checks([given])
        if not isinstance(given, ast.Name):
            return []
        return _checks([one for one in self._nodes if isinstance(one, ast.List | ast.Tuple)])

    def is_open(self, call: ast.Call, errors: frozenset[str]) -> bool:
        """Return whether some way leads to a call on which nothing catches any of some errors."""
        return self._reaches(call, errors, frozenset(), 0)

    def _reaches(self, node: ast.AST, errors: frozenset[str], within: frozenset[ast.AST], depth: int) -> bool:
        while (parent := self._parents.get(node)) is not None:
            match parent:
                case ast.Try() if node in parent.body and any(
                    _catches(one, errors) for one in parent.handlers
                ):
                    return False
                case ast.TryStar() | ast.Lambda() | ast.AsyncFunctionDef():
                    return False
                case ast.With() if node in parent.body and any(map(_may_suppress, parent.items)):
                    return False
                case ast.FunctionDef():
                    known = parent in within or parent.decorator_list or depth >= _DEEPEST
                    sites = [] if known else self._sites.get(parent.name, [])
                    around = within | {parent}
                    return any(self._reaches(one, errors, around, depth + 1) for one in sites)
                case _:
                    node = parent
        return True


def _end(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.end_lineno or node.lineno


def _checks(lists: list[ast.List | ast.Tuple]) -> list[str]:
    """Return the programs that begin lists of words."""
    firsts = [one.elts[0] for one in lists if len(one.elts) > 1]
    words = [one.value for one in firsts if isinstance(one, ast.Constant)]
    return [*dict.fromkeys(word for word in words if isinstance(word, str) and word in _CHECKS)]


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    """Return whether a handler may catch one of some errors; an error of an unknown kind may be one."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(name in errors or not _is_another(name) for name in map(_name, kinds))


def _is_another(name: str) -> bool:
    """Return whether a name is that of an error which is surely of another kind."""
    known = getattr(builtins, name, None)
    builtin = isinstance(known, type) and issubclass(known, BaseException)
    return builtin or name in _OTHERS | _OF_SUBPROCESS


def _may_suppress(item: ast.withitem) -> bool:
    return isinstance(item.context_expr, ast.Call) and _name(item.context_expr.func) not in _OPENS


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
