"""
Trials of state files: which of them change what a hook does, and whether the stop is allowed after the work.

A state is kept only if a hook refuses or tells the agent something with it, and did not before.

Another file may name the folder of a state: ``.current-feature`` for ``specs/login/state.json``. The check
writes a name into such a file, and the kernel shows which files a hook then looks for.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.home_paths import HOME
from pytest_hookharness.campaigns.arming.hook_roles import STOPS, hooks_at
from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_known_text
from pytest_hookharness.campaigns.arming.state_fields import described, state_reads
from pytest_hookharness.campaigns.arming.state_files import LoopState, has_limit, state_files, without_limit
from pytest_hookharness.campaigns.arming.state_paths import HookScript, looked_for, scripts
from pytest_hookharness.campaigns.check.failing_gates import find_gates
from pytest_hookharness.campaigns.check.gates.changed_sources import plan_changed_sources
from pytest_hookharness.campaigns.check.gates.refused_texts import plan_refused_texts
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut, kept_to_its_end
from pytest_hookharness.campaigns.check.session_scenario import scenario_of
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.model.bad_ends import MANY_REFUSALS
from pytest_hookharness.model.checkup import CheckSession, HookSet, hook_name
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, RunCommand, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario

_SAID = re.compile(r"<([\w-]+)>[^<>\n]{0,80}</\1>|<[a-z][\w-]*[\w]>")
_REMOVES = re.compile(r"\b(?:remov|delete|rm\b)", re.IGNORECASE)
_PROMISE = re.compile(r"^[\s\"]*\w*promise\w*[\"']?\s*:\s*[\"']?([^\"'\n,]+)", re.MULTILINE)
_WELL = (Exited(0), Exited(2))
# Documents that may say what a limit of 0 means.
_DOCUMENTS, _LARGEST = frozenset([".md", ".toml", ".sh", ".py", ".js", ".ts"]), 1 << 17
_MOST, _NAMED, _FIELDS, _TWICE = 3, 3, 8, 2
# Hook sets of more hooks take long for each session.
_FEW = 8
# Plays a session, and returns the project files that hooks looked for and did not find.
Look: TypeAlias = Callable[[CheckSession], Sequence[str]]
_NAME = "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmedStates:
    """A session for each state that changes what a hook does, and sentences about files without an effect."""

    sessions: tuple[CheckSession, ...] = ()
    unmet: tuple[str, ...] = ()


def arm_states(
    hook_set: HookSet, played: Sequence[PlayedSession], try_out: TryOut, look: Look = lambda _: ()
) -> ArmedStates:
    """
    Return sessions with state files for the hooks that nothing has activated so far.

    One of the played sessions is harmless and has each event once.
    """
    waiting = _waiting(hook_set, played)
    there = {path for one in played for path in one.session.scenario.files}
    texts = [script for script in scripts(hook_set) if _hooks_of(script.name, waiting)]
    found = state_files(hook_set, texts)
    states = [state for state in found if not there.intersection(state.files)]
    harmless = [one.outcome for one in played if one.session.harmless]
    before = set[tuple[str, str]]().union(*map(_effects, harmless))
    failed = set[str]().union(*map(_failures, harmless))
    kept: dict[str, tuple[LoopState, Outcome]] = {}

    def keep(tried: Sequence[LoopState]) -> None:
        plays = try_out([_trial(hook_set, state, waiting) for state in tried])
        for state, play in zip(tried, plays, strict=True):
            new = _effects(play.outcome) - before
            if play.outcome is None or not new or (not state.verbatim and _failures(play.outcome) - failed):
                continue
            kept.setdefault(next(iter(state.files)), (state, play.outcome))

    keep(states)
    stops = [hook for hook in waiting if hook in hooks_at(hook_set, STOPS)]
    active = {state.script for state, _ in kept.values()}
    idle_texts = [one for one in texts if one.name not in active and _hooks_of(one.name, stops)]
    keep([*_pointed_states(hook_set, idle_texts, look)])
    chosen = [*kept.values()][:_MOST]
    ends = try_out([_finishing(hook_set, state, outcome) for state, outcome in chosen])
    words = _documents(hook_set) if any(has_limit(state) for state, _ in chosen) else ""
    sessions = [
        _session(hook_set, one, outcome, end)
        for (state, outcome), end in zip(chosen, ends, strict=True)
        for one in (state, *without_limit(state, words))
    ]
    known = set[str]()

    def noted(tried: Sequence[CheckSession]) -> Sequence[PlayedSession]:
        plays = try_out(tried)
        known.update(command for one in plays for command, _ in _effects(one.outcome))
        return plays

    gates = find_gates(hook_set, waiting, noted)
    others = [hook for hook in waiting if not (gates and hook.command in known)]
    sessions += [*gates, *kept_to_its_end(noted([*plan_changed_sources(hook_set, others)]))]
    sessions += kept_to_its_end(noted([*plan_refused_texts(hook_set, waiting)]))
    waiting = [hook for hook in waiting if hook.command not in known]
    idle = [hook for hook in waiting if not any(_hooks_of(state.script, [hook]) for state, _ in chosen)]
    return ArmedStates(sessions=tuple(sessions), unmet=tuple(_unmet(hook_set, texts, idle, there)))


def _documents(hook_set: HookSet) -> str:
    files = (file for file in project_files(hook_set.root) if file.suffix in _DOCUMENTS)
    return "\n".join(read_known_text(file) for file in files if is_small(file, _LARGEST))


def _waiting(hook_set: HookSet, played: Sequence[PlayedSession]) -> list[Hook]:
    """Return the hooks that nothing activated so far; of many hooks only those that may refuse a stop."""
    refusals = {f"{hook.event} refused" for hook in hooks_at(hook_set, STOPS)}
    active = {
        command
        for one in played
        for command, what in _effects(one.outcome)
        if one.session.active or what in refusals
    }
    # A hook that fails when it is active and not before needs no further state to show that.
    usual = set[str]().union(*(_failures(one.outcome) for one in played if not one.session.active))
    active |= set[str]().union(*(_failures(one.outcome) for one in played if one.session.active)) - usual
    few = len(hook_set.hooks) <= _FEW
    return [
        hook for hook in (hook_set.hooks if few else hooks_at(hook_set, STOPS)) if hook.command not in active
    ]


def _hooks_of(script: str, hooks: Sequence[Hook]) -> list[Hook]:
    name = script.rpartition("/")[2]
    return [hook for hook in hooks if any(name in word for word in hook.words)]


def _acts(hook_set: HookSet, state: LoopState, hooks: Sequence[Hook]) -> Sequence[Act]:
    """Return the moves of a short session with the events of those hooks that look for a state."""
    events = hosts.find(hook_set.host).events
    own = {events[hook.event].role for hook in _hooks_of(state.script, hooks) if hook.event in events}
    if own <= {hosts.Role.STOP}:
        return FIRST_PROMPT, Stop()
    return plan_each_event(hook_set).scenario.script.acts


def _trial(hook_set: HookSet, state: LoopState, hooks: Sequence[Hook]) -> CheckSession:
    acts = _acts(hook_set, state, hooks)
    scenario = replace(_armed(hook_set, state, acts), turns=len(acts))
    return CheckSession(title=state.title, scenario=scenario, ends=False)


def _armed(hook_set: HookSet, state: LoopState, acts: Sequence[Act]) -> Scenario:
    """Return the scenario of some moves in a project and a HOME with a state."""
    inside = {path: text for path, text in state.files.items() if not path.startswith(HOME)}
    home = {path.removeprefix(HOME): text for path, text in state.files.items() if path not in inside}
    return replace(scenario_of(hook_set, acts), files={**hook_set.texts, **inside}, home=home)


def _session(hook_set: HookSet, state: LoopState, outcome: Outcome, end: PlayedSession) -> CheckSession:
    acts = outcome.scenario.script.acts
    scenario = replace(_armed(hook_set, state, acts), turns=len(acts) + MANY_REFUSALS)
    way_out = _way_out(state, end)
    return CheckSession(title=state.title, scenario=scenario, active=state.title, way_out=way_out)


def _finishing(hook_set: HookSet, state: LoopState, outcome: Outcome) -> CheckSession:
    """Return the session of an agent that finishes the work when a stop is refused, and says so."""
    reasons = " ".join(run.reply.reason for _, run in outcome.trace.hook_runs())
    edits = (_written(path, text) for path, text in state.finished.items())
    removed = (RunCommand(command=f"rm -f {_in_shell(path)}") for path in _unwanted(state, reasons))
    said = _said(state, reasons)
    acts: list[Act] = [FIRST_PROMPT, Stop(), *edits, *removed, Stop(text=f"Done. {said}".strip())]
    scenario = replace(_armed(hook_set, state, acts), turns=len(acts))
    return CheckSession(title=said, scenario=scenario, ends=False)


def _written(path: str, text: str) -> Act:
    """Return the move that writes a file; below HOME the agent's shell does it."""
    if path.startswith(HOME):
        return RunCommand(command=f"printf %s {shlex.quote(text)} >{_in_shell(path)}")
    return Edit(file=path, text=text)


