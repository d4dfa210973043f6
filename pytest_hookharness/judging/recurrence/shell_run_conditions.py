"""
Shell run conditions: where a shell script uses what differs between two runs.

The script is first brought to a plain form in which only code is left. Its simple commands are then read one
after another.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator

from pytest_hookharness.judging.recurrence.shell_clock_use import decode, shorten

_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(\\?['\"]?)([A-Za-z_]\w*)")
# A shell gets the lines as code.
_TO_SHELL = re.compile(r"(?<![\w.-])(?:ba|da|z|k|a)?sh[ \t][^|;&>]*$")
_ARITHMETIC = r"\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)"
_PART = re.compile(
    r"\\."
    r"|#(?<![^\s;|&()]#)[^\n]*"
    r"|\$?'(?:(?<=\$')(?:[^'\\]|\\.)*|(?<!\$')[^']*)'"
    r"|\"(?:[^\"\\]|\\.)*\"",
    re.DOTALL,
)
_RUN = re.compile(r"(?:\bsh|\w+sh)[ \t]+-\w*c[ \t]+$|\beval[ \t]+$")
_ESCAPED = re.compile(r"\\([`$\"\\])")
# Within a text: what the shell replaces, and signs that mean something only outside of it.
_EXPANDED = re.compile(
    rf"(\\.)|(\$?{_ARITHMETIC}|\$\([^()]*\)?|`[^`]*`|\$\{{[^{{}}]*\}}?|\$!)|\$([A-Za-z_]\w*)|[^\w./%:,=+@-]",
    re.DOTALL,
)
_NUMERIC = re.compile(rf"\$?{_ARITHMETIC}")

_SEPARATOR = re.compile(r"(&&|\|\||;;?&|[\n;|]|(?<![<>&|\\])&(?![>&]))")
# Words and signs before a simple command, also of a case, or of a function.
_LEAD = (
    r"\s*(?:(?:[({!]|[\w-]+[ \t]*\([ \t]*\)|[^\s()]{1,40}\))\s*"
    r"|(?:if|then|elif|else|while|until|do|time|command|builtin)(?!\S)\s*){0,9}"
)
_NONEMPTY = r"\[\[?[ \t]+(?:![ \t]+)?-[nz][ \t]+\S+[ \t]+\]"
_VARIABLE = r"(?:(?:local|declare|typeset|export|readonly)[ \t]+(?:-\w+[ \t]+){0,4})?([A-Za-z_]\w*)"

# A process is waited for, ended, signalled or looked for by its number.
_HANDLED = re.compile(
    rf"{_LEAD}(?:(?:wait|p?kill|disown|trap|renice)(?!\S)|ps[ \t]+(?:-\w+[ \t]+){{0,9}}-\w*p|{_NONEMPTY})"
)
_GIVEN = re.compile(rf"{_LEAD}{_VARIABLE}(?:\[[^\]]*\])?\+?=(?:\(.*|\S*)")
_LOOP = re.compile(rf"{_LEAD}for[ \t]+([A-Za-z_]\w*)[ \t]+in\b")
_USED = re.compile(r"(\$!|\bjobs[ \t]+-\w*[lp])|\$\{?([A-Za-z_]\w*)")
# Here a variable needs no sign.
_BARE = re.compile(rf"{_LEAD}(?:\[\[|let)(?!\S)")
_NUMBER = "$!"

_MANY = re.compile(
    r"\bxargs(?:[ \t]+(?:-[0prtxo]+|-[ile]\S*|-[0prtxo]*[aEdILns][ \t]*\S+|--(?!max-procs)[\w-]+(?:=\S+)?))"
    r"{0,20}"
    r"[ \t]+(?:-[0prtxo]*P|--max-procs)(?![ \t=]*1(?!\d))"
    r"|(?:^|[|;&(])[ \t]*parallel(?=[ \t])",
    re.MULTILINE,
)  # fmt: skip
_WAIT = re.compile(rf"{_LEAD}wait(?!\S)")
# These read no file that a job may have written.
_QUIET = re.compile(
    rf"{_LEAD}(?:(?:exit|return|disown|kill|trap|wait|ps|sleep|true|false|:|shift|set|unset|fi|esac|done|break"
    rf"|continue)(?!\S)|for[ \t]+\w+[ \t]+in[\w \t$]*$|{_NONEMPTY}"
    r"|(?:local|declare|typeset|export|readonly)[\w \t-]*$"
    rf"|{_VARIABLE}(?:\[[^\]]*\])?\+?=(?:\([^()`]*\)?|[^\s`(]*)\s*$|\s*$)"
)
_SAYING = re.compile(rf"{_LEAD}(?:echo|printf|cat(?=[^|]*<<))(?!\S)")
_TO_FILE = re.compile(r">(?![ \t]*(?:&|/dev/))")

_SHORT = re.compile(
    r"\btimeout(?:[ \t]+(?:-[fpv]+|-[ks][ \t]*\S+|--(?:signal|kill-after)[= \t]+\S+|--[\w-]+)){0,9}"
    r"[ \t]+0?\.\d+s?(?!\S)"
    r"|\bread(?:[ \t]+(?:-[ers]+|-[ers]*[adinNpu][ \t]*\S+)){0,9}[ \t]+-[ers]*t[ \t]*0?\.\d+"
    r"|--(?:max-time|connect-timeout)[ \t=]+0?\.\d+"
)
_SHOWS_FILE = re.compile(r"(?<![\w-])(?:readlink|realpath|ls|stat)[ \t]")
_OWN_FILE = re.compile(r"\bproc/[^/\s]{1,40}/fd\b|\bdev/(?:fd|std(?:in|out|err))\b")
_LISTS_NUMBER = re.compile(r"(?<![\w-])ls[ \t]+(?:-\w+[ \t]+){0,9}-(?:\w*i|-inode\b)")
_SHOWS_STATUS = re.compile(r"(?<![\w-])(?:stat|find)[ \t]")
_NUMBER_OF_FILE = re.compile(r"(?<!%)%i(?![A-Za-z])|-inum\b")


def process_number(text: bytes) -> str:
    """Return how a script uses the number of a job other than to end it or to wait for it."""
    if b"$!" not in text and b"jobs" not in text:
        return ""
    carried: dict[str, list[str]] = {}
    uses: list[set[str]] = []
    for statement, _ in _statements(plain_code(text)):
        used = {_NUMBER if one[1] else one[2] for one in _USED.finditer(statement)}
        if _BARE.match(statement):
            used.update(re.findall(r"[A-Za-z_]\w*", statement))
        given = _GIVEN.fullmatch(statement.rstrip(" \t)}")) or _LOOP.match(statement)
        if given:
            for name in used:
                carried.setdefault(name, []).append(given[1])
        elif used and not _HANDLED.match(statement):
            uses.append(used)
    known, new = {_NUMBER}, [_NUMBER]
    while new:
        more = [name for name in carried.get(new.pop(), ()) if name not in known]
        known.update(more)
        new += more
    return next((_NUMBER for used in uses if not known.isdisjoint(used)), "")


def job_order(text: bytes) -> str:
    """Return how a script starts a job that may end before or after something else."""
    if not any(word in text for word in (b"&", b"xargs", b"parallel")):
        return ""
    code = plain_code(text)
    if found := _MANY.search(code):
        return found[0].strip("|;&( \t")
    running, depth = None, 0
    for statement, sign in _statements(re.sub(r"\$\{[^{}\n]*\}", "_", code)):
        if running is not None:
            depth += len(re.findall(r"^\s*do\b", statement)) - len(re.findall(r"^\s*done\b", statement))
            if _WAIT.match(statement) and not re.search(r"\s-n\b", statement):
                running = None
            elif depth < 0 or sign == "&" or not _is_quiet(statement, running):
                return "&"
        if sign == "&":
            running, depth = statement, 0
    return ""


def _is_quiet(statement: str, running: str) -> bool:
    """Return whether a command does the same before and after a job that is running."""
    statement = statement.rstrip(" \t)")
    says = _SAYING.match(statement) is not None and ">" in running
    return (says or _QUIET.match(statement) is not None) and not _TO_FILE.search(statement)


def short_limit(text: bytes) -> str:
    """Return where a script gives a program, or its input, less than a second."""
    if not any(word in text for word in (b"timeout", b"read", b"max-time")):
        return ""
    found = _SHORT.search(plain_code(text))
    return shorten(found[0]) if found else ""


def file_number(text: bytes) -> str:
    """Return where a script asks for the number of a file, or for the name of a file that it has open."""
    if not any(word in text for word in (b"readlink", b"realpath", b"stat", b"find", b"ls")):
        return ""
    for statement, _ in _statements(plain_code(text)):
        numbered = _LISTS_NUMBER.search(statement)
        if numbered is None and _NUMBER_OF_FILE.search(statement):
            numbered = _SHOWS_STATUS.search(statement)
        if numbered is None and _OWN_FILE.search(statement):
            numbered = _SHOWS_FILE.search(statement)
        if numbered:
            return shorten(statement)
    return ""


def _statements(code: str) -> Iterator[tuple[str, str]]:
    """Yield each simple command with the sign that ends it."""
    parts = [*_SEPARATOR.split(code), ""]
    return zip(parts[::2], parts[1::2], strict=True)


@functools.lru_cache(maxsize=4)
def plain_code(text: bytes) -> str:
    """
    Return a script without comments, here-documents, texts and arithmetic.

    Only the variables and commands in them are left, and the letters of texts.
    """
    return _NUMERIC.sub(_operands, _without_texts(_without_heredocs(decode(text))))


def _operands(found: re.Match[str]) -> str:
    names = re.findall(r"\$!|[A-Za-z_]\w*", found[0])
    return "_" + "".join(name if name == _NUMBER else f"${{{name}}}" for name in names)


def _without_texts(code: str) -> str:
    def shown(found: re.Match[str]) -> str:
        part, start = found[0], found.start()
        if part[0] in "\\#":
            return "_" * (part[0] == "\\")
        double, inner = part[0] == '"', part[part[0] == "$" :][1:-1]
        if _RUN.search(code, max(0, start - 20), start):
            return "\n" + _without_texts(_ESCAPED.sub(r"\1", inner) if double else inner) + "\n"
        return _expanded(inner) if double else re.sub(r"[^\w./%:,=+@-]", "_", inner)

    return _PART.sub(shown, code)


def _expanded(text: str) -> str:
    """Return a text in double quotes as one word that keeps what the shell replaces in it."""

    def shown(found: re.Match[str]) -> str:
        _, command, name = found.groups()
        if command:
            return _without_texts(command)
        return f"${{{name}}}" if name else "_"

    return _EXPANDED.sub(shown, text)


def _without_heredocs(code: str) -> str:
    """Return a script without the lines that it gives to programs other than shells as their input."""
    if "<<" not in code:
        return code
    lines = code.split("\n")
    ends: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        ends.setdefault(line.strip(" \t"), []).append(number)
    kept, number = [], 0
    while number < len(lines):
        line = lines[number]
        kept.append(line)
        number += 1
        found = _HEREDOC.search(re.split(r"(?<!\S)#", line, maxsplit=1)[0]) if "<<" in line else None
        if found is None or _TO_SHELL.search(line, 0, found.start()):
            continue
        places = ends.get(found[2], [])
        if (first := bisect.bisect_left(places, number)) < len(places):
            if not found[1]:
                # The shell replaces variables and commands in these lines.
                kept.append(f": {_expanded(chr(10).join(lines[number : places[first]]))}")
            number = places[first] + 1
    return "\n".join(kept)
