"""
Inline code: code in another language within a shell script, which gets the time and may print it.

The reader of its language finds what such code decides itself. The words by which code gets the time are here
too, as patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PYTHON_CLOCK = (
    "(?:(?:process_|thread_)?time|monotonic|perf_counter|clock_gettime)(?:_ns)?|(?:local|gm|c|asc|strf)time"
    "|(?:utc)?now|today|formatdate|uuid1|default_timer|times|getmtime|getctime|getatime|date_time_string"
)
# Attributes of the records of Python's logging, and of the status of files.
PYTHON_RECORD = frozenset(
    ("created", "relativeCreated", "asctime", "msecs", "st_mtime", "st_ctime", "st_atime", "st_mtime_ns")
)
OTHER_CLOCK = (
    r"\bDate\b|\bDateTimeFormat\b|`\s*date\b|\$\^T\b|(?<![\w$])-[MAC](?=[\s\"'$(_])"
    r"|\bBASETIME\b|\bperformance\.(?:now|timeOrigin)\b"
    r"|\b(?:local|gm|sys|strf|hr|up)?times?\b(?!\s*=>)|\bTime\.now\b|\b(?:[mca]|birth)time(?:Ms|Ns)?\b|\blastModified\b"
)
_MODULES = "datetime|timeit|clock|st_[mca]time(?:_ns)?"
# Code with one of these may ask for the time.
ANY_CLOCK = rf"\b(?:{PYTHON_CLOCK}|{_MODULES})\b|{OTHER_CLOCK}"


# Stands for code that asks for the time, and for one into which the shell also puts variables.
CLOCK_CODE = r"'\.\.\.time\.\.\.\$?'"
INTERPRETER = r"(?:python|perl|node|nodejs|deno|bun|ruby|php|tclsh|[gmn]?awk)[0-9.]*"
# Each pattern ends after a bounded number of signs, because a script may have lines of any length.
PATH = r"(?:/(?:[\w.@+-]{1,80}+/){0,12})?"
# A quick test, because most scripts have no such code.
_LIKELY = re.compile(r"python|perl|node|deno|bun|ruby|php|tclsh|awk")
_PROGRAM = re.compile(rf"(?<![\w.-]){INTERPRETER}(?![\w.-])")
_AWK = re.compile(r"(?<![\w.-])[gmn]?awk(?![\w.-])")
_TEXT = r"(\$?'[^']*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\")"
_OPTION = re.compile(rf"(?:(?:-\w{{0,8}}[cepr]|\beval|--print|<<<)[\s=]{{0,20}}){_TEXT}", re.DOTALL)
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]{0,20}(['\"\\]?)(\w{1,80})['\"]?(?!<)([^\n]*)\n")
_AWK_CODE = re.compile(r"'[^'\\]*\b(?:systime|strftime|srand)\s{0,9}\([^']*'")
_WORD = re.compile(ANY_CLOCK)
_VARIABLE = re.compile(r"(?<!\\)[$`]")
_SEPARATORS = "\n|;&`("
_FARTHEST = 200


def shorten_clock_code(code: str) -> str:
    """Return a shell script with all code in other languages that names a time as one word each."""
    if _LIKELY.search(code) is None:
        return code
    code = _cut(code, [*_heredocs(code)])
    code = _cut(code, [*_options(code)])
    return _cut(code, [*_awk(code)])


def _cut(code: str, parts: list[tuple[int, int, str]]) -> str:
    """Return a text with other texts in the place of its parts, which are in order."""
    pieces: list[str] = []
    at = 0
    for start, end, text in parts:
        pieces += code[at:start], text
        at = end
    return "".join((*pieces, code[at:]))


def _options(code: str) -> Iterator[tuple[int, int, str]]:
    """Yield the code that a program gets as an argument or in a here-string."""
    for found in _OPTION.finditer(code):
        text = found[1]
        if _WORD.search(text) and _is_of(_PROGRAM, code, found.start()):
            yield *found.span(1), _mark(text[0] == '"' and _VARIABLE.search(text) is not None)


def _awk(code: str) -> Iterator[tuple[int, int, str]]:
    """Yield the code of awk that asks for the time; options may stand before it."""
    if _AWK.search(code) is None:
        return
    for found in _AWK_CODE.finditer(code):
        if _is_of(_AWK, code, found.start()):
            yield *found.span(), _mark(False)


def _heredocs(code: str) -> Iterator[tuple[int, int, str]]:
    """Yield the here-documents that are code, from the sign of each to its last line."""
    missing: set[str] = set()
    at = 0
    for found in _HEREDOC.finditer(code):
        quote, word, rest = found.groups()
        if found.start() < at or word in missing or not _is_of(_PROGRAM, code, found.start()):
            continue
        # A substitution that is closed in the next line belongs to the same statement.
        end = re.compile(rf"^[ \t]*{word}[ \t]*$(?:\n[ \t]*(?=\)))?", re.MULTILINE).search(code, found.end())
        if end is None:
            missing.add(word)
        elif _WORD.search(code, found.end(), end.start()):
            at = end.end()
            body = code[found.end() : end.start()]
            yield found.start(), at, _mark(not quote and _VARIABLE.search(body) is not None) + rest


def _is_of(program: re.Pattern[str], code: str, at: int) -> bool:
    """Return whether what stands at a place is an argument of a program."""
    before = code[max(0, at - _FARTHEST) : at]
    start = max(before.rfind(sign) for sign in _SEPARATORS) + 1
    return program.search(before, start) is not None


def _mark(has_variable: bool) -> str:
    return "'...time...$'" if has_variable else "'...time...'"
