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
# GitHub's runner obeys this at the beginning of a log line.
_AT_START = re.compile(r"^( *)::")
_WORD = re.compile(r"[^ ]+")
_LONGEST_WORD = 64 << 10
_MORE = "..."
# Characters of a text that is a sentence.
_SENTENCE = 100
# A word of up to this many characters is left out, not cut.
_LONGEST_CUT = 24
_MOST_MARKS = 3


def plain(text: str, most: int = 80) -> str:
    """
    Return one line of at most ``most`` characters without anything that acts on a terminal.

    A long one is cut between words; a short one may be a command or a path, of which each letter counts.
    """
    cut = clip_words if most >= _SENTENCE else clip
    # A hook may have written megabytes: what is far from both ends is not looked at.
    if len(text) <= 8 * most:
        return cut(_safe(text), most)
    return cut(f"{_safe(text[: 4 * most])}{' ' * (most + 1)}{_safe(text[-4 * most :])}", most)


def plain_lines(text: str) -> Iterator[str]:
    """Yield the lines of a formatted text, blanks kept, without anything that acts on a terminal."""
    # Blanks align a story, and a replay command may contain several in a row.
    for line in text.splitlines():
        yield _WORD.sub(lambda word: plain(word[0], _LONGEST_WORD), line)


def quoted(text: str, most: int = 80) -> str:
    """Return the same in quotation marks, with those inside escaped."""
    return '"' + plain(text, most).replace('"', '\\"') + '"'


def _safe(text: str) -> str:
    line = re.sub(r"[ \t\r\n\v\f\u00a0]+", " ", text).strip(" ")
    return _COMMAND.sub(r"#\\x23", "".join(map(_escape, _without_towers(line))))


def clip(text: str, most: int) -> str:
    """Return a text, cut in the middle if it is too long: its end often says what went wrong."""
    if len(text) <= most:
        return text
    end = max(0, most - len(_MORE)) // 2
    begin = max(0, most - len(_MORE)) - end
    return text[:begin].rstrip(" ") + _MORE + text[len(text) - end :].lstrip(" ")


def clip_words(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, cut between words unless a word is very long."""
    if len(text) <= most:
        return text
    left = max(0, most - len(_MORE) - 2)
    begin, end = text[: left - left // 2], text[len(text) - left // 2 :]
    if (last := f"{begin}{text[len(begin)]}".rfind(" ")) >= max(0, len(begin) - _LONGEST_CUT):
        begin = f"{begin[:last].rstrip(' ')} "
    if 0 <= (first := f"{text[-len(end) - 1]}{end}".find(" ")) <= _LONGEST_CUT:
        end = f" {end[first:].lstrip(' ')}"
    shown = f"{begin}{_MORE}{end}"
    return shown if len(shown) <= most else clip(text, most)


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


def fold_line(text: str, width: int, later: str = "") -> list[str]:
    """
    Return a plain text in lines of at most ``width`` columns; those after the first begin with ``later``.

    Blanks inside a line stay, because they align the columns of a story. Only words longer than a line are
    broken.
    """
    later = later[: width // 2]
    lines: list[str] = []
    line, used = "", 0
    for word in re.findall(r" +|[^ ]+", text):
        for piece in _pieces(word, width - len(later)):
            if used + columns(piece) > width and line.strip():
                lines.append(line.rstrip())
                line, used = later, len(later)
            if piece.isspace() and lines and not line.strip():
                continue
            line, used = line + piece, used + columns(piece)
    return [*lines, line.rstrip()]


def _pieces(word: str, width: int) -> Iterator[str]:
    begin = used = 0
    for place, character in enumerate(word):
        if used + _width(character) > width and place > begin:
            yield word[begin:place]
            begin, used = place, 0
        used += _width(character)
    yield word[begin:]


def without_runner_command(line: str) -> str:
    """Return a line that GitHub's runner does not obey: wrapping may put any word at the beginning of one."""
    return _AT_START.sub(r"\1\\x3a:", line)


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
