"""
This module is concerned with names of places in a text: a JSON path, a key, a line.

Middle floor: judging. Pure.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator

# A longer text is told by its lines alone.
_MOST = 1024 * 1024

# How long a key and what leads to its value may be.
_KEY = 120

_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")
_KEY_BESIDE = re.compile(r"""([A-Za-z_][\w.-]*)["']?[ \t]*[:=][ \t]*["']?$""")
_KEY_OF_LINE = re.compile(
    r"""[ \t]*(?:-[ \t]+)?(?:export[ \t]+)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*[:=](?=\s|["'\d\[{-])"""
)
_HEADER = re.compile(r"^\[+([\w.\"' -]+)\]+[ \t]*$", re.MULTILINE)


class Places:
    """
    The names of the places of one text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._inner = (len(text) - len(text.lstrip()), len(text.rstrip()))
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        headers = list(_HEADER.finditer(text)) if len(text) <= _MOST else []
        self._headers = [(match.start(), match[1]) for match in headers]
        tokens = list(_json_places(text)) if is_json(text) else []
        self._starts = [start for start, _ in tokens]
        self._paths = [path for _, path in tokens]

    def of_value(self, start: int, end: int) -> str:
        """
        The name of a value; empty if it is all that the text says.
        """
        if start <= self._inner[0] and end >= self._inner[1]:
            return ""
        if self._starts:
            return self._paths[max(0, bisect_right(self._starts, start) - 1)]
        line = bisect_right(self._lines, start)
        begin = self._lines[line - 1]
        beside = _KEY_BESIDE.search(self._text[max(begin, start - _KEY) : start])
        key = beside or _KEY_OF_LINE.match(self._text[begin : begin + _KEY], 0, start - begin)
        if key is None:
            return f"line {line}"
        above = bisect_right(self._headers, (start, "")) - 1
        return f"{self._headers[above][1]}.{key[1]}" if above >= 0 else key[1]

    def of_growth(self, start: int, end: int, chunk: str) -> str:
        """
        The name of a place that gets one chunk more each lap.
        """
        if self._starts:
            inside = bisect_right(self._starts, start) - 1
            while inside > 0 and self._text[self._starts[inside]] not in ",{}[]":
                inside -= 1
            return self._paths[max(0, inside)]
        lines = chunk.count("\n")
        if lines and (chunk.endswith("\n") or chunk.startswith(("\n", "\r\n"))):
            return "line added" if lines == 1 else f"{lines} lines added"
        return self.of_value(start, end)


def is_json(text: str) -> bool:
    """
    Whether a text is a JSON object or array.
    """
    if len(text) > _MOST or text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_places(text: str) -> Iterator[tuple[int, str]]:
    # Each open object or list with the key or number that one is at; an object begins without a key.
    stack: list[str | int | None] = []
    expects_key = False
    for match in _JSON.finditer(text):
        piece = match[0]
        if piece in "]}":
            yield match.start(), _path(stack[:-1])
            stack.pop()
            continue
        if piece in "[{":
            yield match.start(), _path(stack)
            stack.append(0 if piece == "[" else None)
            expects_key = piece == "{"
        elif piece == ",":
            yield match.start(), _path(stack[:-1])
            last = stack[-1]
            stack[-1] = last + 1 if isinstance(last, int) else None
            expects_key = not isinstance(last, int)
        elif expects_key and piece.startswith('"'):
            stack[-1] = json.loads(piece, strict=False)
            expects_key = False
            yield match.start(), _path(stack)
        else:
            yield match.start(), _path(stack)


def _path(stack: list[str | int | None]) -> str:
    return "$" + "".join(map(_step, stack))


def _step(key: str | int | None) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    if key is None:
        return ""
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"
