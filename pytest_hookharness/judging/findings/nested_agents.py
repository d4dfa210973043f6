"""
Agent and hooks that undo each other's changes of a file.

Pure. It rests on the contents before and after each step, not on what anybody says.

Generations: how sessions of stand-ins led to each other.

Pure.

Agents that hooks called and that were not there.

Pure. It rests on what was printed when the call failed; a hook that throws that away
is not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.processes import Ending, Exited
from pytest_hookharness.model.trace import Change, HookEvent, Performed, Trace
from pytest_hookharness.model.verdicts import Finding

_LONGEST_CALL = 60


def find_chain(trace: Trace) -> tuple[str, ...]:
    """
    What led to the first session that a limit refused, in short sentences, the root first.
    """
    children = {child.number: child for _, child in trace.children()}
    refused = next((child for child in children.values() if child.refused), None)
    return tuple(map(describe, line_of(refused, children))) if refused is not None else ()


def line_of(child: ChildSession, children: Mapping[int, ChildSession]) -> tuple[ChildSession, ...]:
    """
    A session with all that it lies within, the outermost first.
    """
    line = [child]
    # A record may name anything as its parent; a session is always younger than that.
    while (parent := children.get(line[0].parent)) is not None and parent.number < line[0].number:
        line.insert(0, parent)
    return tuple(line)


def describe(child: ChildSession) -> str:
    """
    How a session was started, in one sentence.
    """
    call = " ".join(child.argv)
    call = call if len(call) <= _LONGEST_CALL else f"{call[: _LONGEST_CALL - 3]}..."
    end = ", which is refused" if child.refused else ""
    starts = f"{child.starter or 'a process'} starts session {child.number}"
    size = counted(child.size, "byte")
    return f"{starts} by `{call}`, a prompt of {size}{end}"


def find_held_children(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each session that its hooks would not let stop, so that only the host's guard ended it.
    """
    for step, child in trace.children():
        if child.ended == "capped":
            refusing = [fire.command for fire in child.hook_runs if fire.ruling == "deny"]
            starter = child.starter or "a process"
            text = f"The session that {starter} started was ended by its host's guard alone."
            yield finding_catalogue.CHILD_CAPPED.found(
                text, turn=step.turn, hook=", ".join(dict.fromkeys(refusing))
            )


_NAMES = "claude|codex|gemini|qwen|cursor-agent|copilot|droid|kimi|goose|opencode|openhands"
_NO_FILE = r"No such file or directory"
# As shells that name the place, zsh, env and Python say it of a call, in a line of its own. A message of the
# hook's own, of a program about a file, or of Python about a file that is not there has another form.
_SAID = re.compile(
    rf"^\S[^:\n]*: (?:line )?\d+: (?P<by_shell>{_NAMES}): (?:command )?not found$"
    rf"|^zsh(?::\d+)?: command not found: (?P<by_zsh>{_NAMES})$"
    rf"|^(?:/usr)?(?:/bin/)?env: ['\u2018](?P<by_env>{_NAMES})['\u2019]: {_NO_FILE}$"
    rf"|_execute_child\n(?:[ \t].*\n)*FileNotFoundError: \[Errno 2\] {_NO_FILE}: '(?P<by_python>{_NAMES})'$",
    re.MULTILINE,
)
# The status of a command that is not there tells the short form, too, from words about it.
_SAID_WITH_STATUS = re.compile(rf"^[\w/.-]+: (?P<by_shell>{_NAMES}): (?:command )?not found$", re.MULTILINE)
_NOT_THERE = 127
_LOOKED_AT = 1 << 16


def find_lost_agents(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each call of an agent's program that could not be started.
    """
    for step, fire in trace.hook_runs():
        if fire.run is None:
            continue
        said = fire.run.stderr.text[:_LOOKED_AT] + fire.run.stdout.text[:_LOOKED_AT]
        for name in _names(said, fire.run.ending):
            text = f"{fire.hook.event}: {name} was called and is not there."
            yield finding_catalogue.AGENT_MISSING.found(text, turn=step.turn, hook=fire.hook.command)


def _names(said: str, ending: Ending) -> Iterator[str]:
    forms = [_SAID, _SAID_WITH_STATUS] if ending == Exited(_NOT_THERE) else [_SAID]
    matches = (match for form in forms for match in form.finditer(said))
    yield from dict.fromkeys(match[match.lastgroup or 0] for match in matches)


_OFTEN = 2


def find_pingpong(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each file that hooks brought back at least twice from the same change of the agent.
    """
    done: dict[str, Change] = {}
    undone: Counter[tuple[str, str, str]] = Counter()
    for step in trace.steps:
        match step.exchange:
            case Performed(changes=changed):
                done |= {change.path: change for change in changed}
            case HookEvent(changes=changed) as hooked:
                for change in changed:
                    mine = done.pop(change.path, None)
                    if mine is None or not _undoes(change, mine):
                        continue
                    key = (change.path, mine.before, mine.after)
                    undone[key] += 1
                    if undone[key] == _OFTEN:
                        yield _finding(step.turn, hooked, change.path)
            case _:
                continue


def _undoes(change: Change, mine: Change) -> bool:
    return change.before == mine.after and change.after == mine.before and change.before != change.after


def _finding(turn: int, hooked: HookEvent, path: str) -> Finding:
    text = f"{path}: what the agent changed was changed back by hooks of {hooked.event}, and that again."
    hooks = ", ".join(dict.fromkeys(fire.hook.command for fire in hooked.hook_runs))
    return finding_catalogue.PINGPONG.found(text, turn=turn, hook=hooks)
