"""Where a shell script sends what it prints at one place: another place than the output of the hook."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import ShellFunction, script_of
from pytest_hookharness.model.fast_dataclass import dataclass

_USED = (
    r"(?:\$\(|`)[ \t]*{0}(?![\w-])"
    r"|(?<![\w$.-]){0}(?![\w-])(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s|<>;&()]+))*[ \t]*(?:\|(?!\|)|[12]?>)"
)
# The end of a block whose output goes to a file or another program.
_BLOCK = re.compile(r"(?:[})]|\bdone|\bfi|\besac)[ \t]*(?:\|(?!\|)|[12&]?>)")
# A substitution, which may span lines.
_OPENED = re.compile(r"\$\((?:[ \t]*\n(?:(?![ \t]*\)).*\n)*[^\n]*|[^()\n]*)\Z|=\"?`[^`\n]*\Z")
# Names of variables that somebody sets who looks for errors in a script.
FOR_AUTHORS = re.compile(r"DEBUG|VERBOSE|TRACE")
_FAR = 16_000
_REPLACED = re.compile(r"^[ \t]*exec[ \t]+[12&]?>", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Outputs:
    """The places whose output may go elsewhere: after the first, or within the others."""

    replaced: int
    blocks: Sequence[tuple[int, int]]
    used_functions: Sequence[ShellFunction]


def goes_elsewhere(text: str, place: int) -> bool:
    """
    Return whether what a shell script prints at a place may not be the output of the hook.

    The script replaces its output, or the place stands in a block with another output, in a substitution,
    or in a function whose output is used.
    """
    outputs = _outputs_of(text)
    return (
        outputs.replaced <= place <= len(text)
        or any(begin <= place <= end for begin, end in outputs.blocks)
        or any(one.begin <= place < one.end for one in outputs.used_functions)
        or _OPENED.search(text[max(0, place - _FAR) : place + 1]) is not None
    )


@lru_cache(maxsize=512)
def _outputs_of(text: str) -> _Outputs:
    replaced = _REPLACED.search(text)
    script = script_of(text)
    used = [one for one in script.functions if re.search(_USED.format(re.escape(one.name)), text)]
    return _Outputs(replaced.end() - 1 if replaced else len(text) + 1, [*_blocks(script.shown)], used)


def _blocks(shown: str) -> Iterator[tuple[int, int]]:
    """Yield where blocks with another output begin and end; what ends with a keyword may begin anywhere."""
    for found in _BLOCK.finditer(shown):
        end = found.start()
        opening = {"}": "{", ")": "("}.get(shown[end])
        begin = _opened(shown, end, opening) if opening else 0
        # No block are `{}`, a variable, a substitution and a list of values.
        if opening is None or (begin < end - 1 and shown[max(0, begin - 1) : begin] not in ("$", "=", "<")):
            yield begin, end


def _opened(shown: str, end: int, opening: str) -> int:
    """Return where a bracket is opened that is closed at a place; 0 if that is not known."""
    depth = 0
    for place in range(end, -1, -1):
        depth += (shown[place] == shown[end]) - (shown[place] == opening)
        if depth == 0:
            return place
    return 0


def is_for_authors(text: str, place: int) -> bool:
    """Return whether a shell script only reaches a place where somebody looks for errors in it."""
    conditions = script_of(text).conditions_at(place)
    return any(FOR_AUTHORS.search(text, one.begin, one.end) for one in conditions)
