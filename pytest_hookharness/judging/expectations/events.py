"""
Expectations about hooks and their decisions, tool calls, process hooks, and loops of the agent's own calls.

A script may repeat calls on purpose, to bring a hook to its limit. Such loops are only checked if the
scenario has an expectation about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from pytest_hookharness.judging.findings.session_findings import has_common_calls
from pytest_hookharness.model import moves
from pytest_hookharness.model.expectations import Expectation, ProcessExpectation, Range, counted, first_few
from pytest_hookharness.model.moves import Act, Edit, Move, Read, RunCommand, ToolCall
from pytest_hookharness.model.outcome import Outcome, effective_ruling
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.regex import found_in
from pytest_hookharness.model.trace import HookEvent, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Violation

Part: TypeAlias = ToolCall | RunCommand | Edit | Read
_UNASKED = "; no hook was asked: none is configured for such calls, or no matcher fits this one"


def broken_calls(outcome: Outcome) -> Iterator[Violation]:
    """Check for calls with another result than expected, and for expected calls that were never made."""
    made: list[Act] = []
    for number, step in enumerate(outcome.trace.steps):
        if isinstance(step.exchange, Moved):
            made.append(step.exchange.move)
            yield from _compare(outcome.trace, number, step.exchange.move)
    yield from _broken_children(outcome)
    for default, act, why in _scripted(outcome.scenario.script):
        for label, expected in _expected(act, default):
            if expected is not None and act not in made:
                yield Violation(f"{label}.expect", expected, f"the call was never made{why}")


def _scripted(script: moves.Script) -> Iterator[tuple[str, Act, str]]:
    """Yield the place of each act of a script, the act, and what else to say if it was never made."""
    for index, act in enumerate(script.acts):
        yield f"agent[{index}]", act, ""
    for index, reaction in enumerate(script.reactions):
        for number, act in enumerate(reaction.moves):
            path = f"when[{index}]"
            yield f"{path}.do[{number}]", act, f": the agent never came to it in {path}"


def broken_received(outcome: Outcome) -> Iterator[Violation]:
    """Check what the agent received from its subagents, in what it saw before any later move."""
    moved = [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Moved)]
    for number, exchange in enumerate(moved):
        move = exchange.move
        if not isinstance(move, moves.Subagent) or not move.received:
            continue
        # A subagent in the background may end many moves later.
        own = [later for later in moved[number + 1 :] if not isinstance(later.move, moves.SubagentText)]
        seen = [message.text for later in own for message in later.saw.messages]
        if not found_in(move.received, seen):
            shown = "; ".join(map(repr, seen[:_MANY])) or "nothing"
            path = f"{move.label or 'agent'}.subagent.received"
            yield Violation(path, f"a text for the agent that matches {move.received!r}", shown)


def _broken_children(outcome: Outcome) -> Iterator[Violation]:
    """Check the calls of fake agents in the same way."""
    made: set[str] = set()
    for _, child in outcome.trace.children():
        for call in child.calls:
            made.add(call.label)
            seen = Ruling.DENY.value if call.refused else Ruling.ALLOW.value
            if call.expected and seen != call.expected:
                yield Violation(f"{call.label}.expect", call.expected, seen)

    for name, double in outcome.scenario.commands.items():
        for index, move in enumerate(double.does):
            for label, expected in _expected(move, f"commands.{name}.does[{index}]"):
                if expected is not None and label not in made:
                    yield Violation(f"{label}.expect", expected, "the call was never made")


def _expected(act: Act, default: str) -> list[tuple[str, str | None]]:
    return [(part.label or default, part.expect) for part in _parts(act)]


def _parts(act: Act) -> tuple[Part, ...]:
    match act:
        case moves.Tools(calls=calls):
            return calls
        case RunCommand() | Edit() | Read():
            return (act,)
        case moves.Stop() | moves.Subagent() | moves.SubagentText() | moves.Prompt() | moves.Wait():
            return ()
        case moves.Compact() | moves.Resume() | moves.End() | moves.Corrupt():
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
            asked = any(item.hook_runs for item in hooked if _about(item, part))
            why = "" if asked or seen != Ruling.ALLOW.value else _UNASKED
            yield Violation(f"{part.label or 'agent'}.expect", part.expect, f"{seen}{why}")


def _rest_of_turn(trace: Trace, number: int) -> Sequence[Step]:
    rest = trace.steps[number + 1 :]
    ends = (index for index, step in enumerate(rest) if _is_own_move(step))
    return rest[: next(ends, len(rest))]


def _is_own_move(step: Step) -> bool:
    # The texts of a subagent belong to the move that started it.
    return isinstance(step.exchange, Moved) and not isinstance(step.exchange.move, moves.SubagentText)


def _became(part: Part, performed: list[Performed], hooked: Sequence[HookEvent]) -> str:
    """Return the result of one call, and remove what was carried out for it from the list."""
    about = [item for item in hooked if _about(item, part)]
    if any(item.decision.ruling is Ruling.ASK for item in about):
        return Ruling.ASK.value
    mine = [item for item in performed if _is_of(item, part)]
    if why := next((item.refused_by_chance for item in about if item.refused_by_chance), ""):
        refused = next((item for item in mine if item.refused), None)
        if refused is not None:
            performed.remove(refused)
        return why
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


_MANY = 3


def broken_blocks(outcome: Outcome, expected: Range | Mapping[str, Range] | None) -> Iterator[Violation]:
    """
    Check the numbers of blocks, in total or by event.

    A refusal of which no hook ran is none that was expected, and is not the absence of one.
    """
    if isinstance(expected, Range):
        yield from _broken_number(outcome, expected, None)
    elif expected is not None:
        for event, number in expected.items():
            yield from _broken_number(outcome, number, event)


def _broken_number(outcome: Outcome, number: Range, event: str | None) -> Iterator[Violation]:
    blocks = [hooked for _, hooked in outcome.trace.hooked(event) if hooked.decision.refused]
    by_hooks = [hooked for hooked in blocks if not hooked.refused_by_chance]
    if len(blocks) in number and len(by_hooks) in number:
        return
    path, wanted = ("expect.blocks", "") if event is None else (f"expect.blocks.{event}", f" of {event}")
    unmeant = len(blocks) - len(by_hooks)
    seen = f"{len(blocks)}, {unmeant} of them by hooks that did not run" if unmeant else str(len(blocks))
    yield Violation(path, f"{counted(number, 'block')}{wanted}", seen)


def broken_hook_runs(outcome: Outcome, expected: Mapping[str, Range]) -> Iterator[Violation]:
    """Check the numbers of hook runs."""
    for word, number in expected.items():
        if outcome.hook_runs(word) not in number:
            seen = str(outcome.hook_runs(word))
            yield Violation(f"expect.fires.{word}", f"{counted(number, 'hook run')} of {word}", seen)


def broken_decisions(outcome: Outcome, expected: Mapping[str, tuple[str, ...]]) -> Iterator[Violation]:
    """Check the first decisions of events."""
    for event, wanted in expected.items():
        hooked = [item for _, item in outcome.trace.hooked(event)]
        met = len(hooked) >= len(wanted) and all(map(_became_of_events, hooked, wanted))
        if not met:
            seen = ", ".join(map(_seen, hooked[: max(len(wanted), _MANY)])) or "no decision"
            yield Violation(f"expect.decisions.{event}", ", ".join(wanted), seen)


def _became_of_events(hooked: HookEvent, word: str) -> bool:
    if word == Ruling.NONE.value:
        decision = hooked.decision
        return decision.ruling is Ruling.NONE and not decision.refused and not decision.overridden
    if word == Ruling.DENY.value and hooked.refused_by_chance:
        return False
    return effective_ruling(hooked).value == word


def _seen(hooked: HookEvent) -> str:
    return hooked.refused_by_chance or effective_ruling(hooked).value


def broken_reasons(outcome: Outcome, patterns: tuple[str, ...]) -> Iterator[Violation]:
    """Check for patterns that no reason matches."""
    # What an interpreter says of a hook that it did not find is no reason of that hook.
    asked = [hooked for _, hooked in outcome.trace.hooked() if not hooked.refused_by_chance]
    reasons = [reason for hooked in asked for reason in hooked.decision.reasons]
    for index, pattern in enumerate(patterns):
        if not found_in(pattern, reasons):
            seen = first_few([*map(repr, dict.fromkeys(reasons))], _MANY, between="; ") or "no reason"
            yield Violation(f"expect.reasons[{index}]", f"a reason that matches {pattern!r}", seen)


def broken_told(outcome: Outcome, patterns: tuple[str, ...]) -> Iterator[Violation]:
    """Check for patterns that match nothing that a hook said and the agent's model received."""
    texts = [text for _, hooked in outcome.trace.hooked() for text in hooked.decision.to_agent]
    for index, pattern in enumerate(patterns):
        if not found_in(pattern, texts):
            path = f"expect.told[{index}]"
            yield Violation(
                path, f"text for the agent that matches {pattern!r}", _where_else(outcome, pattern)
            )


