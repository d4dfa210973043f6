"""Translate patterns of `grep` and of shells (`[[ x == *y* ]]`, `case`) into expressions of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

_FLAGS = frozenset("qEePsiF")
_CLASSES = {
    "space": r"\s", "blank": r" \t", "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z",
    "upper": "A-Z",
}  # fmt: skip
_SPECIAL = re.compile(r"([\\.^$*+?{}\[\]|()])")
_PART = re.compile(r"\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|\\(?P<escaped>.)|(?P<plain>.)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_LIST = re.compile(
    r"^[ \t]*(?:(?:declare|local|readonly)[ \t]+(?:-\w+[ \t]+)?)?(?P<name>\w+)=\(", re.MULTILINE
)
_ITEM = re.compile(
    r"[ \t\n]+|#[^\n]*|\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>[^'\n]*)'|(?P<bare>[\w./*-]+)"
)
_MOST = 50
_LOOP = re.compile(r"\bfor[ \t]+(?P<each>\w+)[ \t]+in[ \t]+\"?\$\{(?P<list>\w+)\[@\]\}\"?")


def unescaped(pattern: str, mark: str) -> str:
    """Return the pattern as `grep` gets it; empty if the shell would substitute something in it."""
    if mark == "'":
        return pattern
    if re.search(r"(?<!\\)(?:\$[\w{(]|`)", pattern):
        return ""
    return re.sub(r"\\([\\$\"`])", r"\1", pattern)


def pattern_of(source: str, options: str) -> re.Pattern[str] | None:
    """
    Return a pattern of `grep` as an expression of Python, for options such as ``-qiE``.

    Return ``None`` without ``-q``, and where a pattern or an option cannot be translated.
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


def looped_texts(code: str) -> Mapping[str, Sequence[str]]:
    """Return the texts that the variables of loops over a written list take."""
    lists = {found["name"]: _items(code, found.end()) for found in islice(_LIST.finditer(code), _MOST)}
    changed = {name for name in lists if len(re.findall(rf"(?<![\w$]){name}\+?=", code)) != 1}
    loops = [*_LOOP.finditer(code)]
    each = [found["each"] for found in loops]
    return {
        found["each"]: lists[found["list"]]
        for found in loops
        if lists.get(found["list"]) and found["list"] not in changed and each.count(found["each"]) == 1
    }


def _items(code: str, place: int) -> Sequence[str]:
    """Return the texts of the list that begins at a place; none if it holds anything else."""
    items: list[str] = []
    while found := _ITEM.match(code, place):
        given = found["double"]
        word = unescaped(given, '"') if given else found["single"] or found["bare"]
        if given and not word:
            return ()
        items += [word] if word else []
        place = found.end()
    return items if code.startswith(")", place) else ()


def plain(text: str) -> str:
    """Return a text as a pattern that fits only itself."""
    return _SPECIAL.sub(r"\\\1", text)


def glob_source(glob: str, looped: Mapping[str, Sequence[str]]) -> str:
    """Return a pattern of a shell as one that is searched for; empty if it is not understood."""
    parts = [*_pieces(glob, looped)]
    if not parts or "" in parts:
        return ""
    begins, ends = parts[0] != ".*", parts[-1] != ".*"
    inner = "".join(parts[0 if begins else 1 : None if ends else -1])
    return f"{'^' if begins else ''}{inner}{'$' if ends else ''}" if inner else ""


def _pieces(glob: str, looped: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the pieces of a pattern, an empty one for what is not understood."""
    for part in _PART.finditer(glob):
        quoted = part["double"] if part["double"] is not None else part["single"]
        variable = _VARIABLE.fullmatch(part["double"] or "")
        if variable:
            texts = looped.get(variable[1], ())
            yield f"(?:{'|'.join(map(plain, texts))})" if texts else ""
        elif part["double"] is not None and re.search(r"[$`\\]", part["double"]):
            yield ""
        elif quoted is not None or part["escaped"]:
            yield plain(quoted if quoted is not None else part["escaped"])
        elif part["plain"] in "[]$`()~!+@":
            yield ""
        else:
            yield {"*": ".*", "?": "."}.get(part["plain"], plain(part["plain"]))
