"""
What a hook's shell script uses that a Mac does not have, or only a Mac: its bash is 3.2, its tools are BSD's.

Only scripts that name /bin/bash or /bin/sh are read. A script that asks for the system or for a tool may do
something else on a Mac, so the tools that it calls are not named; nor is bash, where a script asks for its
version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.model.expectations import first_few

_SHEBANG = re.compile(r"#!\s*/bin/(?:ba)?sh\b(?P<options>.*)")
_ASKS_FOR_TOOLS = re.compile(
    r"Darwin|OSTYPE|\buname\b|\bg(?:timeout|date|sed|stat|readlink|grep)\b|command -v|\btype\s|\bwhich\s"
    r"|hash "
)
_ASKS_FOR_SYSTEM = re.compile(
    r"Darwin|darwin|OSTYPE|\buname\b|\bg(?:date|sed|stat)\b|--version|command -v osascript"
)
_ASKS_FOR_BASH = re.compile(r"\bBASH_VERS(?:ION|INFO)\b")
# The text that may precede the name of a command.
_WORDS = "if|then|else|elif|do|while|until|time|exec|command|env|sudo|nohup|nice|xargs(?: +-[^ ]+)*|-exec"
_FIRST = rf"(?:^|[|;&(){{`!]|(?<!\S)(?:{_WORDS})\s)\s*(?:\w+=\S*\s+)*(?:/(?:usr/)?bin/)?"
_BASH: Mapping[str, tuple[re.Pattern[str], str]] = {
    "${x,,}": (re.compile(r"\$\{\w+(?:\[[^]]*\])?(?:,,?|\^\^?)[^}]*\}"), "bash 3.2 cannot change case"),
    "mapfile": (re.compile(rf"{_FIRST}(?:mapfile|readarray)\b"), "bash 3.2 does not have it"),
    "declare -A": (
        re.compile(rf"{_FIRST}(?:declare|local|typeset)\s+-\w*A"),
        "bash 3.2 has no associative arrays",
    ),
}
_TOOL = re.compile(rf"{_FIRST}(date|sed|readlink|stat|grep|timeout)(?=\s|$)([^|;&)`]*)")
_OF_LINUX = re.compile(r"\bdate\s[^|;&]*(?:-d|--date)\b")
# Calls that only the tools of a Mac understand, and what shows that a script knows the other way too.
_ONLY_THERE: Mapping[str, tuple[re.Pattern[str], str, re.Pattern[str]]] = {
    "sed -i ''": (
        re.compile(rf"{_FIRST}sed\s+(?:-[a-zA-Z]+\s+)*-[a-zA-Z]*i\s+(?:''|\"\")\s"),
        "the sed of Linux takes '' for its script, fails, and changes nothing",
        re.compile(r"\bsed\s[^|;&]*-i(?!\s+(?:''|\"\"))"),
    ),
    "stat -f": (
        re.compile(rf"{_FIRST}stat\s+-f\s*(?:%|['\"])"),
        "the stat of Linux prints the file system instead, and fails",
        re.compile(r"\bstat\s+(?:-[a-zA-Z]*c|--format|--printf)"),
    ),
    "date -v": (
        re.compile(rf"{_FIRST}date\s+(?:-u\s+)?-v\s*[+-]?\d"),
        "the date of Linux has no such option, and fails",
        _OF_LINUX,
    ),
    "date -j": (
        re.compile(rf"{_FIRST}date\s+(?:-u\s+)?-j\s"),
        "the date of Linux has no such option, and fails",
        _OF_LINUX,
    ),
}
# The same with another call after it: what the first one prints before it fails is part of the value.
_FIRST_THERE = re.compile(
    r"\$\(\s*stat\s+-L?f\s+(?:%|'|\")[^|;&()]*\|\|\s*stat\s+(?:-[a-zA-Z]*c|--format|--printf)[^|()]*(?:\|\|[^|()]*)?\)"
)
_STRICT = re.compile(r"^[ \t]*set\s(?:[^;|&\n]*\s)?(?:-[a-zA-Z]*u|-o\s+nounset\b)", re.MULTILINE)
_EMPTY = re.compile(r"\b(\w+)=\(\s*\)")
_WHOLE = re.compile(r"\$\{(\w+)\[[@*]\]\}")
_MOST = 4


def describe_mac_problems(sources: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each script, given by name and text, that uses what a Mac does not have."""
    for name, text in sources:
        if (first := _SHEBANG.match(text)) and (found := [*_find(text, first["options"])]):
            yield f"{name} may fail on a Mac: {first_few(found, _MOST, between='; ')}."