def _where_else(outcome: Outcome, pattern: str) -> str:
    for step, hook_run in outcome.trace.hook_runs():
        unheard = hook_run.reply.unheard
        if unheard is not None and found_in(pattern, [unheard.text]):
            place = f"{unheard.place} ({hook_run.hook.event}, turn {step.turn})"
            return f"said as {place}, which the agent does not see"
        run = hook_run.run
        if run is not None and found_in(pattern, [f"{run.stdout.text}\n{run.stderr.text}"]):
            return (
                f"printed by a hook of {hook_run.hook.event} in turn {step.turn}, but not shown to the agent"
            )
    return "no hook said it"


def broken_sometimes(outcome: Outcome, wanted: tuple[str, ...]) -> Iterator[Violation]:
    """Check for events and rulings that should happen at least once, with a hook that really ran."""
    for index, word in enumerate(wanted):
        if seen := _instead_of(outcome, word):
            yield Violation(f"expect.sometimes[{index}]", f"{word} at least once", seen)


def _instead_of(outcome: Outcome, word: str) -> str:
    """Return what hooks of an event decided instead of a ruling; empty if an ``event[:ruling]`` happened."""
    event, _, ruling = word.partition(":")
    asked = [hooked for _, hooked in outcome.trace.hooked(event) if hooked.hook_runs]
    if any(not ruling or _became_of_events(hooked, ruling.strip()) for hooked in asked):
        return ""
    return ", ".join(dict.fromkeys(map(_seen, asked))) or f"no hook of {event} ran"


