"""How a run ended, whether the hooks' own decision ended it, and what changed in its last turns."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model import moves
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import Threshold
from pytest_hookharness.model.processes import Cut, TimedOut
from pytest_hookharness.model.protocol import Rule, is_afterwards
from pytest_hookharness.model.trace import (
    REPORTED_COUNTS,
    Change,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    State,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import Doubt, OpenReason, RunEnding

# How the reason begins if the budget ended.
USED_UP = "time budget used up"
# The time for experiments, in turns, where a budget is recommended.
_EXPERIMENTS = 60


def needed_time(used: float, turns: int, played: int, first: int = 1) -> float:
    """
    Return the seconds for some turns and the experiments after them, by what those played have used.

    Those before ``first``, the first turn in which a hook ran, count as if they took no time.
    """
    return used * (turns + _EXPERIMENTS) / max(1, played + 1 - first)


def first_hooked_turn(steps: Iterable[Step], default: int) -> int:
    """Return the first turn in which a hook ran, or a default."""
    return min(
        filter(None, (step.turn for step, _ in Trace(steps=tuple(steps)).hook_runs())), default=default
    )


def describe_used_up(seen: str, wanted: str, wall: float, needed: float) -> str:
    """
    Return the sentence that the budget of ``wall`` seconds is used up, with one that would be enough.

    ``seen`` says what it was used for, ``wanted`` what a larger one is for; that needs at least ``needed``
    seconds.
    """
    enough = f"{math.ceil(max(2 * wall, needed) / 60)}m"
    options = f"--budget {enough}, or --hook-budget {enough} in pytest"
    return f"{USED_UP}: {seen}; {wanted} may need {enough}: {options}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """
    How a run ended, as the host's session or the loop's budgets report it.

    Attributes:
        how: ``stopped``: the session is over. ``idle``: it is over and no turn was begun. ``capped``: the
            host's cap ended it. ``halted``: a hook ended everything. ``waiting``: the host waits for
            something that does not come. ``recursed``: hook runs started sessions beyond a limit.
            ``turns`` and ``wall``: a budget is used up. ``interrupted``: the user stopped the run.
            ``lasso``: a lasso was closed and repeated once more. ``progression``: the turns are similar,
            and no difference between them decides. ``threshold``: according to a probe,
            something else happens in a state that is out of reach. ``disagreed``: such a state was reached,
            and it did not happen.
        why: One sentence about it; empty if ``how`` says everything.
        reasons: What keeps the verdict open besides what ``how`` says.
        status: The host's own word for it, if it has one.
        finishing: Tools whose call is an attempt to stop.
        running: Commands of the hooks that were running when the time budget ended.
    """

    how: RunEnding
    turn: int
    why: str = ""
    reasons: frozenset[OpenReason] = frozenset()
    rule: Rule | None = None
    status: str = ""
    finishing: tuple[str, ...] = ()
    running: tuple[str, ...] = ()

    @classmethod
    def by_doubt(cls, turn: int, doubt: Doubt) -> RunEnd:
        """Return the end of a run that a further run contradicts."""
        return cls(how="disagreed", turn=turn, why=doubt.why, reasons=doubt.reasons)


def first_override(trace: Trace) -> tuple[Step, HookEvent] | None:
    """Return the step where the cap first overrode a refusal; ``None`` if it never did."""
    return next(((step, hooked) for step, hooked in trace.hooked() if hooked.decision.overridden), None)


def doubt_of_hook_runs(trace: Trace) -> Doubt | None:
    """Return which hook run the harness cut before it decided, or its answer, and why; ``None`` if none."""
    for step, hook_run in trace.hook_runs():
        ending = hook_run.ending
        if hook_run.answer_is_lost and not (
            is_afterwards(hook_run.hook.event) and _is_over(trace, step.number)
        ):
            kept = (hook_run.reply.fault or "").removeprefix("too-long: ")
            why = f"what {name_of(hook_run)} decided in turn {step.turn} is unknown: {kept}"
            return Doubt(why, frozenset(["answer too long"]))
        if not isinstance(ending, TimedOut) or ending.by is not Cut.HOOK_TIMEOUT:
            continue
        if is_afterwards(hook_run.hook.event) and _is_over(trace, step.number):
            continue
        if hook_run.cut_too_early or _leaves_running(trace):
            limit = hook_run.host_limit
            waits = "without a limit" if math.isinf(limit) else f"up to {limit:g} s"
            return Doubt(
                f"what {name_of(hook_run)} would have decided in turn {step.turn} is unknown: it was cut "
                f"after the hook timeout of {ending.after:g} s, and the host waits {waits}"
            )
    return None


def name_of(hook_run: HookRun) -> str:
    """Return the command of a hook run, or of what type its handler is."""
    return hook_run.hook.command or f"a handler of type {hook_run.hook.type}"


def _is_over(trace: Trace, number: int) -> bool:
    """Return whether the agent makes no move after a step."""
    return not any(step.number > number and isinstance(step.exchange, Moved) for step in trace.steps)


def _leaves_running(trace: Trace) -> bool:
    """Return whether a process was left running that might wake a hook which waits."""
    left = (run for run in trace.results() if run.leftovers or run.unclaimed or run.cut_in_background)
    return any(not isinstance(run.ending, TimedOut) or run.cut_in_background for run in left)


def why_stop_not_allowed(trace: Trace, end: RunEnd) -> str:
    """
    Return why the hooks' own decision did not end this run; empty if it did.

    Two ends are their decision: the last stop was allowed; or, according to the host, a hook halted the turn
    or refused its prompt, so that nothing could continue. Neither cancels a refusal that still stands. Hooks
    of other events that run after the turn is over end nothing.
    """
    if _refusal_stands(trace, end):
        return "the session ended while the refusal of the last stop still stood"
    if end.how == "halted":
        return ""
    last = _last_move(trace)
    if last is None:
        return "the session ended before the agent made a move"
    if end.how == "idle" or not _tries_to_stop(last[1].move, end):
        return "the session ended before the agent tried to stop"
    return ""


def _last_move(trace: Trace) -> tuple[int, Moved] | None:
    found = [(index, step.exchange) for index, step in enumerate(trace.steps)]
    return next(((index, item) for index, item in reversed(found) if isinstance(item, Moved)), None)


def _tries_to_stop(move: moves.Move, end: RunEnd) -> bool:
    if isinstance(move, moves.Tools):
        return any(call.name in end.finishing for call in move.calls)
    return isinstance(move, moves.Stop)


def _refusal_stands(trace: Trace, end: RunEnd) -> bool:
    last = _last_move(trace)
    if last is None or not _tries_to_stop(last[1].move, end):
        return False
    for step in trace.steps[last[0] + 1 :]:
        if isinstance(step.exchange, Happened):
            break
        if isinstance(step.exchange, HookEvent) and step.exchange.decision.refused:
            return True
    return False


@dataclass(frozen=True, slots=True)
class StateDifference:
    """
    Why the newest turn did not bring an earlier state back: files and other parts, in words, that differ.

    ``unknown`` says why the newest state is not known completely; empty if it is.
    """

    files: tuple[Change, ...] = ()
    other_parts: tuple[str, ...] = ()
    unknown: str = ""


def newest_difference(trace: Trace) -> StateDifference:
    """Return the difference between the newest turn and the last similar one before it."""
    if not trace.states:
        return StateDifference()
    newest = max(trace.states)
    unknown = trace.states[newest].opaque
    similar = _similar_turn(trace, newest)
    if similar is None:
        return StateDifference(unknown=unknown)
    difference = state_difference(trace.states[similar], trace.states[newest])
    return StateDifference(difference.files, difference.other_parts, unknown)


def state_difference(before: State, after: State) -> StateDifference:
    """Return the difference between two states."""
    return StateDifference(
        tuple(changes(before.files, after.files)), _others(before, after), before.opaque or after.opaque
    )


def _similar_turn(trace: Trace, newest: int) -> int | None:
    earlier = sorted((turn for turn in trace.states if turn < newest), reverse=True)
    position = trace.states[newest].agent
    moves = trace.moves
    # A position with a counter never comes again; then the last turn with the same kind of move is similar.
    by_position = [turn for turn in earlier if trace.states[turn].agent == position]
    by_move = [turn for turn in earlier if newest in moves and type(moves.get(turn)) is type(moves[newest])]
    return next(iter([*by_position, *by_move, *earlier]), None)


def _others(before: State, after: State) -> tuple[str, ...]:
    names = sorted(before.visible.keys() | after.visible.keys())
    absent = object()
    words = [
        f"the number of {name}" if name in REPORTED_COUNTS else f"the host's {name}"
        for name in names
        if before.visible.get(name, absent) != after.visible.get(name, absent)
    ]
    if before.agent != after.agent:
        words.append("the agent's place in its script")
    if before.environment != after.environment:
        words.append("the environment of the hooks")
    return tuple(words)


def describe_out_of_reach(threshold: Threshold, turn_limit: int) -> str:
    """Return what a run would do at a threshold beyond its last allowed turn, or beyond its real time."""
    if threshold.seconds is not None:
        return describe_threshold_ahead(threshold)
    return (
        f"it would {_reaction(threshold)} at {threshold.at}, in turn {threshold.turn:,}, and {turn_limit:,} "
        "turns are allowed (tried ahead, not played)"
    )


def describe_threshold_ahead(threshold: Threshold, subject: str = "it") -> str:
    """Return what a run, or another subject, would do at a threshold that was tried ahead."""
    what = _reaction(threshold)
    if threshold.seconds is not None:
        return (
            f"no turn that was played ended the session, and {subject} would {what} after "
            f"{threshold.at} (tried ahead, not played)"
        )
    if threshold.played:
        return f"{subject} {what} in turn {threshold.turn:,} (played on)"
    return f"{subject} would {what} at {threshold.at}, in turn {threshold.turn:,} (tried ahead, not played)"


def _reaction(threshold: Threshold) -> str:
    return "allow the stop" if threshold.allows_stop else f"do something else ({threshold.what})"
