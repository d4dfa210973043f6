"""What `grep` looks for: its patterns as shell scripts write them, and in the grammar of Python."""

from __future__ import annotations

import re

_FLAGS = frozenset("qEePsiF")
_CLASSES = {
    "space": r"\s", "blank": r" \t", "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z",
    "upper": "A-Z",
}  # fmt: skip


def unescaped(pattern: str, mark: str) -> str:
    """Return the pattern as `grep` gets it; empty if the shell puts something into it."""
    if mark == "'":
        return pattern
    if re.search(r"(?<!\\)(?:\$[\w{(]|`)", pattern):
        return ""
    return re.sub(r"\\([\\$\"`])", r"\1", pattern)


def pattern_of(source: str, options: str) -> re.Pattern[str] | None:
    """
    Return what `grep` looks for in the grammar of Python; ``None`` if that is not understood.

    Args:
        source: The pattern as `grep` gets it.
        options: The options, such as ``-qiE``.
    """
    flags = "".join(options.split()).replace("-", "")
    if not source or not {*flags} <= _FLAGS or "q" not in flags:
        return None
    if "F" in flags:
        source = re.escape(source)
    elif not {"E", "P"} & {*flags}:
        if re.search(r"\\[(){}?+]|[+?{}()|]", source.replace(r"\|", "")):
            return None
        source = source.replace(r"\|", "|")
    # Between brackets, `grep` takes a backslash for itself.
    if "P" not in flags and "F" not in flags and re.search(r"(?<!\\)\[[^\]]*\\", source):
        return None
    source = re.sub(r"\[:(\w+):\]", lambda name: _CLASSES.get(name[1], "\0"), source)
    source = re.sub(r"\\[<>]", r"\\b", source)
    try:
        return None if "\0" in source else re.compile(source, re.IGNORECASE if "i" in flags else 0)
    except re.error:
        return None
