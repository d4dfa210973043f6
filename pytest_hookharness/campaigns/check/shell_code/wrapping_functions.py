"""Functions of shell scripts that do nothing but call one program, such as ``field() { jq -r ".$1"; }``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.campaigns.check.shell_code.script_parts import ShellScript, script_of

_QUOTED = re.compile(r"'[_\n]*'|\"[_\n]*\"")
# Its variables, the program behind a pipe or alone, and whether its failure is passed over.
_WRAPS = (
    r"\s*(?:local[ \t][^\n;&|]*\n\s*)*(?:(?:echo|printf)[ \t][^\n;&|]*\|[ \t]*(?:\n[ \t]*)?)?"
    r"{0}[ \t][^\n;&|]*(?P<passed>\|\|[ \t]*(?:true|:|(?:echo|printf)[ \t]+(?:''|\"\"))[ \t]*)?;?\s*"
)
_USED = r"\$\((?:{0})(?![\w-])[^\n|&;()]*\)"
_MOST = 20


def wrapping_functions(tool: str, script: ShellScript) -> Iterator[tuple[str, bool]]:
    """Yield the functions that only call a program, each with whether its failure is passed over."""
    whole = re.compile(_WRAPS.format(tool))
    for name, begin, end in script.functions[:_MOST]:
        if found := whole.fullmatch(_QUOTED.sub("''", script.shown[begin:end])):
            yield name, found["passed"] is not None


def with_programs_in_place(text: str, tool: str) -> str:
    """Return a script in which values come from a program where a function called only this program."""
    for name, passed in wrapping_functions(tool, script_of(text)):
        called = f"$({tool} '.'{' || true' if passed else ''})"
        text = re.sub(_USED.format(re.escape(name)), called, text)
    return text
