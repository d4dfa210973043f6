"""Where a shell script sends what it prints at one place: another place than the output of the hook."""

from __future__ import annotations

import re

from pytest_hookharness.campaigns.check.shell_code.shell_conditions import conditions_at
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import code_of

_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*(?:\(\))?[ \t]*\{", re.MULTILINE)
_END = re.compile(r"^[ \t]*\}", re.MULTILINE)
_USED = (
    r"(?:\$\(|`)[ \t]*{0}(?![\w-])"
    r"|(?<![\w$.-]){0}(?![\w-])(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s|<>;&()]+))*[ \t]*(?:\|(?!\|)|[12]?>)"
)
# A block whose output goes to a file or another program, and a substitution, which may span lines.
_BLOCK = re.compile(r"^[^\n]*?(?:[})]|\bdone|\bfi|\besac)[ \t]*(?:\|(?!\|)|[12&]?>)", re.MULTILINE)
_OPENED = re.compile(r"\$\((?:[ \t]*\n(?:(?![ \t]*\)).*\n)*[^\n]*|[^()\n]*)\Z|=\"?`[^`\n]*\Z")
# Names of variables that somebody sets who looks for errors in a script.
FOR_AUTHORS = re.compile(r"DEBUG|VERBOSE|TRACE")
_REPLACED = re.compile(r"^[ \t]*exec[ \t]+[12&]?>", re.MULTILINE)


def goes_elsewhere(text: str, place: int) -> bool:
    """
    Return whether what a shell script prints at a place may not be the output of the hook.

    The script replaces its output, or the place stands in a block with another output, in a substitution,
    or in a function whose output is used.
    """
    before, after = text[: place + 1], code_of(text)[place:]
    if _REPLACED.search(before) or _BLOCK.search(after) or _OPENED.search(before):
        return True
    names = [found for found in _FUNCTION.finditer(before) if not _END.search(before, found.end())]
    return any(re.search(_USED.format(re.escape(found[1])), text) for found in names)


def is_for_authors(text: str, place: int) -> bool:
    """Return whether a shell script only reaches a place where somebody looks for errors in it."""
    return any(FOR_AUTHORS.search(text, one.begin, one.end) for one in conditions_at(code_of(text), place))
