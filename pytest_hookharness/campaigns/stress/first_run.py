"""The first run of a scenario: what its hooks suggest to try, and its moves, to be made again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    Act,
    Edit,
    Read,
    RunCommand,
    Script,
    Stop,
    SubagentText,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, Moved, Performed, Trace
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Commands of every system, and shells. A script must be able to rely on these.
STANDARD_COMMANDS = frozenset({
    "[", "awk", "basename", "bash", "cat", "chmod", "chown", "cmp", "comm", "command", "cp", "cut",
    "dash", "date", "dd", "df", "diff", "dirname", "du", "echo", "ed", "env", "expr", "false", "find",
    "getconf", "grep", "head", "id", "join", "kill", "ln", "locale", "logname", "ls", "mkdir", "mkfifo",
    "mktemp", "mv", "nice", "nl", "nohup", "od", "paste", "pathchk", "pr", "printf", "ps", "pwd", "read",
    "rm", "rmdir", "sed", "sh", "sleep", "sort", "split", "stty", "tail", "tee", "test", "time", "touch",
    "tr", "true", "tsort", "tty", "umask", "uname", "uniq", "wait", "wc", "who", "write", "xargs",
})  # fmt: skip


# Programs with which scripts read JSON.
READERS = frozenset({"jq", "node", "perl", "python", "python3", "ruby"})


@dataclass(frozen=True, slots=True)
class HookTraits:
    """
    What the hooks of a scenario suggest to try.

    Attributes:
        called: The words that stand where a command is called.
        runners: The commands that run the hooks' own scripts.
        sets: The number of configured hooks of each event.
        scripts: The content of their scripts, by path relative to the workspace.
    """

    words: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    runners: frozenset[str] = frozenset()
    environment: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, int] = field(default_factory=dict)
    scripts: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, testbed: Testbed, trace: Trace) -> HookTraits:
        """Return the traits of the hooks in a testbed in which a scenario was run."""
        sets: dict[str, int] = {}
        for hook in testbed.configuration.hooks:
            sets[hook.event] = sets.get(hook.event, 0) + 1
        hook_runs = [hook_run for _, hook_run in trace.hook_runs()]
        return cls(
            words=hook_source.words(testbed, hook_runs),
            called=hook_source.called(testbed, hook_runs),
            runners=hook_source.runners(testbed, hook_runs),
            environment=testbed.workspace.environment,
            sets=sets,
            scripts=hook_source.scripts(testbed, hook_runs),
        )

    def has(self, command: str) -> bool:
        """Return whether hooks find a command on their PATH."""
        return shutil.which(command, path=self.environment.get("PATH", os.defpath)) is not None

    @property
    def tools(self) -> tuple[str, ...]:
        """The commands that hooks name and that may be missing elsewhere, without the hooks' runners."""
        found = {
            word
            for word in self.words - STANDARD_COMMANDS - self.runners
            if word[:1] != "_" and self.has(word)
        }
        # Words that call nothing are only tried if no other word is; programs that read the input come first.
        return tuple(sorted(found & self.called or found, key=lambda name: (name not in READERS, name)))


# A call with this result is only asked about: nothing is executed even if a guard allows it.
GIVEN = ToolResult(text="done")
_MOST_TURNS = 12


@dataclass(frozen=True, slots=True)
class ReplayScript:
    """The acts of a run, each with its turn; an event has the turn of the move before it."""

    acts: tuple[tuple[int, Act], ...]

    @classmethod
    def of(cls, trace: Trace) -> ReplayScript:
        """Return the acts of a run."""
        return cls(tuple(_acts(trace)))

    def until(self, turn: int) -> tuple[Act, ...]:
        """Return all acts before those of a turn."""
        return tuple(act for number, act in self.acts if number < turn)

    def move(self, turn: int) -> Act | None:
        """Return the move of a turn."""
        return next((act for number, act in self.acts if number == turn), None)


def _acts(trace: Trace) -> Iterator[tuple[int, Act]]:
    for step in trace.steps:
        match step.exchange:
            case Moved(move=SubagentText()):
                # It follows from the move that started the subagent.
                continue
            case Moved(move=move):
                yield step.turn, move
            case Happened(event=event):
                yield step.turn, event
            case _:
                continue


def without_expectations(scenario: Scenario) -> Scenario:
    """Return a scenario to be run again: without expectations, mutations and parallel hook runs."""
    return replace(scenario, vary=(), parallel=None, expect=Expectation())


def with_fixed_moves(scenario: Scenario, trace: Trace) -> Scenario:
    """
    Return the scenario of a run with its moves as a fixed list, whatever the hooks answer.

    Refused calls are only asked about, because a guard broken by a fault would let them be executed.
    """
    refused = {
        step.turn for step in trace.steps if isinstance(step.exchange, Performed) and step.exchange.refused
    }
    acts = (act for act in ReplayScript.of(trace).acts if act[0] <= _MOST_TURNS)
    moves = tuple(_only_asked(act) if turn in refused else act for turn, act in acts)
    return replace(without_expectations(scenario), script=Script(acts=(*moves, Stop())))


def _only_asked(act: Act) -> Act:
    match act:
        case RunCommand() | Edit() | Read():
            return replace(act, given=GIVEN)
        case Tools(calls=calls):
            return replace(act, calls=tuple(replace(call, given=GIVEN) for call in calls))
        case _:
            return act
