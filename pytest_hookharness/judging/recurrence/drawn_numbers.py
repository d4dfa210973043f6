"""
Drawn numbers: where the source of a script draws random numbers by which it may decide.

It reads sources alone, for runs in which nothing was observed. Numbers that are only part of a path, an id or
a pause are no draws here, and neither are numbers that follow from a fixed seed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from pytest_hookharness.judging.recurrence import hidden_chance
from pytest_hookharness.judging.recurrence.python_tree import parse_python
from pytest_hookharness.judging.recurrence.shell_clock_use import (
    SHELL_USE,
    assigned_names,
    decides,
    decode,
    follow,
    split_statements,
)
from pytest_hookharness.judging.recurrence.shell_run_conditions import plain_code

# A quick test, because most scripts draw nothing.
_LIKELY = re.compile(rb"(?i)rand|shuf|sort|jot|sample|secrets|hash|pid|uuid4|\$\$")
# Bytes; readers take long on more.
_LONGEST = 1 << 15
_COMMENT = re.compile(rb"(?m)(?:^|(?<=\s))#[^\n]*")
_SHELL_NUMBER = re.compile(
    r"\$\{?(S?RANDOM)\b|(?:\[\[|\blet|\$\[)[^\n;]{0,200}?(?<![\w$])(S?RANDOM)\b", re.MULTILINE
)
_SHELL_SEED = re.compile(r"(?<![\w$])RANDOM=\d")
# The rest of a command before a number, and of a word after it.
_PAUSE = re.compile(r"(?<![\w-])sleep[ \t][^;&|\n]{0,200}$")
_PATH = re.compile(r"/[^\s;|&()<>=]{0,200}$")
_ENDING = re.compile(r"\}?\.(?:log|txt|tmp|json|lock|out|bak|md)\b")
_SHELL_PROGRAM = re.compile(
    r"(?:^|[|;&(`!{]|\b(?:then|do|else|if|elif|while|until|xargs|exec|command)[ \t])[ \t]{0,80}"
    r"(?:[A-Za-z_]\w{0,80}=\S{0,80}[ \t]{1,9}){0,3}(?:/(?:[\w.-]{1,80}/){0,9})?"
    r"(g?shuf(?![\w.-])|g?sort[ \t][^\n;|&]{0,200}?(?:-[a-zA-Z]{0,9}R|--random-sort|--sort=random)\b"
    r"|jot[ \t][^\n;|&]{0,80}?-\w{0,9}r|openssl[ \t]{1,9}rand\b)",
    re.MULTILINE,
)
_DRAWN = r"RANDOM\b|\bg?shuf\b|\bsort\b|\bjot\b|\bopenssl\b|/dev/u?random|\$\$|BASHPID|\bawk\b"
_FUNCTION = re.compile(r"\(\s*\)\s*[{(]|\bfunction\s")
_DEVICE = re.compile(r"(?<![\w.])/dev/u?random\b")
_SHELL_PROCESS = re.compile(r"(?m)^[^#\n]{0,400}?(\$\$|\$\{?BASHPID\}?|\bBASHPID)[ \t]{0,9}%(?!%)")
_AWK = re.compile(rb"(?<![\w.-])(?:[gmn]?awk|original-awk)(?![\w-])")
_LISTS = (b"List::Util", b"Math::", b"Array::")
_PYTHON_TEXT = re.compile(
    rb"\b(?:random|secrets)\.(?!seed|uuid|token_|compare_)\w+[ \t]*\(|\bos\.(?:urandom|getrandom)\b"
)
_PYTHON_MODULES = frozenset(("random", "secrets", "numpy.random"))
# Functions of these modules that draw nothing, or make ids.
_NO_DRAW = frozenset(
    ("seed", "getstate", "setstate", "compare_digest", "token_hex", "token_urlsafe", "token_bytes")
)
_OF_SYSTEM = frozenset(("urandom", "getrandom"))
# The number that an id is made of.
_OF_ID = frozenset(("int", "bytes", "fields", "time_low", "node"))
_OF_PROCESS = frozenset(("hash", "id", "getpid"))


def in_shell(text: bytes) -> Iterator[str]:
    """Yield what a shell script draws numbers with, code in other languages not included."""
    whole = decode(_COMMENT.sub(b"", text))
    if not _may_decide(whole):
        return
    code = plain_code(text)
    if not _SHELL_SEED.search(code):
        for found in _SHELL_NUMBER.finditer(code):
            if not _is_name(code, found):
                yield f"${found[1] or found[2]}"
    # In arithmetic only names are left of a command.
    commands = plain_code(text.replace(b"((", b"(").replace(b"))", b")")) if b"((" in text else code
    yield from (found[1].split()[0] for found in _SHELL_PROGRAM.finditer(commands))
    yield from (found[0] for found in _DEVICE.finditer(commands))
    yield from (f"{found[1]} %" for found in _SHELL_PROCESS.finditer(whole))
    if _AWK.search(text):
        yield from in_awk(text)


def _may_decide(code: str) -> bool:
    """Return whether a drawn number, or a variable that got one, may do more than be written."""
    if _FUNCTION.search(code):
        return True
    drawn, _ = follow(split_statements(code), _DRAWN, assigned_names, SHELL_USE)
    # The end of a substitution that began in an earlier statement, as in $(cat n || echo $drawn).
    ends = (statement for statement in drawn if statement.count(")") > statement.count("("))
    return any(ends) or any(decides(statement, set()) for statement in drawn)


def _is_name(code: str, found: re.Match[str]) -> bool:
    """Return whether a number only ends the name of a file, or the time of a pause."""
    before = code[max(0, found.start() - 200) : found.start()]
    if _PAUSE.search(before):
        return True
    return found[1] is not None and bool(_PATH.search(before) or _ENDING.match(code, found.end()))


def in_python(text: bytes) -> Iterator[str]:
    """Yield what code of Python draws numbers with."""
    tree = parse_python(text)
    if tree is None:
        found = _PYTHON_TEXT.search(_COMMENT.sub(b"", text))
        if found:
            yield found[0].decode().rstrip("( \t")
        return
    yield from _Draws(tree).found()


class _Draws:
    """The expressions of one program that draw numbers."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = [*ast.walk(tree)]
        self._parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        # Names of modules, and of functions that were taken out of them, in words.
        self._modules: dict[str, str] = {}
        self._functions: dict[str, str] = {}
        for node in self._nodes:
            self._learn(node)
        self._seeded = any(isinstance(node, ast.Call) and self._is_seeding(node) for node in self._nodes)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                self._modules[name.asname or name.name] = name.name
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                own, full = name.asname or name.name, f"{node.module}.{name.name}"
                self._modules[own] = full
                self._functions[own] = full

    def found(self) -> Iterator[str]:
        """Yield each of them as it is called."""
        for node in self._nodes:
            words = self._words(node)
            if words and not self._is_pause(node):
                yield words

    def _words(self, node: ast.AST) -> str:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Call):
            name = ast.unparse(node.left.func)
            return f"{name}() %" if name.rpartition(".")[2] in _OF_PROCESS else ""
        if isinstance(node, ast.Attribute) and node.attr in _OF_ID and isinstance(node.value, ast.Call):
            made = self._full(node.value.func)
            return f"{made}().{node.attr}" if made == "uuid.uuid4" else ""
        full = self._full(node)
        module, _, name = full.rpartition(".")
        if module == "os" and name in _OF_SYSTEM:
            return full
        if self._is_fixed(node) or name in _NO_DRAW or module not in _PYTHON_MODULES:
            return ""
        return "" if self._seeded and module != "secrets" and name != "SystemRandom" else full

    def _full(self, node: ast.AST) -> str:
        """Return the full name of a function that an expression names; empty if it is none of a module."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._functions.get(node.id, "")
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name | ast.Attribute):
            return ""
        first, _, rest = ast.unparse(node.value).partition(".")
        module = self._modules.get(first, "") if first != "numpy" else first
        return (
            f"{module}.{rest}.{node.attr}" if rest and module else f"{module}.{node.attr}" if module else ""
        )

    def _is_fixed(self, node: ast.AST) -> bool:
        """Return whether a generator gets a constant as its seed."""
        call = self._parents.get(node)
        named = self._full(node).rpartition(".")[2] in ("Random", "RandomState", "default_rng")
        return named and isinstance(call, ast.Call) and _has_constant(call)

    def _is_seeding(self, call: ast.Call) -> bool:
        return self._full(call.func) in ("random.seed", "numpy.random.seed") and _has_constant(call)

    def _is_pause(self, node: ast.AST) -> bool:
        above = self._parents.get(node)
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.Call) and ast.unparse(above.func).rpartition(".")[2] == "sleep":
                return True
            above = self._parents.get(above)
        return False


def _has_constant(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value is not None


def in_perl(text: bytes) -> Iterator[str]:
    """Yield what code of Perl draws numbers with."""
    found = hidden_chance.in_perl(_COMMENT.sub(b"", text))
    if found in ("rand", "srand") or (
        found in ("shuffle", "sample") and any(name in text for name in _LISTS)
    ):
        yield found


def in_javascript(text: bytes) -> Iterator[str]:
    """Yield what code of JavaScript draws numbers with; a UUID is an id."""
    if found := hidden_chance.in_javascript(text.replace(b"randomUUID", b"")):
        yield found


def in_awk(text: bytes) -> Iterator[str]:
    """Yield what code of awk draws numbers with."""
    if found := hidden_chance.in_awk(_COMMENT.sub(b"", text)):
        yield f"{found}()"


_READERS: tuple[tuple[re.Pattern[str], Callable[[bytes], Iterator[str]]], ...] = (
    (hidden_chance.PYTHON, in_python),
    (hidden_chance.PERL, in_perl),
    (hidden_chance.NODE, in_javascript),
    (hidden_chance.AWK, in_awk),
)


def _reader(program: str) -> Callable[[bytes], Iterator[str]]:
    """Return what reads the sources of a program; one that is not known is taken for a shell."""
    for known, read in _READERS:
        if known.search(program):
            return read
    other = next((each for each in hidden_chance.LANGUAGES if each.program.search(program)), None)
    if other is None:
        return in_shell
    return lambda text: filter(None, (other.find(_COMMENT.sub(b"", text)),))


def find_draws(text: bytes, interpreter: str) -> list[str]:
    """Return the code by which a text draws random numbers, each once; an unknown program is a shell."""
    if _LIKELY.search(text) is None or len(text) > _LONGEST:
        return []
    try:
        return [*dict.fromkeys(_reader(f"/{interpreter}")(text))]
    except RecursionError:
        # An expression that nests deeper than a person writes.
        return []
