"""
The verdict: what a trace and its end mean for termination.

A verdict never claims more than the trace shows: a run that was cut off or overridden is not `terminated`, a
lasso that was not repeated is no `livelock`, and the rest is `undecided`. Every proof lists its assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, assert_never

from pytest_hookharness.judging.findings.session_findings import find_chain
from pytest_hookharness.judging.recurrence import cycle
from pytest_hookharness.judging.verdict.assumptions import clock_was_read, gather_assumptions
from pytest_hookharness.judging.verdict.doubts import find_doubts, join_doubts
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.judging.verdict.run_end import (
    USED_UP,
    RunEnd,
    describe_threshold_ahead,
    doubt_of_hook_runs,
    first_override,
    name_of,
    newest_difference,
    state_difference,
    why_stop_not_allowed,
)
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.expectations import counted, first_few
from pytest_hookharness.model.processes import HeldOpen, TimedOut
from pytest_hookharness.model.protocol import Basis, Rule, Ruling, is_stop
from pytest_hookharness.model.trace import REPORTED_COUNTS, HookEvent, Moved

_SHOWN = 3  # masked paths that are named


def judge(case: JudgeInput) -> verdicts.Verdict:
    """Return the verdict on a run; `undecided` if it rests on a hook run that the harness cut too early."""
    verdict = _judge(case)
    open_end = isinstance(verdict, verdicts.Undecided | verdicts.Recursing)
    doubt = None if open_end else doubt_of_hook_runs(case.trace)
    if doubt is None:
        return verdict
    return verdicts.Undecided(turn=case.end.turn, why=doubt.why, reasons=doubt.reasons)


def _judge(case: JudgeInput) -> verdicts.Verdict:
    """
    Return the verdict on a run as if each hook run had decided.

    A run that a hook halted is `terminated`, because the hook's own decision ended it. So is a run whose
    prompt was refused, because the agent never started, unless there are hooks of a stop: nothing is known of
    these. A session that the script ended while the agent still
    worked, or while a refusal stood, is `undecided`. A session is `hung` if it waits forever for a hook run
    that was cut, or for an answer to a hook's question. One refusal that the cap overrode, after any prompt,
    makes the run `capped`, unless a lasso was proved.
    """
    case = replace(case, lasso=case.lasso or cycle.completed_lasso(case.trace.states))
    end, turns = case.end, counted(case.end.turn, "turn")
    match end.how:
        case "waiting":
            return _waiting(case)
        case "recursed":
            limit = end.why or "the limit of depth or number"
            return verdicts.Recursing(turn=end.turn, limit=limit, chain=find_chain(case.trace))
        case "capped":
            return _capped(case)
        case "stopped" | "halted" | "idle":
            return _ended(case)
        case "lasso":
            return _proof(case) or _undecided(case, _unproved(case, "the same state came again"))
        case "progression":
            return _progression(case) or _undecided(case, _unproved(case, "turns were similar"))
        case "threshold" | "disagreed":
            return _undecided(case, end.why, *end.reasons)
        case "turns":
            if end.why:
                return _cut(case, end.why)
            return _cut(case, f"no end{_no_repeat(case)} in {turns}", "turns")
        case "wall":
            why = end.why or f"{USED_UP}: no end{_no_repeat(case)} in {turns}"
            return _cut(case, why, *(end.reasons or ("time",)))
        case "interrupted":
            return _cut(case, f"interrupted after {turns}", "interrupted")
        case _:
            assert_never(end.how)


def _no_repeat(case: JudgeInput) -> str:
    digests = [state.digest for state in case.trace.states.values() if not state.opaque]
    return " and no repeated state" if len(digests) == len(set(digests)) and not case.flaky else ""


def _unproved(case: JudgeInput, seen: str) -> str:
    """Return what was seen, and what an experiment showed against a loop."""
    threshold = case.probing.threshold if case.probing is not None else None
    if threshold is None:
        return f"{seen}, which alone proves no loop"
    return f"{seen}, but {describe_threshold_ahead(threshold, 'the hooks')}"


def _waiting(case: JudgeInput) -> verdicts.Verdict:
    for step, hooked in reversed([*case.trace.hooked()]):
        if hooked.decision.ruling is Ruling.ASK and hooked.decision.rule == case.end.rule:
            asking = next(hook_run for hook_run in hooked.hook_runs if hook_run.reply.ruling is Ruling.ASK)
            name, rule = name_of(asking), hooked.decision.rule
            return verdicts.Hung(turn=step.turn, event=hooked.event, command=name, rule=rule, asked=True)
    for step, hook_run in reversed([*case.trace.hook_runs()]):
        if isinstance(hook_run.ending, TimedOut | HeldOpen):
            rule = case.end.rule or hook_run.reply.rule
            return verdicts.Hung(
                turn=step.turn, event=hook_run.hook.event, command=name_of(hook_run), rule=rule
            )
    why = case.end.why or "the host waits for something that never comes"
    return verdicts.Undecided(turn=case.end.turn, why=f"{why}, and no hook run was cut")


def _ended(case: JudgeInput) -> verdicts.Verdict:
    # First the cap: after one override the hooks no longer decided alone, even if a later stop was allowed.
    if first_override(case.trace) is not None:
        return _capped(case)
    turn = case.end.turn
    if reason := why_stop_not_allowed(case.trace, case.end):
        return verdicts.Undecided(turn=turn, why=reason, reasons=frozenset(["ended early"]))
    if reason := _why_unasked(case):
        return verdicts.Undecided(turn=turn, why=reason, reasons=frozenset(["prompt refused"]))
    return verdicts.Terminated(turn=case.end.turn)


def _why_unasked(case: JudgeInput) -> str:
    """Return why hooks of a stop decided nothing: the agent never started; empty if it did."""
    asked = [event for event in case.configured or () if is_stop(event)]
    if not asked or any(isinstance(step.exchange, Moved) for step in case.trace.steps):
        return ""
    named = first_few([*dict.fromkeys(asked)])
    return f"a hook ended the session before the agent started, so nothing is known of the hooks of {named}"


def _capped(case: JudgeInput) -> verdicts.Verdict:
    place = first_override(case.trace)
    turn = place[0].turn if place else case.end.turn
    reported = _cap_of(case.end, place[1] if place else None)
    # A host that ends a run without overriding a refusal says itself which of its limits it was.
    own = case.end.how == "capped" and (bool(case.end.status) or place is None)
    cap = case.cap
    if cap is None or (own and place is None):
        cap = reported
    elif own:
        cap = replace(cap, why=reported.why)
    return verdicts.Capped(
        turn=turn,
        cap=cap,
        without=_without_cap(case),
        changed=newest_difference(case.trace).files,
        masks=_find_masks(case),
        status=case.end.status if own else "",
    )


def _without_cap(case: JudgeInput) -> verdicts.WithoutCap:
    """Return what the hooks themselves would do about the loop that the host ended."""
    loop = _proof(case) or _progression(case)
    if loop is not None:
        why = _describe_loop(case, loop)
        return verdicts.WithoutCap(name="livelock", why=why)
    threshold = case.probing.threshold if case.probing is not None else None
    if threshold is not None:
        allows = threshold.allows_stop and threshold.turn is not None
        by_chance = case.observed is not None and case.observed.influences.chance
        why = describe_threshold_ahead(threshold, "the hooks") + "; chance may decide that" * by_chance
        name: Literal["terminated", "undecided"] = "terminated" if allows else "undecided"
        played = threshold.played
        return verdicts.WithoutCap(name=name, why=why, played=played, by_chance=by_chance)
    conflict = cycle.find_contradiction(case.trace.states)
    doubts = [*find_doubts(case, conflict)]
    if not doubts:
        return verdicts.UNKNOWN_WITHOUT_CAP
    why, reasons = join_doubts(doubts)
    return verdicts.WithoutCap(name="undecided", why=why, reasons=reasons)


def _find_masks(case: JudgeInput) -> tuple[str, ...]:
    from pytest_hookharness.judging.verdict.possible_masks import find_masks

    return find_masks(case.trace, case.probing)


def _describe_loop(case: JudgeInput, loop: verdicts.Livelock) -> str:
    refused = any(step.turn > loop.stem and hooked.decision.refused for step, hooked in case.trace.hooked())
    if loop.evidence == "driven":
        seen = "the hooks did not allow the stop" if refused else "the session did not end"
        read = " and ".join(loop.matters)
        turns = counted(case.end.turn, "turn")
        return f"{seen} in {turns} (driven evidence: it could depend on {read})"
    never = "the hooks never allow the stop" if refused else "the session never ends"
    never += verdicts.IF_MASKED if loop.evidence == "masked" else ""
    every = "every turn" if loop.period == 1 else f"every {loop.period} turns"
    return f"{never} (the same {every} after turn {loop.stem}; {loop.evidence} evidence)"


def _cap_of(end: RunEnd, hooked: HookEvent | None) -> verdicts.Cap:
    rule = end.rule or (hooked.decision.rule if hooked else None)
    why = end.why or (rule.text if rule else "The host ended it.")
    return verdicts.Cap(overrides=None, why=why, rule=rule or Rule(why, Basis.ASSUMED, "the simulation"))


def _cut(case: JudgeInput, why: str, *reasons: verdicts.OpenReason) -> verdicts.Verdict:
    # The last turn may have completed a lasso just when the budget ended, so a proof comes first.
    proof = _proof(case)
    # Where time ran out, the turns and experiments that ``driven`` stands for were not played to their end.
    if proof is not None and (case.end.how != "wall" or proof.evidence != "driven"):
        return proof
    return _capped(case) if first_override(case.trace) is not None else _undecided(case, why, *reasons)


def _proof(case: JudgeInput) -> verdicts.Livelock | None:
    """Return the livelock that a confirmed lasso proves, if nothing contradicts it."""
    lasso, states = case.lasso, case.trace.states
    # The loop confirmed the lasso already; it is checked again, because a wrong proof is the worst mistake.
    if lasso is None or case.flaky:
        return None
    if cycle.is_confirmed(lasso, states) is not True or cycle.find_contradiction(states) is not None:
        return None
    # Where nothing that changes is read, earlier experiments about another course say nothing.
    if case.probing is not None and not case.probing.inert and (_matters(case) or _reads_clock(case)):
        return None
    return _livelock(case, lasso.stem, lasso.period, "closed")


def _progression(case: JudgeInput) -> verdicts.Livelock | None:
    """Return the livelock that follows for a run whose state moves on, if nothing contradicts it."""
    if cycle.find_contradiction(case.trace.states) is not None or case.observed is None:
        return None
    experiments_needed = _matters(case) or _reads_clock(case)
    if experiments_needed and (case.probing is None or not case.probing.inert):
        return None
    period = case.observed.period
    if _matters(case) and case.probing is not None:
        period = case.probing.period
    stem = case.observed.stem if period == case.observed.period else case.end.turn - 2 * period
    return _livelock(case, stem, period, "unread")


def _reads_clock(case: JudgeInput) -> bool:
    return case.observed is not None and case.observed.influences.clock


def _matters(case: JudgeInput) -> tuple[str, ...]:
    """Return what was read and could end the loop, in words; empty if nothing was."""
    if case.observed is None:
        return ("what it reads, which was not observed",)
    found = case.observed.influences
    tried = case.probing is not None and case.probing.shows_no_time
    return ("the clock",) if found.clock and not found.matters and not tried else found.matters


def _livelock(
    case: JudgeInput, stem: int, period: int, level: Literal["closed", "unread"]
) -> verdicts.Livelock:
    unprobed = case.probing.limits if case.probing is not None else ()
    matters = _matters(case)
    # A host that counts in the input of hooks never has the same state again, whatever a mask hides.
    unlike = any(name in state.visible for state in case.trace.states.values() for name in REPORTED_COUNTS)
    clock = () if matters or not _reads_clock(case) else tuple(_clock_assumption(case))
    found = verdicts.Livelock(
        stem=stem,
        period=period,
        repetitions=max(2, (case.end.turn - stem) // period),
        evidence="driven" if matters and (unlike or not case.masked) else "masked" if case.masked else level,
        matters=matters,
        cap=case.cap,
        limits=case.limits,
    )
    observed = None if case.masked else case.observed
    assumed = gather_assumptions(case.trace, case.assumptions, observed)
    return replace(found, assumptions=(*assumed, *clock, *unprobed, *_masked_assumption(case)))


def _masked_assumption(case: JudgeInput) -> Iterator[str]:
    if case.masked:
        yield f"The scenario masks these differences: {first_few(sorted(case.masked), _SHOWN)}."
    if case.masked and case.observed is not None and (read := case.observed.influences.masked):
        yield f"What hooks read and the scenario masks decides nothing: {', '.join(read[:_SHOWN])}."


def _clock_assumption(case: JudgeInput) -> Iterator[str]:
    probes = case.probing.probes if case.probing is not None else ()
    yield clock_was_read([probe.tried for probe in probes])


def _undecided(case: JudgeInput, why: str, *reasons: verdicts.OpenReason) -> verdicts.Undecided:
    conflict = cycle.find_contradiction(case.trace.states)
    if conflict is None:
        difference = newest_difference(case.trace)
    else:
        states = case.trace.states
        difference = state_difference(states[conflict.first + 1], states[conflict.second + 1])
    doubts = [verdicts.Doubt(why, frozenset(reasons)), *find_doubts(case, conflict)]
    if difference.other_parts and not difference.files:
        doubts.append(verdicts.Doubt("no file differs, but " + " and ".join(difference.other_parts)))
    if difference.unknown:
        doubts.append(verdicts.Doubt(f"the state is not known completely: {difference.unknown}"))
    told, known = join_doubts(doubts)
    return verdicts.Undecided(
        turn=case.end.turn,
        why=told,
        reasons=known,
        changed=difference.files,
        masks=() if conflict is not None else _find_masks(case),
        cap=case.cap if case.cap is not None and case.cap.overrides is not None else None,
        running=case.end.running,
    )
