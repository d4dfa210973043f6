"""Expectations about single tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, assert_never

from pytest_hookharness.model.moves import (
    Act,
    Compact,
    Corrupt,
    Edit,
    End,
    Move,
    Prompt,
    Read,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
    Wait,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Violation

Part: TypeAlias = ToolCall | RunCommand | Edit | Read


def broken_calls(outcome: Outcome) -> Iterator[Violation]:
    """
    Check for calls with another result than expected, and for expected calls that were never made.

    A call of a reaction is checked only if it was made, because no expectation says that the reaction
    happens.
    """
    made: list[Act] = []
    for number, step in enumerate(outcome.trace.steps):
        if isinstance(step.exchange, Moved):
            made.append(step.exchange.move)
            yield from _compare(outcome.trace, number, step.exchange.move)
    yield from _broken_children(outcome)
    for index, act in enumerate(outcome.scenario.script.acts):
        for label, expected in _expected(act, f"agent[{index}]"):
            if expected is not None and act not in made:
                seen = "the call was never made"
                yield Violation(path=f"{label}.expect", expected=expected, seen=seen)


def _broken_children(outcome: Outcome) -> Iterator[Violation]:
    """Check the calls of fake agents in the same way."""
    made: set[str] = set()
    for _, child in outcome.trace.children():
        for call in child.calls:
            made.add(call.label)
            seen = Ruling.DENY.value if call.refused else Ruling.ALLOW.value
            if call.expected and seen != call.expected:
                yield Violation(path=f"{call.label}.expect", expected=call.expected, seen=seen)

    for name, double in outcome.scenario.commands.items():
        for index, move in enumerate(double.does):
            for label, expected in _expected(move, f"commands.{name}.does[{index}]"):
                if expected is not None and label not in made:
                    yield Violation(path=f"{label}.expect", expected=expected, seen="the call was never made")


def _expected(act: Act, default: str) -> list[tuple[str, str | None]]:
    return [(part.label or default, part.expect) for part in _parts(act)]


def _parts(act: Act) -> tuple[Part, ...]:
    match act:
        case Tools(calls=calls):
            return calls
        case RunCommand() | Edit() | Read():
            return (act,)
        case Stop() | Subagent() | Prompt() | Wait() | Compact() | Resume() | End() | Corrupt():
            return ()
        case _:
            assert_never(act)


def _compare(trace: Trace, number: int, move: Move) -> Iterator[Violation]:
    turn = _rest_of_turn(trace, number)
    performed = [step.exchange for step in turn if isinstance(step.exchange, Performed)]
    hooked = [step.exchange for step in turn if isinstance(step.exchange, HookEvent)]
    for part in _parts(move):
        seen = _became(part, performed, hooked)
        if part.expect is not None and seen != part.expect:
            yield Violation(path=f"{part.label or 'agent'}.expect", expected=part.expect, seen=seen)


def _rest_of_turn(trace: Trace, number: int) -> Sequence[Step]:
    rest = trace.steps[number + 1 :]
    ends = (index for index, step in enumerate(rest) if isinstance(step.exchange, Moved))
    return rest[: next(ends, len(rest))]


def _became(part: Part, performed: list[Performed], hooked: Sequence[HookEvent]) -> str:
    """Return the result of one call, and remove what was carried out for it from the list."""
    about = [item for item in hooked if _about(item, part)]
    if any(item.decision.ruling is Ruling.ASK for item in about):
        return Ruling.ASK.value
    mine = [item for item in performed if _is_of(item, part)]
    # A call with the very same input is preferred, because one turn may make several calls of one tool.
    exact = [item for item in mine if isinstance(part, ToolCall) and item.call.input == part.input]
    before = [item for item in about if item.decision.refused]
    # Hooks can change the input of a call, so a call with another input can still be this one.
    chosen = next(iter(exact), None) or (None if before else next(iter(mine), None))
    if chosen is not None:
        performed.remove(chosen)
        return Ruling.DENY.value if chosen.refused else Ruling.ALLOW.value
    return Ruling.DENY.value if before else "the call was not made"


def _is_of(performed: Performed, part: Part) -> bool:
    if isinstance(part, ToolCall) and part.name != performed.call.name:
        return False
    return performed.call.label in ("", part.label)


def _about(hooked: HookEvent, part: Part) -> bool:
    """Return whether hooks were asked about this call, and not about another one of the same turn."""
    # Hooks that run after the call cannot refuse it any more.
    if hooked.event.lower().startswith(("post", "after")):
        return False
    if not isinstance(part, ToolCall):
        return True
    if hooked.target not in ("", part.name):
        return False
    inputs = [
        hook_run.payload["tool_input"] for hook_run in hooked.hook_runs if "tool_input" in hook_run.payload
    ]
    return not inputs or part.input in inputs