def _in_shell(path: str) -> str:
    return f"~/{shlex.quote(path.removeprefix(HOME))}" if path.startswith(HOME) else shlex.quote(path)


def _unwanted(state: LoopState, reasons: str) -> list[str]:
    """Return the files that a message asks the agent to remove."""
    named = [path for path in state.files if posixpath.basename(path) in reasons]
    return named if _REMOVES.search(reasons) else []


def _said(state: LoopState, reasons: str) -> str:
    """Return the tags and the promise by which an agent says that the work is done."""
    found = [match[0] for match in _SAID.finditer(reasons)]
    promises = [words.strip() for text in state.files.values() for words in _PROMISE.findall(text)]
    own = [f"<promise>{words}</promise>" for words in promises if words not in ("null", "")]
    return " ".join(dict.fromkeys([*own, *found]))


def _way_out(state: LoopState, end: PlayedSession) -> str:
    """Return what an agent did to finish the work, if it could then stop; empty if it could not."""
    if end.outcome is None:
        return ""
    stops = {rule.name for rule in hosts.find(end.session.scenario.host).for_role(hosts.Role.STOP)}
    asked = [hooked for _, hooked in end.outcome.trace.hooked() if hooked.event in stops]
    if len(asked) < _TWICE or not asked[0].decision.refused or asked[-1].decision.refused:
        return ""
    does = [f"writes the finished state into {', '.join(sorted(state.finished))}"] if state.finished else []
    acts = end.session.scenario.script.acts
    ran = [act.command for act in acts if isinstance(act, RunCommand)]
    does += [f"runs `{command}`" for command in ran if command.startswith("rm -f ")]
    does += [f'says "{end.session.title}"'] if end.session.title else []
    return " and ".join(does)


