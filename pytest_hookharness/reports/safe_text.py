"""
Make hostile text safe to print, in a terminal and in Markdown: what a hook, an agent or a file name says.

No result moves a cursor, colours a terminal, changes the direction of writing, begins a new line, commands a
CI runner from its log or is unbounded. In Markdown such text stands only in code spans and fences: nowhere
else is it safe from becoming a link, an image, a mention or a heading.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

# Controls, invisible format characters (direction marks among them), halves of surrogate pairs, private
# and unassigned characters, and the separators of lines and paragraphs.
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# A command for the runners of GitHub and Azure, anywhere in a line of the log, and of TeamCity at its start.
_COMMAND = re.compile(r"##(?=\w*\[)")
_WORD = re.compile(r"[^ ]+")
_LONGEST_WORD = 64 << 10
_MORE = "..."
_MOST_MARKS = 3


def plain(text: str, most: int = 80) -> str:
    """Return one line of at most ``most`` characters without anything that acts on a terminal."""
    # A hook may have written megabytes: what is far behind the end is not looked at.
    whole = len(text) <= 4 * most
    line = re.sub(r"[ \t\r\n\v\f\u00a0]+", " ", text[: 4 * most]).strip(" ")
    safe = _COMMAND.sub(r"#\\x23", "".join(map(_escape, _without_towers(line))))
    return clip(safe if whole else safe + " " * (most + 1), most).rstrip(" ")


def plain_lines(text: str) -> Iterator[str]:
    """Yield the lines of a formatted text, blanks kept, without anything that acts on a terminal."""
    # Blanks align a story, and a replay command may contain several in a row.
    for line in text.splitlines():
        yield _WORD.sub(lambda word: plain(word[0], _LONGEST_WORD), line)


def quoted(text: str, most: int = 80) -> str:
    """Return the same in quotation marks, with those inside escaped."""
    return '"' + plain(text, most).replace('"', '\\"') + '"'


def clip(text: str, most: int) -> str:
    """Return the beginning of a text, with "..." if it is cut."""
    if len(text) <= most:
        return text
    return text[: max(0, most - len(_MORE))].rstrip() + _MORE


def columns(text: str) -> int:
    """Return how many terminal columns a plain text takes."""
    return sum(map(_width, text))


def fit(text: str, width: int) -> str:
    """Return a plain text cut or filled to exactly ``width`` columns."""
    if columns(text) > width:
        while text and columns(text) > width - len(_MORE):
            text = text[:-1]
        text += _MORE[: max(0, width)]
    return text + " " * (width - columns(text))


def squeeze(text: str, width: int) -> str:
    """Return the same, cut in the middle: the end of a name often distinguishes it."""
    if columns(text) <= width or width <= len(_MORE):
        return fit(text, width)
    end = ""
    for character in reversed(text):
        if columns(character + end) > (width - len(_MORE)) // 2:
            break
        end = character + end
    begin = fit(text, width - columns(end)).rstrip()
    return fit(begin + end, width)


def aligned(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    align: Callable[[str, str, int], str] = lambda _, cell, width: fit(cell, width),
    shrink: Callable[[list[int]], list[int]] = lambda widths: widths,
) -> list[str]:
    """Return heads and rows as lines with columns; ``align`` fills a cell, given its head and the width."""
    lines = [heads, *rows]
    widths = shrink([max(columns(line[place]) for line in lines) for place in range(len(heads))])
    return ["  ".join(map(align, heads, line, widths)).rstrip() for line in lines]


def _escape(character: str) -> str:
    if unicodedata.category(character) not in _HARMFUL:
        return " " if unicodedata.category(character) == "Zs" else character
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _without_towers(text: str) -> str:
    # Marks piled on one letter cover the lines above it.
    return re.sub(
        r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}",
        _shorten,
        text,
    )


def _shorten(marks: re.Match[str]) -> str:
    return marks[0][:_MOST_MARKS]


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def code(text: str, most: int = 200) -> str:
    """Return a Markdown code span of one line, with more backticks around it than the text has in a row."""
    line = plain(text, most) or " "
    ticks = "`" * (_longest_run(line) + 1)
    # Markdown removes one blank at either end, and a backtick may not touch the delimiter.
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def fence(lines: Iterable[str], language: str = "text") -> list[str]:
    """Return a fenced block of plain lines; its fence is longer than any row of backticks inside."""
    inside = list(lines)
    ticks = "`" * max(3, 1 + max(map(_longest_run, inside), default=0))
    return ["", f"{ticks}{language}", *inside, ticks, ""]


def _longest_run(line: str) -> int:
    return max(map(len, re.findall(r"`+", line)), default=0)


def wrapped(text: str, width: int, first: str = "", later: str | None = None) -> list[str]:
    """Return a text in lines of at most ``width`` columns that begin with these indents; words stay whole."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )
