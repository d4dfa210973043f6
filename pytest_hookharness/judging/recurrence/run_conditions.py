"""
Run conditions: what differs between two runs of the same program although nothing in its state does.

No system call shows that a program uses these numbers, addresses, orders and limits, so its source must tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_hookharness.judging.recurrence import python_run_conditions as python
from pytest_hookharness.judging.recurrence import shell_run_conditions as shell
from pytest_hookharness.judging.recurrence.hidden_chance import NODE, PERL, PYTHON, SHELL, Language
from pytest_hookharness.judging.recurrence.shell_clock_use import decode, shorten

_PROCESS, _ADDRESS = "a process number", "an address in memory"
_INODE, _MEMORY = "the number of a file or a pipe", "the free memory of the machine"
_ORDER, _LIMIT = "which of several jobs ends first", "a limit of less than a second"

_LINE_COMMENT = re.compile(r"(?m)^[ \t]*(?:#|//).*$")
_SIMPLE_TEXT = r"\\.|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
_PERL_COMMENT = re.compile(rf"({_SIMPLE_TEXT})|#(?<![^\s;{{}}]#)[^\n]*")
# In texts, names of fields are kept, and parts that may contain code.
_NODE_TEXT = re.compile(
    rf"([\"']p?pid[\"']|`(?:[^`\\]|\\.)*`)|{_SIMPLE_TEXT}|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?",
    re.DOTALL,
)
_PERL_TEXT = re.compile(r"\\.|\"((?:[^\"\\\n]|\\.)*)\"")
_PERL_REFERENCE = re.compile(r"\bmy[ \t]*\$(\w+)[ \t]*=[ \t]*(?:[\[{\\]|bless\b|sub\b)")
# In a text: a variable itself, and not what it refers to.
_PERL_SHOWN = re.compile(r"(?<![@%$\\&{])\$(?:(\w+)|\{(\w+)\})(?!->[\[{]|[\[{])")
_ENDED = re.compile(r"\bkill\w*[ \t]*\((?:[^()]|\([^()]*\))*\)")


def _without_perl_comments(text: bytes) -> str:
    return _PERL_COMMENT.sub(r"\1", decode(text))


def _without_node_texts(text: bytes) -> str:
    return _NODE_TEXT.sub(r"\1", decode(text))


def _finder(
    pattern: str, word: bytes, plain: Callable[[bytes], str] = decode, harmless: re.Pattern[str] | None = None
) -> Callable[[bytes], str]:
    """Return a function that searches what is left of a text; no text without the word has a match."""
    compiled = re.compile(pattern)

    def find(text: bytes) -> str:
        if word not in text:
            return ""
        code = plain(text)
        found = compiled.search(harmless.sub("_", code) if harmless else code)
        return shorten(found[0]) if found else ""

    return find


def _references_as_text(text: bytes) -> str:
    """Return where Perl makes a text of a reference, which is an address."""
    code = _without_perl_comments(text)
    names = {*_PERL_REFERENCE.findall(code)}
    for found in _PERL_TEXT.finditer(code) if names else ():
        shown = (one[1] or one[2] for one in _PERL_SHOWN.finditer(found[1] or ""))
        if not names.isdisjoint(shown):
            return shorten(found[0])
    return ""


def _without_lines_of_comment(text: bytes) -> str:
    return _LINE_COMMENT.sub("", decode(text))


_ANY = re.compile(r"/[\w.-]+$")

# A path of the kernel begins with its folder. One of a project may have the same words in it.
_MAPS = r"(?<![\w.)}])[/]proc/[^/\s]{1,40}/s?maps\b"
_NODE_MEMORY = r"\bfreemem\b|\bavailableMemory\b"
_NODE_PROCESS = (
    r"\.p?pid\b|\[[ \t]*[\"'`]p?pid[\"'`][ \t]*\]|(?<![\w$.])p?pid\b[^{}()\n]{0,100}\}[ \t]*=[ \t]*[\w$(]"
)
_NODE_LIMIT = (
    r"\btimeout[ \t]*:[ \t]*[1-9]\d{0,2}(?![\w.]|[ \t]*\*)"
    r"|\bAbortSignal\.timeout\([ \t]*[1-9]\d{0,2}[ \t]*\)"
)
_PERL_PROCESS = (
    r"(?<![\w$@%&>-])(?:fork|getpgrp)\b(?![ \t]*(?:=>|\}))|=[ \t]*open\b[^;\n=]{0,120}[\"'](?:-\||\|-)"
)
_PERL_LIMIT = r"\bualarm\b|\balarm[ \t]*\(?[ \t]*0?\.\d|\bsetitimer\b[^;\n]{0,60}?[ \t,(]0?\.\d"

LANGUAGES = (
    Language(_ANY, _finder(_MAPS, b"maps", _without_lines_of_comment), kind=_ADDRESS),
    Language(SHELL, shell.process_number, kind=_PROCESS),
    # What follows a job in another script does not run beside it.
    Language(SHELL, shell.job_order, together=False, kind=_ORDER),
    Language(SHELL, shell.short_limit, kind=_LIMIT),
    Language(SHELL, shell.file_number, kind=_INODE),
    Language(PYTHON, python.process_number, whole=False, kind=_PROCESS),
    Language(PYTHON, python.job_order, whole=False, kind=_ORDER),
    Language(PYTHON, python.short_limit, whole=False, kind=_LIMIT),
    Language(PYTHON, python.file_number, whole=False, kind=_INODE),
    Language(PYTHON, python.address, whole=False, kind=_ADDRESS),
    Language(NODE, _finder(_NODE_PROCESS, b"pid", _without_node_texts, _ENDED), whole=False, kind=_PROCESS),
    Language(NODE, _finder(r"\.ino\b", b".ino", _without_node_texts), whole=False, kind=_INODE),
    Language(NODE, _finder(_NODE_LIMIT, b"timeout", _without_node_texts), whole=False, kind=_LIMIT),
    # Node reads /proc/meminfo at each start, so reads by the script cannot be distinguished.
    Language(NODE, _finder(_NODE_MEMORY, b"em", _without_node_texts), whole=False, kind=_MEMORY),
    Language(
        NODE, _finder(r"\bPromise\.(?:race|any)\b", b"Promise", _without_node_texts), whole=False, kind=_ORDER
    ),
    Language(PERL, _references_as_text, kind=_ADDRESS),
    Language(PERL, _finder(r"\brefaddr\b|\bHASH\(0x", b"", _without_perl_comments), kind=_ADDRESS),
    Language(PERL, _finder(_PERL_PROCESS, b"", _without_perl_comments), kind=_PROCESS),
    Language(PERL, _finder(_PERL_LIMIT, b"", _without_perl_comments), kind=_LIMIT),
)