def _effects(outcome: Outcome | None) -> set[tuple[str, str]]:
    """Return which hooks refused something, and which told the agent something, at which event."""
    found = set[tuple[str, str]]()
    for _, hooked in outcome.trace.hooked() if outcome is not None else ():
        for run in hooked.hook_runs:
            if hooked.decision.refused and run in hooked.deciding:
                found.add((run.hook.command, f"{hooked.event} refused"))
            elif run.reply.context or run.reply.halt:
                found.add((run.hook.command, f"{hooked.event} told"))
    return found


def _failures(outcome: Outcome | None) -> set[str]:
    """Return which hooks ended with an error."""
    runs = outcome.trace.hook_runs() if outcome is not None else ()
    return {run.hook.command for _, run in runs if run.run is not None and run.ending not in _WELL}


def _unmet(
    hook_set: HookSet, texts: Sequence[HookScript], hooks: Sequence[Hook], there: set[str]
) -> Iterator[str]:
    """Yield sentences about missing files that hooks look for: what they read there, how to give the file."""
    for script in texts[:_MOST]:
        own = [hook for hook in _hooks_of(script.name, hooks) if hook in hooks_at(hook_set, STOPS)]
        paths = [path for path in looked_for(hook_set, script) if path not in there][:_NAMED]
        if own and paths:
            fields = described(state_reads(script.text).fields)[:_FIELDS]
            reads = f" and reads {', '.join(fields)}" if fields else ""
            name = hook_name(hook_set.hooks, own[0].command)
            yield (
                f"{name} looks for {', '.join(paths)}{reads}; nothing that was tried made it active. Give "
                f"such a file with --arm-file {paths[0]}, or a command that starts it with --arm COMMAND."
            )


def _pointed_states(hook_set: HookSet, of: Sequence[HookScript], look: Look) -> Iterator[LoopState]:
    """Yield the states that some scripts look for as soon as a file names the folder of the state."""
    for script in of:
        pointer = next((path for path in looked_for(hook_set, script) if _is_pointer(path)), None)
        if pointer is None:
            continue
        named = {pointer: f"{_NAME}\n"}
        scenario = scenario_of(hook_set, (FIRST_PROMPT, Stop()))
        scenario = replace(scenario, files={**scenario.files, **named}, turns=2)
        seen = look(CheckSession(title=f"{pointer}: {_NAME}", scenario=scenario, ends=False))
        further = [path for path in seen if path not in hook_set.looked_for and _NAME in path.split("/")]
        known = replace(hook_set, looked_for=(*further, *hook_set.looked_for))
        for state in state_files(known, [script]) if further else ():
            if not state.files.keys().isdisjoint(further):
                yield replace(state, files={**state.files, **named})


def _is_pointer(path: str) -> bool:
    """Return whether a file may hold only a name, by the form of its own name."""
    return "." not in posixpath.basename(path).lstrip(".")
