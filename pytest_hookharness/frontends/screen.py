"""What a screen can show: its width, and colour where the terminal has it."""

from __future__ import annotations

import os
import shutil
import sys

# Columns: a story is made for the first, and cannot be told in less than the second.
_USUAL, _LEAST = 100, 40
_COLOURS = {True: "\x1b[1;32m", False: "\x1b[1;31m", None: "\x1b[1;33m"}
_PLAIN = "\x1b[0m"


def width() -> int:
    """Return the columns of a story: those of the terminal, if it is narrower than usual."""
    return max(_LEAST, min(_USUAL, shutil.get_terminal_size((_USUAL, 0)).columns))


def headed(text: str, passed: bool | None) -> str:
    """Return a report whose first line is green, red or, if the answer is unknown, yellow on a terminal."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return text
    head, end, rest = text.partition("\n")
    return f"{_COLOURS[passed]}{head}{_PLAIN}{end}{rest}"
