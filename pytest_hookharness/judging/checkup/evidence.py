"""The output of a defective hook, and how its host took it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.judging.checkup.bad_ends import limit_of, refused_throughout, stops_of
from pytest_hookharness.judging.checkup.lost_refusals import ends_as_failure
from pytest_hookharness.judging.checkup.written_paths import without_run_folder
from pytest_hookharness.judging.findings.codes import TIMEOUT_UNIT
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED, MANGLED, NOT_RUN
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Cut, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Step

# Defects after which it matters whether the host goes on.
_FAILED = frozenset({NOT_RUN.name, CRASHED.name, MANGLED.name})
# The faults of the runs that show a defect; other runs of the hook may have refused on purpose.
_FAULTS = {NOT_RUN.name: ("not-run",), CRASHED.name: ("crashed",), MANGLED.name: ("mangled", "ignored")}
# Lines that are shown, and what stands for those between the first and the last.
_LINES, _LEFT_OUT = 2, "..."
# The messages of other shells about the syntax of bash.
_OF_BASH = re.compile(r"^.*(?:Bad substitution|\[\[: not found)", re.MULTILINE)
_FAILURE = re.compile(r"(?<=: )(?P<code>exit code \d+: ).*", re.DOTALL)
_NAME_BASH = (
    "It is written for bash, but /bin/sh runs it, which is another shell on many systems: let its first line "
    "be `#!/usr/bin/env bash`, or start it with `bash`."
)
# How programs begin the line that names an error.
_ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]*: \S")
_BRING_MODULE = (
    "Keep the module beside the hook, or load it only where it is installed, and say what to install: a "
    "copy of a plugin or project lacks its packages."
)
# An event whose hooks create a folder, and what is said of one that does not.
_NO_FOLDER = re.compile(r"(?:no folder of a|for the folder of the) new worktree")
_MAKE_FOLDER = (
    "Create the worktree, and print its path as the last line of standard output. Remove a hook that only "
    "logs this event: without one the host creates the worktree itself."
)
# An event without which the agent gets no answer of its model.
_MODEL = "BeforeModel"


def with_evidence(symptom: Symptom, outcomes: Sequence[Outcome]) -> Symptom:
    """Return a symptom with the deciding lines of standard error, and the effect of the defect, if seen."""
    runs = [*_runs(outcomes, {*symptom.hook.split(", ")})]
    faults = _FAULTS[CRASHED.name] if ends_as_failure(symptom.text) else _FAULTS.get(symptom.kind, ("-",))
    failed = [one for one in runs if (one[2].reply.fault or "").startswith(faults)]
    # If a script does not exist, the host may see no more than an exit code, which is no fault.
    if not symptom.turn and symptom.kind in _FAULTS and (failed or symptom.kind != NOT_RUN.name):
        # It is in the source: what other runs of the hook printed and decided has nothing to do with it.
        runs = failed
    if symptom.kind == CRASHED.name and not symptom.turn:
        # Runs side by side are in no trace; the runs that are did not fail, so they are no evidence.
        runs = failed
    if not runs:
        return replace(symptom, text=without_run_folder(symptom.text))
    near = [run for run in runs if run[0].turn == symptom.turn] or runs
    # A problem that is known without a run belongs to no turn, and no refusal is related to it.
    tells = symptom.turn or symptom.kind in _FAILED
    printed = next((text for _, _, run in near if tells and (text := _deciding_lines(run))), "")
    if symptom.kind == NOT_RUN.name and (said := _OF_BASH.search(printed)):
        # Later failures only follow from it.
        text = _FAILURE.sub(lambda found: f'{found["code"]}"{said[0]}".', symptom.text)
        symptom = replace(symptom, text=text, advice=_NAME_BASH)
    if symptom.kind == NOT_RUN.name and "the module " in symptom.text:
        symptom = replace(symptom, advice=_BRING_MODULE)
    host, effect = outcomes[0].scenario.host, symptom.effect
    if symptom.kind == MANGLED.name and _NO_FOLDER.search(symptom.text):
        symptom = replace(symptom, advice=_MAKE_FOLDER)
        effect = f"{host} has no folder for the session, so it does not start."
    elif symptom.kind in _FAILED:
        effect = _effect(failed or runs, host, outcomes)
    elif symptom.kind == TIMEOUT_UNIT.name:
        effect = _cut(runs, host)
    return replace(symptom, text=without_run_folder(symptom.text), printed=printed, effect=effect)


def describe_refusal(host: str, events: Collection[str], outcomes: Sequence[Outcome] = ()) -> str:
    """
    Return in words that a host takes a failure for a refusal of some events, and what follows for the agent.

    Sessions in which that was seen may show that no stop is allowed.
    """
    more = _held(outcomes, events)
    if _MODEL in events:
        more = "; the model is never asked, so the agent can do nothing"
    return f"{host} takes this for a refusal of {', '.join(events)}{more}"


def _held(outcomes: Sequence[Outcome], events: Collection[str]) -> str:
    """Return that every stop is refused, and until when, if one of the events is that of a stop."""
    held = [one for one in outcomes if refused_throughout(one) and one.verdict_name in ("livelock", "capped")]
    stopped = {hooked.event for one in held for hooked in stops_of(one)}
    until = next((words for one in held if (words := limit_of(one.verdict))), "")
    if not stopped & {*events}:
        return ""
    return f", so every stop is refused{f' until {until}' if until else '; the host has no known limit'}"


def _runs(
    outcomes: Sequence[Outcome], commands: Collection[str]
) -> Iterator[tuple[Step, HookEvent, HookRun]]:
    for outcome in outcomes:
        for step, hooked in outcome.trace.hooked():
            for hook_run in hooked.hook_runs:
                if hook_run.hook.command in commands:
                    yield step, hooked, hook_run


def _deciding_lines(hook_run: HookRun) -> str:
    """Return what a hook wrote to standard error; of a long text the error, or its first and last line."""
    text = hook_run.run.stderr.text if hook_run.run is not None else ""
    lines = [without_run_folder(line.strip()) for line in text.splitlines() if line.strip()]
    refused = hook_run.reply.ruling is Ruling.DENY
    if len(lines) <= _LINES or (refused and len(lines) == _LINES + 1):
        return "\n".join(lines)
    ends = f"{lines[0]}\n{_LEFT_OUT}\n{lines[-1]}"
    # A stack is printed below the error, or above it.
    error = "" if refused else next(filter(_ERROR.match, reversed(lines)), "")
    return error or ends


def _cut(runs: Sequence[tuple[Step, HookEvent, HookRun]], host: str) -> str:
    """Return how often the host's timeout ended the hook, in one sentence; empty if it never did."""
    given = [run.run for _, _, run in runs if run.run is not None]
    # A check gives the hook more time in later sessions.
    shortest = min((run.limit for run in given if run.limit is not None), default=None)
    ends = [run.ending for run in given if run.limit == shortest]
    cut = [end for end in ends if isinstance(end, TimedOut) and end.by is Cut.LIMIT]
    return f"{host} ended {len(cut)} of {counted(len(ends), 'run')} before the hook was done." if cut else ""


def _effect(runs: Sequence[tuple[Step, HookEvent, HookRun]], host: str, outcomes: Sequence[Outcome]) -> str:
    """Return what the host does after the defect, in one sentence."""
    refused = {
        hooked.event: None for _, hooked, run in runs if hooked.decision.refused and run in hooked.deciding
    }
    if refused:
        return f"{describe_refusal(host, refused, outcomes)}."
    events = ", ".join(dict.fromkeys(hooked.event for _, hooked, _ in runs))
    return f"{host} ignores it: {events} goes on as if the hook were not there."
