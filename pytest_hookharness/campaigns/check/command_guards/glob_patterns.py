"""The patterns of a shell (`[[ x == *y* ]]`, `case`) and lists of patterns, in the grammar of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pytest_hookharness.campaigns.check.command_guards.grep_patterns import unescaped

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
