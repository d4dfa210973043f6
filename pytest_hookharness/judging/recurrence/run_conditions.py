"""
Run conditions: what differs between two runs of the same program, and that no system call shows as such.

These are process numbers, addresses in memory, numbers of files, which of several jobs ends first, and limits
that a program just meets or misses. The source tells whether a script uses them. A use that cannot matter,
such as to wait for a process by its number, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_hookharness.judging.recurrence.hidden_chance import Language
from pytest_hookharness.judging.recurrence.shell_clock_use import TEXT, decode

_PROCESS, _ADDRESS = "a process number", "an address in memory"
_INODE = "the number of a file or a pipe"
_ORDER, _LIMIT = "which of several jobs ends first", "a limit of less than a second"
_COMMENT = re.compile(r"(?m)^[ \t]*#.*$|(?<=\s)#[^\"'`\n]*$")
# A process is waited for, ended or signalled by its number.
_HANDLED = re.compile(r"\b(?:wait|kill|disown|trap)\b[^;|&\n]*")
_KEPT = re.compile(r"\b(\w+)=\"?\$!\"?")
_BACKGROUND = re.compile(r"(?<![&>|<\\])&(?![&>])(?P<looped>\s*done\b)?")
_MANY = re.compile(r"\bxargs\b[^|;\n]*\s-\w*P|(?:^|[|;&]\s*)parallel\s", re.MULTILINE)
_SHORT = re.compile(r"\btimeout\s+(?:-\S+\s+)*0?\.\d+s?\b|\bread\s+(?:-[a-su-zA-Z]\S*\s+)*-\w*t\s*0?\.\d+")
# Each of several.
_SEVERAL = 2


def _processes_in_shell(text: bytes) -> str:
    code = _HANDLED.sub("_", _COMMENT.sub("", decode(text)))
    if found := re.search(r"\bjobs\s+-\w*[lp]", code):
        return found[0]
    names = _KEPT.findall(code)
    code = _KEPT.sub("_", code)
    used = "$!" in code or any(re.search(rf"(?<![\w-]){name}\b(?!=)", code) for name in names)
    return "$!" if used else ""


def _order_in_shell(text: bytes) -> str:
    code = TEXT.sub("_", _COMMENT.sub("", decode(text)))
    if found := _MANY.search(code):
        return found[0].strip("|;& ")
    begun = [*_BACKGROUND.finditer(code)]
    return "&" if len(begun) >= _SEVERAL or any(one["looped"] for one in begun) else ""


def _finder(pattern: str, harmless: str = "(?!)") -> Callable[[bytes], str]:
    compiled, left_out = re.compile(pattern), re.compile(harmless)

    def find(text: bytes) -> str:
        found = compiled.search(left_out.sub("_", decode(text)))
        return found[0].strip() if found else ""

    return find


def _references_as_text(text: bytes) -> str:
    """Return where Perl makes a text of a reference, which is an address."""
    code = decode(text)
    for name in re.findall(r"\bmy\s*\$(\w+)\s*=\s*(?:[\[{\\]|bless\b|sub\b)", code):
        if found := re.search(rf"\"[^\"\n]*\${name}(?!\w|\s*(?:->|\[|\{{))[^\"\n]*\"", code):
            return found[0]
    return ""


def _objects_as_text(text: bytes) -> str:
    """Return where Python may make a text of an object without a form of its own, which has its address."""
    code = decode(text)
    plain = re.search(r"(?m)^\s*class\s+\w+\s*(?:\(\s*(?:object)?\s*\))?:", code)
    if plain is None or re.search(r"__(?:str|repr)__", code):
        return ""
    found = re.search(r"\bdefault\s*=\s*(?:str|repr)\b|\brepr\(", code)
    return found[0] if found else ""


_SHELL = re.compile(r"/(sh|dash|bash|ash|zsh|ksh|mksh|yash)$")
_PYTHON = re.compile(r"/(python|pypy)[0-9.]*$")
_NODE = re.compile(r"/(node|nodejs|deno|bun)[0-9.]*$")
_PERL = re.compile(r"/perl[0-9.]*$")
_ANY = re.compile(r"/[\w.-]+$")
_ENDED = r"\bkill\w*\s*\([^()]*\)"

LANGUAGES = (
    Language(_ANY, _finder(r"\b(?:self|\$\$|\d+)/s?maps\b"), kind=_ADDRESS),
    Language(_PYTHON, _objects_as_text, whole=False, kind=_ADDRESS),
    Language(_PERL, _references_as_text, kind=_ADDRESS),
    Language(_PYTHON, _finder(r"\bst_ino\b"), whole=False, kind=_INODE),
    Language(_NODE, _finder(r"\.ino\b"), whole=False, kind=_INODE),
    Language(_SHELL, _processes_in_shell, kind=_PROCESS),
    Language(_SHELL, _order_in_shell, kind=_ORDER),
    Language(_SHELL, _finder(_SHORT.pattern), kind=_LIMIT),
    Language(
        _PYTHON,
        _finder(r"(?<!self)\.pid\b|\bget_native_id\b|\bgetpgrp\b|\bgetp?[gs]id\b|\bos\.fork\b", _ENDED),
        whole=False,
        kind=_PROCESS,
    ),
    Language(_PYTHON, _finder(r"\bget_ident\b|\bobject\.__repr__\b"), whole=False, kind=_ADDRESS),
    Language(_PYTHON, _finder(r"\btimeout\s*=\s*0?\.\d"), whole=False, kind=_LIMIT),
    Language(_PYTHON, _finder(r"\bas_completed\b|\bFIRST_COMPLETED\b"), whole=False, kind=_ORDER),
    Language(_NODE, _finder(r"(?<![\w$])p?pid\b", _ENDED), whole=False, kind=_PROCESS),
    Language(_NODE, _finder(r"\btimeout\s*:\s*\d{1,3}\b(?!\s*\*)"), whole=False, kind=_LIMIT),
    Language(_NODE, _finder(r"\bPromise\.(?:race|any)\b"), whole=False, kind=_ORDER),
    Language(_PERL, _finder(r"\bfork\b|\bgetpgrp\b|=\s*open\s*\(?[^;\n]*-\|"), kind=_PROCESS),
    Language(_PERL, _finder(r"\brefaddr\b|\bHASH\(0x"), kind=_ADDRESS),
    Language(_PERL, _finder(r"\b(?:u?alarm|setitimer)\b"), kind=_LIMIT),
)
