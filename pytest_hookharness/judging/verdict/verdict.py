"""
The verdict: what a trace and its end mean for termination.

Pure. It never claims more than the trace shows: a run that was cut or overridden
is not `terminated`, a lasso that was not gone round twice is no `livelock`, and the rest is `undecided`.

Assumptions: what every judgement of a trace rests on, in sentences.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from pytest_hookharness.judging.findings.nested_agents import find_chain
from pytest_hookharness.judging.recurrence.cycle import (
    Contradiction,
    Lasso,
    completed,
    confirmed,
    contradiction,
)
from pytest_hookharness.judging.verdict.run_end import (
    RunEnd,
    between,
    newest_difference,
    not_let_go,
    overridden,
)
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.processes import Cut, HeldOpen, TimedOut
from pytest_hookharness.model.protocol import Basis, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, HookRun, Trace
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Hung,
    Limit,
    Livelock,
    Recursing,
    Terminated,
    Undecided,
    Verdict,
)

STANDING: tuple[str, ...] = (
    "Ids and time stamps that the host makes are derived from the seed and the position.",
    "The clock, chance, the kernel, the network, and times, links and blocks of files decide nothing.",
)
# What holds where a clock was moved.
CLOCKS: tuple[str, ...] = (
    "Time that passed was shown by a stand-in for GNU date, by what bash, Python and node load and by files.",
    "Other programs saw the machine's clock, and fires the machine's times of files that they wrote.",
)
# What holds where hooks are recorded.
RECORDED = "What records the hooks (--hook-cov) decides nothing, nor does the time that it takes."
# Which of these holds is known to those who ran the fires.
CONTAINED = "Nobody else changed files outside of the covered folders meanwhile."
UNCONTAINED = "Nothing outside the covered folders decides; what is written there was not watched."

# Where what is written outside of the covered folders is found in the state.
_OUTSIDE = "outside/"
_SHOWN = 3


def gather(trace: Trace, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """
    The standing assumptions, those of the run itself (``extra``) and those that the trace shows, once each.
    """
    shown = (*_patience(trace), *_left_over(trace), *_written_elsewhere(trace), *_assumed_rules(trace))
    return tuple(dict.fromkeys([*STANDING, *extra, *shown]))


def _patience(trace: Trace) -> Iterator[str]:
    for _, fire in trace.hook_runs():
        ending = fire.run.ending if fire.run is not None else None
        if isinstance(ending, TimedOut) and ending.by is Cut.HOOK_TIMEOUT:
            yield f"What was cut after our patience of {ending.after:g} s would never have ended by itself."


def _left_over(trace: Trace) -> Iterator[str]:
    if any(fire.run is not None and fire.run.leftovers for _, fire in trace.hook_runs()):
        yield "Processes that a hook left running, and that were ended after its fire, would change nothing."


def _written_elsewhere(trace: Trace) -> Iterator[str]:
    changed = (change.path for _, hooked in trace.hooked() for change in hooked.changes)
    paths = [*dict.fromkeys(path for path in changed if path.startswith(_OUTSIDE))]
    if paths:
        first = ", ".join(path.removeprefix(_OUTSIDE.rstrip("/")) for path in paths[:_SHOWN])
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        yield (
            "What hooks wrote outside of the covered folders never reached the machine; with a real host "
            f"it stays there: {first}{more}."
        )


def _assumed_rules(trace: Trace) -> Iterator[str]:
    for _, hooked in trace.hooked():
        rules: list[Rule] = [hooked.decision.rule, *hooked.decision.rests_on]
        rules += [fire.reply.rule for fire in hooked.hook_runs]
        for rule in rules:
            if rule.basis is Basis.ASSUMED:
                yield f"Assumed of the host, neither documented nor observed: {rule.text}"


@dataclass(frozen=True, slots=True)
class _VerdictInput:
    """
    All that the verdict is made of.
    """

    trace: Trace
    end: RunEnd
    cap: Cap | None
    limits: tuple[Limit, ...]
    lasso: Lasso | None
    flaky: bool
    masked: frozenset[str]
    assumptions: tuple[str, ...]
    probing: ProbeReport | None


def judge(
    trace: Trace,
    end: RunEnd,
    *,
    cap: Cap | None = None,
    limits: Sequence[Limit] = (),
    lasso: Lasso | None = None,
    flaky: bool = False,
    masked: frozenset[str] = frozenset(),
    assumptions: Sequence[str] = (),
    probing: ProbeReport | None = None,
) -> Verdict:
    """
    The verdict on a run.

    A run that a hook halted is `terminated`: the hook's own decision ended it. So is one whose prompt
    was refused: the agent never started. A session that the script ended while the agent still worked,
    or while a refusal stood, is `undecided`. One that waits for ever, for a fire that was cut or for an
    answer to what a hook asked, is `hung`. One refusal set aside by the guard, after whichever prompt, makes
    the run `capped`, unless a lasso was proved.

    Args:
        trace: What took place.
        end: How the run ended.
        cap: What the host's guard would do, or did.
        limits: What else of the host would end a loop.
        lasso: The lasso that the loop pursued, confirmed or not; the proof is checked here again.
        flaky: The loop saw one state give two answers.
        masked: State paths that really differed, and were left out by a mask.
        assumptions: What a proof rests on, in sentences.
        probing: The newest experiments, if there were any.
    """
    lasso, rests = lasso or completed(trace.states), gather(trace, assumptions)
    case = _VerdictInput(trace, end, cap, tuple(limits), lasso, flaky, masked, rests, probing)
    match end.how:
        case "waiting":
            return _waiting(case)
        case "recursed":
            limit = end.why or "the limit of depth or number"
            return Recursing(turn=end.turn, limit=limit, chain=find_chain(trace))
        case "capped":
            return _capped(case)
        case "stopped" | "halted" | "idle":
            return _ended(case)
        case "lasso":
            return _proof(case) or _undecided(case, "a repeat was seen, but not proved")
        case "probed":
            return _probed(case) or _undecided(case, "turns were alike, but nothing was proved")
        case "threshold" | "disagreed":
            return _undecided(case, end.why)
        case "turns":
            return _cut(case, f"no end{_no_repeat(case)} in {_turns(end.turn)}")
        case "wall":
            return _cut(case, f"no end{_no_repeat(case)} in the time given, which was {_turns(end.turn)}")
        case "interrupted":
            return _cut(case, f"interrupted after {_turns(end.turn)}")
        case _:
            assert_never(end.how)


def _turns(number: int) -> str:
    return counted(number, "turn")


def _no_repeat(case: _VerdictInput) -> str:
    digests = [state.digest for state in case.trace.states.values() if not state.opaque]
    return " and no repeat" if len(digests) == len(set(digests)) and not case.flaky else ""


def _waiting(case: _VerdictInput) -> Verdict:
    for step, hooked in reversed([*case.trace.hooked()]):
        if hooked.decision.ruling is Ruling.ASK and hooked.decision.rule == case.end.rule:
            asking = next(fire for fire in hooked.hook_runs if fire.reply.ruling is Ruling.ASK)
            name, rule = _name(asking), hooked.decision.rule
            return Hung(turn=step.turn, event=hooked.event, command=name, rule=rule, asked=True)
    for step, fire in reversed([*case.trace.hook_runs()]):
        if fire.run is not None and isinstance(fire.run.ending, TimedOut | HeldOpen):
            rule = case.end.rule or fire.reply.rule
            return Hung(turn=step.turn, event=fire.hook.event, command=_name(fire), rule=rule)
    why = case.end.why or "the host waits for something that never comes"
    return Undecided(turn=case.end.turn, why=f"{why}, and no fire was cut")


def _name(fire: HookRun) -> str:
    return fire.hook.command or f"a handler of type {fire.hook.type}"


def _ended(case: _VerdictInput) -> Verdict:
    if overridden(case.trace) is not None:
        return _capped(case)
    if reason := not_let_go(case.trace, case.end):
        return Undecided(turn=case.end.turn, why=reason)
    return Terminated(turn=case.end.turn)


def _capped(case: _VerdictInput) -> Verdict:
    place = overridden(case.trace)
    turn = place[0].turn if place else case.end.turn
    said = _guard(case.end, place[1] if place else None)
    # A host that ends a run without setting a refusal aside says itself which of its nets that was.
    own = case.end.how == "capped" and (bool(case.end.status) or place is None)
    guard = case.cap
    if guard is None or (own and place is None):
        guard = said
    elif own:
        guard = replace(guard, why=said.why)
    status = case.end.status if own else ""
    return Capped(turn=turn, cap=guard, changed=newest_difference(case.trace).files, status=status)


def _guard(end: RunEnd, hooked: HookEvent | None) -> Cap:
    rule = end.rule or (hooked.decision.rule if hooked else None)
    why = end.why or (rule.text if rule else "The host ended it.")
    return Cap(overrides=None, why=why, rule=rule or Rule(why, Basis.ASSUMED, "the simulation"))


def _cut(case: _VerdictInput, why: str) -> Verdict:
    proof = _proof(case)
    if proof is not None:
        return proof
    return _capped(case) if overridden(case.trace) is not None else _undecided(case, why)


def _proof(case: _VerdictInput) -> Livelock | None:
    """
    The livelock, if nothing speaks against it.
    """
    lasso, states = case.lasso, case.trace.states
    if lasso is None or case.flaky:
        return None
    if confirmed(lasso, states) is not True or contradiction(states) is not None:
        return None
    if case.probing is not None and not case.probing.inert:
        return None
    assumptions = case.assumptions
    if case.probing is not None:
        assumptions = (*assumptions, *case.probing.limits)
    if case.masked:
        assumptions = (*assumptions, _masked(case))
    return Livelock(
        stem=lasso.stem,
        period=lasso.period,
        evidence="masked" if case.masked else "exact",
        assumptions=assumptions,
        cap=case.cap,
        limits=case.limits,
    )


def _probed(case: _VerdictInput) -> Livelock | None:
    """
    The livelock that experiments show, if nothing speaks against it.
    """
    probing = case.probing
    if probing is None or not probing.inert or contradiction(case.trace.states) is not None:
        return None
    assumptions = (*case.assumptions, *probing.limits)
    if case.masked:
        assumptions = (*assumptions, _masked(case))
    return Livelock(
        stem=probing.turn - 2 * probing.period,
        period=probing.period,
        evidence="masked" if case.masked else "probed",
        assumptions=assumptions,
        cap=case.cap,
        limits=case.limits,
    )


def _masked(case: _VerdictInput) -> str:
    return f"The author declared irrelevant, and it did differ: {', '.join(sorted(case.masked))}."


def _undecided(case: _VerdictInput, why: str) -> Undecided:
    twice = contradiction(case.trace.states)
    if twice is None:
        difference = newest_difference(case.trace)
    else:
        states = case.trace.states
        difference = between(states[twice.first + 1], states[twice.again + 1])
    reasons = [why, *_doubts(case, twice)]
    if difference.others and not difference.files:
        reasons.append("no file differs, but " + " and ".join(difference.others))
    if difference.unknown:
        reasons.append(f"the state is not known completely: {difference.unknown}")
    return Undecided(turn=case.end.turn, why="; ".join(reasons), changed=difference.files)


def _doubts(case: _VerdictInput, twice: Contradiction | None) -> Iterator[str]:
    valve = case.probing.threshold if case.probing is not None else None
    if valve is not None and valve.seconds is not None and case.end.how == "turns":
        yield f"by experiment, something else happens after {valve.at}"
    if case.probing is not None and case.probing.unclear:
        yield f"experiments after turn {case.probing.turn} showed nothing clear: {case.probing.unclear}"
    if twice is not None:
        yield (
            f"the same state gave two answers in turn {twice.again + 1}: "
            f"it was there after turn {twice.first} and again after turn {twice.again}"
        )
        if case.masked:
            yield "a mask may hide what decides"
    elif case.flaky:
        yield f"the same state gave two answers in turn {case.end.turn}"
    elif case.lasso is not None and confirmed(case.lasso, case.trace.states) is None:
        again = case.lasso.stem + case.lasso.period
        yield f"turn {again} repeated turn {case.lasso.stem}, but the lap that would prove it is not complete"
