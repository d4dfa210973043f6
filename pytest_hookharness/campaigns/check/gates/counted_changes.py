"""
Stop hooks that miss changes, or take a missing program for a failed check.

The check tries hooks that refuse the stop only while their own check fails, or only after changes. It plays
them with no change, with changes that git shows differently, and without the program of their check.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check.failing_gates import ANY_FILE, failing_checks, find_gates
from pytest_hookharness.campaigns.check.gates.changed_sources import (
    LEFT_ALONE,
    plan_changed_sources,
)
from pytest_hookharness.campaigns.check.gates.local_checks import is_of_module, words_for
from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.held_loops import stops_of
from pytest_hookharness.campaigns.check.played_sessions import (
    PlayedSession,
    TryOut,
    kept_to_its_end,
    shortened,
)
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.campaigns.check.static.untracked_files import overlooked_files
from pytest_hookharness.judging.checkup.written_paths import without_run_folder
from pytest_hookharness.judging.findings.codes import BYPASS, OVERBLOCK, UNGUARDED_TOOL
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, is_named
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, RunCommand, Script, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import HookEvent, commands_of
from pytest_hookharness.model.verdicts import FindingCode

_COMMIT = RunCommand(command="git add -A && git commit --quiet -m work")
# Changes after which a gate allows the stop, in words, each with the advice.
_SAME, _TRACKED = ("", "the same"), ("", "a file beside it that git tracks")
_NEW_FILE = (
    "if the file is new",
    "`git diff` leaves new files out: add `git ls-files --others --exclude-standard`.",
)
_NEW_FOLDER = (
    "if the file is in a new folder",
    "Git shows only the name of a new folder: use `git status --porcelain --untracked-files=all`.",
)
_LETTERS = (
    "if the file's name has an accent",
    "Git quotes such names: use `-z`, or `git -c core.quotePath=false`.",
)
_COMMITTED = (
    "if the agent commits the change before it stops",
    "Compare with the commit at which the session began.",
)
# Copies of the project have no remote, so a gate that compares with one may miss commits there.
_OF_REMOTE = re.compile(r"\borigin/|@\{u|\bupstream\b|\bmerge-base\b")
_ASKS_FOR_COMMIT = re.compile(r"\bcommit|\bstash|\bclean\b", re.IGNORECASE)
# The message of a shell about a missing program, and a gate's own message about it.
_NOT_FOUND = re.compile(r"[\w./-]+: (?:command )?not found|No such file or directory")
_NAMES_MISSING = re.compile(
    r"not (?:installed|available|found)|\bmissing\b|\binstall\b|unavailable|cannot (?:be )?(?:run|start)",
    re.IGNORECASE,
)
_LONGEST, _MOST = 100, 2


def prove_counted_changes(
    hook_set: HookSet, play: TryOut, known: Collection[Problem], played: Sequence[PlayedSession]
) -> Iterator[ProvedSymptom]:
    """Yield gates that need no change, miss changes, or take a missing program for a failed check."""
    reported = ", ".join(one.symptom.hook for one in known if one.symptom.kind == UNGUARDED_TOOL.name)
    for gate in _gates(hook_set, play, played)[:_MOST]:
        checks = failing_checks(gate)
        (usual, idle) = play([shortened(gate), shortened(_with_acts(gate, [FIRST_PROMPT, Stop()]))])
        stop = _first_stop(usual.outcome)
        if stop is None or not stop.decision.refused:
            continue
        hook = commands_of(stop.deciding)
        if checks and not is_named(hook, reported):
            yield from _taken_for_failed(hook_set, gate, hook, play)
        failing = f"{_named(checks)} {'fail' if len(checks) > 1 else 'fails'}" if checks else ""
        if again := _refused_by(idle.outcome, hook):
            if_failing = failing and f" if {failing}"
            text = f"{again.event} is refused{if_failing}, even in a session that changed nothing."
            advice = "Allow the stop if nothing was changed: the agent may only have given an answer."
            yield from _proved_symptom(OVERBLOCK, hook, text, advice, idle)
        else:
            yield from _unseen_changes(hook_set, gate, stop, failing and f" while {failing}", play)


def _gates(hook_set: HookSet, play: TryOut, played: Sequence[PlayedSession]) -> list[CheckSession]:
    """Return the played sessions that show gates; if none does, new ones for hooks that refused a stop."""
    sessions = [one.session for one in played if one.outcome is not None]
    kept = [one for one in sessions if failing_checks(one) or one.way_out == LEFT_ALONE]
    stops = (stop for one in played for stop in stops_of(one.outcome) if stop.decision.refused)
    refusing = ", ".join({commands_of(stop.deciding) for stop in stops})
    hooks = [hook for hook in hook_set.hooks if is_named(hook.command, refusing)]
    found = kept or find_gates(hook_set, hooks, play)
    return found or [*kept_to_its_end(play([*plan_changed_sources(hook_set, hooks)]))]


def _taken_for_failed(
    hook_set: HookSet, gate: CheckSession, hook: str, play: TryOut
) -> Iterator[ProvedSymptom]:
    """Yield the problem that a gate takes a missing program for a failed check."""
    named = (check for check in failing_checks(gate) if not is_of_module(check))
    checks = [check for check in named if not (hook_set.root / check).exists()]
    for missing in play([_without(gate, checks)]) if checks else ():
        lost = _refused_by(missing.outcome, hook)
        if lost is not None and not _NAMES_MISSING.search(_NOT_FOUND.sub("", _said(lost))):
            text = f"{lost.event} is also refused if {_named(checks)} cannot be started{_saying(lost)}."
            advice = "Tell a missing program from a failed check, and say which program is missing."
            yield from _proved_symptom(UNGUARDED_TOOL, hook, text, advice, missing)


def _unseen_changes(
    hook_set: HookSet, gate: CheckSession, stop: HookEvent, while_failing: str, play: TryOut
) -> Iterator[ProvedSymptom]:
    """Yield the problem that a gate allows the stop, which it refused, after changes of another kind."""
    forms, hook = _changes(gate), commands_of(stop.deciding)
    if _may_leave_commits(hook_set, gate, stop):
        acts = gate.scenario.script.acts
        forms[_COMMITTED] = _with_acts(gate, [*acts[:-1], _COMMIT, acts[-1]])
    plays = dict(zip(forms, play([shortened(session) for session in forms.values()]), strict=True))
    refused = {form for form, one in plays.items() if _refused_by(one.outcome, hook)}
    if _SAME in forms and _SAME not in refused:
        # Another file was the reason.
        return
    wanted = [_NEW_FILE] if _TRACKED in refused and not _is_reported(hook_set, hook) else []
    # The gate sees a new file there, so the folder or the name is the reason.
    wanted += [_NEW_FOLDER, _LETTERS] if _NEW_FILE in refused else []
    wanted += [_COMMITTED] if _COMMITTED in forms else []
    allowed = [form for form in wanted if _is_allowed(plays[form].outcome)]
    if allowed:
        files = " and ".join(_changed(gate.scenario.script.acts))
        when = " or ".join(words for words, _ in allowed)
        text = f"The stop is refused after an edit of {files}{while_failing}, but allowed {when}."
        advice = " ".join(advice for _, advice in allowed)
        for one in _proved_symptom(BYPASS, hook, text, advice, plays[allowed[0]]):
            yield replace(one, symptom=replace(one.symptom, topic="changes"))


def _may_leave_commits(hook_set: HookSet, gate: CheckSession, stop: HookEvent) -> bool:
    """Return whether it is a fault that a gate allows the stop once the change is committed."""
    texts = "\n".join(text for hook in hook_set.hooks for text in hook_set.scripts_of(hook))
    asks = _OF_REMOTE.search(texts) or _ASKS_FOR_COMMIT.search(_said(stop))
    # A gate without a check may ask for nothing but the commit.
    return gate.scenario.git and bool(failing_checks(gate)) and not asks


def _is_reported(hook_set: HookSet, hook: str) -> bool:
    """Return whether the source of a gate shows that it never sees new files; this is reported already."""
    named = (one for one in hook_set.hooks if is_named(one.command, hook))
    return any(overlooked_files(hook_set, one)[1] for one in named)


def _changes(gate: CheckSession) -> dict[tuple[str, str], CheckSession]:
    """Return sessions with the gate's own changes, with similar ones for comparison, and with other kinds."""
    acts, changed = gate.scenario.script.acts, _changed(gate.scenario.script.acts)
    beside = {path: _with_suffix(path, "2") for path in changed}
    new = _renamed(gate, beside)
    before = dict.fromkeys(beside.values(), "old text\n")
    tracked = replace(new, scenario=replace(new.scenario, files={**new.scenario.files, **before}))
    same = _renamed(gate, {path: path for path in changed})
    return {
        # The gate itself was played already.
        **({_SAME: same} if same.scenario.script.acts != acts else {}),
        _TRACKED: tracked,
        _NEW_FILE: new,
        _NEW_FOLDER: _renamed(gate, {path: _in_new_folder(path) for path in changed}),
        _LETTERS: _renamed(gate, {path: _with_suffix(path, "\u00e9") for path in changed}),
    }


