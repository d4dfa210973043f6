"""
Variance: what it means that a run with one thing different went otherwise.

Pure. Every finding names the variation, the event, and both endings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, assert_never

from pytest_hookharness.judging.comparison.lasting_failure import find_lock_out, find_silence, spoken_purpose
from pytest_hookharness.judging.comparison.traces import Pair, ended, pairs, refusers, told, was_refused
from pytest_hookharness.judging.comparison.tried import CONTROL, TRIED
from pytest_hookharness.judging.findings import codes
from pytest_hookharness.model.mutations import (
    EmptyInput,
    FailingTool,
    HangingTool,
    HookOrder,
    KeyOrder,
    MovedWords,
    Quoted,
    Replayed,
    SameName,
    Shell,
    StateFile,
    TwoAgents,
    TwoProcesses,
    TwoSessions,
    Unset,
    WithoutTool,
)
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Moved, Trace
from pytest_hookharness.model.verdicts import Finding, FindingCode

# A code, and the command that it is about.
Sight: TypeAlias = tuple[FindingCode, str]
_SHOWN = 3
# How shells name a variable that is not set.
_UNSET = ("unbound variable", "parameter not set", "parameter null or not set")


def find_variance(variation: Replayed, usual: Trace, varied: Trace) -> Finding | None:
    """
    What is wrong with the hooks, if a run with one thing different shows that.

    Args:
        variation: What was different.
        usual: The run without it; for a file of the same base name, that with one of another.
        varied: The run with it.
    """
    match variation:
        case KeyOrder():
            return _first(variation, usual, varied, _by_decision(codes.RAW_JSON))
        case HookOrder():
            return _first(variation, usual, varied, _by_decision(codes.ORDER))
        case WithoutTool() | FailingTool() | HangingTool():
            return _first(variation, usual, varied, partial(_by_tool, variation.name, usual))
        case EmptyInput():
            return _first(variation, usual, varied, _by_leak)
        case StateFile():
            return _first(variation, usual, varied, _by_leak) or find_lock_out(variation, usual, varied)
        case Unset():
            return _first(variation, usual, varied, _by_failure)
        case Shell():
            return _first(variation, usual, varied, _by_shell)
        case TwoAgents() | TwoProcesses():
            return _first(variation, usual, varied, _by_decision(codes.WRONG_KEY))
        case TwoSessions():
            decided = _first(variation, usual, varied, _by_decision(codes.WRONG_KEY))
            return decided or find_silence(variation, usual, varied)
        case MovedWords():
            return _moved(variation, usual, varied)
        case Quoted():
            return _quoted(variation, usual, varied)
        case SameName():
            return _passed_over(variation, usual, varied)
        case _:
            assert_never(variation)


def _first(
    variation: Replayed, usual: Trace, varied: Trace, look: Callable[[Pair], Sight | None]
) -> Finding | None:
    for pair in pairs(usual, varied):
        seen = look(pair)
        if seen is not None:
            code, hook = seen
            before, after = told(pair.before, hook), told(pair.after, hook, quoting=True)
            text = f"{pair.before.event} in turn {pair.turn}: {before}; with {variation}, {after}."
            return code.found(text, turn=pair.turn, hook=hook)
    return None


def _by_decision(code: FindingCode) -> Callable[[Pair], Sight | None]:
    return lambda pair: (code, pair.hook) if pair.differs else None


def _by_tool(tool: str, usual: Trace, pair: Pair) -> Sight | None:
    held_up = next((fire for fire, other in pair.hook_runs() if _cut(other) and not _cut(fire)), None)
    if held_up is not None:
        return codes.UNGUARDED_TOOL, held_up.hook.command
    if pair.differs and not spoken_purpose(tool, usual, pair):
        return codes.UNGUARDED_TOOL, pair.hook
    return _by_leak(pair)


def _by_leak(pair: Pair) -> Sight | None:
    leaks = (fire for fire, other in pair.hook_runs() if _status(fire) == 0 and _leaked(other))
    leaking = next(leaks, None)
    return (codes.STATUS_LEAK, leaking.hook.command) if leaking is not None else None


def _by_failure(pair: Pair) -> Sight | None:
    ends = ((fire, other) for fire, other in pair.hook_runs() if _status(fire) == 0)
    failures = (fire for fire, other in ends if _failed(other) or _stumbled(other))
    failing = next(failures, None)
    return (codes.STRICT_SHELL, failing.hook.command) if failing is not None else None


def _by_shell(pair: Pair) -> Sight | None:
    return _by_failure(pair) or _by_decision(codes.STRICT_SHELL)(pair)


def _status(fire: HookRun) -> int | None:
    ending = fire.run.ending if fire.run is not None else None
    match ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return code
        case _:
            return None


def _cut(fire: HookRun) -> bool:
    return fire.run is not None and isinstance(fire.run.ending, TimedOut)


def _failed(fire: HookRun) -> bool:
    """
    Whether a fire ended badly without having decided anything.
    """
    if fire.run is None or isinstance(fire.run.ending, TimedOut | NotStarted):
        return False
    return _status(fire) != 0 and fire.reply.ruling is Ruling.NONE


def _stumbled(fire: HookRun) -> bool:
    """
    Whether a shell ended its script over a variable that is not set; some do so with the status of a refusal.
    """
    words = fire.run.stderr.text if fire.run is not None else ""
    return _status(fire) != 0 and any(word in words for word in _UNSET)


def _leaked(fire: HookRun) -> bool:
    silent = fire.run is not None and not fire.run.stdout.total and not fire.run.stderr.total
    return silent and _status(fire) is not None and _failed(fire)


def _moved(variation: MovedWords, usual: Trace, varied: Trace) -> Finding | None:
    if not _misjudged(variation, varied):
        return None
    seen = "is let through" if variation.must_be_refused else "is refused"
    hook = refusers(usual, variation.turn)
    return codes.RAW_JSON.found(f"A call of {variation} {seen}.", turn=variation.turn, hook=hook)


def _quoted(variation: Quoted, usual: Trace, varied: Trace) -> Finding | None:
    if not _misjudged(variation, varied):
        return None
    passes = variation.must_be_refused
    seen = f"; {variation} are let through" if passes else f", and so are {variation}"
    hook = refusers(usual, variation.turn)
    return codes.TEXT_MATCH.found(f"`{variation.command}` is refused{seen}.", turn=variation.turn, hook=hook)


def _misjudged(variation: MovedWords | Quoted, varied: Trace) -> bool:
    """
    Whether a call was let through that must not be, or refused although harmless words are not.
    """
    refused = was_refused(varied, TRIED)
    if variation.must_be_refused:
        return refused is False
    return refused is True and was_refused(varied, CONTROL) is False


def _passed_over(variation: SameName, usual: Trace, varied: Trace) -> Finding | None:
    before, after = _last_turn(usual), _last_turn(varied)
    for one, other in zip(before, after, strict=False):
        if one.event != other.event:
            return None
        lost = [word for word, there in _effects(one).items() if there and not _effects(other)[word]]
        if lost:
            hook = one.hook_runs[0].hook.command if one.hook_runs else ""
            text = (
                f"{one.event}: for {variation} there was no {' and no '.join(lost)}, as for any other name."
            )
            return codes.BASENAME.found(text, turn=variation.turn, hook=hook)
    return None


def _last_turn(trace: Trace) -> list[HookEvent]:
    moves = [step.turn for step in trace.steps if isinstance(step.exchange, Moved)]
    # The last move is the stop that ends the run.
    return [hooked for step, hooked in trace.hooked() if moves[-2:-1] == [step.turn]]


def _effects(hooked: HookEvent) -> dict[str, bool]:
    decision = hooked.decision
    return {
        "refusal": decision.refused,
        "word to the agent": bool(decision.to_agent),
        "change of a file": bool(hooked.changes),
    }


def find_first_failure(usual: Trace) -> Finding | None:
    """
    A hook that failed without a word when it was fired first, and never again.
    """
    fires: dict[tuple[str, str], list[tuple[int, HookRun]]] = {}
    for step, fire in usual.hook_runs():
        fires.setdefault((fire.hook.event, fire.hook.command), []).append((step.turn, fire))
    for (event, command), ((turn, first), *others) in fires.items():
        if _leaked(first) and others and all(_status(fire) == 0 for _, fire in others):
            text = f"{event}: the first fire ended with {ended(first)}, {len(others)} later ones with exit 0."
            return codes.STRICT_SHELL.found(text, turn=turn, hook=command)
    return None


def join_findings(found: Sequence[tuple[Replayed, Finding]]) -> Iterator[Finding]:
    """
    Findings of one kind about one hook as one: what the first variation showed, and which others do.
    """
    alike: dict[tuple[str, str, bool], list[tuple[Replayed, Finding]]] = {}
    for variation, finding in found:
        # Code that passes and data that does not are two defects, though of one kind.
        passes = isinstance(variation, Quoted) and variation.must_be_refused
        alike.setdefault((finding.code, finding.hook, passes), []).append((variation, finding))
    for (_, first), *others in alike.values():
        named = [str(variation) for variation, _ in others[:_SHOWN]]
        left = len(others) - len(named)
        more = [*named, f"{left} more"] if left else named
        text = f"{first.text} Also with {'; '.join(more)}." if more else first.text
        yield replace(first, text=text, times=1 + len(others))
