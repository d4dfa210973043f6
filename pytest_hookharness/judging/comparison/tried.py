"""
Wordings: one command as data of another command, and as code in other forms.

Pure. A guard that splits a line as a shell does lets the first pass and refuses the
others.

What was tried: the conditions of further runs by kind, in a few words.

Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from pytest_hookharness.model.mutations import (
    EmptyInput,
    FailingTool,
    HangingTool,
    HookOrder,
    KeyOrder,
    Kind,
    MovedWords,
    Quoted,
    SameName,
    Shell,
    StateFile,
    TwoAgents,
    TwoProcesses,
    TwoSessions,
    Unset,
    Variation,
    Wide,
    WithoutTool,
)

_MOST_WAYS = 4


def tried_words(variations: Iterable[Variation]) -> str:
    """
    What was tried, such as ``key-order; tools jq (missing, failing, hanging)``.
    """
    kinds: dict[Kind, dict[str, list[str]]] = {}
    for variation in variations:
        kind, subject, way = _placed(variation)
        kinds.setdefault(kind, {}).setdefault(subject, []).append(way)
    return "; ".join(f"{kind} {_subjects(subjects)}".rstrip() for kind, subjects in kinds.items())


def _subjects(subjects: dict[str, list[str]]) -> str:
    return ", ".join(f"{subject} {_ways(ways)}".strip() for subject, ways in subjects.items())


def _ways(ways: list[str]) -> str:
    named = [*filter(None, dict.fromkeys(ways))]
    if len(named) > _MOST_WAYS:
        return f"({len(named)} ways)"
    return f"({', '.join(named)})" if named else ""


def _placed(variation: Variation) -> tuple[Kind, str, str]:
    """
    The kind of a variation, what it is about, and in what way.
    """
    match variation:
        case KeyOrder():
            return "key-order", "", ""
        case MovedWords(command=command, words=words):
            return "words", "", f"`{command}` described as `{words}`"
        case Quoted(command=command, form=form):
            return "quoting", f"`{command}`", form
        case WithoutTool(name=name):
            return "tools", name, "missing"
        case FailingTool(name=name):
            return "tools", name, "failing"
        case HangingTool(name=name):
            return "tools", name, "hanging"
        case Unset(variable=variable):
            return "unset", variable, ""
        case StateFile(path=path, how=how):
            return "state", path, how
        case EmptyInput():
            return "input", "", ""
        case HookOrder(event=event, places=places):
            return "order", event, "-".join(map(str, places))
        case Shell():
            return "shells", "", str(variation).removeprefix("the shell ")
        case SameName(twin=twin):
            return "names", twin, ""
        case TwoAgents():
            return "sessions", "", "another agent"
        case TwoSessions():
            return "sessions", "", "another session"
        case TwoProcesses():
            return "processes", "", ""
        case Wide():
            return "wide", "", ""
        case _:
            assert_never(variation)


# Words that no guard has a reason to refuse.
HARMLESS = "echo hello"
# Labels of the call that must be allowed for the next to prove anything, and of that one.
CONTROL, TRIED = "variation: control", "variation: tried"
_PLAIN = re.compile(r"[\w./=:@%+,-]+( [\w./=:@%+,-]+)+")


@dataclass(frozen=True, slots=True)
class CommandForm:
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


def wordings(command: str) -> Iterator[CommandForm]:
    """
    The ways to write a command down, as data first.
    """
    quoted = shlex.quote(command)
    yield CommandForm("a heredoc", f"cat >notes.txt <<'END'\n{command}\nEND", code=False)
    yield CommandForm("a commit message", f"git commit --allow-empty -m {quoted}", code=False)
    yield CommandForm("an argument of echo", f"echo {quoted}", code=False)
    yield CommandForm("a title", f"gh pr create --title {quoted} --body text", code=False)
    yield CommandForm("`sh -c`", f"sh -c {quoted}", code=True)
    yield CommandForm("`bash -c`", f"bash -c {quoted}", code=True)
    yield CommandForm("a shell that reads a heredoc", f"bash <<'END'\n{command}\nEND", code=True)
    yield CommandForm("a command substitution", f'echo "$({command})"', code=True)
    if _PLAIN.fullmatch(command):
        first, _, rest = command.partition(" ")
        yield CommandForm("xargs", f"echo {rest} | xargs {first}", code=True)
