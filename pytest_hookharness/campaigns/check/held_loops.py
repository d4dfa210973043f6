"""
Loops that were started, met by another session of the project and by a machine without their tools.

The files of a loop are taken from its own session after a first refused stop, so that a loop which learns its
session only then has done so. Sessions that have these files from the beginning need no command to start it.
A loop that refused no stop is taken as its command left it: another session must leave its files alone.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.state_names import SESSION
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.check.session_scenario import varied
from pytest_hookharness.judging.findings.codes import WRONG_KEY
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, Prompt, RunCommand, Script, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Change, Exchange, HookEvent, Performed, commands_of

# Another session, and what it is asked: a loop may know its own turns by the prompt.
_OTHER = "0e7b6d52-3f6c-4a51-9d0e-2b8c9a7f4c13"
_ASKED = Prompt(text="What does this project do?")
_PLACES = {"workspace/": "", "home/": "~/"}
# Files in which no loop keeps its state.
_NO_STATE = re.compile(r"(?:^|/)(?:\.git|__pycache__|node_modules)/|\.(?:log|pyc)$|/projects/")
# A key by which a file says that a loop runs; a list of tasks or a report is the project's own.
_OF_LOOP = re.compile(
    r"^[ \t{,]*[\"']?\w*(?:iteration|active|loop|max_|promise|phase|started|round|attempt)\w*[\"']?\s*[:=]",
    re.IGNORECASE | re.MULTILINE,
)
# A place for the session that is empty, which a host may fill that this harness does not know.
_EMPTY_SESSION = re.compile(
    r"^[ \t{,-]*[\"']?session(?:_?id)?[\"']?\s*[:=][ \t]*(?:\"\"|''|null|~)?[ \t]*,?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
# One file in the output of `_copying`: its number, and its content in base64.
_COPY = re.compile(rb"^==(\d+) (\S*)$", re.MULTILINE)
_PRINT = (
    'n=0; for f in {names}; do n=$((n + 1)); [ ! -f "$f" ] || '
    'printf \'\\n==%s %s\\n\' "$n" "$(base64 < "$f" | tr -d \'\\n\')"; done'
)
# How hosts call the identifier of a session.
_SESSION_KEYS = ("session_id", "sessionId", "conversation_id")
_MOST, _MOST_FILES = 2, 12
# Work of a session that finds the files of a loop, and what it does with them.
_WORK: tuple[Act, ...] = (
    FIRST_PROMPT,
    RunCommand(command="true"),
    Edit(file="notes.txt", text="text\n"),
    Stop(),
    Prompt(text="Go on."),
)
_COUNT = re.compile(r"\b(?:iterations?|round|attempts?|turn|count)[\"']?\s*[:=]\s*(\d+)", re.IGNORECASE)
_ADVICE = "Write the `session_id` of the input into the state, and allow the stops of all other sessions."


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLoops:
    """Sessions without a tool, for the report, and problems of loops that affect another session."""

    sessions: tuple[CheckSession, ...] = ()
    problems: tuple[ProvedSymptom, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """A held loop, and its files after a first refusal, by path; those below HOME begin with ``~/``."""

    session: CheckSession
    files: Mapping[str, str] = field(default_factory=dict)

    def met_by(self, session: str, acts: Sequence[Act] = (FIRST_PROMPT, Stop())) -> CheckSession:
        """Return a short session that finds these files, with another identifier in the place of its own."""
        every = self.files.items()
        texts = {path.replace(SESSION, session): text.replace(SESSION, session) for path, text in every}
        home = {path[2:]: text for path, text in texts.items() if path.startswith("~/")}
        inside = {path: text for path, text in texts.items() if not path.startswith("~/")}
        old = self.session.scenario
        acts = [_ASKED if act == FIRST_PROMPT and session == _OTHER else act for act in acts]
        script, files = Script(acts=(*acts,)), {**old.files, **inside}
        scenario = replace(old, script=script, files=files, home={**old.home, **home}, turns=len(acts))
        when = "after a refused stop" if len(acts) == len((FIRST_PROMPT, Stop())) else "when it began"
        left = f"{self.session.active}, as it was {when}"
        return replace(self.session, scenario=scenario, ends=False, way_out="", active=left)


def meet_held_loops(hook_set: HookSet, played: Sequence[PlayedSession], try_out: TryOut) -> HeldLoops:
    """
    Return sessions with missing tools for loops that refused a stop, and loops that affect other sessions.

    If no loop needed activation, only the first session is used, and only without tools. A harmless session
    shows what hooks refuse without a loop.
    """
    held = [one for one in played if _is_loop(hook_set, one)]
    active = [one for one in held if one.session.active]
    if not active:
        idle = [one for one in played if one.session.active and _started(one)]
        meddled = tuple(_find_meddled(hook_set, idle[-1:], try_out))
        return HeldLoops(sessions=tuple(_without_tools(one.session) for one in held[:1]), problems=meddled)
    chosen = [*{_refusing(one.outcome): one for one in reversed(active)}.values()][::-1][:_MOST]
    paths = [_state_paths(hook_set, one) for one in chosen]
    kept = [(one.session, own) for one, own in zip(chosen, paths, strict=True) if own]
    copies = iter(try_out([_copying(session, own) for session, own in kept]))
    held_copies = [(next(copies) if own else None, own) for own in paths]
    loops = [
        _Loop(session=one.session, files=_copied(copy, own) if copy and _refusing(copy.outcome) else {})
        for one, (copy, own) in zip(chosen, held_copies, strict=True)
    ]
    met = iter(try_out([loop.met_by(name) for loop in loops for name in (SESSION, _OTHER) if loop.files]))
    usual = {_refusing(one.outcome) for one in played if one.session.harmless}
    sessions, problems = list[CheckSession](), list[ProvedSymptom]()
    for loop in loops:
        own, other = (next(met), next(met)) if loop.files else (None, None)
        if own is None or other is None or not _refusing(own.outcome):
            # The state of the loop is in no file.
            sessions += [_without_tools(loop.session), _beside_another(loop.session)]
            continue
        sessions.append(_without_tools(own.session))
        empty = any(_EMPTY_SESSION.search(text) for text in loop.files.values())
        free = not _refusing(other.outcome)
        shown = [*_changed_by_another(loop, own, other)] if free and not empty else []
        if empty or (free and not shown):
            # The loop may belong to the first session that stops.
            sessions.append(_beside_another(loop.session))
        elif not free and _refusing(other.outcome) not in usual:
            shown = [*_held_by_another(loop, other)]
        problems += shown
    return HeldLoops(sessions=tuple(sessions), problems=tuple(problems))


def _is_loop(hook_set: HookSet, one: PlayedSession) -> bool:
    """Return whether a stop was refused, not by left-out hooks or checks that test doubles make fail."""
    ours = hook_set.texts.items() <= one.session.scenario.files.items()
    return one.held and not one.session.proof and ours


def _started(one: PlayedSession) -> int:
    """Return the number of moves until a command had started a loop; 0 if none did."""
    acts = one.session.scenario.script.acts
    ran = [place for place, act in enumerate(acts) if isinstance(act, RunCommand)]
    return ran[0] + 1 if ran and one.outcome is not None else 0


def _find_meddled(
    hook_set: HookSet, idle: Sequence[PlayedSession], try_out: TryOut
) -> Iterator[ProvedSymptom]:
    """Yield the loops that refuse nothing and whose files another session removes or counts in."""
    for one in idle:
        paths = _state_paths(hook_set, one)
        for copy in try_out([_copying(one.session, paths, _started(one))]) if paths else ():
            loop = _Loop(session=one.session, files=_copied(copy, paths))
            if _state(loop):
                acts = (*_WORK, _printing([*loop.files]))
                own, other = try_out([loop.met_by(name, acts) for name in (SESSION, _OTHER)])
                yield from _changed_by_another(loop, own, other)


def _changed_by_another(loop: _Loop, own: PlayedSession, other: PlayedSession) -> Iterator[ProvedSymptom]:
    """Yield the symptom that another session removes a loop's state, or counts its own turns in it."""
    left = _copied(other, [*loop.files])
    # The loop may belong to the first session that it meets.
    if other.outcome is None or any(_EMPTY_SESSION.search(text) for text in loop.files.values()):
        return
    mine = {(event, path, how) for event, path, how, _ in _changed(own.outcome)}
    for event, path, how, hooks in _changed(other.outcome):
        counts = _count(left.get(path, "")) > _count(loop.files.get(path, "")) >= 0
        # Each session may remove what has come to its end.
        removes = how == "removed" and (event, path, how) not in mine
        if path in _state(loop) and (removes or counts):
            does = "removes" if removes else "counts its own turns in"
            text = f"{event}: a session that did not start the loop {does} {path}, its state."
            symptom = symptom_of(WRONG_KEY, hooks, text, _ADVICE, turn=1)
            yield ProvedSymptom(symptom, other.session, other.outcome.trace)
            return


