"""
Hidden chance: words by which a script gets random numbers that no system call shows.

Interpreters draw a seed when they start, whether it is used or not, so the source of a script must tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_hookharness.judging.recurrence.hash_order import python_shows_order
from pytest_hookharness.judging.recurrence.shell_clock_use import decode
from pytest_hookharness.model.fast_dataclass import dataclass

_ORDER = "the order of a set or a hash"
# In Perl: a list of a hash, where nothing sorts or counts it at once.
_LISTED = re.compile(
    rb"(?:\b(?:sort|scalar|delete|exists)\b[^;\n]{0,40}?)?\b(?:keys|values|each)\b\s*\(?\s*[%$@]"
)
_UNORDERED = (b"sort", b"scalar")
_PERL = re.compile(rb"(?<![\w$@%&>-])(?:s?rand|shuffle|sample)\b(?!\s*=>)")
_JAVASCRIPT_COMMENT = re.compile(rb"(?m)^[ \t]*//.*$")
# By its name, by its name as a text, or after it was taken out of its module.
_JAVASCRIPT = re.compile(
    rb"\bMath\.random\b|\bMath[ \t]*(?:\?\.)?\[[ \t]*[\"'`]random[\"'`]|\.random[ \t]*\("
    rb"|\brandom\b[^{}=]{0,200}\}\s{0,20}=\s{0,20}Math\b"
    rb"|\brandom(?:UUID|Bytes|Int|Fill|FillSync)\b|\b(?:getRandomValues|generateKey\w*)\b"
)


# The paths of interpreters.
SHELL = re.compile(r"/(sh|dash|bash|ash|zsh|ksh|mksh|yash)$")
PYTHON = re.compile(r"/(python|pypy)[0-9.]*$")
NODE = re.compile(r"/(node|nodejs|deno|bun)[0-9.]*$")
PERL = re.compile(r"/perl[0-9.]*$")
AWK = re.compile(r"/([gmn]?awk|original-awk)$")


@dataclass(frozen=True, slots=True)
class Language:
    """
    A programming language with hidden chance.

    Attributes:
        program: Matches the paths of its interpreters.
        find: Returns what a text in that language uses, in words; empty if it uses nothing of the kind.
        whole: Whether a shell script is searched as a whole, and not only the code in it.
        together: Whether all scripts are also searched as one, since one may call what another defines.
        kind: What a text uses by the words that are found, in words.
    """

    program: re.Pattern[str]
    find: Callable[[bytes], str]
    whole: bool = True
    together: bool = True
    kind: str = "random numbers"


def in_python(text: bytes) -> str:
    """Return what code of Python uses; its module ``random`` asks the kernel, which shows."""
    return _ORDER if python_shows_order(text) else ""


def in_perl(text: bytes) -> str:
    """Return what code of Perl uses."""
    if found := _PERL.search(text):
        return found[0].decode()
    return _ORDER if any(not each[0].startswith(_UNORDERED) for each in _LISTED.finditer(text)) else ""


def finder(pattern: str) -> Callable[[bytes], str]:
    """Return a function that returns the first match of a pattern in a script; empty for none."""
    compiled = re.compile(pattern)

    def find(text: bytes) -> str:
        found = compiled.search(decode(text))
        return found[0] if found else ""

    return find


def in_javascript(text: bytes) -> str:
    """Return what code of JavaScript uses; a key or a variable may be named ``random`` too."""
    found = (
        _JAVASCRIPT.search(_JAVASCRIPT_COMMENT.sub(b"", text)) if b"and" in text or b"Key" in text else None
    )
    return found[0].decode("utf-8", "replace") if found else ""


in_awk = finder(r"\bs?rand(?=\s*\()")

LANGUAGES = (
    Language(PYTHON, in_python, whole=False),
    Language(PERL, in_perl),
    Language(NODE, in_javascript),
    Language(AWK, in_awk),
    Language(re.compile(r"/ruby[0-9.]*$"), finder(r"\b(?:s?rand|shuffle|sample|Random)\b")),
    Language(
        re.compile(r"/php[0-9.]*$"), finder(r"\b(?:(?:mt_|array_)?s?rand|str_shuffle|shuffle|lcg_value)\b")
    ),
    Language(re.compile(r"/lua(jit)?[0-9.]*$"), finder(r"math\.random\b")),
)