def calls_for_a_mac(text: str) -> Iterator[tuple[str, int]]:
    """Yield each kind of call in a shell script that works only on a Mac, in words, with its first line."""
    if not SHELL_SCRIPT.match(text) or _ASKS_FOR_SYSTEM.search(text):
        return
    code = code_of(text)
    for shown, (pattern, why, other) in _ONLY_THERE.items():
        for number, line in enumerate(code.split("\n"), 1):
            if pattern.search(line) and not other.search(code):
                yield f"`{shown}` works only on a Mac: {why}", number
                break
    for number, line in enumerate(code.split("\n"), 1):
        if _FIRST_THERE.search(line):
            why = "the stat of Linux prints the file system before it fails, so the value has several lines"
            yield f"`stat -f %m ... || stat -c ...` works only on a Mac: {why}", number
            break


def _find(text: str, options: str) -> Iterator[str]:
    code = code_of(text)
    empty = set[str]()
    if (_STRICT.search(code) or re.search(r"\s-\w*u", options)) and "set +u" not in code:
        # A script that asks for the length of an array knows that it may be empty; one that adds to it
        # outside of all blocks fills it.
        empty = {
            name
            for name in _EMPTY.findall(code)
            if f"${{#{name}[" not in code and not re.search(rf"^{name}\+=\(", code, re.MULTILINE)
        }
    bash = {} if _ASKS_FOR_BASH.search(text) else _BASH
    tools = {} if _ASKS_FOR_TOOLS.search(text) else _TOOLS
    # A script that has the other way too tries one after the other.
    tools = {name: tool for name, tool in tools.items() if not tool.other.search(code)}
    for number, (line, written) in enumerate(zip(code.split("\n"), text.split("\n"), strict=True), 1):
        for word, (pattern, why) in bash.items():
            if pattern.search(line):
                yield f"line {number}, `{word}`: {why}"
        for command in _TOOL.finditer(line):
            tool = tools.get(command[1])
            if tool and tool.fails(command[2].split(), written[command.start(2) : command.end(2)]):
                yield f"line {number}, `{tool.shown}`: {tool.why}"
        for array in _WHOLE.findall(line):
            if array in empty and f"{array}[@]+" not in line:
                yield f"line {number}, `${{{array}[@]}}`: an empty array is an error under `set -u` there"


class _MacTool:
    """
    A tool that differs on a Mac.

    Attributes:
        shown, why: What a Mac does not have, and what happens there.
        other: What shows that a script knows the way of a Mac too.
        fails: Whether a call does not work there, by its words without quoted text, and as it is written.
    """

    def __init__(self, shown: str, why: str, fails: Callable[[list[str], str], object], other: str) -> None:
        self.shown, self.why, self.fails = shown, why, fails
        self.other = re.compile(other, re.MULTILINE)


def _options(words: Sequence[str], with_value: str = "") -> Iterator[str]:
    """Yield the options of a command up to its first operand, without the values of some."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "--":
            return
        yield word
        if with_value and re.fullmatch(rf"-[a-zA-Z]*[{with_value}]", word):
            next(rest, None)


def _has(pattern: str, with_value: str = "") -> Callable[[list[str], str], object]:
    wanted = re.compile(pattern)
    return lambda words, _: any(map(wanted.match, _options(words, with_value)))


def _edits_in_place(words: list[str], _: str) -> bool:
    following = [*words[1:], ""]
    return any(
        word.startswith("--in-place")
        or (re.fullmatch(r"-[a-zA-Z]*i(?:''|\"\")?", word) and after not in ("''", '""'))
        for word, after in zip(words, following, strict=True)
    )


_NEVER = r"(?!)"
_TOOLS: Mapping[str, _MacTool] = {
    "date": _MacTool(
        "date +%N",
        "its date prints the letter N",
        lambda _, written: re.search(r"(?:^|[\s'\"])\+.*%\d*N", written),
        _NEVER,
    ),
    "sed": _MacTool(
        "sed -i", "its sed takes the next word for a suffix", _edits_in_place, r"\bsed\s.*-i\s+(?:''|\"\")"
    ),
    "readlink": _MacTool(
        "readlink -f",
        "before macOS 12.3 its readlink has no -f",
        _has(r"-[a-z]*f"),
        r"\breadlink\s[^|;&]*\|\|",
    ),
    "stat": _MacTool(
        "stat -c", "its stat has -f instead", _has("-[a-zA-Z]*c|--(?:format|printf)"), r"\bstat\s+-f"
    ),
    "grep": _MacTool("grep -P", "its grep has no -P", _has("-[a-zA-Z]*P|--perl", "ABCDdefm"), _NEVER),
    "timeout": _MacTool("timeout", "it has no such program", lambda *_: True, _NEVER),
}
