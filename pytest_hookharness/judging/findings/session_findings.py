"""
Findings about what hooks do to sessions: phases without a way out, nested agents, and reverted changes.

A missing agent is known from what a shell or Python prints when the call fails; a hook that discards this
output hides it. A change counts as reverted by the file's contents before and after each step.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.findings.codes import STUCK_PHASE
from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.moves import Read, Resume, ToolCall
from pytest_hookharness.model.processes import Ending, Exited
from pytest_hookharness.model.trace import (
    Change,
    Happened,
    HookEvent,
    Moved,
    Performed,
    Step,
    Trace,
    commands_of,
)
from pytest_hookharness.model.verdicts import Finding

_WORKSPACE = "workspace/"
# Files that guard hooks protect in every phase: hidden files, and files whose names suggest secrets.
_PROTECTED = re.compile(
    r"(?:^|/)\.[^./]|secret|credential|passw|token|(?:^|/)id_\w+$|\.(?:env|pem|key|p12)\b", re.IGNORECASE
)


def find_stuck_phases(trace: Trace, *, alike: bool = False) -> Iterator[Finding]:
    """Find sessions that can do nothing from the start and, if ``alike``, calls that got another answer."""
    sessions = _sessions(trace)
    for session in sessions:
        yield from _locked_out(session)
    if alike:
        for before, after in itertools.pairwise(sessions):
            yield from _left_over(before, after)


def has_common_calls(trace: Trace) -> bool:
    """Return whether a call was made in a session and in the one before it, so that they can be compared."""
    answers = [_first_answers(session) for session in _sessions(trace)]
    return any(before.keys() & after.keys() for before, after in itertools.pairwise(answers))


def _sessions(trace: Trace) -> list[list[Step]]:
    sessions: list[list[Step]] = [[]]
    for step in trace.steps:
        if isinstance(step.exchange, Happened) and isinstance(step.exchange.event, Resume):
            sessions.append([])
        sessions[-1].append(step)
    return sessions


def _locked_out(session: Sequence[Step]) -> Iterator[Finding]:
    calls = [step.exchange for step in session if isinstance(step.exchange, Performed)]
    reads = list(_refused_reads(session))
    reasons = {refusal.decision.reasons for _, refusal in reads}
    files = [*dict.fromkeys(file for file, _ in reads)]
    # Only two or more ordinary files that were refused for one reason show a lock-out: a guard hook may
    # protect a single file, or secret files, or give a reason about each file.
    ordinary = len(files) >= 2 and not all(map(_PROTECTED.search, files))
    if not ordinary or len(reasons) > 1 or not all(call.refused for call in calls):
        return
    turn = min(step.turn for step in session if isinstance(step.exchange, Performed))
    text = (
        f"From its start the session allows nothing, not even reads of {first_few(files)}, "
        "so the agent cannot do what would end this phase."
    )
    _, first = reads[0]
    hook = commands_of(first.deciding)
    yield STUCK_PHASE.found(text, turn=turn, hook=hook, rule=first.decision.rule)


def _refused_reads(session: Sequence[Step]) -> Iterator[tuple[str, HookEvent]]:
    """Yield the files whose reads hooks refused, each with the refusal."""
    read: Read | None = None
    for step in session:
        match step.exchange:
            case Moved(move=Read() as move) if move.expect in (None, "allow"):
                read = move
            case Moved():
                read = None
            case HookEvent(decision=decision) as hooked if read is not None and decision.refused:
                yield read.file, hooked
                read = None
            case _:
                continue


def _left_over(before: Sequence[Step], after: Sequence[Step]) -> Iterator[Finding]:
    old, new = _first_answers(before), _first_answers(after)
    for key, (step, answer) in new.items():
        earlier = old.get(key)
        if earlier is None or earlier[1].refused == answer.refused:
            continue
        first, second = ("allowed", "refused") if answer.refused else ("refused", "allowed")
        text = (
            f"The first {_title(answer.call)} was {first} in one session and {second} "
            f"in the next, which began with {_kept(before, after, step.number)}."
        )
        yield STUCK_PHASE.found(text, turn=step.turn)


def _first_answers(session: Sequence[Step]) -> dict[str, tuple[Step, Performed]]:
    answers: dict[str, tuple[Step, Performed]] = {}
    for step in session:
        if isinstance(step.exchange, Performed):
            call = step.exchange.call
            key = json.dumps([call.name, call.input], sort_keys=True)
            answers.setdefault(key, (step, step.exchange))
    return answers


def _title(call: ToolCall) -> str:
    subject = next((value for value in call.input.values() if isinstance(value, str) and value), "")
    return f"{call.name} {subject!r}" if subject else call.name


def _kept(before: Sequence[Step], after: Sequence[Step], until: int) -> str:
    """Describe the files that one session wrote and the next has not changed."""
    since = set(_changed([step for step in after if step.number < until]))
    written = {path for path, how in _changed(before).items() if how != "removed"}
    folders = {path.rpartition("/")[0] for path in written}
    # Files of the host itself are in the home folder.
    kept = sorted(path for path in written - since - folders if path.startswith(_WORKSPACE))
    names = first_few([path.removeprefix(_WORKSPACE) for path in kept])
    return f"{names} left over" if kept else "no file of the workspace left over"


def _changed(steps: Sequence[Step]) -> dict[str, str]:
    return {
        change.path: change.how
        for step in steps
        if isinstance(step.exchange, HookEvent | Performed)
        for change in step.exchange.changes
    }


_LONGEST_CALL = 60


def find_chain(trace: Trace) -> tuple[str, ...]:
    """Return the sessions that led to the first one that a limit refused, in sentences, outermost first."""
    children = {child.number: child for _, child in trace.children()}
    refused = next((child for child in children.values() if child.refused), None)
    return tuple(map(describe_start, ancestors_of(refused, children))) if refused is not None else ()


def ancestors_of(child: ChildSession, children: Mapping[int, ChildSession]) -> tuple[ChildSession, ...]:
    """Return a session after the sessions that contain it, outermost first."""
    line = [child]
    # A hook can write any parent into its record. A parent always has a smaller number, which ends the loop.
    while (parent := children.get(line[0].parent)) is not None and parent.number < line[0].number:
        line.insert(0, parent)
    return tuple(line)


def describe_start(child: ChildSession) -> str:
    """Say how a session was started, in one sentence."""
    call = " ".join(child.argv)
    call = call if len(call) <= _LONGEST_CALL else f"{call[: _LONGEST_CALL - 3]}..."
    end = ", which was refused" if child.refused else ""
    starts = f"{child.starter or 'a process'} starts session {child.number}"
    size = counted(child.size, "byte")
    return f"{starts} by `{call}`, a prompt of {size}{end}"


def find_capped_children(trace: Trace) -> Iterator[Finding]:
    """Find sessions whose hooks refused every stop, so that only the host's cap ended them."""
    for step, child in trace.children():
        if child.ended == "capped":
            refusing = [hook_run.command for hook_run in child.hook_runs if hook_run.ruling == "deny"]
            starter = child.starter or "a process"
            text = f"Only its host's cap ended the session that {starter} started."
            yield finding_catalogue.CHILD_CAPPED.found(
                text, turn=step.turn, hook=", ".join(dict.fromkeys(refusing))
            )


