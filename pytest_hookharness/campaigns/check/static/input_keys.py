"""
Keys that a script reads from the input of its hook, and that its host does not send: another one is meant.

Only what a script plainly parses from standard input is looked at, line by line: a line that also reads a
known key has a fallback for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from pytest_hookharness import hosts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Where a script keeps its input, and how it reads a key of that.
_SHELL = re.compile(r"^[ \t]*(?:local\s+)?(\w+)=[\"']?\$\(\s*cat\b[^)]*\)", re.MULTILINE)
_JQ_PROGRAM = r"\bjq\s[^'|\n]*'([^'\n]*)'"
_JQ = rf"\$\{{{{?{{0}}\}}}}?[\"']?\s*\|\s*{_JQ_PROGRAM}|{_JQ_PROGRAM}\s*<<<\s*[\"']?\$\{{{{?{{0}}\b"
_JQ_PATH = re.compile(r"\.(\w+)[\w.?\[\]:-]*")
_JQ_LITERAL = re.compile(r"empty|null|true|false|\d+|\"[^\"]*\"|\[\]|\{\}")
_PYTHON = re.compile(r"\b(\w+)(?:\s*:[^=\n]+)?\s*=\s*json\.loads?\(\s*sys\.stdin(?:\.read\(\))?\s*\)")
_GET = r"\b{0}(?:\.get\(\s*|\[)[\"'](\w+)[\"']"
_JAVASCRIPT = re.compile(r"\b(\w+)\s*=\s*JSON\.parse\(")
_MEMBER = r"(?<![\w.]){0}\??\.(\w+)\b(?!\s*\()"
_GIVEN = re.compile(r"[ \t]*(?:(?:const|let|var|local|export)\s+)?(\w+)(?:\s*:[^=\n]+)?\s*=(?!=)")
_FUNCTION = re.compile(r"\s*(?:async\s+)?def\s+(\w+)\s*\(")
# What a tool answered has another name at each host; a script that reads none of this host's gets nothing.
_RESULTS = frozenset({"tool_response", "tool_output", "tool_result"})
# Words that people confuse in the name of what the agent said.
_SAID = frozenset({"response", "message", "text", "output"})
# Parts of many keys: one of them alone does not show which key is meant.
_VAGUE = frozenset({"path", "id", "name", "type", "event", "data"})


def never_sent(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """Return a key that a hook's script reads in vain, and the one that is meant; or nothing."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    texts = hook_set.scripts_of(hook)
    if rule is None or len(texts) != 1:
        return "", ""
    sent = [field.name for field in rule.fields.fields]
    result = next((key for key in sent if key in _RESULTS), "")
    for keys in _lines_of_keys(texts[0]):
        if keys and result and {*keys} <= _RESULTS and result not in texts[0]:
            return keys[0], result
        if keys and not _known_keys().intersection(keys):
            meant = [key for key in sent if all(_is_part(one, key) for one in keys)]
            vague = all(_words(key) <= _VAGUE for key in keys)
            if meant and not vague and meant[0] not in texts[0]:
                return keys[0], meant[0]
    return "", ""


@cache
def _known_keys() -> frozenset[str]:
    events = (event for profile in hosts.known() for event in profile.events.values())
    return frozenset(field.name for event in events for field in event.fields.fields)


def _words(key: str) -> frozenset[str]:
    return frozenset(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().split("_"))


def _is_part(key: str, whole: str) -> bool:
    # All words of it are another spelling, such as `toolInput`; `assistant_response` is what the agent said.
    words, others = _words(key), _words(whole)
    return words <= others or bool(
        words - _SAID and words - _SAID <= others and words & _SAID and others & _SAID
    )


def _lines_of_keys(text: str) -> Iterator[Sequence[str]]:
    """Yield the keys of the input that each line of a script reads, if it is plain which these are."""
    for variable in dict.fromkeys(_SHELL.findall(text)):
        for found in re.finditer(_JQ.format(variable), text):
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.end()]
            if not _is_unused(line, text):
                yield _of_jq("".join(one or "" for one in found.groups()))
    patterns = [re.compile(_GET.format(variable)) for variable in _PYTHON.findall(text)]
    parsed = _JAVASCRIPT.findall(text) if "stdin" in text.lower() else []
    # Of several parsed texts, nobody knows which one is the input.
    patterns += [re.compile(_MEMBER.format(parsed[0]))] if len(parsed) == 1 else []
    lines = text.splitlines()
    for pattern in patterns:
        for number, line in enumerate(lines):
            keys = pattern.findall(line)
            if keys and not _is_unused(line, text) and not _is_uncalled(lines, number):
                yield keys


def _is_unused(line: str, text: str) -> bool:
    """
    Return whether a line gives a value to a name that a script has nowhere else.

    A function of the script that has the name only among its parameters does not use it either.
    """
    given = _GIVEN.match(line)
    if given is None:
        return False
    named = rf"\b{given[1]}\b"
    for function in re.findall(rf"\b(?:def|function)\s+(\w+)\([^()\n]*{named}", text):
        text = re.sub(rf"\b{function}\([^()\n]*\)", "", text)
    return re.search(named, text.replace(line, "", 1)) is None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_uncalled(lines: Sequence[str], number: int) -> bool:
    """Return whether a line is in a Python function whose name a script has nowhere else."""
    inner = _indent(lines[number])
    for line in reversed(lines[:number]):
        indent = _indent(line)
        if indent < inner and line.strip() and not line.lstrip().startswith("#"):
            inner = indent
            function = _FUNCTION.match(line)
            if function and sum(len(re.findall(rf"\b{function[1]}\b", one)) for one in lines) == 1:
                return True
    return False


def _of_jq(program: str) -> Sequence[str]:
    """Return the first keys of the paths of a program such as ``.one // .other // empty``, or nothing."""
    keys: list[str] = []
    for part in map(str.strip, program.split("//")):
        if path := _JQ_PATH.fullmatch(part):
            keys.append(path[1])
        elif not _JQ_LITERAL.fullmatch(part):
            return ()
    return keys
