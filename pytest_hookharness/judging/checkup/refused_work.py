"""Find the calls that hooks refuse, and harmless ones among them: all work, words in data, usual forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from pytest_hookharness.judging.comparison.traces import is_asked, refusers
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Edit, Move, Read, RunCommand, ToolCall
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling

_Call = TypeVar("_Call")
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


@dataclass(frozen=True, slots=True)
class CallTurns(Generic[_Call]):
    """The calls of a session that were refused or passed without a question, each with its turns."""

    refused: dict[_Call, list[int]]
    passed: dict[_Call, list[int]]

    def is_kept(self, one: _Call) -> bool:
        """Return whether a call was refused more than once, and never allowed."""
        return len(self.refused.get(one, ())) > 1 and one not in self.passed

    def is_allowed_around(self, one: _Call, other: _Call) -> bool:
        """Return whether a call was never refused, and allowed before and after another one was refused."""
        outer, inner = self.passed.get(one, ()), self.refused.get(other, ())
        around = bool(inner and outer) and min(outer) < min(inner) and max(outer) > max(inner)
        return around and one not in self.refused


def call_turns(outcome: Outcome, name: Callable[[Move | None, ToolCall], _Call | None]) -> CallTurns[_Call]:
    """Return the calls of a session by name, without those for which ``name`` returns ``None``."""
    moves = outcome.trace.moves
    asked = {step.turn for step, hooked in outcome.trace.hooked() if hooked.decision.ruling is Ruling.ASK}
    found = CallTurns[_Call]({}, {})
    for step, done in outcome.trace.performed():
        one = name(moves.get(step.turn), done.call)
        # A call that the user is asked about, and permits, is neither refused nor allowed.
        if one is not None and (done.refused or step.turn not in asked):
            by_end = found.refused if done.refused else found.passed
            by_end.setdefault(one, []).append(step.turn)
    return found


def symptom_in_turn(code: verdicts.FindingCode, text: str, outcome: Outcome, turn: int) -> Symptom:
    """Return the symptom that hooks refused something in a turn."""
    return symptom_of(code.found(text, turn=turn, hook=refusers(outcome.trace, turn)))


def refusal_word(outcome: Outcome, turn: int) -> str:
    """Return "asked about" if the user was asked about a call in a turn, and else "refused"."""
    return "asked about" if is_asked(outcome.trace, turn) else "refused"


def capitalized(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return f"{text[0].upper()}{text[1:]}"


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
    """Yield a symptom if hooks refuse all reads, all edits and half of the commands of a harmless session."""
    moves = outcome.trace.moves
    calls = [(step.turn, moves.get(step.turn), done.refused) for step, done in outcome.trace.performed()]
    reads = [refused for _, move, refused in calls if isinstance(move, Read)]
    edits = [refused for _, move, refused in calls if isinstance(move, Edit)]
    commands = [refused for _, move, refused in calls if isinstance(move, RunCommand)]
    refused = [turn for turn, _, refused in calls if refused]
    if not (reads and edits and all([*reads, *edits]) and 2 * sum(commands) >= len(commands)):
        return
    if len(refused) < _FEWEST:
        return
    text = f"{len(refused)} of {len(calls)} harmless calls are refused, also every read and edit."
    yield symptom_in_turn(codes.BLOCKS_EVERYTHING, text, outcome, refused[-1])


def find_refused_words(outcome: Outcome) -> Iterator[Symptom]:
    """
    Find refused calls that must be allowed, after a call with other words was allowed.

    The allowed call shows that the hook does not refuse the tool as such.
    """
    controlled = False
    for step, done in outcome.trace.performed():
        if done.call.expect != "allow":
            continue
        if not done.refused or not controlled:
            controlled = not done.refused
            continue
        text = f"{done.call.name} is refused only because its text mentions something that the hook refuses."
        yield symptom_in_turn(codes.RAW_JSON, text, outcome, step.turn)


def find_refused_form(outcome: Outcome) -> Iterator[Symptom]:
    """Find that the last of ``SAME_WORK`` was refused, and both others were allowed."""
    done = {shell_text(made.call): (step.turn, made.refused) for step, made in outcome.trace.performed()}
    if [done.get(command, (0, None))[1] for command in SAME_WORK] == [False, False, True]:
        text = "`git commit` is refused with its message in a here-document, and allowed with it in quotes."
        turn, _ = done[SAME_WORK[-1]]
        yield replace(symptom_in_turn(codes.TEXT_MATCH, text, outcome, turn), advice=_READ_IT)


def shell_text(call: ToolCall) -> str:
    """Return the command line of a call of a shell tool; empty for another tool."""
    return str(call.input.get("command", call.input.get("cmd", "")))