def _with_suffix(path: str, suffix: str) -> str:
    """Return a path with more letters before all extensions, as in `app2.test.ts`."""
    folder, name = posixpath.split(path)
    stem, dot, extensions = name.partition(".") if name.partition(".")[0] else (name, "", "")
    return posixpath.join(folder, f"{stem}{suffix}{dot}{extensions}")


def _in_new_folder(path: str) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "newpart", name)


def _changed(acts: Sequence[Act]) -> list[str]:
    """Return the edited files without `ANY_FILE`, which no gate names; all if there is no other."""
    files = [act.file for act in acts if isinstance(act, Edit)]
    return [file for file in files if file != ANY_FILE] or files


def _renamed(session: CheckSession, paths: Mapping[str, str]) -> CheckSession:
    """Return the session with its edits at new paths; edits of files without a new path are left out."""
    acts = session.scenario.script.acts
    edits = [act for act in acts if isinstance(act, Edit) and act.file in paths]
    renamed = [replace(edit, file=paths[edit.file]) for edit in edits]
    return _with_acts(session, [acts[0], *renamed, acts[-1]])


def _without(session: CheckSession, programs: Sequence[str]) -> CheckSession:
    """Return the short session on a machine that lacks some programs."""
    old = session.scenario
    kept = {name: double for name, double in old.commands.items() if name not in programs}
    files = {path: text for path, text in old.files.items() if path not in programs}
    hidden = tuple(name for name in programs if name in old.commands)
    return shortened(replace(session, scenario=replace(old, commands=kept, files=files, hidden=hidden)))


