"""
Answers that a script prints as written: read as its host would, without the state that leads to them.

Only an object that is printed whole, at once or by its only name, is read. A value that code computes is
unknown; an answer whose decision is unknown is left out, and so is one to which code adds something.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

from pytest_hookharness.campaigns.check.shell_code.shell_outputs import goes_elsewhere
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

# The placeholder of a text that code computes.
COMPUTED = "text"
# With the docstrings of Python.
_COMMENT = re.compile(
    r"^[ \t]*(?:(?:#(?!!)|//|/?\*(?!\))).*$|[rR]?(?P<quotes>\"{3}|'{3})[\s\S]*?(?P=quotes))", re.MULTILINE
)
_PRINTS = (
    r"(?:\bprint\(|\bstdout\.write\(|\bconsole\.log\()\s*(?:f?[\"']\s*[\"']\s*\+\s*)?"
    r"(?:json\.dumps|JSON\.stringify)\(\s*"
)
_PRINTED = re.compile(rf"{_PRINTS}(?=\{{)")
_PRINTED_NAME = re.compile(rf"{_PRINTS}(\w+)\s*[,)](?![^\n]*\bfile\s*=(?!\s*sys\.stdout))")
_DUMPED = re.compile(r"\bjson\.dump\(\s*(?=\{)")
# Behind an object that is printed.
_TO_FILE = re.compile(r"[^()\n]*\)[^()\n]*,\s*file\s*=(?!\s*sys\.stdout)")
# Code that adds to an object: operators of jq, Python and JavaScript.
_JOINED = re.compile(r"\s*(?:[+*|]|as\s+\$)")
_TO_STDOUT = re.compile(r"\s*,\s*sys\.stdout\b")
ECHOED = re.compile(
    r"(?:^|[;&|{)]|\bthen\b|\bdo\b|\belse\b)[ \t]*(?P<call>echo|printf\s+'%s(?:\\n)?'|printf)[ \t]+"
    r"(?:'(?P<plain>\s*\{[^']{0,4000}\}\s*(?:\\n)?)'|\"(?P<quoted>\s*\{(?:[^\"\\]|\\.){0,4000}\}\s*)\")"
    r"(?P<after>[^\n]*)",
    re.MULTILINE,
)
DOCUMENT = re.compile(
    r"^[ \t]*(?P<call>cat)[ \t]*<<-?[ \t]*['\"]?(?P<end>\w+)['\"]?[ \t]*\n"
    r"(?P<text>\s*\{.{0,4000}?\})\s*\n[ \t]*(?P=end)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_OF_JQ = re.compile(
    r"(?:^|[;&{]|\bthen\b|\bdo\b|\belse\b)[ \t]*jq[ \t]+(?:-\w*n\w*|--null-input)\b"
    r"(?:[^'\n|>)]|\\\n|\"[^\"]*\"){0,1000}?'(?=\s*\{)",
    re.MULTILINE,
)
# Texts that a shell fills in: variables, results of commands, and arguments of `printf`.
_SHELL_VALUE = re.compile(r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`|\$\{[^{}]*\}|\$\w+|%[sdbq]")
_ESCAPES = {'"': '"', "n": "\n", "t": "\t", "\\": "\\"}
_OF_SH = re.compile(r"#!\s*/bin/sh\b")
_SHELL_ESCAPES = "`{}` turns the escapes of the text into quotes or line ends, so what it prints is no JSON"
_NO_JSON = "what it prints is no JSON"
_ARGUMENTS = re.compile(r"^(?:[ \t]+(?:\"[^\"`]*\"|'[^']*'|\$\w+))+")
_ENDS = re.compile(r"[ \t]*(?:(?:;|\}|&&[ \t]*exit|#|\|\|[ \t]*true).*)?$")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_STRING = re.compile(
    r"[fFrRbBuU]{0,2}(?:\"\"\"(?P<triple>.*?)\"\"\"|\"(?P<double>(?:[^\"\\\n]|\\.)*)\""
    r"|'(?P<single>(?:[^'\\\n]|\\.)*)'|`(?P<template>(?:[^`\\]|\\.)*)`)",
    re.DOTALL,
)
# What stands between texts that are one, and what is not the text itself.
_JOINS, _PUT_IN = re.compile(r"[\s()+]*"), re.compile(r"[${]|\\(?![nt\"'\\])")
_WORDS: Mapping[str, Json] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None
}  # fmt: skip
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SPACE = re.compile(r"(?:\s|#[^\n]*\n|//[^\n]*\n)*")
_LONGEST = 4000
# How many answers of one script are read.
_MOST = 200


class _UnknownError(Exception):
    """An object cannot be read: code adds to it, or decides what stands in it."""


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """
    An object that a script prints.

    Attributes:
        value: What is known of it; texts that code computes are ``COMPUTED``.
        unknown: The keys whose values code computes.
        line: Its line in the script, from 1.
        broken: Why what the shell prints is no JSON; empty if it is.
    """

    value: Mapping[str, Json]
    unknown: frozenset[str]
    line: int
    broken: str = ""


def written_answers(script: str) -> Iterator[WrittenAnswer]:
    """Yield the objects that a script prints as they are written."""
    text = without_comments(script)
    for place, source, broken in islice(chain(_printed(text), _in_shell(text)), _MOST):
        reader = _ObjectReader(source, set())
        try:
            value, end = reader.object_at(0)
        except (_UnknownError, IndexError, RecursionError):
            continue
        if _TO_FILE.match(source, end) or _JOINED.match(source, end):
            continue
        yield WrittenAnswer(value, frozenset(reader.unknown), text.count("\n", 0, place) + 1, broken)


def without_comments(script: str) -> str:
    """Return a script of the same length, with spaces for lines of comments and docstrings."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), script)


