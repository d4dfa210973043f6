"""
Effects: files that must change whenever hooks decide in a certain way.

Pure.

What hooks say and who hears it: noise, and words that do not arrive.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.judging.findings import codes
from pytest_hookharness.judging.findings.codes import EARLY_EXIT
from pytest_hookharness.model.outcome import effective_ruling
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Reply, Ruling, Unheard
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace
from pytest_hookharness.model.verdicts import Finding

_REFUSALS = (Ruling.ASK, Ruling.DEFER, Ruling.DENY)
_LONGEST = 60


def find_misheard(trace: Trace, told: Sequence[str] = ()) -> Iterator[Finding]:
    """
    What was taken for a refusal and was none, and what was said to the agent and did not reach it.

    A reason of an allow is commonly a note for the person. It counts as said to the agent if it is of several
    lines, or if it is what the scenario promises that the agent is told.

    Args:
        trace: What took place.
        told: Regular expressions for what the agent is to be told.
    """
    for step, hooked in trace.hooked():
        for fire in hooked.hook_runs:
            if fire.reply.unmeant and fire.reply.ruling is Ruling.DENY:
                text = f"{hooked.event}: exit code 0 with {_output(fire)}, and the host refuses."
                yield codes.STDOUT_DENIES.found(
                    text, turn=step.turn, hook=fire.hook.command, rule=fire.reply.rule
                )
            lost = fire.reply.unheard
            if lost is not None and not _arrives(lost, hooked):
                yield from _misheard(lost, fire, step.turn, told)


def _misheard(lost: Unheard, fire: HookRun, turn: int, told: Sequence[str]) -> Iterator[Finding]:
    event, hook = fire.hook.event, fire.hook.command
    words = _quoted(lost.text)
    match lost.place:
        case "output on a prompt":
            text = f"{event}: {words} was printed as plain text and does not reach the agent."
            yield codes.PROMPT_NOISE.found(text, turn=turn, hook=hook, rule=lost.rule)
        case "reason of an allow":
            if "\n" in lost.text.strip() or any(re.search(pattern, lost.text) for pattern in told):
                text = f"{event}: {words} is the reason of an allow and does not reach the agent."
                yield codes.UNSEEN_REASON.found(text, turn=turn, hook=hook, rule=lost.rule)


def _arrives(lost: Unheard, hooked: HookEvent) -> bool:
    return any(lost.text.strip() in text for text in hooked.decision.to_agent)


def find_double_noise(trace: Trace) -> Iterator[Finding]:
    """
    Events at which several hooks say the same, or several speak on standard error and none of these decides.
    """
    for step, hooked in trace.hooked():
        loud = [fire for fire in hooked.hook_runs if _mutters(fire)]
        if len(loud) > 1:
            lines = sum(len(_stderr(fire).splitlines()) for fire in loud)
            text = (
                f"{hooked.event}: {len(loud)} hooks speak on standard error and decide nothing; "
                f"{lines} lines for one event."
            )
            yield codes.DOUBLE_NOISE.found(text, turn=step.turn, hook=_commands(loud))
        for words, fires in _chorus(hooked).items():
            if len(fires) > 1:
                text = f"{hooked.event}: {len(fires)} hooks say the same, {_quoted(words)}."
                yield codes.DOUBLE_NOISE.found(text, turn=step.turn, hook=_commands(fires))


def _mutters(fire: HookRun) -> bool:
    if fire.run is None or fire.run.ending != Exited(0) or fire.reply.ruling in _REFUSALS:
        return False
    # Some hosts look for an answer on standard error if there is nothing on standard output.
    answered = not fire.run.stdout.text.strip() and fire.reply != Reply(rule=fire.reply.rule)
    return bool(_stderr(fire)) and not answered


def _chorus(hooked: HookEvent) -> dict[str, list[HookRun]]:
    """
    Who says which words, each fire once for each of its words.
    """
    said: dict[str, list[HookRun]] = {}
    for fire in hooked.hook_runs:
        words = {fire.reply.context.strip(), fire.reply.user_text.strip()}
        if fire.reply.ruling in _REFUSALS and not fire.reply.silent:
            # Hosts put the command before what a hook says on standard error.
            words.add(_stderr(fire) or fire.reply.reason.strip())
        for one in sorted(words - {""}):
            said.setdefault(one, []).append(fire)
    return said


def _stderr(fire: HookRun) -> str:
    return fire.run.stderr.text.strip() if fire.run is not None else ""


def _commands(hook_runs: Sequence[HookRun]) -> str:
    return ", ".join(dict.fromkeys(fire.hook.command for fire in hook_runs))


def _output(fire: HookRun) -> str:
    text = fire.run.stdout.text.strip() if fire.run is not None else ""
    return f"{_quoted(text)} on standard output" if text else "nothing on standard output"


def _quoted(text: str) -> str:
    first, _, more = text.strip().partition("\n")
    cut = len(first) > _LONGEST or bool(more)
    return repr(first[:_LONGEST] + (" ..." if cut else ""))


def find_lost_effects(trace: Trace, effects: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """
    Promised changes that did not come with a decision.

    Args:
        trace: What took place.
        effects: Files by ``event`` or ``event:ruling``, relative to the workspace.
    """
    for when, files in effects.items():
        event, _, ruling = when.partition(":")
        asked = [(step, hooked) for step, hooked in trace.hooked(event) if hooked.hook_runs]
        for step, hooked in asked:
            if ruling and effective_ruling(hooked).value != ruling:
                continue
            for file in files:
                if not _changes(hooked, file):
                    others = [other for _, other in asked if _changes(other, file)]
                    text = f"{_named(hooked)}: {file} stayed as it was{_elsewhere(hooked, others)}."
                    yield EARLY_EXIT.found(text, turn=step.turn, hook=_commands_of_effects(hooked))


def _changes(hooked: HookEvent, file: str) -> bool:
    path = f"workspace/{file.strip('/')}"
    return any(change.path == path or change.path.startswith(f"{path}/") for change in hooked.changes)


def _named(hooked: HookEvent) -> str:
    target = f" of {hooked.target}" if hooked.target else ""
    return f"{hooked.event}{target}, {effective_ruling(hooked).value}"


def _elsewhere(hooked: HookEvent, others: Sequence[HookEvent]) -> str:
    mine = {fire.hook.command for fire in hooked.hook_runs}
    same = [other for other in others if mine & {fire.hook.command for fire in other.hook_runs}]
    if not same:
        return ", and no other fire of the run changed it"
    ways = ", ".join(dict.fromkeys(_named(other) for other in same))
    return f"; the same hook changed it on {ways}"


def _commands_of_effects(hooked: HookEvent) -> str:
    return ", ".join(dict.fromkeys(fire.hook.command for fire in hooked.hook_runs))
