"""
Clock use: where a script decides by the time that it asked for, and does not only write it somewhere.

Whether a hook decides the same at other times can only be tried at some of them, and a remainder of a
division or a date far ahead is easily missed. So the source is read: a time is followed through variables,
and counts where it is compared, where it chooses, or where a program gets it that may do either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pytest_hookharness.judging.recurrence.hidden_chance import AWK, PYTHON, SHELL, Language, finder
from pytest_hookharness.judging.recurrence.inline_code import OTHER_CLOCK, PYTHON_CLOCK, PYTHON_RECORD
from pytest_hookharness.judging.recurrence.python_tree import parse_python
from pytest_hookharness.judging.recurrence.shell_clock_use import TEXT, decode, follow, in_shell, shorten

_PYTHON_CLOCK = re.compile(PYTHON_CLOCK)
# Programs and databases that a text asks for the time.
_ASKING = re.compile(
    r"(?i)^\s*(?:(?:/usr)?/bin/)?date(?:\s+[-+]|\s*$)|'now'|\bcurrent_(?:time|date)|\bnow\(\)"
)
_LONGEST = 1000
_EXITS = frozenset(("exit", "_exit", "quit"))

_OTHER_DECIDES = re.compile(
    r"\b(?:if|unless|while|until|switch|case|exit|die|when)\b|[<>!=]=|[^=-]>|<(?!<)|\?|&&|\|\||%"
    r"|\b(?:ENV|process\.env)\b[^=]*=(?![=~>])"
)
_OTHER_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\s*(?:->)?\[[^\]]*\])*\s*[-+*/.|?&]{0,2}=(?![=>~])")
_OTHER_COMMENT = re.compile(r"(?m)^[ \t]*(?://|#(?!\{)).*$|(?<=\s)(?://|#(?!\{))[^\"'`\n]*$")
# A function, but no statement that has a block.
_OTHER_FUNCTION = re.compile(
    r"\b(?!(?:if|elsif|else|unless|while|until|for|foreach|switch|catch|try|do|return|class|when|eval|async"
    r"|function|sub)\b)([A-Za-z_]\w*)\b\s*(?:=\s*(?:async\b)?\s*(?:function\b|sub\b)?\s*)?"
    r"(?:\(([^()]*)\)|(\w+)(?=\s*=>))?\s*(?:=>\s*)?\{"
    r"|\bdef\s+(?:self\.)?(\w+)\s*(?:\(([^()]*)\))?"
)
_ELEMENT = re.compile(r"(\$\w+|->)\{(\s*(?:[\w$-]+|\"[^\"\n]*\")\s*)\}")
_OTHER_WRITERS = re.compile(r"\b(?:print|printf|say|warn|puts|syswrite|console|logger)\b|append|write|\blog")


def in_other(text: bytes) -> str:
    """Return the statement of a script in JavaScript, Perl, Ruby or awk that decides by the time."""
    code = _OTHER_COMMENT.sub("", decode(text))
    # Each text becomes as long a one, so that statements are shown as they stand in the source.
    plain = _ELEMENT.sub(r"\1[\2]", TEXT.sub(_blank, code))
    shown = {
        one[0].strip(): code[one.start() : one.end()]
        for one in re.finditer(r"[^;\n{}]+", plain)
        if one[0].strip()
    }
    clock = OTHER_CLOCK
    while True:
        timed, _ = follow([*shown], clock, _OTHER_ASSIGNED.findall, r"\b(?:NAMES)\b")
        more = "|".join((OTHER_CLOCK, *(rf"\b{name}\b" for name in sorted(_from_functions(plain, timed)))))
        if more == clock:
            break
        clock = more
    return next((shorten(shown[one]) for one in timed if _OTHER_DECIDES.search(one)), "")


def _from_functions(plain: str, timed: list[str]) -> Iterator[str]:
    """Yield the functions that return a time, and the parameters of those that get one."""
    for found in _OTHER_FUNCTION.finditer(plain):
        name, parameters = found[1] or found[4], found[2] or found[3] or found[5] or ""
        depth, end = 1, found.end()
        while depth and end < len(plain):
            depth += {"{": 1, "}": -1}.get(plain[end], 0)
            if found[4] and re.match(r"\bend\b", plain[end:]):
                break
            end += 1
        body = [*filter(None, map(str.strip, re.split(r"[;\n{}]", plain[found.end() : end])))]
        returned = [one for one in body if re.match(r"return\b", one)] + body[-1:]
        if any(one in timed and not _OTHER_WRITERS.search(one) for one in returned):
            yield name
        call = re.compile(rf"\b{name}\s*\(\s*[^)\s]")
        if not _OTHER_WRITERS.search(name) and any(call.search(one) for one in timed):
            yield from re.findall(r"[A-Za-z_]\w*", parameters)
            for one in body:
                if re.search(r"@_|\bshift\b|\$_\[", one):
                    yield from re.findall(r"\$([A-Za-z]\w*)", one)


def _blank(text: re.Match[str]) -> str:
    word = "Date" if _ASKING.search(text[0][1:-1]) else ""
    return f'"{word.ljust(len(text[0]) - 2)}"'


def in_python(text: bytes) -> str:
    """Return the expression of Python code that decides by the time; empty if none does."""
    tree = parse_python(text)
    if tree is None:
        return in_other(text)
    known = {name for node in ast.walk(tree) for name in _imported(node)}
    defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    functions = {node.name: node for node in defined}
    while True:
        found = known | {name for node in ast.walk(tree) for name in _passed(node, functions, known)}
        found |= {name for node in ast.walk(tree) for name in _python_names(node, known)}
        if found == known:
            break
        known = found
    deciding = (part for node in ast.walk(tree) for part in _deciding(node) if _is_timed(part, known))
    return next((shorten(ast.unparse(part)) for part in deciding), "")


def _python_names(node: ast.AST, known: set[str]) -> Iterator[str]:
    """Yield the names that get a time in a node."""
    match node:
        case ast.Assign(targets=targets, value=value) if _is_timed(value, known):
            yield from (name for target in targets for name in _names_in(target))
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_timed(value, known):
            yield from _names_in(target)
        case ast.AugAssign(target=target, value=value) if _is_timed(value, known):
            yield from _names_in(target)
        case ast.NamedExpr(target=target, value=value) if _is_timed(value, known):
            yield from _names_in(target)
        case ast.Call(func=ast.Attribute(attr="write_text", value=ast.Name(id=name)), args=[value, *_]):
            if _is_timed(value, known):
                yield name
        case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
            returned = (each for one in body for each in ast.walk(one) if isinstance(each, ast.Return))
            if any(each.value is not None and _is_timed(each.value, known) for each in returned):
                yield name
        case _:
            return


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the names of functions that give a time, which are imported or kept under another name."""
    match node:
        case ast.ImportFrom(module="time" | "timeit", names=names):
            yield from (each.asname or each.name for each in names if _PYTHON_CLOCK.fullmatch(each.name))
        case ast.Assign(targets=targets, value=ast.Attribute(attr=name)) if _PYTHON_CLOCK.fullmatch(name):
            yield from (name for target in targets for name in _names_in(target))
        case _:
            return


