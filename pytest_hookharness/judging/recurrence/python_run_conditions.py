"""
Python run conditions: where code of Python uses what differs between two runs.

Code that cannot be read as a program counts as soon as it has one of the words.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator

from pytest_hookharness.judging.recurrence.python_tree import parse_python
from pytest_hookharness.judging.recurrence.shell_clock_use import shorten

# A process is ended or waited for by its number.
_HANDLING = frozenset(("kill", "killpg", "waitpid", "send_signal", "terminate"))
_PROCESS = re.compile(rb"\.pid\b|\b(?:get_native_id|getpgrp|getpgid|getsid|fork(?:pty)?)\b")
_PROCESS_NAMES = frozenset(("get_native_id", "getpgrp", "getpgid", "getsid"))
_ORDER = re.compile(rb"\b(?:as_completed|FIRST_(?:COMPLETED|EXCEPTION)|imap_unordered|os\.wait3?)\b")
_ORDER_NAMES = frozenset(("as_completed", "FIRST_COMPLETED", "FIRST_EXCEPTION", "imap_unordered"))
_INODE = re.compile(rb"\bst_ino\b|\breadlink\b")
_OWN_FILE = re.compile(r"\bproc/[^/\s]{1,40}/fd\b|\bdev/(?:fd|std(?:in|out|err))\b")
_LIMITED = frozenset(("wait", "wait_for", "timeout", "join", "settimeout", "select"))
_LIMIT = re.compile(
    rb"\btimeout[ \t]*=[ \t]*0?\.\d|\bsetitimer\b"
    rb"|\b(?:wait|wait_for|timeout|join|settimeout|select)[ \t]*\([^()\n]{0,200}(?<![\w.])0?\.\d"
)
_ADDRESS = re.compile(rb"\bget_ident\b|\bobject\.__repr__\b")
_OBJECT = re.compile(rb"\b(?:class|def|object|lambda|for)\b")
_SHOWN = re.compile(rb"\b(?:repr|str|ascii|format|print)\b|%|\b[rR]?[fF][rR]?[\"']")
_SHOWING = frozenset(("repr", "str", "ascii", "format", "print"))
_TEXTS = frozenset(("__str__", "__repr__", "__format__"))


def _has_process(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr="pid"):
            return False
        case ast.Attribute(attr="pid", ctx=ast.Load()):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr="fork" | "forkpty"):
            return True
        case ast.Call(func=ast.Name(id="fork" | "forkpty")):
            return True
        case _:
            return _named(node) in _PROCESS_NAMES


def _has_order(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr="wait" | "wait3"):
            return True
        case _:
            return _named(node) in _ORDER_NAMES


def _has_inode(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="st_ino"):
            return True
        case ast.Call(func=ast.Attribute(attr="readlink") | ast.Name(id="readlink")):
            return any(
                isinstance(each, ast.Constant)
                and isinstance(each.value, str)
                and _OWN_FILE.search(each.value) is not None
                for each in ast.walk(node)
            )
        case _:
            return False


def _has_limit(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg="timeout", value=value):
            return _is_short(value)
        case ast.Call(func=ast.Attribute(attr="setitimer") | ast.Name(id="setitimer"), args=[_, value, *_]):
            return not isinstance(value, ast.Constant) or _is_short(value)
        case ast.Call(func=function, args=arguments) if _named(function) in _LIMITED:
            return any(_is_short(each) for each in arguments)
        case _:
            return False


def _is_short(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value < 1


def address(text: bytes) -> str:
    """Return where code asks for an address, or makes a text of an object that has no text of its own."""
    if used := _find(text, _ADDRESS, _has_address):
        return used
    if not (_OBJECT.search(text) and _SHOWN.search(text)):
        return ""
    nodes = _nodes(text)
    return "" if nodes is None else next(map(_words, _Objects(nodes).shown()), "")


def _has_address(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="object"), attr="__repr__"):
            return True
        case _:
            return _named(node) == "get_ident"


class _Objects:
    """The names in one program of functions and of objects without a text of their own."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        placed = (node for node in nodes if hasattr(node, "lineno"))
        self._nodes = sorted(placed, key=lambda node: getattr(node, "lineno", 0))
        self._classes = {"object"}
        self._plain: list[ast.ClassDef] = []
        for node in self._nodes:
            if isinstance(node, ast.ClassDef) and self._is_plain(node):
                self._classes.add(node.name)
                self._plain.append(node)
        given = [(target, value) for node in self._nodes for target, value in _given(node)]
        named = (node for node in self._nodes if isinstance(node, ast.Name))
        stored = {node.id for node in named if isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in self._nodes if isinstance(node, ast.arg)}
        defined = (ast.FunctionDef, ast.AsyncFunctionDef)
        self._names = {node.name for node in self._nodes if isinstance(node, defined)} - stored
        # An argument may be named for its class.
        self._named = {name.lower() for name in self._classes} - {_key(target) for target, _ in given}
        for target, value in given:
            if self._is_object(value):
                self._names.add(_key(target))
        self._names.discard("")

    def _is_plain(self, node: ast.ClassDef) -> bool:
        bases = all(isinstance(base, ast.Name) and base.id in self._classes for base in node.bases)
        own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        own |= {_key(target) for each in node.body for target, _ in _given(each)}
        return bases and not node.keywords and not node.decorator_list and own.isdisjoint(_TEXTS)

    def shown(self) -> Iterator[ast.AST]:
        """Yield the expressions that make a text of such an object."""
        for node in self._nodes:
            if any(self._is_object(value) for value in _shown(node)):
                yield node
        for plain in self._plain:
            for node in ast.walk(plain):
                if any(_key(value) == "self" for value in _shown(node)):
                    yield node

    def _is_object(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self._classes
            case ast.Name(id=name):
                return name in self._names or (name not in self._classes and name.lower() in self._named)
            case ast.Attribute():
                return _key(node) in self._names
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                return any(self._is_object(part) for part in parts)
            case ast.ListComp(elt=part) | ast.Starred(value=ast.Name() | ast.List() as part):
                return self._is_object(part)
            case _:
                return isinstance(node, ast.Lambda | ast.GeneratorExp)


def _shown(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of which a node makes a text."""
    match node:
        case ast.FormattedValue(value=value):
            yield value
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _SHOWING:
            yield from arguments
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(), attr="format"), args=arguments, keywords=named
        ):
            yield from (*arguments, *(each.value for each in named))
        case ast.Call(
            func=ast.Attribute(attr="dumps") | ast.Name(id="dumps"), args=arguments, keywords=named
        ):
            if any(each.arg == "default" and _key(each.value) in ("str", "repr") for each in named):
                yield from arguments
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
            yield value
        case _:
            return


def _given(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target of a node with the value that it gets."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield target, value
        case _:
            return


def _key(node: ast.AST) -> str:
    """Return the name of a variable, or of an attribute of ``self``; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"self.{name}"
        case _:
            return ""


def _named(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _find(text: bytes, words: re.Pattern[bytes], uses: Callable[[ast.AST], bool]) -> str:
    """Return the first expression for which a test is true; no text without the words has one."""
    found = words.search(text)
    if found is None:
        return ""
    nodes = _nodes(text)
    if nodes is None:
        return found[0].decode("utf-8", "replace")
    return next((_words(node) for node in nodes if uses(node)), "")


# Each returns the code of Python that uses one thing: the number of a process or thread; the order in which
# jobs end; the number of a file, or the name of an open one; a time limit above 0 and below a second.
process_number = functools.partial(_find, words=_PROCESS, uses=_has_process)
job_order = functools.partial(_find, words=_ORDER, uses=_has_order)
file_number = functools.partial(_find, words=_INODE, uses=_has_inode)
short_limit = functools.partial(_find, words=_LIMIT, uses=_has_limit)


def _words(node: ast.AST) -> str:
    return shorten(ast.unparse(node))


@functools.lru_cache(maxsize=2)
def _nodes(text: bytes) -> tuple[ast.AST, ...] | None:
    """Return all nodes of a program but those of calls that handle a process; none if it is no program."""
    tree = parse_python(text)
    if tree is None:
        return None
    nodes: list[ast.AST] = []
    new: list[ast.AST] = [tree]
    while new:
        node = new.pop()
        if not (isinstance(node, ast.Call) and _named(node.func) in _HANDLING):
            nodes.append(node)
            new += ast.iter_child_nodes(node)
    return tuple(nodes)
