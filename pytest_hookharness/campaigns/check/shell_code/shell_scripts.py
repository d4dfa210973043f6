"""
Read shell scripts: recognise one, and find its code, its functions and the conditions at a place.

Conditions are found in the text of the script alone; nothing is run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from pytest_hookharness.campaigns.arming.project_texts import files_named, read_text
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Hook

# The first line of a script for a shell.
SHELL_SCRIPT = re.compile(r"#!.*\b(?:ba|da|k|z)?sh\b")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*(?:\\|(['\"]))?([A-Za-z_][\w.-]*)(?(2)\2)")
_ANSI_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
# The text in front of a value that a script prints unchanged.
PRINTS: str = r"(?:echo|printf[ \t]+(?:--[ \t]+)?[\"']%s(?:\\n)?[\"'])[ \t]+"
# Where a script loads another one, in code without quoted text.
LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
_LOADED = re.compile(r"^[ \t]*(?:source|\.)\s[^\n]*?([\w.-]+\.(?:sh|bash))\b", re.MULTILINE)
# A word of the shell where a command may begin, in code without quoted text.
_WORD = re.compile(
    r"(?:^|[\n;&|(){}!]|(?:(?<=\bthen)|(?<=\belse)|(?<=\bdo))(?=\s))[ \t]*"
    r"(?P<word>if|elif|else|fi|case|esac|for|while|until|select|done)(?![\w-])"
)
_THEN = re.compile(r"(?:[;\n]|\bfi\b)[ \t]*then(?![\w-])")
_DEEPEST = 8
_ARM = re.compile(r"(?:\bin\b|;;&?|;&)\s*\(?(?P<texts>[^();]{0,600})\)")
_MOST = 200
_FUNCTION = re.compile(
    r"^(?P<indent>[ \t]*)(?P<word>function[ \t]+)?(?P<name>[\w-]+)[ \t]*(?(word)(?:\(\))?|\(\))"
    r"\s*(?P<opened>[{(])",
    re.MULTILINE,
)
# A whole function in one line.
_ONE_LINE = {
    "{": re.compile(r"[^\n]*[;&\s](?=\}[ \t]*(?:#[^\n]*)?$)", re.MULTILINE),
    "(": re.compile(r"[^\n]*(?=\)[ \t]*(?:#[^\n]*)?$)", re.MULTILINE),
}
_CLOSES = {"{": "}", "(": ")"}


def loaded_texts(hook_set: HookSet, text: str) -> Iterator[str]:
    """Yield the text of each file of the project whose name a script loads."""
    for file in files_named(hook_set.root, {*_LOADED.findall(text)}):
        yield read_text(file) or ""


def without_comment_lines(text: str) -> str:
    """Return a script of the same length, with blanks for the lines that are comments."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


@lru_cache(maxsize=512)
def code_of(text: str) -> str:
    """
    Return a script of the same length, with `_` for each character that no shell reads as code.

    These are comments, here-documents and quoted texts; the quotes stay, and what is expanded within them.
    """
    shown, closers, documents, place = [*text], [""], list[tuple[str, str]](), 0

    def hide(until: int) -> int:
        shown[place:until] = ["\n" if char == "\n" else "_" for char in text[place:until]]
        return until

    while place < len(text):
        char, pair, closer = text[place], text[place : place + 2], closers[-1]
        if char == "\\":
            place = hide(place + 2) if pair != "\\\n" else place + 2
        elif char == closer:
            closers.pop()
            place += 1
        elif pair in ("$(", "${"):
            closers.append(")" if pair == "$(" else "}")
            place += 2
        elif char in '"`':
            closers.append(char)
            place += 1
        elif closer == '"':
            place = hide(place + 1)
        elif char == "'":
            quoted = _ANSI_QUOTED.match(text, place) if text[place - 1 : place] == "$" else None
            end = quoted.end() if quoted else text.find("'", place + 1) + 1 or len(text)
            place += 1
            place = hide(end - 1) + 1
        elif char == "#" and closer != "}" and (place == 0 or text[place - 1] in " \t\n;|&("):
            place = hide(len(text) if (end := text.find("\n", place)) < 0 else end)
        elif char == "(":
            closers.append(")")
            place += 1
        elif pair == "<<" and closers[-2:] != [")", ")"] and (begin := _HERE_DOCUMENT.match(text, place)):
            documents.append((r"\t*" if begin[1] else "", begin[3]))
            place = begin.end()
        elif text.startswith("<<<", place):
            place += 3
        elif char == "\n" and documents:
            place += 1
            for tabs, word in documents:
                last = re.compile(rf"^{tabs}{re.escape(word)}$", re.MULTILINE)
                found = last.search(text, place)
                place = hide(found.end() if found else len(text))
            documents.clear()
        else:
            place += 1
    return "".join(shown)


@dataclass(frozen=True, slots=True)
class Condition:
    """
    What has to hold at a place: a condition, or an arm of a ``case``.

    Attributes:
        begin: Where the condition or the texts of the arm begin in the script.
        end: Where they end.
        case: Where the ``case`` of the arm begins.
    """

    begin: int
    end: int
    case: int = 0
    is_arm: bool = False


def ends_of_if(shown: str, place: int) -> tuple[int, int]:
    """
    Return where a branch of an ``if`` that begins at a place ends, and where the whole ``if`` ends.

    Both are the end of the script if no ``fi`` follows.
    """
    depth, turned = 0, 0
    for found in _WORD.finditer(shown, place):
        word, begin = found["word"], found.start("word")
        if word in ("else", "elif") and not depth:
            turned = turned or begin
        elif word == "fi" and not depth:
            return turned or begin, begin
        depth += {"if": 1, "fi": -1}.get(word, 0)
    return turned or len(shown), len(shown)


