"""
Plans: the variations that make sense for a scenario that was played once.

What cannot be tried here is told with its reason, so that silence never passes for a good sign.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.alterations import twins
from pytest_hookharness.judging.comparison.tried import HARMLESS, wordings
from pytest_hookharness.model.moves import Edit, Read, RunCommand, Tools
from pytest_hookharness.model.mutations import (
    EmptyInput,
    FailingTool,
    HangingTool,
    Harm,
    HookOrder,
    KeyOrder,
    MovedWords,
    Quoted,
    Replayed,
    Shell,
    StateFile,
    TwoAgents,
    TwoProcesses,
    TwoSessions,
    Unset,
    Variation,
    Wide,
    Wish,
    WithoutTool,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Moved, Performed, Trace
from pytest_hookharness.simulation.testbed import hook_source
from pytest_hookharness.simulation.testbed.testbed import Testbed

_HARMS: tuple[Harm, ...] = ("empty", "garbage", "truncate", "delete")
_MOST_REFUSED = 3
_MOST_FILES = 3
_MOST_TOOLS = 4
# Up to this many hooks of an event, every order of them is tried.
_MOST_ORDERED = 3
_SHELLS = ("dash", "bash --posix", "busybox sh", "mksh", "yash")
_OLD_BASH = Shell(env={"BASH_COMPAT": "3.2"})
# What every system has, and what runs scripts; a script that cannot rely on these cannot be written.
_ALWAYS = frozenset({
    "[", "awk", "basename", "bash", "cat", "chmod", "chown", "cmp", "comm", "command", "cp", "cut",
    "dash", "date", "dd", "df", "diff", "dirname", "du", "echo", "ed", "env", "expr", "false", "find",
    "getconf", "grep", "head", "id", "join", "kill", "ln", "locale", "logname", "ls", "mkdir", "mkfifo",
    "mv", "nice", "nl", "nohup", "od", "paste", "pathchk", "pr", "printf", "ps", "pwd", "read", "rm",
    "rmdir", "sed", "sh", "sleep", "sort", "split", "stty", "tail", "tee", "test", "time", "touch",
    "tr", "true", "tsort", "tty", "umask", "uname", "uniq", "wait", "wc", "who", "write", "xargs",
})  # fmt: skip
# Without these nothing runs at all, or it is not the hook that fails.
_NEEDED = frozenset({"PATH", "HOME", "PWD"})


@dataclass(frozen=True, slots=True)
class HookTraits:
    """
    What the hooks of a scenario suggest to try otherwise.

    Attributes:
        words: The words of their source.
        called: Those of them that stand where a command is called.
        runners: What runs the hooks' own scripts.
        environment: The host's own environment.
        sets: How many hooks are configured for each event.
        scripts: The texts of their scripts, by path relative to the workspace.
    """

    words: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    runners: frozenset[str] = frozenset()
    environment: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, int] = field(default_factory=dict)
    scripts: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, stage: Testbed, trace: Trace) -> HookTraits:
        """
        The clues on a stage on which a scenario was played.
        """
        sets: dict[str, int] = {}
        for hook in stage.configuration.hooks:
            sets[hook.event] = sets.get(hook.event, 0) + 1
        fires = [fire for _, fire in trace.hook_runs()]
        return cls(
            words=hook_source.words(stage, fires),
            called=hook_source.called(stage, fires),
            runners=hook_source.runners(stage, fires),
            environment=stage.workspace.environment,
            sets=sets,
            scripts=hook_source.scripts(stage, fires),
        )

    def has(self, command: str) -> bool:
        """
        Whether hooks find a command on their path.
        """
        return shutil.which(command, path=self.environment.get("PATH", os.defpath)) is not None

    @property
    def tools(self) -> tuple[str, ...]:
        """
        The commands that hooks name and that may be missing elsewhere; none runs the hooks themselves.
        """
        found = {word for word in self.words - _ALWAYS - self.runners if self.has(word)}
        # What is called comes before what is only a word.
        return tuple(sorted(found, key=lambda name: (name not in self.called, name)))


def plan(outcome: Outcome, clues: HookTraits) -> tuple[list[Variation], list[str]]:
    """
    The variations that a scenario asks for, and what of them cannot be tried, in sentences.
    """
    variations: list[Variation] = []
    notes: list[str] = []
    for wish in outcome.scenario.vary:
        for one in _planned(wish, outcome, clues):
            if isinstance(one, str):
                notes.append(f"Not tried ({wish.kind}): {one}.")
            else:
                variations.append(one)
    return variations, notes


def _planned(wish: Wish, outcome: Outcome, clues: HookTraits) -> Iterator[Variation | str]:
    match wish.kind:
        case "key-order":
            yield KeyOrder()
        case "input":
            yield EmptyInput()
        case "words":
            yield from _moved(outcome)
        case "quoting":
            yield from _quoted(outcome)
        case "tools":
            yield from _tools(wish, outcome, clues)
        case "unset":
            yield from map(Unset, wish.names or _variables(clues))
        case "state":
            yield from _harmed(wish, outcome)
        case "order":
            yield from _orders(outcome, clues)
        case "shells":
            yield from _shells(clues)
        case "names":
            yield from _names(outcome)
        case "sessions":
            yield from _company(outcome)
        case "processes":
            yield TwoProcesses()
        case "wide":
            yield Wide()
        case "stdin" | "faults":
            # Faults are planned and tried in their own way: each hook has a bearing towards each of them.
            return
        case _:
            assert_never(wish.kind)


def _refused(trace: Trace) -> Iterator[tuple[int, str]]:
    """
    The shell commands that hooks refused, each once, with its turn.
    """
    moves = {step.turn: step.exchange.move for step in trace.steps if isinstance(step.exchange, Moved)}
    seen: set[str] = set()
    for step in trace.steps:
        if isinstance(step.exchange, Performed) and step.exchange.refused:
            command = _command(moves.get(step.turn))
            if command and command not in seen:
                seen.add(command)
                yield step.turn, command


def _command(move: object) -> str:
    match move:
        case RunCommand(command=command):
            return command
        case Tools(calls=(call,)):
            return str(call.input.get("command", ""))
        case _:
            return ""


def _quoted(outcome: Outcome) -> Iterator[Replayed | str]:
    refused = [*_refused(outcome.trace)]
    if not refused:
        yield "no shell command was refused in the run; add one that must be, with `expect: deny`"
    for turn, command in refused[:_MOST_REFUSED]:
        harmless = {one.form: one.text for one in wordings(HARMLESS)}
        for one in wordings(command):
            yield Quoted(turn, command, one.form, one.text, one.code, harmless[one.form])
    yield from (f"`{command}`, one of many" for _, command in refused[_MOST_REFUSED:])


def _moved(outcome: Outcome) -> Iterator[Replayed | str]:
    refused = [*_refused(outcome.trace)]
    if not refused:
        yield "no shell command was refused in the run; add one that must be, with `expect: deny`"
    for turn, command in refused[:_MOST_REFUSED]:
        yield MovedWords(turn, HARMLESS, command, must_be_refused=False)
        for words in dict.fromkeys([*_allowed(outcome.trace)][:_MOST_REFUSED]):
            yield MovedWords(turn, command, words, must_be_refused=True)


def _allowed(trace: Trace) -> Iterator[str]:
    moves = {step.turn: step.exchange.move for step in trace.steps if isinstance(step.exchange, Moved)}
    for step in trace.steps:
        if isinstance(step.exchange, Performed) and not step.exchange.refused:
            command = _command(moves.get(step.turn))
            if command:
                yield command


def _tools(wish: Wish, outcome: Outcome, clues: HookTraits) -> Iterator[Replayed | str]:
    if wish.names:
        for name in wish.names:
            yield from _trouble(name, outcome, clues)
            yield HangingTool(name)
        return
    names = [name for name in clues.tools if name not in outcome.scenario.commands]
    if not names:
        yield "no command that may be missing is named in the hooks; name those that may: tools: [NAME]"
    for name in names[:_MOST_TOOLS]:
        yield from _trouble(name, outcome, clues)
    if names:
        yield f"a command that never returns; name those that may: tools: [{names[0]}]"
    runners = sorted(name for name in clues.runners - _ALWAYS if clues.has(name))
    yield from (f"the command {name}, which runs the hook itself" for name in runners)
    yield from (f"the command {name}, one of many" for name in names[_MOST_TOOLS:])


def _trouble(name: str, outcome: Outcome, clues: HookTraits) -> Iterator[Replayed]:
    if clues.has(name) or name in outcome.scenario.commands:
        yield WithoutTool(name)
    yield FailingTool(name)


def _variables(clues: HookTraits) -> tuple[str, ...]:
    return tuple(sorted(clues.words & clues.environment.keys() - _NEEDED))


def _harmed(wish: Wish, outcome: Outcome) -> Iterator[Replayed | str]:
    changed = dict.fromkeys(change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes)
    files = {path: turn for path in changed if (turn := _present_after(path, outcome.trace)) is not None}
    inside = [path.removeprefix("workspace/") for path in files if _is_inside(path)]
    outside = [path for path in files if not path.startswith("workspace/")]
    if not inside and not wish.names:
        yield "no hook wrote a file of the workspace that was there before the last turn"
    if outside and not wish.names:
        yield f"what is outside of the workspace, such as {outside[0]}"
    for name in wish.names or inside[:_MOST_FILES]:
        turn = _present_after(f"workspace/{name}", outcome.trace)
        if turn is None:
            yield f"{name}, which was not there before the last turn"
        else:
            yield from (StateFile(name, how, turn) for how in _HARMS)
    if not wish.names:
        yield from (f"{name}, one of many" for name in inside[_MOST_FILES:])


def _present_after(path: str, trace: Trace) -> int | None:
    """
    The first turn after which a file is there, if another follows.
    """
    entries = {turn: state.files.get(path) for turn, state in sorted(trace.states.items())}
    there = (turn for turn, entry in entries.items() if entry is not None and entry.kind == "file")
    turn = next(there, trace.turns)
    return turn if turn < trace.turns else None


def _is_inside(path: str) -> bool:
    return path.startswith("workspace/") and not path.startswith("workspace/.git/")


def _orders(outcome: Outcome, clues: HookTraits) -> Iterator[Replayed | str]:
    several = {hooked.event for _, hooked in outcome.trace.hooked() if len(hooked.hook_runs) > 1}
    if not several:
        yield "no event had more than one hook"
    for event in sorted(several):
        places = range(1, clues.sets[event] + 1)
        if len(places) <= _MOST_ORDERED:
            yield from (HookOrder(event, order) for order in itertools.permutations(places))
            continue
        yield HookOrder(event, tuple(reversed(places)))
        yield from (HookOrder(event, (*places[turn:], *places[:turn])) for turn in range(1, len(places)))
        yield f"orders of the {len(places)} hooks of {event} but the reverse and those that begin later"


def _shells(clues: HookTraits) -> Iterator[Replayed | str]:
    for words in _SHELLS:
        if clues.has(words.partition(" ")[0]):
            yield Shell(words)
    yield _OLD_BASH
    missing = [words for words in _SHELLS if not clues.has(words.partition(" ")[0])]
    yield f"{', '.join([*missing, 'bash 3.2 itself'])}, not to be had here"


def _company(outcome: Outcome) -> Iterator[Variation | str]:
    profile = hosts.find(outcome.scenario.host)
    if hosts.identifies_agents(profile, hosts.facts(profile, workspace="/w", home="/h", tmp="/t")):
        yield TwoAgents()
    else:
        yield f"two agents of one session, for {outcome.host} tells hooks nothing by which they differ"
    yield TwoSessions()


def _names(outcome: Outcome) -> Iterator[Replayed | str]:
    effective = {
        step.turn
        for step, hooked in outcome.trace.hooked()
        if hooked.decision.refused or hooked.decision.to_agent or hooked.changes
    }
    for step in outcome.trace.steps:
        match step.exchange:
            case Moved(move=Edit(file=file) | Read(file=file)) if step.turn in effective:
                yield twins(step.turn, file)[1]
                return
            case _:
                continue
    yield "no hook did anything about a file that the agent read or changed"
