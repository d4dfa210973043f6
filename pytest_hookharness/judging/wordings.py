"""
This module is concerned with wordings: one command as data of another command, and as code in other forms.

Middle floor: judging. Pure. A guard that splits a line as a shell does lets the first pass and refuses the
others.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

# Words that no guard has a reason to refuse.
HARMLESS = "echo hello"
# Labels of the call that must be allowed for the next to prove anything, and of that one.
CONTROL, TRIED = "variation: control", "variation: tried"
_PLAIN = re.compile(r"[\w./=:@%+,-]+( [\w./=:@%+,-]+)+")


@dataclass(frozen=True, slots=True)
class Wording:
    """
    A way to write a command down.

    Attributes:
        form: What it is, in words.
        text: The command line.
        code: Whether the command is carried out by it.
    """

    form: str
    text: str
    code: bool


def wordings(command: str) -> Iterator[Wording]:
    """
    The ways to write a command down, as data first.
    """
    quoted = shlex.quote(command)
    yield Wording("a heredoc", f"cat >notes.txt <<'END'\n{command}\nEND", code=False)
    yield Wording("a commit message", f"git commit --allow-empty -m {quoted}", code=False)
    yield Wording("an argument of echo", f"echo {quoted}", code=False)
    yield Wording("a title", f"gh pr create --title {quoted} --body text", code=False)
    yield Wording("`sh -c`", f"sh -c {quoted}", code=True)
    yield Wording("`bash -c`", f"bash -c {quoted}", code=True)
    yield Wording("a shell that reads a heredoc", f"bash <<'END'\n{command}\nEND", code=True)
    yield Wording("a command substitution", f'echo "$({command})"', code=True)
    if _PLAIN.fullmatch(command):
        first, _, rest = command.partition(" ")
        yield Wording("xargs", f"echo {rest} | xargs {first}", code=True)
