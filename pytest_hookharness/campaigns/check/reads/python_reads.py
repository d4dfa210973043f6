"""
Reads of a Python script from its input.

Followed is what is parsed from standard input: through variables, arguments and results of functions of the
script, and through a function of a module beside it that parses the input. All else is unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from pytest_hookharness.campaigns.check.reads.key_meanings import KeyPath, KeyRead, join_reads

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ROOT: frozenset[KeyPath] = frozenset({()})
_NOTHING: frozenset[KeyPath] = frozenset()
# A value that is of the input, or of something else.
_UNKNOWN: frozenset[KeyPath] = frozenset({("*",)})
_ROUNDS = 3


def python_reads(
    text: str, load: Callable[[str], str] = lambda _: "", host: str = ""
) -> list[frozenset[KeyPath]]:
    """
    Return what a Python script reads from its input, or only in branches for a host; nothing for no Python.

    ``load`` returns the text of a module beside the script, or an empty text.
    """
    try:
        tree = ast.parse(text)
        follower = _InputFollower(tree, load)
        reads = follower.read()
        lines = {*_lines_for(tree, host)} if host else set[int]()
        kept = (
            read
            for read in reads
            if (not host or read.line in lines) and follower.added.isdisjoint(read.paths)
        )
        return [found for found in join_reads(kept) if not any(path[0] == "*" for path in found)]
    except (SyntaxError, ValueError, RecursionError):
        return []


def _lines_for(tree: ast.Module, host: str) -> Iterator[int]:
    """Yield the lines of the branches whose condition only asks whether something is the name of a host."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=str() as name)])):
                if name.lower() in (host, host.partition("-")[0]):
                    yield from range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1)
            case _:
                pass