def broken_unchecked(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check that there was anything at all to which the expectations of findings apply."""
    for word in expect.effects:
        if seen := _instead_of(outcome, word):
            yield Violation("expect.effects", f"{word} at least once", seen)
    if expect.sessions_alike and not has_common_calls(outcome.trace):
        seen = "no call was made in two sessions in a row"
        yield Violation("expect.sessions_alike", "a call in one session and in the next", seen)


def broken_sessions(outcome: Outcome, expect: Expectation) -> Iterator[Violation]:
    """Check the number and the depth of the sessions of fake agents."""
    if expect.sessions is not None and outcome.sessions not in expect.sessions:
        wanted = counted(expect.sessions, "session")
        yield Violation("expect.sessions", wanted, str(outcome.sessions))
    if expect.depth is not None and outcome.depth not in expect.depth:
        wanted = f"a depth of {expect.depth}"
        yield Violation("expect.depth", wanted, str(outcome.depth))


def broken_loops(outcome: Outcome, expected: tuple[str, ...] | None) -> Iterator[Violation]:
    """Check for loops that were expected and did not occur, and for loops that were not expected."""
    if expected is None:
        return
    # Few scenarios expect loops of the agent's own calls.
    from pytest_hookharness.judging.detectors.streams import detect
    from pytest_hookharness.judging.detectors.trace_actions import actions_of

    loops = detect(actions_of(outcome.trace))
    titles = {loop.title for loop in loops}
    for index, title in enumerate(expected):
        if title not in titles:
            seen = ", ".join(sorted(titles)) or "no loop of the agent's own calls"
            yield Violation(f"expect.detectors[{index}]", title, seen)
    for loop in loops:
        if loop.title not in expected:
            yield Violation("expect.detectors", f"no {loop.title}", loop.text)


def broken_threads(outcome: Outcome, expected: ProcessExpectation) -> Iterator[Violation]:
    """Check the numbers of threads, and their depth."""
    tracked = outcome.background
    for word, wanted in expected.threads.items():
        seen = tracked.spawned(word)
        if seen not in wanted:
            path = f"expect.processes.threads.{word}"
            yield Violation(path, f"{counted(wanted, 'thread')} of {word}", str(seen))
    if expected.depth is not None and tracked.depth not in expected.depth:
        wanted, seen = expected.depth, tracked.depth
        yield Violation("expect.processes.depth", f"a depth of {wanted}", str(seen))