# The programs of agents that hooks may call.
AGENTS = (
    "claude", "codex", "gemini", "qwen", "cursor-agent", "copilot", "antigravity", "droid", "kimi", "goose",
    "opencode", "openhands",
)  # fmt: skip
_NAMES = "|".join(AGENTS)
_NO_FILE = r"No such file or directory"
# Some shells print a shorter message, which only counts together with exit status 127.
_SHORT_MESSAGE = re.compile(rf"^[\w/.-]+: (?P<by_shell>{_NAMES}): (?:command )?not found$", re.MULTILINE)
_NOT_FOUND = 127
_LOOKED_AT = 1 << 16


def find_missing_agents(trace: Trace) -> Iterator[Finding]:
    """Find calls of an agent's program that could not be started."""
    for step, hook_run in trace.hook_runs():
        if hook_run.run is None:
            continue
        printed = hook_run.run.stderr.text[:_LOOKED_AT] + hook_run.run.stdout.text[:_LOOKED_AT]
        for name in _missing_names(printed, hook_run.run.ending):
            text = f"{hook_run.hook.event}: {name} was called but is not installed."
            yield finding_catalogue.AGENT_MISSING.found(text, turn=step.turn, hook=hook_run.hook.command)


@cache  # it takes milliseconds to compile, and most hooks print nothing
def _messages() -> re.Pattern[str]:
    """
    Return the messages of shells, zsh, env and Python about a command that does not exist.

    Each has its own line. Messages of the hook itself, or about a missing file, have another form.
    """
    return re.compile(
        rf"^\S[^:\n]*: (?:line )?\d+: (?P<by_shell>{_NAMES}): (?:command )?not found$"
        rf"|^zsh(?::\d+)?: command not found: (?P<by_zsh>{_NAMES})$"
        rf"|^(?:/usr)?(?:/bin/)?env: ['\u2018](?P<by_env>{_NAMES})['\u2019]: {_NO_FILE}$"
        r"|_execute_child\n(?:[ \t].*\n)*"
        rf"FileNotFoundError: \[Errno 2\] {_NO_FILE}: '(?P<by_python>{_NAMES})'$",
        re.MULTILINE,
    )


def _missing_names(printed: str, ending: Ending) -> Iterator[str]:
    if not printed:
        return
    forms = [_messages(), _SHORT_MESSAGE] if ending == Exited(_NOT_FOUND) else [_messages()]
    matches = (match for form in forms for match in form.finditer(printed))
    yield from dict.fromkeys(match[match.lastgroup or 0] for match in matches)


_OFTEN = 2


def find_pingpong(trace: Trace) -> Iterator[Finding]:
    """Find files in which hooks reverted the same change of the agent at least twice."""
    made: dict[str, Change] = {}
    reverted: Counter[tuple[str, str, str]] = Counter()
    for step in trace.steps:
        match step.exchange:
            case Performed(changes=changed):
                made |= {change.path: change for change in changed}
            case HookEvent(changes=changed) as hooked:
                for change in changed:
                    mine = made.pop(change.path, None)
                    if mine is None or not _reverts(change, mine):
                        continue
                    key = (change.path, mine.before, mine.after)
                    reverted[key] += 1
                    if reverted[key] == _OFTEN:
                        yield _finding(step.turn, hooked, change)
            case _:
                continue


def _reverts(change: Change, mine: Change) -> bool:
    return change.before == mine.after and change.after == mine.before and change.before != change.after


def _finding(turn: int, hooked: HookEvent, change: Change) -> Finding:
    text = (
        f"{change.path}: hooks of {hooked.event} reverted the same change of the agent twice{change.doubt}."
    )
    hooks = ", ".join(change.hooks) or commands_of(hooked.hook_runs)
    return finding_catalogue.PINGPONG.found(text, turn=turn, hook=hooks)
