"""
Shell clock use: where a shell script decides by the time that it asked for.

A time is followed through variables, functions and files. It counts where it is compared, and where a program
gets it that does more than to write it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from pytest_hookharness.judging.recurrence.inline_code import (
    ANY_CLOCK,
    CLOCK_CODE,
    INTERPRETER,
    PATH,
    shorten_clock_code,
)

TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
# Words before a program, which it is run by or with.
_BEFORE = (
    rf"\s*(?:(?:if|elif|while|until|!|{PATH}env|command|exec|coproc|time|busybox|timeout\s+\S{{1,80}}+"
    r"|-\S{1,80}+|[A-Za-z_]\w{0,80}+=\S{0,400}+)\s+)*"
)
# A script without any of these asks for no time.
_LIKELY = re.compile(rf"date|EPOCH|SECONDS|time|\)T|{CLOCK_CODE}", re.IGNORECASE)
# Words of shells that give a time.
_OWN_CLOCK = (
    rf"(?:^|[(`|!{{&]){_BEFORE}{PATH}g?date(?![\w./=-])"
    r"|\b(?:EPOCHSECONDS|EPOCHREALTIME|SECONDS|TIMEFORMAT)\b|%\([^)]{0,99}\)T|\(\s*\{?\s*times?\s"
)
_SHELL_CLOCK = f"{_OWN_CLOCK}|{CLOCK_CODE}"
# A variable, also without the sign in arithmetic. A statement may have only the begin or the end of it.
SHELL_USE = (
    r"\$\{?#?(?:NAMES)\b|(?:\(\(|\[\[|\blet\s)[^\n]*?\b(?:NAMES)\b"
    r"|\b(?:NAMES)\b(?!\+?=(?!=))(?=[^\n]*(?:\)\)|\]\]))"
)
_ASSIGNED = re.compile(r"(?:^|[\s;({])([A-Za-z_]\w*)\+?=")
_PRINTED_TO = re.compile(r"\bprintf\s+-v\s*(\w+)|\b(?:read|mapfile|readarray)\s+(?:-\S+\s+)*(\w+)")
_WRITTEN = re.compile(r"(?<![>\d&])>\s*\"?(?!/dev/)([\w./${}~-]*\w[\w./${}~-]*)")
# Statements end here, but for pipes: what a program does with a time depends on the next one.
_HEADER = (
    r"(?:\bfunction\s+(?P<word>[\w:.-]+)\s*(?:\(\s*\))?|(?<![\w:.-])(?P<name>[\w:.-]+)\s*\(\s*\))\s*[{(]"
)
_STATEMENT = re.compile(rf"\n|;;?|&&|\|\||\b(?:then|do|else)\b|{re.sub(r'[?]P<[a-z]+>', '?:', _HEADER)}")
_FUNCTION = re.compile(_HEADER)
# In a text of several words a sign of a comment has a quote after it.
_COMMENT = re.compile(r"(?:^[ \t]*|(?<=\s))#")
# What a function writes elsewhere is not its result.
_SENT = re.compile(r"(?<![02-9&>])>>?\s*(?:[^&>\s]|&\s*2)")
_CLOSING = " })"
# Every program gets these.
_EXPORTED = re.compile(
    r"(?:export|(?:declare|typeset|local)\s+-\w*x\w*|set\s+(?:-\w*a|-o\s+allexport))\b(.*)"
)
# These only write what they get.
_WRITERS = re.compile("echo|printf|g?date|cat|tee|logger|touch|mkdir|cp|mv|tr|:")
# These do more than that only with some of their words.
_OFTEN_WRITERS = {
    "jq": re.compile(r"\bselect\b|\bif\b|[<>!=]=|\s[<>%]\s|-e\b"),
    "git": re.compile(r"(?<!\S)(?!git\b|commit|add|tag|notes|-)[a-z-]{3,}\b"),
}
# A command that runs code in another language, and the files that a command writes.
_INTERPRETED = re.compile(rf"[\s({{]*{_BEFORE}{PATH}{INTERPRETER}\s")
_REDIRECTED = re.compile(r">>?\s*(?:\"[^\"]*\"|[^\s\"';|&()]+)")
_PREFIXES = frozenset(("export", "local", "declare", "readonly", "typeset", "command", "{", "(", "!"))
_SUBSTITUTED = re.compile(r"\$\((?!\()[^()]*\)|`[^`]*`")
_ARITHMETIC = re.compile(r"\$\(\([^()]*\)\)")
_DECIDES = re.compile(
    # What a coprocess prints is read later.
    r"(?<!\$)\(\(|(?:^|\s)\[\[?\s|(?:^|[(|!{&`])\s*(?:test|case|if|elif|while|until|expr|let|exit|return|coproc)\b"
)
_SHOWN = 60
_COMPARES = re.compile(r"\s-(?:lt|le|gt|ge|eq|ne|[no]t)\s|(?<!\$)\(\(|\[\[.*[<>=]")

# Text that becomes code when it runs. What programs print that set up a shell, or that quote, is known.
_RUN = re.compile(
    rf"(?:\beval|\b(?:ba|da|z|k)?sh\s+-\w*c|\b{INTERPRETER}\s+-\w{{0,8}}[cepr])"
    r"\s+\"?(?:\$\{?([A-Za-z_]\w*)|(?:\$\(|`)(?!\()([^)`]*))[^\n]*"
    rf"|^.*\|\s*{PATH}(?:(?:ba|da|z|k)?sh(?:\s+-s?)?|{INTERPRETER}(?:\s+-)?)\s*(?=[;&|)\n]|$)", re.MULTILINE
)  # fmt: skip
_KNOWN = re.compile(r"@sh\b|\b(?:direnv|pyenv|rbenv|nodenv|nvm|fnm|mise|brew|conda|ssh-agent|dircolors)\b")
_MAY_ASK = re.compile(rf"[$`]|{ANY_CLOCK}")
_PRINTS_TEXT = re.compile(r"\s*(?:echo|printf)\b[^$`]*$")


def in_shell(text: bytes) -> str:
    """
    Return the statement of a shell script that decides by the time; empty if none does.

    A statement that runs a text which does not stand in the script may do so.
    """
    code = shorten_clock_code("\n".join(map(_without_comment, decode(text).split("\n"))))
    if _LIKELY.search(code) is None:
        return _run_unseen(code)
    statements = split_statements(code)
    functions = [
        (one["word"] or one["name"], split_statements(_body(code, one))) for one in _FUNCTION.finditer(code)
    ]
    clock, giving = _SHELL_CLOCK, set[str]()
    while True:
        timed, known = follow(statements, clock, assigned_names, SHELL_USE)
        # A file that got a time and nothing else is read as a variable is.
        files = {re.escape(found[1]) for one in timed for found in _WRITTEN.finditer(one)}
        ended = {one.rstrip(_CLOSING) for one in timed}
        giving |= {name for name, body in functions if any(_gives(one, ended, giving) for one in body)}
        calls = "|".join(re.escape(name) for name in sorted(giving))
        called = rf"[(`]{_BEFORE}(?:{calls})(?![\w:.-])|^{_BEFORE}(?:{calls})(?![\w:.-])[^|\"']*\|"
        more = "|".join((_SHELL_CLOCK, *[called] * bool(giving), *sorted(files)))
        if more == clock:
            break
        clock = more
    deciding = [
        one for one in statements if _passes_on(one, known) or (one in timed and decides(one, giving))
    ]
    # Others may only look whether there is a file that got a time.
    comparing = filter(_COMPARES.search, deciding)
    return next(map(shorten, (*comparing, *deciding)), "") or _run_unseen(code)


def _without_comment(line: str) -> str:
    last = max(line.rfind(sign) for sign in "\"'`")
    if line.lstrip(" \t").startswith("#"):
        return ""
    found = _COMMENT.search(line, last + 1)
    return line[: found.start()] if found else line


def _run_unseen(code: str) -> str:
    """Return the statement that runs a text which does not stand in a script; empty if there is none."""
    for found in _RUN.finditer(code):
        name, command = found.groups()
        if name:
            values = re.findall(rf"(?:^|[\s;({{&]){name}=(\"[^\"]*\"|'[^']*'|\S*)", code)
            seen = bool(values) and not any(map(_MAY_ASK.search, values))
        elif command is not None:
            seen = _KNOWN.search(command) is not None
        else:
            seen = _PRINTS_TEXT.match(found[0]) is not None and _MAY_ASK.search(found[0]) is None
        if not seen:
            return shorten(found[0])
    return ""


def split_statements(code: str) -> list[str]:
    """Return the statements of a shell script."""
    return [*filter(None, map(str.strip, _STATEMENT.split(code)))]


def _body(code: str, header: re.Match[str]) -> str:
    """Return the body of a function; up to the end of the code if it is not seen to be closed."""
    depth, signs = 1, r"[()]" if header[0][-1] == "(" else r"(?:^|[;\n&}])\s*(?=\})|(?:(?<!\S)|\))\{(?=\s)"
    for found in re.compile(signs).finditer(code, header.end()):
        depth += 1 if found[0][-1:] in ("(", "{") else -1
        if depth == 0:
            return code[header.end() : found.start()]
    return code[header.end() :]


def _gives(statement: str, timed: set[str], giving: set[str]) -> bool:
    """Return whether a statement of a function prints a time as its result."""
    word = _first_word(statement)
    has_time = word in giving or statement.rstrip(_CLOSING) in timed
    return has_time and word != ":" and _SENT.search(TEXT.sub("_", statement)) is None


def _passes_on(statement: str, known: set[str]) -> bool:
    """Return whether a statement gives a variable with a time to all programs."""
    found = _EXPORTED.match(statement)
    names = re.findall(r"(?<![\w$\"'/.{-])[A-Za-z_]\w*", found[1]) if found else []
    return bool(known) and found is not None and (statement.startswith("set") or not known.isdisjoint(names))


def assigned_names(statement: str) -> Iterator[str]:
    """Yield the variables to which a statement gives a value."""
    for found in (*_ASSIGNED.finditer(statement), *_PRINTED_TO.finditer(statement)):
        yield next(filter(None, found.groups()))


def decides(statement: str, giving: set[str]) -> bool:
    """Return whether a statement does more with a value than write it, as the functions ``giving`` do."""
    if _DECIDES.search(TEXT.sub("_", statement)):
        return True
    plain = _ARITHMETIC.sub("_", _SUBSTITUTED.sub("_", statement))
    inner = [found[0].strip("`$()") for found in _SUBSTITUTED.finditer(statement)]
    lines = [whole.split("|") for whole in (plain, *inner)]
    parts = [part for whole in lines for part in whole[_is_inline_clock(whole[0]) :]]
    return not all(_first_word(part) in giving or _only_writes(part) for part in parts)


def _is_inline_clock(command: str) -> bool:
    """Return whether a command is code in another language that asks for the time, and gets none."""
    plain = _REDIRECTED.sub("", command)
    if "$" in plain or re.search(CLOCK_CODE, plain) is None:
        return False
    return _INTERPRETED.match(plain) is not None and re.search(_OWN_CLOCK, plain) is None


def _only_writes(command: str) -> bool:
    program = _first_word(command)
    if program not in _OFTEN_WRITERS:
        return _WRITERS.fullmatch(program) is not None
    words = TEXT.sub("_", command) if program == "git" else command
    return _OFTEN_WRITERS[program].search(words) is None


def _first_word(command: str) -> str:
    """Return the program of a simple command; ``:`` for an assignment alone."""
    for word in TEXT.sub("_", command).split():
        if word not in _PREFIXES and not re.match(r"[A-Za-z_]\w*\+?=|[0-9]*[<>]", word):
            return word.lstrip("({").rpartition("/")[2]
    return ":"


def follow(
    statements: list[str], clock: str, names: Callable[[str], Iterable[str]], use: str
) -> tuple[list[str], set[str]]:
    """Return the statements with a time, or with a variable that got one, and these variables."""
    known: set[str] = set()
    while True:
        uses = f"|{use.replace('NAMES', '|'.join(sorted(known)))}" if known else ""
        pattern = re.compile(clock + uses)
        timed = [one for one in statements if pattern.search(one)]
        found = known | {name for one in timed for name in names(one)}
        if found == known:
            return timed, known
        known = found


def decode(text: bytes) -> str:
    """Return a script as text, with continued lines joined."""
    return text.decode("utf-8", "replace").replace("\\\n", " ")


def shorten(text: str) -> str:
    """Return the beginning of a statement in one line."""
    words = " ".join(text.split())
    if len(words) <= _SHOWN:
        return words
    # Not within a number, which would look like another one.
    cut = words[:_SHOWN].rstrip("0123456789") if words[_SHOWN].isdigit() else words[:_SHOWN]
    return f"{cut}..."