def _printed(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the objects that programs print, each with its place, as texts that begin with them."""
    for found in _PRINTED.finditer(text):
        yield found.start(), text[found.end() : found.end() + _LONGEST], ""
    for found in _DUMPED.finditer(text):
        reader = _ObjectReader(text[found.end() : found.end() + _LONGEST], set())
        try:
            _, end = reader.object_at(0)
        except (_UnknownError, IndexError, RecursionError):
            continue
        if _TO_STDOUT.match(reader.text, end):
            yield found.start(), reader.text, ""
    for name in dict.fromkeys(_PRINTED_NAME.findall(text)):
        given = [*re.finditer(rf"(?<![\w.]){re.escape(name)}\s*(?::[^=\n]+)?=(?!=)\s*", text)]
        changed = re.search(
            rf"(?<![\w.]){re.escape(name)}\s*(?:\[|\.(?!get\b|items\b|keys\b)|\|=)"
            rf"|(?:\*\*|\.\.\.|(?<!dumps)(?<!stringify)\(\s*){re.escape(name)}\b",
            text,
        )
        if changed is None:
            yield from (
                (one.start(), text[one.end() : one.end() + _LONGEST], "")
                for one in given
                if text.startswith("{", one.end())
            )
    for found in _OF_JQ.finditer(text):
        program, _, after = text[found.end() :].partition("'")
        if _ENDS.match(after.partition("\n")[0]):
            yield found.start(), program.strip(), ""


def _of_shell(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the objects that a shell prints, each with its place and why it is no JSON."""
    for found in ECHOED.finditer(text):
        if _ENDS.match(_ARGUMENTS.sub("", found["after"]) if found["call"] == "printf" else found["after"]):
            source = (found["plain"] or re.sub(r"\\([\"\\$`])", r"\1", found["quoted"])).strip()
            source = source.removesuffix("\\n").rstrip()
            is_format = found["call"] == "printf"
            if is_format or (found["call"] == "echo" and _OF_SH.match(text)):
                printed = re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[0]), source)
                broken = (
                    _SHELL_ESCAPES.format(found["call"]) if not _is_json(printed) and _is_json(source) else ""
                )
            else:
                broken = ""
            yield found.start("call"), source, broken or ("" if _is_json(source) else _NO_JSON)
    for found in DOCUMENT.finditer(text):
        source = found["text"].strip()
        yield found.start("call"), source, "" if _is_json(source) else _NO_JSON


def _in_shell(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the objects that a shell prints to the output of the hook, in no text for another file."""
    found = [*_of_shell(text)]
    code = code_of(text) if found else ""
    yield from (one for one in found if code[one[0]] == text[one[0]] and not goes_elsewhere(text, one[0]))


def _is_json(text: str) -> bool:
    """Return whether a text of a shell is JSON, whatever text its variables have."""
    try:
        json.loads(_SHELL_VALUE.sub("0", text))
    except ValueError:
        try:
            json.loads(_SHELL_VALUE.sub("", text))
        except ValueError:
            return False
    return True


def _literal(written: str) -> str | None:
    """Return the text that one or several quoted texts are together; ``None`` if code puts something in."""
    if _JOINS.fullmatch(_STRING.sub("", written)) is None:
        return None
    quoted = [
        next((one for one in found.groups() if one is not None), "") for found in _STRING.finditer(written)
    ]
    inner = "".join(quoted)
    if not quoted or _PUT_IN.search(inner):
        return None
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inner)


class _ObjectReader:
    """Reads an object as Python, JavaScript, jq and JSON write it."""

    def __init__(self, text: str, unknown: set[str]) -> None:
        self.text, self.unknown = text, unknown

    def object_at(self, place: int) -> tuple[dict[str, Json], int]:
        """Return the object that begins at a place, and the place after it."""
        found: dict[str, Json] = {}
        place = self._skip(place + 1)
        while self.text[place] != "}":
            key, place = self._key(place)
            value, place = self._value(self._skip(place), key)
            found[key] = value
            place = self._skip(place)
            if self.text[place] == ",":
                place = self._skip(place + 1)
        return found, place + 1

    def _key(self, place: int) -> tuple[str, int]:
        quoted = _STRING.match(self.text, place)
        named = quoted or _NAME.match(self.text, place)
        if named is None:
            raise _UnknownError
        key = next((one for one in quoted.groups() if one is not None), "") if quoted else named[0]
        place = self._skip(named.end())
        if self.text[place] in ",}" and not quoted:
            # Its value has the same name.
            self.unknown.add(key)
            return key, place
        if self.text[place] != ":":
            raise _UnknownError
        return key, place + 1

    def _value(self, place: int, key: str) -> tuple[Json, int]:
        if self.text[place] in ",}":
            return COMPUTED, place
        if self.text[place] == "{":
            value, end = self.object_at(place)
            if self.text[self._skip(end)] in ",}":
                return value, end
        end = self._end_of_value(place)
        written = self.text[place:end].strip()
        if (text := _literal(written)) is not None:
            return text, end
        if written in _WORDS:
            return _WORDS[written], end
        if _NUMBER.fullmatch(written):
            return json.loads(written), end
        self.unknown.add(key)
        return COMPUTED, end

    def _end_of_value(self, place: int) -> int:
        depth = 0
        while True:
            if quoted := _STRING.match(self.text, place):
                place = quoted.end()
                continue
            letter = self.text[place]
            if depth == 0 and letter in ",}":
                return place
            depth += (letter in "([{") - (letter in ")]}")
            if depth < 0:
                raise _UnknownError
            place += 1

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        place = found.end() if found else place
        if place >= len(self.text):
            raise _UnknownError
        return place
