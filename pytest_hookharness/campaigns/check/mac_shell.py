"""
What a hook's shell script uses that a Mac does not have: its /bin/bash is bash 3.2, and its tools are BSD's.

Only scripts that name /bin/bash or /bin/sh are read, by line. A script that asks for the system may do
something else on a Mac, so the tools that it calls are not named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_SHEBANG = re.compile(r"#!\s*/bin/(?:ba)?sh\b")
_ASKS = re.compile(
    r"Darwin|OSTYPE|\buname\b|\bg(?:timeout|date|sed|stat|readlink|grep)\b|command -v|\btype -|hash "
)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_QUOTED = re.compile(r"'[^'\n]+'")
# What may stand before the name of a command.
_FIRST = r"(?:^|[|;&({`]|\b(?:if|then|else|do|while|until|time)\s|!\s)\s*"
_BASH: Mapping[str, tuple[re.Pattern[str], str]] = {
    "${x,,}": (re.compile(r"\$\{\w+(?:\[[^]]*\])?(?:,,?|\^\^?)[^}]*\}"), "bash 3.2 cannot change case"),
    "mapfile": (re.compile(rf"{_FIRST}(?:mapfile|readarray)\b"), "bash 3.2 does not have it"),
    "declare -A": (
        re.compile(rf"{_FIRST}(?:declare|local|typeset)\s+-\w*A"),
        "bash 3.2 has no associative arrays",
    ),
}
_TOOLS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "date +%N": (re.compile(r"\bdate\b[^|;&)]*\+[^ |;&)]*%\d*N"), "its date prints the letter N"),
    "sed -i": (
        re.compile(r"\bsed(?:\s+-[a-zA-Z]+)*\s+-\w*i(?=\s)(?!\s+(?:''|\"\"))"),
        "its sed takes the next word for a suffix",
    ),
    "readlink -f": (re.compile(r"\breadlink\s+-\w*f\b"), "before macOS 12.3 its readlink has no -f"),
    "stat -c": (re.compile(r"\bstat\s+(?:-\w+\s+)*(?:-\w*c\b|--format)"), "its stat has -f instead"),
    "grep -P": (re.compile(r"\bgrep\s+(?:-[\w-]+\s+)*-[a-zA-Z]*P"), "its grep has no -P"),
    "timeout": (re.compile(rf"{_FIRST}timeout\s"), "it has no such program"),
}
_STRICT = re.compile(r"^\s*set\s+(?:-\w*u|-o\s+nounset)", re.MULTILINE)
_EMPTY = re.compile(r"\b(\w+)=\(\s*\)")
_MOST = 4


def describe_mac_problems(sources: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each script, given by name and text, that uses what a Mac does not have."""
    for name, text in sources:
        if _SHEBANG.match(text) and (found := [*_find(text)]):
            more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
            yield f"{name} may fail on a Mac: {'; '.join(found[:_MOST])}{more}."


def _find(text: str) -> Iterator[str]:
    asks = _ASKS.search(text) is not None
    empty = {match[1] for match in _EMPTY.finditer(text)} if _STRICT.search(text) else set[str]()
    for number, written in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", written)
        plain = _QUOTED.sub("'q'", line)
        for word, (pattern, why) in {**_BASH, **({} if asks else _TOOLS)}.items():
            # The format of a date may be in quotes.
            if pattern.search(line if word == "date +%N" else plain):
                yield f"line {number}, `{word}`: {why}"
        for array in re.findall(r"(?<!\+)\"?\$\{(\w+)\[@\]\}", plain):
            if array in empty and f"{array}[@]+" not in plain:
                yield f"line {number}, `${{{array}[@]}}`: an empty array is an error under `set -u` there"