def _changed(outcome: Outcome | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield the files that hooks changed: the event, the path, how, and the commands of the hooks."""
    for _, hooked in outcome.trace.hooked() if outcome is not None else ():
        for change in hooked.changes:
            root = next((root for root in _PLACES if change.path.startswith(root)), None)
            if root is not None and change.hooks and not change.in_doubt:
                path = f"{_PLACES[root]}{change.path.removeprefix(root)}"
                yield hooked.event, path, change.how, ", ".join(change.hooks)


def _count(text: str) -> int:
    """Return the count of a loop in its state; -1 if there is none."""
    found = _COUNT.search(text)
    return int(found[1]) if found else -1


def _without_tools(session: CheckSession) -> CheckSession:
    scenario = replace(session.scenario, turns=len(session.scenario.script.acts) + 1)
    return replace(session, scenario=varied(scenario, "tools"), ends=False, only=" on the PATH")


def _beside_another(session: CheckSession) -> CheckSession:
    scenario = replace(session.scenario, turns=len(session.scenario.script.acts) + 1)
    return replace(session, scenario=varied(scenario, "sessions"), ends=False)


def stops_of(outcome: Outcome | None) -> Iterator[HookEvent]:
    """Yield the stop events of a session."""
    if outcome is not None:
        names = {rule.name for rule in hosts.find(outcome.scenario.host).for_role(hosts.Role.STOP)}
        yield from (hooked for _, hooked in outcome.trace.hooked() if hooked.event in names)


def _refusing(outcome: Outcome | None) -> str:
    """Return the commands of the hooks that refused the first stop; empty if none did."""
    first = next(stops_of(outcome), None)
    return commands_of(first.deciding) if first is not None and first.decision.refused else ""


def _state_paths(hook_set: HookSet, one: PlayedSession) -> list[str]:
    """Return the files that were there for the loop, and those that the agent or hooks wrote for it."""
    scenario, outcome = one.session.scenario, one.outcome
    found = [path for path in scenario.files if path not in hook_set.texts]
    found += [f"~/{path}" for path in scenario.home]
    found = [path.replace(SESSION, _own_session(outcome)) for path in found]
    for step in outcome.trace.steps if outcome is not None else ():
        for change in _changes(step.exchange):
            root = next((root for root in _PLACES if change.path.startswith(root)), None)
            if root is not None and change.how != "removed" and not _NO_STATE.search(change.path):
                found.append(f"{_PLACES[root]}{change.path.removeprefix(root)}")
    return [*dict.fromkeys(found)][:_MOST_FILES]


def _changes(exchange: Exchange) -> Sequence[Change]:
    """Return what hooks or a shell command changed; what the agent edits is its work."""
    if isinstance(exchange, Performed) and "command" in exchange.call.input:
        return exchange.changes
    return exchange.changes if isinstance(exchange, HookEvent) else ()


def _own_session(outcome: Outcome | None) -> str:
    """Return the identifier that the host gave to the hooks of a session."""
    for hooked in stops_of(outcome):
        for run in hooked.hook_runs:
            known = (run.payload.get(key) for key in _SESSION_KEYS)
            return next((value for value in known if isinstance(value, str) and value), SESSION)
    return SESSION


def _copying(session: CheckSession, paths: Sequence[str], moves: int = 0) -> CheckSession:
    """Return the session until its first stop, or some moves of it; then the agent prints the files."""
    acts = session.scenario.script.acts
    before = moves - 1 if moves else [isinstance(act, Stop) for act in acts].index(True)
    shown = (*acts[: before + 1], _printing(paths))
    scenario = replace(session.scenario, script=Script(acts=shown), turns=len(shown))
    return replace(session, scenario=scenario, ends=False)


def _printing(paths: Sequence[str]) -> RunCommand:
    """Return the command that prints files, those below HOME with ``~/`` in front."""
    names = " ".join(
        f'"$HOME"/{shlex.quote(path[2:])}' if path.startswith("~/") else shlex.quote(path) for path in paths
    )
    return RunCommand(command=_PRINT.format(names=names))


def _copied(copy: PlayedSession, paths: Sequence[str]) -> dict[str, str]:
    """Return the files that the agent printed last, with a placeholder for the session."""
    if copy.outcome is None:
        return {}
    own, found = _own_session(copy.outcome), dict[str, str]()
    results = [one.exchange for one in copy.outcome.trace.steps if isinstance(one.exchange, Performed)]
    run = results[-1].run if results else None
    for number, data in _COPY.findall(run.stdout.data) if run is not None else ():
        try:
            text = base64.b64decode(data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            # A file that is no text, or one whose end was not kept.
            continue
        found[paths[int(number) - 1].replace(own, SESSION)] = text.replace(own, SESSION)
    return found


def _held_by_another(loop: _Loop, other: PlayedSession) -> Iterator[ProvedSymptom]:
    """Yield the symptom that a loop refuses the stop of a session that did not start it."""
    first = next(stops_of(other.outcome), None)
    state = _state(loop)
    if other.outcome is None or first is None or not first.decision.refused or not state:
        return
    every = (hooked for _, hooked in other.outcome.trace.hooked())
    before = itertools.takewhile(lambda hooked: hooked is not first, every)
    written = {change.path.partition("/")[2] for hooked in before for change in hooked.changes}
    if written.intersection(path.removeprefix("~/") for path in state):
        # Hooks of its start or its prompt may have taken over the loop on purpose.
        return
    text = (
        f"{first.event} is also refused in a session that did not start the loop, with the state that the "
        f"first session left in {', '.join(sorted(state))} after its refused stop."
    )
    symptom = symptom_of(WRONG_KEY, commands_of(first.deciding), text, _ADVICE, turn=1)
    yield ProvedSymptom(symptom, other.session, other.outcome.trace)


def _state(loop: _Loop) -> list[str]:
    """Return the files that say that a loop runs; a history says what was."""
    return [
        path for path, text in loop.files.items() if _OF_LOOP.search(text) and not path.endswith(".jsonl")
    ]
