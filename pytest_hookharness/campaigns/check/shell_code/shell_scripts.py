"""Shell scripts: how to tell one, which part of it is code, and which files it loads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pytest_hookharness.campaigns.arming.project_texts import project_files, read_text
from pytest_hookharness.model.checkup import HookSet

# The first line of a script for a shell.
SHELL_SCRIPT = re.compile(r"#!.*\b(?:ba|da|k|z)?sh\b")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*(?:\\|(['\"]))?([A-Za-z_][\w.-]*)(?(2)\2)")
_ANSI_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
# Where a script loads another one, in code without quoted text.
LOADS = re.compile(r"^[ \t]*(?:source|\.)[ \t]", re.MULTILINE)
_LOADED = re.compile(r"^[ \t]*(?:source|\.)\s[^\n]*?([\w.-]+\.(?:sh|bash))\b", re.MULTILINE)


def loaded_texts(hook_set: HookSet, text: str) -> Iterator[str]:
    """Yield the text of each file of the project whose name a script loads."""
    names = {*_LOADED.findall(text)}
    files = project_files(hook_set.root) if names else ()
    yield from (read_text(file) or "" for file in files if file.name in names)


def without_comment_lines(text: str) -> str:
    """Return a script of the same length, with blanks for the lines that are comments."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


@lru_cache(maxsize=64)
def code_of(text: str) -> str:
    """
    Return a script of the same length, with `_` for each character that no shell reads as code.

    These are comments, here-documents and quoted texts; the quotes stay, and what is expanded within them.
    """
    shown, closers, documents, place = [*text], [""], list[tuple[str, str]](), 0

    def hide(until: int) -> int:
        shown[place:until] = ["\n" if char == "\n" else "_" for char in text[place:until]]
        return until

    while place < len(text):
        char, pair, closer = text[place], text[place : place + 2], closers[-1]
        if char == "\\":
            place = hide(place + 2) if pair != "\\\n" else place + 2
        elif char == closer:
            closers.pop()
            place += 1
        elif pair in ("$(", "${"):
            closers.append(")" if pair == "$(" else "}")
            place += 2
        elif char in '"`':
            closers.append(char)
            place += 1
        elif closer == '"':
            place = hide(place + 1)
        elif char == "'":
            quoted = _ANSI_QUOTED.match(text, place) if text[place - 1 : place] == "$" else None
            end = quoted.end() if quoted else text.find("'", place + 1) + 1 or len(text)
            place += 1
            place = hide(end - 1) + 1
        elif char == "#" and closer != "}" and (place == 0 or text[place - 1] in " \t\n;|&("):
            place = hide(len(text) if (end := text.find("\n", place)) < 0 else end)
        elif char == "(":
            closers.append(")")
            place += 1
        elif pair == "<<" and closers[-2:] != [")", ")"] and (begin := _HERE_DOCUMENT.match(text, place)):
            documents.append((r"\t*" if begin[1] else "", begin[3]))
            place = begin.end()
        elif text.startswith("<<<", place):
            place += 3
        elif char == "\n" and documents:
            place += 1
            for tabs, word in documents:
                last = re.compile(rf"^{tabs}{re.escape(word)}$", re.MULTILINE)
                found = last.search(text, place)
                place = hide(found.end() if found else len(text))
            documents.clear()
        else:
            place += 1
    return "".join(shown)
