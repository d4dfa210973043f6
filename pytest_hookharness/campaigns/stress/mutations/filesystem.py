"""Mutations of files: harmed state, spoiled scripts, full or read-only disks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.campaigns.stress.mutation import Mutation, NotTried
from pytest_hookharness.judging.comparison.fault_outcome import find_reactions
from pytest_hookharness.judging.comparison.traces import (
    Defect,
    Pair,
    by_leak,
    find_first,
    find_lasting_failure,
)
from pytest_hookharness.judging.findings.codes import FAILS_CLOSED, FAILS_OPEN
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Corrupt
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookRun, StateEntry, Trace
from pytest_hookharness.model.verdicts import Finding

_MOST = 3
# Fewer refusals may be intended: a guard that forgot what was read asks for it again.
_FEWEST_REFUSALS = 3
_LONGEST_REASON = 80

Harm: TypeAlias = Literal["empty", "garbage", "truncate", "delete"]
_HARMS: tuple[Harm, ...] = get_args(Harm)


@dataclass(frozen=True, slots=True)
class StateFile(Mutation, family="state"):
    """Harm to a file that hooks wrote, named by its path in the workspace, after a turn."""

    path: str
    how: Harm
    turn: int

    def __str__(self) -> str:
        done = {"delete": "deleted", "empty": "emptied", "truncate": "cut in half", "garbage": "overwritten"}
        return f"{self.path} {done[self.how]} after turn {self.turn}"

    @property
    def subject(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        return self.how

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        before = replay.until(self.turn + 1)
        after = [act for turn, act in replay.acts if turn > self.turn]
        acts = (*before, Corrupt(file=self.path, how=self.how), *after)
        return replace(scenario, script=replace(scenario.script, acts=acts, reactions=()))

    def look(self, pair: Pair) -> Defect | None:
        return by_leak(pair)

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        return (
            find_first(self, usual, seen, self.look)
            or self._find_lock_out(usual, seen)
            or self._find_disabled(usual, seen)
            or find_lasting_failure(self, usual, seen, since=self.turn)
        )

    def _find_disabled(self, usual: Trace, seen: Trace) -> Finding | None:
        """
        Return the finding for a hook that no longer refuses a call once its file is corrupt.

        At other events, such as a stop, only a hook that crashes counts: a gate may forget what it waits for.
        """
        # A hook that counts, or knows what happened, may forget that together with its file.
        if self.how != "garbage":
            return None
        for reaction in find_reactions(usual, seen):
            about_tool = (reaction.event, reaction.hook) in _askings(usual)
            defects = ("fail-open", "inert") if about_tool else ("fail-open",)
            if reaction.turn > self.turn and reaction.outcome in defects:
                what = "a call" if about_tool else "the event"
                text = f"{reaction.event}: with {self}, {what} is no longer refused: {reaction}."
                return FAILS_OPEN.found(text, turn=reaction.turn, hook=reaction.hook)
        return None

    def _find_lock_out(self, usual: Trace, seen: Trace) -> Finding | None:
        """Return the finding for a hook that refuses every call once its file is broken, and none before."""
        # Without its file a hook may believe that the session was not admitted yet.
        if self.how == "delete":
            return None
        refusing = {key for key in _askings(usual) if any(map(_refuses, _hook_runs(usual, key, 0)))}
        for key in _askings(seen):
            runs = _hook_runs(seen, key, self.turn + 1)
            if key in refusing or len(runs) < _FEWEST_REFUSALS or not all(map(_refuses, runs)):
                continue
            if key in _askings(usual):
                event, command = key
                reason = " ".join(runs[0].reply.reason.split())[:_LONGEST_REASON]
                said = f' with "{reason}"' if reason else ""
                text = f"{event}: with {self}, each of {len(runs)} calls is refused{said}."
                return FAILS_CLOSED.found(text, turn=self.turn, hook=command)
        return None


def _askings(trace: Trace) -> dict[tuple[str, str], None]:
    """Return the events about a tool, each with a command that ran for it."""
    return {
        (hooked.event, hook_run.hook.command): None
        for _, hooked in trace.hooked()
        if hooked.target
        for hook_run in hooked.hook_runs
    }


def _hook_runs(trace: Trace, key: tuple[str, str], since: int) -> list[HookRun]:
    return [
        hook_run
        for step, hooked in trace.hooked()
        if step.turn >= since and hooked.event == key[0]
        for hook_run in hooked.hook_runs
        if hook_run.hook.command == key[1]
    ]


def _refuses(hook_run: HookRun) -> bool:
    return hook_run.reply.ruling is Ruling.DENY


@dataclass(frozen=True, slots=True)
class SpoiledScript(Mutation, family="script", fault=True):
    """A hook's own script, spoiled before the first move: CRLF, a byte order mark, or no executable bit."""

    path: str
    how: Literal["crlf", "bom", "chmod"]

    def __str__(self) -> str:
        done = {"crlf": "with CRLF line ends", "bom": "after a byte order mark", "chmod": "not executable"}
        return f"{self.path} {done[self.how]}"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        harm = Corrupt(file=self.path, how=self.how, text="0644" if self.how == "chmod" else "")
        return replace(scenario, script=replace(scenario.script, acts=(harm, *scenario.script.acts)))


