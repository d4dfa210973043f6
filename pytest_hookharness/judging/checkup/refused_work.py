"""Harmless work that hooks refuse: everything, words that are only data, and a usual form of a command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.judging.comparison.traces import refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import Edit, Read, RunCommand, ToolCall
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Moved, Performed

_FEWEST = 3
# The form in which agents write commits, with other work; a commit in another form; a commit in that form.
SAME_WORK = (
    "echo \"$(cat <<'EOF'\nhello\nEOF\n)\"",
    'git commit -m "fix: correct a word"',
    "git commit -m \"$(cat <<'EOF'\nfix: correct a word\nEOF\n)\"",
)
_READ_IT = (
    "Agents write most commit messages in this form: read the lines of the here-document, or leave the "
    "check to a `commit-msg` hook of Git."
)


def symptom_of(finding: verdicts.Finding, *, shared: bool = False) -> Symptom:
    """Return a finding as a symptom; ``shared`` if any of several hooks may be meant."""
    return Symptom(
        kind=finding.name,
        code=finding.code,
        hook=finding.hook,
        text=finding.text,
        advice=finding.advice,
        turn=finding.turn,
        shared=shared,
    )


def find_blockades(outcome: Outcome) -> Iterator[Symptom]:
    """
    Find that harmless work was refused: every read, every edit, and most commands of a harmless session.
    """
    steps = outcome.trace.steps
    moves = {step.turn: step.exchange.move for step in steps if isinstance(step.exchange, Moved)}
    done = ((step.turn, step.exchange) for step in steps if isinstance(step.exchange, Performed))
    calls = [(turn, moves.get(turn), performed.refused) for turn, performed in done]
    reads = [refused for _, move, refused in calls if isinstance(move, Read)]
    edits = [refused for _, move, refused in calls if isinstance(move, Edit)]
    commands = [refused for _, move, refused in calls if isinstance(move, RunCommand)]
    refused = [turn for turn, _, refused in calls if refused]
    if not (reads and edits and all([*reads, *edits]) and 2 * sum(commands) >= len(commands)):
        return
    if len(refused) < _FEWEST:
        return
    text = f"{len(refused)} of {len(calls)} harmless calls are refused, also every read and edit."
    turn = refused[-1]
    yield symptom_of(codes.BLOCKS_EVERYTHING.found(text, turn=turn, hook=refusers(outcome.trace, turn)))


def find_refused_words(outcome: Outcome) -> Iterator[Symptom]:
    """
    Find refused calls that must be allowed, after a call with other words was allowed.

    The allowed call shows that the hook does not refuse the tool as such.
    """
    controlled = False
    asked = [
        (step.turn, step.exchange)
        for step in outcome.trace.steps
        if isinstance(step.exchange, Performed) and step.exchange.call.expect == "allow"
    ]
    for turn, done in asked:
        if not done.refused or not controlled:
            controlled = not done.refused
            continue
        text = f"{done.call.name} is refused only because its text mentions something that the hook refuses."
        yield symptom_of(codes.RAW_JSON.found(text, turn=turn, hook=refusers(outcome.trace, turn)))


def find_refused_form(outcome: Outcome) -> Iterator[Symptom]:
    """Find that the last of ``SAME_WORK`` was refused, and both others were allowed."""
    done = {
        shell_text(step.exchange.call): (step.turn, step.exchange.refused)
        for step in outcome.trace.steps
        if isinstance(step.exchange, Performed)
    }
    if [done.get(command, (0, None))[1] for command in SAME_WORK] == [False, False, True]:
        text = "`git commit` is refused with its message in a here-document, and allowed with it in quotes."
        turn, _ = done[SAME_WORK[-1]]
        finding = codes.TEXT_MATCH.found(text, turn=turn, hook=refusers(outcome.trace, turn))
        yield replace(symptom_of(finding), advice=_READ_IT)


def shell_text(call: ToolCall) -> str:
    """Return the command line of a call of a shell tool; empty for another tool."""
    return str(call.input.get("command", call.input.get("cmd", "")))