def _passed(
    node: ast.AST, functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef], known: set[str]
) -> Iterator[str]:
    """Yield the parameters that get a time from a call, or from the function itself."""
    match node:
        case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given) if any(
            _is_timed(each, known) for each in given.defaults
        ):
            yield from (each.arg for each in given.args[-len(given.defaults) :])
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in functions:
            names = [each.arg for each in functions[name].args.args]
            names = names[1:] if names[:1] in (["self"], ["cls"]) else names
            yield from (one for one, value in zip(names, node.args, strict=False) if _is_timed(value, known))
            yield from (each.arg for each in node.keywords if each.arg and _is_timed(each.value, known))
        case _:
            return


def _names_in(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _is_timed(node: ast.AST, known: set[str]) -> bool:
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if _PYTHON_CLOCK.fullmatch(name):
                return True
            case ast.Attribute(attr=name) if name in PYTHON_RECORD:
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in known:
                return True
            case ast.Constant(value=str(text)) if len(text) < _LONGEST and _ASKING.search(text):
                return True
            case _:
                pass
    return False


def _deciding(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the parts of a node on which it depends how the code goes on."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            yield test
        case ast.Compare() | ast.BoolOp():
            yield node
        case ast.Match(subject=test) | ast.Subscript(slice=test) | ast.For(iter=test):
            yield test
        case ast.comprehension(ifs=tests):
            yield from tests
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=arguments) if name in _EXITS:
            yield from arguments
        case _:
            return


_AWK = (
    r"\b(?:systime|srand)\s*\(\s*\)|\bstrftime\s*\([^()]*\)\s*[-+*/%<>!=~?&|]"
    r"|[-+*/%<>=~!&|]\s*strftime\b|\bstrftime\s*\([^()]*\)\s+in\b"
    # What `date` prints is read, whatever becomes of it then.
    r"|\"[^\"\n]*\bdate\b[^\"\n]*\"\s*\|\s*getline"
)
# The functions give the present time without an argument too.
_SQLITE = (
    r"(?i)\b(?:select|where|case)\b[^;]*"
    r"(?:'now'|\bcurrent_(?:time|date)|\b(?:unixepoch|julianday|(?:date)?time|date)\s*\(\s*\))"
)
# A relative date is shown as the time that has passed since.
_GIT = (
    r"--(?:since|until|after|before)\b|\bago\b|%[ac]r\b|@\{yesterday|date[=:](?:relative|human)\b"
    r"|--relative-date\b"
)

LANGUAGES = (
    Language(SHELL, in_shell),
    Language(PYTHON, in_python, whole=False),
    Language(re.compile(r"/(node|nodejs|deno|bun|perl|ruby)[0-9.]*$"), in_other, whole=False),
    Language(AWK, finder(_AWK)),
    Language(re.compile(r"/jq$"), finder(r"\bnow\b")),
    Language(re.compile(r"/sqlite3$"), finder(_SQLITE)),
    Language(re.compile(r"/find$"), finder(r"-[acm](?:min|time)\b|-newer[acm]?t\b")),
    Language(re.compile(r"/git$"), finder(_GIT)),
)
