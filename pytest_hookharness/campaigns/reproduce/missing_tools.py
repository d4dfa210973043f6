"""
Programs that the hooks of a reproduction call, and that this machine does not have.

A hook may hide that it did not find its linter, and refuse for another reason than the recorded one, or not
at all. The source of a hook only suggests names. Stand-ins of these names, which fail as a missing program
does, then show which of them are called.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace

from pytest_hookharness.model.moves import RunCommand, ToolResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Words of shells; a test double for another such word costs a play, but is never called.
_SHELL_WORDS = frozenset({
    "break", "case", "cd", "continue", "declare", "do", "done", "elif", "else", "esac", "eval", "exec",
    "exit", "export", "fi", "for", "function", "getopts", "if", "in", "let", "local", "mapfile", "popd",
    "pushd", "read", "readonly", "return", "select", "set", "shift", "shopt", "source", "then", "time",
    "trap", "type", "typeset", "ulimit", "umask", "unset", "until", "wait", "while",
})  # fmt: skip
_FUNCTION = re.compile(rb"(?m)^[ \t]*(?:function\s+([\w.-]+)|([\w.-]+)\s*\(\s*\))")
_NOT_FOUND = 127
_MOST_NAMES = 20


def find_missing_tools(
    outcome: Outcome, settings: Settings, resources: Resources, play: Callable[[Scenario], Outcome]
) -> tuple[str, ...]:
    """
    Return the programs that the hooks of a play call and that are not installed here.

    Args:
        play: Plays a scenario; called only if there may be such a program.
    """
    scenario = outcome.scenario
    names = _candidates(outcome, settings, resources)
    if not names:
        return ()
    doubles = {name: Double(exit=_NOT_FOUND, stderr=f"{name}: command not found\n") for name in names}
    acts = tuple(
        # The agent must not call a test double.
        replace(act, given=ToolResult())
        if isinstance(act, RunCommand) and any(name in act.command for name in names)
        else act
        for act in scenario.script.acts
    )
    tried = replace(
        scenario, commands={**scenario.commands, **doubles}, script=replace(scenario.script, acts=acts)
    )
    seen = play(tried)
    return tuple(name for name in names if seen.calls.get(name))


def _candidates(outcome: Outcome, settings: Settings, resources: Resources) -> tuple[str, ...]:
    """Return the words of the hooks that stand where a command is called and that are no command here."""
    runs = [run for _, run in outcome.trace.hook_runs()]
    with resources.open(outcome.scenario, settings) as (testbed, _):
        path = testbed.workspace.environment.get("PATH")
        called = hook_source.called(testbed, runs) - _SHELL_WORDS - {*outcome.scenario.commands}
        own = b"\n".join(hook_source.texts(testbed, runs))
    functions = {(found[1] or found[2]).decode() for found in _FUNCTION.finditer(own)}
    missing = (name for name in sorted(called - functions) if shutil.which(name, path=path) is None)
    return tuple(missing)[:_MOST_NAMES]