@dataclass(frozen=True, slots=True)
class ReadOnly(Mutation, family="state", fault=True):
    """A state path that nobody can write to, root included."""

    path: str

    def __str__(self) -> str:
        return f"{self.path} on a read-only file system"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, readonly=(*scenario.readonly, self.path))


@dataclass(frozen=True, slots=True)
class Occupied(Mutation, family="state", fault=True):
    """A folder in the place of a hook's state file, which is named by its path in the workspace."""

    path: str

    def __str__(self) -> str:
        return f"a folder in the place of {self.path}"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, files={**scenario.files, f"{self.path}/.keep": ""})


@dataclass(frozen=True, slots=True)
class FullDisk(Mutation, family="disk", fault=True):
    """A file system without room for one more byte; its folder is named by a state path."""

    path: str

    def __str__(self) -> str:
        return f"a full disk below {self.path}"

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        return replace(scenario, full=(*scenario.full, self.path))


def plan(request: VaryRequest, outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    """Yield harm to state files that hooks wrote, and faults of scripts, state and disks."""
    match request.family:
        case "state":
            yield from _harmed(request, outcome)
        case "faults":
            yield from _scripts(outcome, traits)
            yield from _state(outcome)
            yield from _disks(outcome)
        case _:
            return


def _harmed(request: VaryRequest, outcome: Outcome) -> Iterator[Mutation | NotTried]:
    changed = dict.fromkeys(change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes)
    files = [path for path in changed if _present_after(path, outcome.trace) is not None]
    inside = [path.removeprefix("workspace/") for path in files if re.match(r"workspace/(?!\.git/)", path)]
    outside = [path for path in files if not path.startswith("workspace/")]
    if not inside and not request.names:
        yield NotTried("state", "no hook wrote a file of the workspace that was there before the last turn")
    if outside and not request.names:
        yield NotTried("state", f"files outside of the workspace, such as {outside[0]}")
    for name in request.names or inside[:_MOST]:
        turn = _present_after(f"workspace/{name}", outcome.trace)
        if turn is None:
            yield NotTried("state", f"{name}, which was not there before the last turn")
        else:
            yield from (StateFile(name, how, turn) for how in _HARMS)
    if not request.names:
        yield from (NotTried("state", f"{name}, one of many") for name in inside[_MOST:])


def _present_after(path: str, trace: Trace) -> int | None:
    """Return the first turn after which a file is there; ``None`` if no turn follows."""
    entries = {turn: state.files.get(path) for turn, state in sorted(trace.states.items())}
    there = (turn for turn, entry in entries.items() if entry is not None and entry.kind == "file")
    turn = next(there, trace.turns)
    return turn if turn < trace.turns else None


def _scripts(outcome: Outcome, traits: HookTraits) -> Iterator[Mutation | NotTried]:
    if not traits.scripts:
        yield NotTried(
            "script", "the hooks' commands name no script of the workspace", "a script that is spoiled"
        )
    entries = entries_before(outcome)
    for path, text in [*traits.scripts.items()][:_MOST]:
        entry = entries.get(f"workspace/{path}")
        yield from _spoiled(path, text, executable=entry is not None and bool(entry.mode & 0o111))
    for path in [*traits.scripts][_MOST:]:
        yield NotTried("script", "one of many", f"{path} spoiled")


def _spoiled(path: str, text: bytes, *, executable: bool) -> Iterator[Mutation | NotTried]:
    crlf, bom, lost = (SpoiledScript(path, how) for how in ("crlf", "bom", "chmod"))
    has_lf = b"\r\n" not in text and b"\n" in text
    yield crlf if has_lf else NotTried("script", "it has CRLF line ends already, or no line end", str(crlf))
    yield bom
    yield lost if executable else NotTried("script", "it is not executable anyway", str(lost))


def entries_before(outcome: Outcome) -> Mapping[str, StateEntry]:
    """Return the files that were there before the first hook."""
    states = outcome.trace.states
    if not states:
        return {}
    first = min(states)
    made = {
        change.path
        for step, hooked in outcome.trace.hooked()
        for change in hooked.changes
        if step.turn <= first and change.how == "added"
    }
    return {path: entry for path, entry in states[first].files.items() if path not in made}


def written_by_hooks(outcome: Outcome) -> list[str]:
    """Return the files of workspace and home that hooks wrote."""
    changed = (change.path for _, hooked in outcome.trace.hooked() for change in hooked.changes)
    states = outcome.trace.states.values()
    files = {path for state in states for path, entry in state.files.items() if entry.kind == "file"}
    own = (path for path in dict.fromkeys(changed) if path.startswith(("workspace/", "home/")))
    return [path for path in own if path in files and not path.startswith("workspace/.git/")]


def _state(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    written, entries = written_by_hooks(outcome), entries_before(outcome)
    if not written:
        yield NotTried("state", "no hook wrote a file of workspace or home", "state that cannot be written")
    for path in written[:_MOST]:
        there = path
        while "/" in there and there not in entries:
            there = posixpath.dirname(there)
        yield from _in_namespaces(ReadOnly(there), outcome)
        inside = path.removeprefix("workspace/")
        if path in entries or inside == path:
            yield NotTried(
                "state", "the file is there from the beginning", f"a folder in the place of {path}"
            )
        else:
            yield Occupied(inside)
    for path in written[_MOST:]:
        yield NotTried("state", "one of many", f"{path} that cannot be written")


def _disks(outcome: Outcome) -> Iterator[Mutation | NotTried]:
    entries = entries_before(outcome)
    folders = dict.fromkeys(posixpath.dirname(path) for path in written_by_hooks(outcome))
    for folder in ["tmp", *folders][:_MOST]:
        full = FullDisk(folder)
        hides = folder in ("workspace", "home") or any(path.startswith(f"{folder}/") for path in entries)
        if hides and outcome.tier is Tier.NAMESPACES:
            yield NotTried("disk", "it would hide what is there from the beginning", str(full))
        else:
            yield from _in_namespaces(full, outcome)


def _in_namespaces(mutation: Mutation, outcome: Outcome) -> Iterator[Mutation | NotTried]:
    """Yield a mutation that takes a mount, if the tier of the run allows mounts."""
    if outcome.tier is Tier.NAMESPACES:
        yield mutation
    else:
        why = f"the tier {outcome.tier.value!r} cannot do that"
        yield NotTried(mutation.family, why, str(mutation))
