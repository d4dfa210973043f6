"""The hooks that call a program, where its absence only shows in what another hook decides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import without_comment_lines
from pytest_hookharness.judging.findings.codes import UNGUARDED_TOOL
from pytest_hookharness.model.checkup import HookSet, Problem

_MISSING = re.compile(r"with no `([\w.+-]+)` on the PATH")
# What starts or loads another file, which may call the program too.
_OTHERS = re.compile(
    r"\w\.(?:sh|bash|py|[cm]?[jt]s)\b|^\s*(?:source|\.)\s|\b(?:import|require|exec)\b", re.MULTILINE
)


def with_callers(hook_set: HookSet, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems; those of a missing program also name its callers if only other hooks show it."""
    return [_with_callers(hook_set, problem) for problem in problems]


def _with_callers(hook_set: HookSet, problem: Problem) -> Problem:
    symptom = problem.symptom
    program = _MISSING.search(symptom.text) if symptom.kind == UNGUARDED_TOOL.name else None
    if program is None:
        return problem
    named = re.compile(rf"(?<![\w-]){re.escape(program[1])}(?![\w-])")
    texts = {
        hook.command: (hook.command, *map(without_comment_lines, hook_set.scripts_of(hook)))
        for hook in hook_set.hooks
    }
    callers = [command for command, said in texts.items() if any(map(named.search, said))]
    commands = symptom.hook.split(", ")
    known = all(len(texts.get(command, ())) > 1 for command in commands)
    others = any(_OTHERS.search(one) for command in commands for one in texts.get(command, ())[1:])
    # Of several it is unknown which one matters.
    if others or not known or len(callers) != 1 or callers[0] in commands:
        return problem
    return replace(problem, symptom=replace(symptom, hook=", ".join([*callers, *commands])))
