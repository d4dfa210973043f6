"""
This module is concerned with Markdown around hostile text: fences and code spans that it cannot leave.

Middle floor: reports. Pure. What comes from a run stands nowhere else, for only there no reader of Markdown
makes a link, an image, a mention or a heading of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_hookharness.reports.plain import plain

_MOST = 200


def code(text: str, most: int = _MOST) -> str:
    """
    A code span of one line; it begins and ends with more backticks than the text holds in a row.
    """
    line = plain(text, most) or " "
    ticks = "`" * (_longest_run(line) + 1)
    # Readers take one blank away from either end, and a backtick may not touch the mark.
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def fence(lines: Iterable[str], language: str = "text") -> list[str]:
    """
    A fenced block of lines that are already plain; its fence is longer than any row of backticks inside.
    """
    inside = list(lines)
    ticks = "`" * max(3, 1 + max(map(_longest_run, inside), default=0))
    return ["", f"{ticks}{language}", *inside, ticks, ""]


def _longest_run(line: str) -> int:
    return max(map(len, re.findall(r"`+", line)), default=0)
