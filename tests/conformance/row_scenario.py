"""A row as a scenario: the host's settings file with real hooks, and values read from the outcome."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookRun, Moved, Performed
from pytest_hookharness.scenario_files import scenario_from, script_from

from .rows import Row

HOOKS = Path(__file__).parents[1] / "hooks"
SAYS, LINGERS, PLACE = "./says", "./lingers", "./place"
COMMAND = "echo hi > ran.txt; echo visible-out"
CALL = {"run": COMMAND}

Terms = Mapping[str, Any]
Simulate = Callable[[Scenario], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """
    The form of a host's settings file for hooks.

    Attributes:
        settings: The settings file, relative to the workspace.
        shell_tool: The host's name of its tool for shell commands.
        second: One second in the unit of its timeouts.
        whole: Whether a timeout must be a whole number of seconds.
        subagent_stop: Its event at the stop of a subagent; empty for none.
        wrapped: Whether events are below a key ``hooks``.
    """

    settings: str
    shell_tool: str
    second: float = 1.0
    whole: bool = True
    subagent_stop: str = "SubagentStop"
    wrapped: bool = True

    def limit(self, seconds: float) -> float | int:
        """Return a timeout as it is written in the file."""
        written = seconds * self.second
        return int(written) if written == int(written) else written

    def file(self, events: Mapping[str, Any]) -> str:
        """Return the text of the settings file for groups of hooks by event."""
        return json.dumps({"hooks": events} if self.wrapped else events, indent=1)

    def group(self, *handlers: Mapping[str, Any], matcher: str | None = None) -> dict[str, Any]:
        """Return a group of hooks as it is written in the file."""
        whole = [{"type": "command", **handler} for handler in handlers]
        return {"hooks": whole} if matcher is None else {"matcher": matcher, "hooks": whole}

    def groups(self, listed: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
        """Return groups of hooks without matchers."""
        return [self.group(*handlers) for handlers in listed]


DIALECTS: Mapping[str, Dialect] = {
    "claude-code": Dialect(settings=".claude/settings.json", shell_tool="Bash", whole=False),
    "codex": Dialect(settings=".codex/hooks.json", shell_tool="Bash"),
    "gemini-cli": Dialect(
        settings=".gemini/settings.json", shell_tool="run_shell_command", second=1000.0, whole=False
    ),
    "qwen-code": Dialect(settings=".qwen/settings.json", shell_tool="run_shell_command"),
    "openhands": Dialect(
        settings=".openhands/hooks.json", shell_tool="terminal", subagent_stop="", wrapped=False
    ),
}


def dialect_of(host: str) -> Dialect:
    """Return the dialect of a host, named with or without its version."""
    return DIALECTS[host.partition("@")[0]]


def scenario(
    row: Row, dialect: Dialect, events: Mapping[str, Any], *agent: Mapping[str, Any], **keys: Any
) -> Scenario:
    """Return a scenario with hooks in the host's own settings file."""
    files = {
        dialect.settings: dialect.file(events),
        "says": (HOOKS / "says_as_told.sh").read_text(),
        "lingers": (HOOKS / "lingers_as_told.py").read_text(),
        "place": (HOOKS / "tells_its_place.sh").read_text(),
        "not-executable": "exit 0\n",
        **keys.pop("files", {}),
    }
    made = scenario_from({"name": "replay", "host": row.host, "files": files, **keys})
    return replace(made, script=script_from([{"prompt": "go"}, *agent], then="idle"))


def command(given: Terms, **more: Any) -> str:
    """Return the command line of a hook that behaves as a variant says."""
    special = given.get("command")
    if special is not None:
        return "./not-executable" if special == "@NOEXEC@" else str(special)
    words = [SAYS]
    options = {
        "--label": given.get("label"),
        "--out": given.get("stdout"),
        "--err": given.get("stderr"),
        "--exit": given.get("exit"),
        "--signal": given.get("signal"),
        "--sleep": given.get("sleep"),
    }
    for option, value in options.items():
        words += [option, str(value)] if value else []
    words += [] if given.get("reads_stdin", True) else ["--deaf"]
    words += ["--once"] if given.get("once") or more.get("once") else []
    return shlex.join(words)


def performed(outcome: Outcome) -> list[Performed]:
    """Return the calls that were carried out."""
    steps = (step.exchange for step in outcome.trace.steps)
    return [one for one in steps if isinstance(one, Performed) and not one.refused]


def moves(outcome: Outcome) -> list[Moved]:
    """Return the moves of the agent, each with the messages that it saw before."""
    return [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Moved)]


def texts_seen(outcome: Outcome, move: int) -> list[str]:
    """Return the texts that the agent saw before a move, by the move's position."""
    made = moves(outcome)
    return [message.text for message in made[move].saw.messages] if move < len(made) else []


def runs_of(outcome: Outcome, event: str) -> Iterator[HookRun]:
    """Return the hook runs of an event."""
    return (hook_run for _, hooked in outcome.trace.hooked(event) for hook_run in hooked.hook_runs)


def marks(outcome: Outcome) -> set[str]:
    """Return the names of files that hooks created as marks."""
    changes = (change for _, hooked in outcome.trace.hooked() for change in hooked.changes)
    return {change.path.partition("/")[2] for change in changes}


def label(hook_run: HookRun) -> str:
    """Return the label of the hook of a hook run; empty for none."""
    words = shlex.split(hook_run.hook.command) + list(hook_run.hook.args or ())
    return next((after for word, after in pairwise(words) if word == "--label"), "")