class _InputFollower:
    """Follows the input through one script."""

    def __init__(self, tree: ast.Module, load: Callable[[str], str]) -> None:
        self.functions = {one.name: one for one in ast.walk(tree) if isinstance(one, _FUNCTIONS)}
        self.tree = tree
        # The values of variables, by the name of their function (empty for the module) and their own.
        self.known: dict[tuple[str, str], frozenset[KeyPath]] = {}
        self.results: dict[str, frozenset[KeyPath]] = {}
        self.texts: set[tuple[str, str]] = set()
        # Variables that also get what is not of the input, so that nothing is known of them.
        self.mixed: set[tuple[str, str]] = set()
        self.others: set[tuple[str, str]] = set()
        self.reads: list[KeyRead] = []
        # What the script itself puts below the input.
        self.added: set[KeyPath] = set()
        # Names that are another value within one expression.
        self.shadowed = {*_shadowed(tree)}
        self.scope = ""
        # Names in the bodies of functions, and those that are used, by the name of the function.
        self.names: dict[str, frozenset[str]] = {}
        self.used: dict[str, frozenset[str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self._import(load(node.module.rpartition(".")[2]), {one.name for one in node.names})

    def _import(self, text: str, names: set[str]) -> None:
        """Learn which functions of a module return the parsed input."""
        if "stdin" not in text:
            return
        inner = _InputFollower(ast.parse(text), lambda _: "")
        inner.read()
        self.results |= {
            name: paths for name, paths in inner.results.items() if name in names and paths == _ROOT
        }

    def read(self) -> Sequence[KeyRead]:
        """Return all reads."""
        loaded = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        called = {name: one for name, one in self.functions.items() if name in loaded}
        imported = dict(self.results)
        for number in range(2 * _ROUNDS):
            if number == _ROUNDS:
                # Now all functions are known, and with them what is not of the input.
                self.mixed, self.known, self.results = self.others, {}, imported
            self.reads, self.others = [], set()
            self._run("", self.tree.body)
            for name, function in self.functions.items():
                count = len(self.reads)
                self._run(name, function.body)
                if name not in called:
                    # What a function without a call reads has no effect.
                    del self.reads[count:]
        return self.reads

    def _run(self, scope: str, body: Sequence[ast.stmt]) -> None:
        self.scope = scope
        for statement in _statements(body):
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                name = ast.unparse(target)
                if _reads_input(value):
                    self.texts.add((self._place(name), name))
                paths = self.value(value, name if self._is_used(name) else None)
                key = (self._place(name), name)
                self._keep(key, paths, value)
                match target:
                    case ast.Subscript(value=base, slice=ast.Constant(value=str() as word)):
                        self.added |= self._below(base, word)
                    case _:
                        pass
            case ast.Return(value=ast.expr() as value) if self.scope:
                paths = self.value(value, f"{self.scope}()")
                self.results[self.scope] = self.results.get(self.scope, _NOTHING) | paths
            case _:
                if isinstance(node, (ast.For, ast.AsyncFor)):
                    self.others |= {
                        (self.scope, one.id) for one in ast.walk(node.target) if isinstance(one, ast.Name)
                    }
                for field in ast.iter_child_nodes(node):
                    if isinstance(field, ast.expr):
                        self.value(field, "")
                    elif isinstance(field, ast.withitem):
                        self.value(field.context_expr, "")

    def _keep(self, key: tuple[str, str], paths: frozenset[KeyPath], value: ast.expr) -> None:
        """Keep what a variable gets; what stands in for nothing, such as an empty dictionary, is no other."""
        self.known[key] = self.known.get(key, _NOTHING) | paths
        empty = isinstance(value, ast.Constant) or (isinstance(value, ast.Dict) and not value.keys)
        if not paths and not empty and not _reads_input(value):
            self.others.add(key)

    def _place(self, name: str) -> str:
        # Attributes, such as `self.data`, are known in all functions.
        return "" if "." in name else self.scope

    def _is_used(self, name: str) -> bool:
        """Return whether a name is loaded in the current function, or anywhere for a name of the module."""
        if self.scope not in self.used:
            self.used[self.scope] = frozenset(self._used_names())
        return not name.isidentifier() or name in self.used[self.scope]

    def _used_names(self) -> Iterator[str]:
        """Yield the names that the current function loads for a use."""
        every = [*ast.walk(self.functions[self.scope] if self.scope else self.tree)]
        idle = {id(arg) for node in every if isinstance(node, ast.Call) for arg in self._idle(node)}
        for node in every:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in idle:
                yield node.id

    def _idle(self, call: ast.Call) -> Iterator[ast.expr]:
        """Yield the arguments of a call that the called function of the script does not use."""
        function = self.functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        for arg, given in zip(call.args, function.args.args if function else (), strict=False):
            if function and not self._has_name(function, given.arg):
                yield arg

    def _has_name(self, function: _Function, name: str) -> bool:
        """Return whether a name stands in the body of a function."""
        if function.name not in self.names:
            every = (node for one in function.body for node in ast.walk(one))
            self.names[function.name] = frozenset(one.id for one in every if isinstance(one, ast.Name))
        return name in self.names[function.name]

    def value(self, node: ast.expr, name: str | None) -> frozenset[KeyPath]:
        """
        Return which values of the input an expression may have, and keep what it reads for them.

        ``name`` is the variable that gets the value; empty for none, ``None`` for one that is not used.
        """
        paths = self._follow(node)
        keys = frozenset(path for path in paths if path)
        if keys and name is not None and not isinstance(node, ast.Name):
            self.reads.append(KeyRead(keys, f"{self.scope}:{name}" if name else "", node.lineno))
        return paths

    def _follow(self, node: ast.expr) -> frozenset[KeyPath]:
        match node:
            case ast.Name() | ast.Attribute():
                written = ast.unparse(node)
                if {(self.scope, written), ("", written)} & self.mixed or written in self.shadowed:
                    return _UNKNOWN
                found = self.known.get((self.scope, written), _NOTHING)
                found = found or (_NOTHING if self._is_own(written) else self.known.get(("", written), found))
                if not found and isinstance(node, ast.Attribute):
                    self.value(node.value, "")
                return found
            case ast.Subscript(value=base, slice=ast.Constant(value=str() as key)):
                return self._below(base, key)
            case ast.BoolOp(op=ast.Or(), values=values):
                return _NOTHING.union(*map(self._follow, values))
            case ast.IfExp(test=test, body=body, orelse=other):
                self._test(test)
                return self._follow(body) | self._follow(other)
            case ast.NamedExpr(target=target, value=value):
                found = self._follow(value)
                self.known[self.scope, target.id] = found
                return found
            case ast.Await(value=value):
                return self._follow(value)
            case ast.Call():
                return self._call(node)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child, "")
                return _NOTHING

    def _test(self, node: ast.expr) -> None:
        """Follow a condition; one that only asks for a type reads nothing."""
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"):
            self.value(node, "")

    def _below(self, base: ast.expr, key: str) -> frozenset[KeyPath]:
        return frozenset((*path, key) for path in self._follow(base))

    def _call(self, node: ast.Call) -> frozenset[KeyPath]:
        match node:
            case ast.Call(
                func=ast.Attribute(value=base, attr="get"), args=[ast.Constant(value=str() as key), *rest]
            ):
                found = self._below(base, key)
                return found.union(*map(self._follow, rest)) if found else _NOTHING
            case ast.Call(func=ast.Attribute(attr="loads" | "load"), args=[given, *_]):
                if _reads_input(given) or ast.unparse(given) == "sys.stdin" or self._is_text(given):
                    return _ROOT
                # What another text holds may be in the same variable.
                return self._follow(given) or _UNKNOWN
            case ast.Call(func=ast.Name(id="dict"), args=[given], keywords=[]):
                return self._follow(given)
            case ast.Call(func=ast.Name(id=name), args=args):
                self._pass(name, args)
                return self.results.get(name, _NOTHING)
            case _:
                if isinstance(node.func, ast.Attribute):
                    if node.func.attr == "update":
                        name = ast.unparse(node.func.value)
                        self.others |= {(self.scope, name), ("", name)}
                    self.value(node.func.value, "")
                for one in (*node.args, *(word.value for word in node.keywords)):
                    self.value(one, "")
                return _NOTHING

    def _pass(self, name: str, args: Sequence[ast.expr]) -> None:
        """Give the arguments of a call to the parameters of a function of the script."""
        function = self.functions.get(name)
        names = [one.arg for one in function.args.args] if function else []
        for number, arg in enumerate(args):
            found = self._follow(arg) if names else self.value(arg, "")
            if number < len(names):
                self._keep((name, names[number]), found, arg)
                keys = frozenset(path for path in found if path)
                if (
                    keys
                    and not isinstance(arg, ast.Name)
                    and function
                    and self._has_name(function, names[number])
                ):
                    self.reads.append(KeyRead(keys))

    def _is_text(self, node: ast.expr) -> bool:
        written = ast.unparse(node).partition(".strip(")[0].partition(" or ")[0]
        elsewhere = ("", written) in self.texts and not self._is_own(written)
        return (self.scope, written) in self.texts or elsewhere

    def _is_own(self, name: str) -> bool:
        """Return whether a name is one of the current function, so that it is not that of the module."""
        function = self.functions.get(self.scope)
        arguments = function.args.args if function else ()
        return (self.scope, name) in self.known or any(one.arg == name for one in arguments)


def _shadowed(tree: ast.Module) -> Iterator[str]:
    """Yield the names that lambdas and comprehensions give to other values."""
    for node in ast.walk(tree):
        match node:
            case ast.Lambda(args=given):
                yield from (one.arg for one in given.args)
            case ast.comprehension(target=target):
                yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))
            case _:
                pass


def _reads_input(node: ast.expr) -> bool:
    """Return whether an expression is the text of standard input."""
    written = ast.unparse(node)
    return written.startswith(("sys.stdin.read", "sys.stdin.buffer.read", "input()", "open(0).read"))


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body and of its blocks, but not those of functions in it."""
    for statement in body:
        if isinstance(statement, _FUNCTIONS):
            continue
        yield statement
        if isinstance(statement, ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, None) or ())
        for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(handler.body)