def _condition(shown: str, word: str, begin: int, place: int) -> Condition | None:
    """Return the condition of an open block; for a ``case`` its last arm, ``None`` after an inner one."""
    if word in ("if", "elif"):
        then = _THEN.search(shown, begin, place)
        return Condition(begin, then.start()) if then else None
    if word != "case" or "esac" in shown[begin:place]:
        return None
    arms = [*_ARM.finditer(shown, begin, place)]
    return Condition(arms[-1].start("texts"), arms[-1].end("texts"), begin, is_arm=True) if arms else None


def _of_line(shown: str, place: int) -> Sequence[Condition]:
    """Return the commands in front of a place in a list with `&&`: they have to succeed first."""
    begin = max(shown.rfind(mark, 0, place) for mark in ("\n", ";")) + 1
    before = shown[begin:place]
    end = before.rfind("&&")
    return () if end < 0 or "||" in before else (Condition(begin, begin + end),)


class ShellFunction(NamedTuple):
    """A function of a shell script: its name, and where its body begins and ends."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class ShellScript:
    """
    A shell script in two forms of the same length, so that an index means the same place in both.

    ``code`` has no comment lines, and ``shown`` no quoted text, as ``code_of`` returns it.
    """

    code: str
    shown: str
    functions: tuple[ShellFunction, ...]

    def line_of(self, place: int) -> int:
        """Return the line number of a place."""
        return self.code.count("\n", 0, place) + 1

    def is_code(self, place: int) -> bool:
        """Return whether a place is code and not quoted text."""
        return self.shown[place] == self.code[place]

    def function_at(self, place: int) -> ShellFunction | None:
        """Return the innermost function in whose body a place stands; ``None`` for none."""
        return next((one for one in reversed(self.functions) if one.begin <= place < one.end), None)

    def conditions_at(self, place: int) -> list[Condition]:
        """Return the conditions that surely hold at a place."""
        opened: list[tuple[str, int]] = []
        for found in _WORD.finditer(self.shown, 0, place):
            word, begin = found["word"], found.start("word")
            if word in ("fi", "esac", "done"):
                del opened[-1:]
            elif word in ("elif", "else"):
                opened[-1:] = [(word, begin)]
            else:
                opened.append((word, begin))
        known = (_condition(self.shown, word, begin, place) for word, begin in opened[-_DEEPEST:])
        return [*(one for one in known if one), *_of_line(self.shown, place)]

    def is_outermost(self, place: int) -> bool:
        """Return whether a place is outside of all functions and conditions."""
        return self.function_at(place) is None and not self.conditions_at(place)


@lru_cache(maxsize=512)
def script_of(text: str) -> ShellScript:
    """Return a shell script with its parts."""
    code = without_comment_lines(text)
    return ShellScript(code, code_of(text), tuple(_functions_of(code)))


def shell_script_of(text: str) -> ShellScript | None:
    """Return a script with its parts; ``None`` if its first line names no shell."""
    return script_of(text) if SHELL_SCRIPT.match(text) else None


def _functions_of(code: str) -> Iterator[ShellFunction]:
    for found in islice(_FUNCTION.finditer(code), _MOST):
        if whole := _ONE_LINE[found["opened"]].match(code, found.end()):
            end = whole.end()
        else:
            # It ends where it is closed at its own depth.
            closed = code.find(f"\n{found['indent']}{_CLOSES[found['opened']]}", found.end())
            end = closed if closed >= 0 else len(code)
        yield ShellFunction(found["name"], found.end(), end)


# The shell with which hosts start a command.
_SHELL = "#!/bin/sh\n"
_WRAPPED = re.compile(r"(?:/usr/bin/env[ \t]+|/(?:usr/)?bin/)?(?P<shell>ba|da|z)?sh[ \t]+-\w*c[ \t]+['\"]")
# More than the start of another program.
_PROGRAM = re.compile(r"\$\(|[|;&]|\bif\b")


def shell_program(hook_set: HookSet, hook: Hook) -> str:
    """Return the text of the shell program that a hook runs; empty if there are several, or none."""
    texts = hook_set.scripts_of(hook)
    if texts:
        return texts[0] if len(texts) == 1 and SHELL_SCRIPT.match(texts[0]) else ""
    return inline_program(hook.command) if hook.type == "command" and hook.args is None else ""


def inline_program(command: str) -> str:
    """Return the shell program that a command is, with a first line that names its shell; empty for none."""
    found = _WRAPPED.match(command)
    if found is None:
        return f"{_SHELL}{_in_lines(command)}" if _PROGRAM.search(command) else ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    place = next((number for number, word in enumerate(words) if re.fullmatch(r"-\w*c", word)), 0)
    # Further words are arguments, or another command whose status counts.
    if len(words) != place + 2 or "$" in command.partition(words[place])[2].partition("'")[0]:
        return ""
    return f"#!/bin/{found['shell'] or ''}sh\n{_in_lines(words[-1])}"


def _in_lines(program: str) -> str:
    """Return a program with each command of a list in its own line."""
    shown = code_of(program)
    single = (found.start() for found in re.finditer(r"(?<!;);(?![;&])[ \t]*", shown))
    places = {*single}
    return "".join("\n" if place in places else letter for place, letter in enumerate(program))