def _with_acts(session: CheckSession, acts: Sequence[Act]) -> CheckSession:
    return replace(session, scenario=replace(session.scenario, script=Script(acts=(*acts,))))


def _first_stop(outcome: Outcome | None) -> HookEvent | None:
    """Return the first stop: many hooks allow the one after a refusal."""
    return next(stops_of(outcome), None)


def _refused_by(outcome: Outcome | None, hook: str) -> HookEvent | None:
    """Return the first stop if the same hooks refused it."""
    stop = _first_stop(outcome)
    refused = stop is not None and stop.decision.refused and commands_of(stop.deciding) == hook
    return stop if refused else None


def _is_allowed(outcome: Outcome | None) -> bool:
    """Return whether hooks ran at the first stop, and it was allowed."""
    stop = _first_stop(outcome)
    return stop is not None and bool(stop.hook_runs) and not stop.decision.refused


def _named(checks: Sequence[str]) -> str:
    return " and ".join(f"`{words_for(check)}`" for check in checks)


def _said(stop: HookEvent) -> str:
    return " ".join(one.demand for one in stop.deciding)


def _saying(stop: HookEvent) -> str:
    words = " ".join(without_run_folder(_said(stop)).split())
    return f', with "{words[:_LONGEST]}"' if words else ""


def _proved_symptom(
    code: FindingCode, hook: str, text: str, advice: str, played: PlayedSession
) -> Iterator[ProvedSymptom]:
    """Yield the symptom that a session proves, if it was played."""
    if played.outcome is not None:
        symptom = symptom_of(code, hook, text, advice, turn=1)
        yield ProvedSymptom(symptom, played.session, played.outcome.trace)
