"""
Programs that get the whole input of a hook as one argument, or as one variable that is set for them.

Linux allows 128 KiB for one of these (`MAX_ARG_STRLEN`). With a longer input the shell cannot start the
program ("Argument list too long"), and what it should have printed is empty. The input has the text that a
call writes, and after an edit often the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.failed_refusals import is_allowed_by_failure
from pytest_hookharness.campaigns.check.lone_programs.lone_searches import (
    can_refuse,
    only_shown_by,
    refusals_of,
)
from pytest_hookharness.campaigns.check.reads.shell_reads import INPUT_VARIABLE
from pytest_hookharness.campaigns.check.reads.unknown_keys import has_another
from pytest_hookharness.campaigns.check.shell_code.embedded_programs import embedded_programs
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Edit, RunCommand
from pytest_hookharness.model.protocol import Hook

_GUARDS = frozenset({hosts.Role.BEFORE_TOOL, hosts.Role.PERMISSION})
_WORD = r"\"?\$\{{?(?:{0})\}}?\"?"
# A call of jq with a variable, in the lines of one command.
_JQ = (
    r"(?<![\w$./-])jq(?=[ \t])(?:[^\n'\"|;&<>()]|\\\n|'[^']*'|\"(?:[^\"\\]|\\.)*\"){{0,400}}?"
    r"[ \t]--arg(?:json)?[ \t]+\w+[ \t]+" + _WORD + r"(?=[ \t\n])"
)
# A variable that gets what a program prints; the end of such a line, if it ignores the status.
_GIVEN = re.compile(
    r"^[ \t]*(?:local[ \t]+|export[ \t]+)?(?P<name>[A-Za-z_]\w*)=\"?\$\([ \t]*"
    r"(?:\w+=(?:\"[^\"\n]*\"|[^\s\"]+)[ \t]+)*\Z",
    re.MULTILINE,
)
_PASSED_OVER = re.compile(
    r"(?:[^|\n]*|\w+\n[ \t]*)(?:\|\|[ \t]*(?:true|:|exit[ \t]+0|echo[ \t]+(?:\"\"|''))[ \t]*)?\)\"?"
    r"[ \t]*(?:\|\|[ \t]*(?:true|:|exit[ \t]+0)[ \t]*)?(?:[;#][^\n]*)?(?:\n|\Z)"
)
_LEAVES = r"-z[ \t]+\"?\$\{{?{0}\b[^\n]*?(?:&&|;\s*then\b|\n\s*then\b)\s*(?:\{{\s*)?(?:exit[ \t]+0|return\b)"
# The script chooses files by their extension, so large files too.
_OF_KIND = (
    r"\$\{{?{0}\}}?\"?[ \t]+(?:=~|[!=]=?)[ \t]+[^\n]*?(?:\*\.\w|\\\.\(?[\w|]+\)?\$)"
    r"|case[ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+in\s+(?:[^\n)]*\|[ \t]*)?\*\.\w"
)
# Scripts that look at the length of a text, or do something at their end, are left alone.
_CAREFUL = re.compile(r"\btrap\b|\$\{#|\bwc\b")
# How many lines, from the end of a call on, are searched for a test of its status.
_NEAR = 3


@dataclass(frozen=True, slots=True)
class LongArgument:
    """
    A program that gets the whole input as one argument.

    Attributes:
        program: Its name.
        path: The path of the script.
        line: The line of the call.
        name: The variable with what it prints.
        opens: Whether a guard then allows the call.
    """

    program: str
    path: str
    line: int
    name: str
    opens: bool


def long_argument(hook_set: HookSet, hook: Hook) -> LongArgument | None:
    """Return a program of a hook's script that a long input keeps from starting; ``None`` for none."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    scripts = [(path, text) for path, text in hook_set.sources_of(hook) if SHELL_SCRIPT.match(text)]
    if rule is None or len(scripts) != 1:
        return None
    ((path, text),) = scripts
    guards = rule.role in _GUARDS and _fits(hook_set.host, hook, commands=True)
    # Hosts shorten the output of a command, but not the result of an edit.
    follows = rule.role is hosts.Role.AFTER_TOOL and _fits(hook_set.host, hook, commands=False)
    if not guards and not follows:
        return None
    code, shown = without_comment_lines(text), code_of(text)
    for program, name, place in () if _CAREFUL.search(code) else _calls(text, shown):
        if has_another(code, name):
            continue
        line = text.count("\n", 0, place) + 1
        if follows and re.search(_OF_KIND.format(name), code):
            return LongArgument(program, path, line, name, opens=False)
        if guards and _opens(code, shown, name, place) and is_allowed_by_failure(hook_set.host, hook):
            return LongArgument(program, path, line, name, opens=True)
    return None


def _fits(host: str, hook: Hook, *, commands: bool) -> bool:
    """Return whether a hook runs for edits, or for commands too."""
    profile = hosts.find(host)
    moves: list[Edit | RunCommand] = [Edit(file="f", text="t"), Edit(file="f", text="t", old="o")]
    moves += [RunCommand(command="x")] if commands else []
    names = {profile.tools.call(move, "/w").name for move in moves}
    matcher = Hook(event=hook.event, matcher=hook.matcher)
    return any(hosts.select(profile, (matcher,), hook.event, name) for name in names)


def _calls(text: str, shown: str) -> Iterator[tuple[str, str, int]]:
    """Yield the programs that get the whole input at once, with the variable that they fill and the place."""
    inputs = {name for name in INPUT_VARIABLE.findall(shown) if not has_another(text, name)}
    if not inputs:
        return
    names = "|".join(map(re.escape, sorted(inputs)))
    word = re.compile(_WORD.format(names))
    found = [
        ("jq", one.start(), one.end())
        for one in re.finditer(_JQ.format(names), text)
        if shown[one.start()] == "j"
    ]
    found += [
        (one.program, one.call, one.end if one.document else one.behind)
        for one in embedded_programs(text)
        if any(map(word.fullmatch, (*one.arguments, *one.variables.values())))
    ]
    for program, place, behind in found:
        given = _GIVEN.search(text[:place])
        asked = "$?" in "\n".join(text[behind:].split("\n", _NEAR)[:_NEAR])
        if given and not asked and _PASSED_OVER.match(text, behind):
            yield program, given["name"], place


def _opens(code: str, shown: str, name: str, place: int) -> bool:
    """Return whether a guard allows a call if a variable stays empty, because its program did not start."""
    refusals = [*refusals_of(code, shown)]
    if not can_refuse(code, shown) or any(one < place for one in refusals):
        return False
    return bool(re.search(_LEAVES.format(name), code) or only_shown_by(code))
