"""
Clock use: where a script decides by the time that it asked for, and does not only write it somewhere.

Whether a hook decides the same at other times can only be tried at some of them, and a remainder of a
division or a date far ahead is easily missed. So the source is read: a time is followed through variables,
and counts where it is compared, where it chooses, or where a program gets it that may do either.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator

from pytest_hookharness.judging.recurrence.hidden_chance import Language

# Words of shells that give a time.
_SHELL_CLOCK = (
    r"(?:^|[(`|!{&])\s*(?:[A-Za-z_]\w*=\S*\s+)*(?:(?:/usr)?/bin/|command )?g?date(?![\w./=-])"
    r"|\b(?:EPOCHSECONDS|EPOCHREALTIME|SECONDS)\b|%\([^)]*\)T"
)
# A variable, also without the sign in arithmetic.
_SHELL_USE = r"\$\{?#?(?:NAMES)\b|\b(?:NAMES)\b(?=[^=]*\)\))"
_ASSIGNED = re.compile(r"(?:^|[\s;({])([A-Za-z_]\w*)\+?=")
_PRINTED_TO = re.compile(r"\bprintf\s+-v\s*(\w+)|\b(?:read|mapfile|readarray)\s+(?:-\S+\s+)*(\w+)")
_WRITTEN = re.compile(r"(?<![>\d&])>\s*\"?(?!/dev/)([\w./${}~-]*\w[\w./${}~-]*)")
# Statements end here, but for pipes: what a program does with a time depends on the next one.
_STATEMENT = re.compile(r"\n|;;?|&&|\|\||\b(?:then|do|else)\b|\w\s*\(\)\s*\{")
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_FUNCTION = re.compile(r"\b(\w+)\s*\(\)\s*\{([^{}]*)")
# These only write what they get.
_WRITERS = re.compile("echo|printf|g?date|cat|tee|logger|touch|mkdir|cp|mv|tr|:")
# These do more than that only with some of their words.
_OFTEN_WRITERS = {
    "jq": re.compile(r"\bselect\b|\bif\b|[<>!=]=|\s[<>%]\s|-e\b"),
    "git": re.compile(r"(?<!\S)(?!git\b|commit|add|tag|notes|-)[a-z-]{3,}\b"),
}
_PREFIXES = frozenset(("export", "local", "declare", "readonly", "typeset", "command", "{", "(", "!"))
_SUBSTITUTED = re.compile(r"\$\((?!\()[^()]*\)|`[^`]*`")
_ARITHMETIC = re.compile(r"\$\(\([^()]*\)\)")
_DECIDES = re.compile(
    r"(?<!\$)\(\(|(?:^|\s)\[\[?\s|(?:^|[(|!{&`])\s*(?:test|case|if|elif|while|until|expr|let|exit|return)\b"
)

_PYTHON_CLOCK = re.compile(
    "(?:time|monotonic|perf_counter|clock_gettime)(?:_ns)?|(?:local|gm|c|asc|strf)time|(?:utc)?now|today"
    "|formatdate|uuid1"
)
# Programs and databases that a text asks for the time.
_ASKING = re.compile(
    r"(?i)^\s*(?:(?:/usr)?/bin/)?date(?:\s+[-+]|\s*$)|'now'|\bcurrent_(?:time|date)|\bnow\(\)"
)
_LONGEST = 1000
_EXITS = frozenset(("exit", "_exit", "quit"))

_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_OTHER_CLOCK = (
    r"\bDate\b|\bDateTimeFormat\b|`\s*date\b|\$\^T\b|\s-[MAC]\s|\bperformance\.now\b"
    r"|\b(?:local|gm|sys|strf|hr)?time\b(?!\s*=>)|\bTime\.now\b"
)
_OTHER_DECIDES = re.compile(
    r"\b(?:if|unless|while|until|switch|case|exit|die|when)\b|[<>!=]=|[^=-]>|<(?!<)|\?|&&|\|\||%"
)
_OTHER_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*[-+]?=(?![=>~])")


def in_shell(text: bytes) -> str:
    """Return the statement of a shell script that decides by the time; empty if none does."""
    code = _COMMENT.sub("", _decode(text))
    statements = [*filter(None, map(str.strip, _STATEMENT.split(code)))]
    functions = [one[1] for one in _FUNCTION.finditer(code) if re.search(_SHELL_CLOCK, one[2].strip())]
    clock = "".join((_SHELL_CLOCK, *(rf"|[(`]\s*{name}\b" for name in functions)))
    timed = _follow(statements, clock, _shell_names, _SHELL_USE)
    # A file that got a time and nothing else is read as a variable is.
    files = {re.escape(found[1]) for one in timed for found in _WRITTEN.finditer(one)}
    if files:
        timed = _follow(statements, "|".join((clock, *sorted(files))), _shell_names, _SHELL_USE)
    return next((_shorten(one) for one in timed if _shell_decides(one)), "")


def _shell_names(statement: str) -> Iterator[str]:
    for found in (*_ASSIGNED.finditer(statement), *_PRINTED_TO.finditer(statement)):
        yield next(filter(None, found.groups()))


def _shell_decides(statement: str) -> bool:
    if _DECIDES.search(_TEXT.sub("_", statement)):
        return True
    plain = _ARITHMETIC.sub("_", _SUBSTITUTED.sub("_", statement))
    inner = [found[0].strip("`$()") for found in _SUBSTITUTED.finditer(statement)]
    return not all(_only_writes(part) for whole in (plain, *inner) for part in whole.split("|"))


def _only_writes(command: str) -> bool:
    program = _first_word(command)
    if program not in _OFTEN_WRITERS:
        return _WRITERS.fullmatch(program) is not None
    words = _TEXT.sub("_", command) if program == "git" else command
    return _OFTEN_WRITERS[program].search(words) is None


def _first_word(command: str) -> str:
    """Return the program of a simple command; ``:`` for an assignment alone."""
    for word in _TEXT.sub("_", command).split():
        if word not in _PREFIXES and not re.match(r"[A-Za-z_]\w*\+?=|[0-9]*[<>]", word):
            return word.lstrip("({").rpartition("/")[2]
    return ":"


def in_other(text: bytes) -> str:
    """Return the statement of a script in JavaScript, Perl, Ruby or awk that decides by the time."""
    code = re.sub(r"(?m)(?:^|\s)(?://|#(?!\{)).*$", "", _decode(text))
    # Each text becomes as long a one, so that statements are shown as they stand in the source.
    plain = _TEXT.sub(_blank, code)
    shown = {
        one[0].strip(): code[one.start() : one.end()]
        for one in re.finditer(r"[^;\n{}]+", plain)
        if one[0].strip()
    }
    timed = _follow([*shown], _OTHER_CLOCK, _other_names, r"\b(?:NAMES)\b")
    return next((_shorten(shown[one]) for one in timed if _OTHER_DECIDES.search(one)), "")


def _blank(text: re.Match[str]) -> str:
    word = "Date" if _ASKING.search(text[0][1:-1]) else ""
    return f'"{word.ljust(len(text[0]) - 2)}"'


def _other_names(statement: str) -> Iterator[str]:
    return (found[1] for found in _OTHER_ASSIGNED.finditer(statement))


def _follow(statements: list[str], clock: str, names: Callable[[str], Iterator[str]], use: str) -> list[str]:
    """Return the statements with a time, or with a variable that got one."""
    known: set[str] = set()
    while True:
        uses = f"|{use.replace('NAMES', '|'.join(sorted(known)))}" if known else ""
        pattern = re.compile(clock + uses)
        timed = [one for one in statements if pattern.search(one)]
        found = known | {name for one in timed for name in names(one)}
        if found == known:
            return timed
        known = found


def in_python(text: bytes) -> str:
    """Return the expression of Python code that decides by the time; empty if none does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return in_other(text)
    known: set[str] = set()
    while True:
        found = known | {name for node in ast.walk(tree) for name in _python_names(node, known)}
        if found == known:
            break
        known = found
    deciding = (part for node in ast.walk(tree) for part in _deciding(node) if _is_timed(part, known))
    return next((_shorten(ast.unparse(part)) for part in deciding), "")


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
        case ast.FunctionDef(name=name, body=body):
            returned = (each for one in body for each in ast.walk(one) if isinstance(each, ast.Return))
            if any(each.value is not None and _is_timed(each.value, known) for each in returned):
                yield name
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


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\\\n", " ")


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 40 else f"{words[:40]}..."


def _finder(pattern: str) -> Callable[[bytes], str]:
    compiled = re.compile(pattern)

    def find(text: bytes) -> str:
        found = compiled.search(_decode(text))
        return found[0] if found else ""

    return find


LANGUAGES = (
    Language(re.compile(r"/(sh|dash|bash|ash|zsh|ksh|mksh|yash)$"), in_shell),
    Language(re.compile(r"/(python|pypy)[0-9.]*$"), in_python, whole=False),
    Language(re.compile(r"/(node|nodejs|deno|bun|perl|ruby)[0-9.]*$"), in_other, whole=False),
    Language(re.compile(r"/([gmn]?awk|original-awk)$"), _finder(r"\b(?:systime|srand)\s*\(\s*\)")),
    Language(re.compile(r"/jq$"), _finder(r"\bnow\b")),
    Language(re.compile(r"/sqlite3$"), _finder(r"(?i)\bselect\b[^;]*(?:'now'|\bcurrent_(?:time|date))")),
    Language(re.compile(r"/find$"), _finder(r"-[acm](?:min|time)\b|-newer[acm]?t\b")),
    Language(re.compile(r"/git$"), _finder(r"--(?:since|until|after|before)\b|\bago\b")),
)
