"""
The verdict: what a trace and its end mean for termination.

A verdict never claims more than the trace shows: a run that was cut off or overridden is not `terminated`, a
lasso that was not repeated is no `livelock`, and the rest is `undecided`. Every proof lists its assumptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, replace
from typing import Literal, assert_never

from pytest_hookharness.judging.findings.session_findings import find_chain
from pytest_hookharness.judging.findings.settings_findings import ConfigurationProblem
from pytest_hookharness.judging.recurrence import cycle
from pytest_hookharness.judging.verdict.run_end import (
    RunEnd,
    first_override,
    newest_difference,
    state_difference,
    why_stop_not_allowed,
)
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.expectations import Expectation, counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.processes import Cut, HeldOpen, TimedOut
from pytest_hookharness.model.protocol import Basis, Rule, Ruling
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Trace

STANDING: tuple[str, ...] = (
    "The ids and timestamps of the host are derived from the seed and the position.",
    "Decisions do not depend on clock, chance, kernel, network, or the times, links and blocks of files.",
)
# Added if the clock was moved.
CLOCKS: tuple[str, ...] = (
    "Passed time was visible to GNU date (a test double), bash, Python and node (a preload), and in files.",
    "Other programs saw the machine's clock, and hooks saw the machine's times of the files that they wrote.",
)
# Added if the coverage of hooks is recorded.
RECORDED = "Recording the hooks (--hook-cov), and the time that it takes, do not affect decisions."
# One of these is added by the caller, who knows how the hooks were confined.
CONTAINED = "No other program changed files outside of the covered folders meanwhile."
UNCONTAINED = "Files outside of the covered folders do not affect decisions; writes there were not watched."

# State paths of files that hooks wrote outside of the covered folders.
_OUTSIDE = "outside/"
_SHOWN = 3
_NO_EXPECTATION = Expectation()


def gather_assumptions(trace: Trace, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """
    Return the standing assumptions, those of the run (``extra``) and those that the trace shows, once each.
    """
    shown = (*_hook_timeouts(trace), *_left_over(trace), *_written_elsewhere(trace), *_echoes(trace))
    shown = (*shown, *_unchecked(trace), *_assumed_rules(trace))
    return tuple(dict.fromkeys([*STANDING, *extra, *shown]))


def _hook_timeouts(trace: Trace) -> Iterator[str]:
    for _, hook_run in trace.hook_runs():
        match hook_run.ending:
            case TimedOut(after=after, by=Cut.HOOK_TIMEOUT):
                yield f"A hook that was cut after the hook timeout of {after:g} s would never have ended."
            case _:
                pass


def _echoes(trace: Trace) -> Iterator[str]:
    for _, hook_run in trace.hook_runs():
        if hook_run.reply.echo:
            hook = f"{hook_run.hook.event}: `{hook_run.hook.command}`"
            yield f"{hook} prints its input, which the host ignores; it decides nothing."


def _unchecked(trace: Trace) -> Iterator[str]:
    for _, hook_run in trace.hook_runs():
        if hook_run.run is not None and (why := hook_run.run.doubt):
            hook = f"{hook_run.hook.event}: `{hook_run.hook.command}`"
            yield f"{hook} itself ran, and not only its interpreter; that was not checked: {why}."


def _left_over(trace: Trace) -> Iterator[str]:
    results = [hook_run.run for _, hook_run in trace.hook_runs() if hook_run.run is not None]
    if any(run.leftovers or run.unclaimed for run in results):
        yield "Processes that a hook left running, and that were then ended, would not have changed anything."


def _written_elsewhere(trace: Trace) -> Iterator[str]:
    changed = [change for _, hooked in trace.hooked() for change in hooked.changes]
    paths: dict[str, Change] = {}
    for change in changed:
        if change.path.startswith(_OUTSIDE):
            paths.setdefault(change.path, change)
    if paths:
        shown = [*paths.values()][:_SHOWN]
        first = ", ".join(
            f"{change.path.removeprefix(_OUTSIDE.rstrip('/'))}{_by(change)}" for change in shown
        )
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        yield (
            "Files that hooks wrote outside of the covered folders did not reach the machine; "
            f"with a real host they stay there: {first}{more}."
        )


def _by(change: Change) -> str:
    """Return the hooks that wrote a file, in parentheses."""
    hooks = (" or " if change.in_doubt else " and ").join(f"`{command}`" for command in change.hooks)
    perhaps = "perhaps " if change.in_doubt and len(change.hooks) == 1 else ""
    return f" ({perhaps}by {hooks})" if hooks else ""


def _assumed_rules(trace: Trace) -> Iterator[str]:
    for _, hooked in trace.hooked():
        rules: list[Rule] = [hooked.decision.rule, *hooked.decision.rests_on]
        rules += [hook_run.reply.rule for hook_run in hooked.hook_runs]
        for rule in rules:
            if rule.basis is Basis.ASSUMED:
                yield f"Assumed about the host, neither documented nor observed: {rule.text}"


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """
    Everything that a run is judged by.

    Attributes:
        trace: What took place.
        end: How the run ended.
        cap: What the host's cap would do, or did.
        limits: What else of the host would end a loop.
        lasso: The lasso that the loop pursued, confirmed or not; the judge checks the proof again.
        flaky: The loop saw one state lead to two results.
        masked: State paths that differed and were ignored because of a mask.
        assumptions: What a proof rests on besides the standing assumptions, in sentences.
        problems: Problems in the hook settings.
        configured: The events with configured hooks; ``None`` if that is unknown.
        probing: The newest probes, if there were any.
        expect: What the scenario expects; some findings are broken expectations.
    """

    trace: Trace
    end: RunEnd
    _: KW_ONLY
    cap: verdicts.Cap | None = None
    limits: tuple[verdicts.Limit, ...] = ()
    lasso: cycle.Lasso | None = None
    flaky: bool = False
    masked: frozenset[str] = frozenset()
    assumptions: tuple[str, ...] = ()
    problems: tuple[ConfigurationProblem, ...] = ()
    configured: tuple[str, ...] | None = None
    probing: ProbeReport | None = None
    expect: Expectation = _NO_EXPECTATION


def judge(case: JudgeInput) -> verdicts.Verdict:
    """
    Return the verdict on a run.

    A run that a hook halted is `terminated`, because the hook's own decision ended it. So is a run whose
    prompt was refused, because the agent never started. A session that the script ended while the agent still
    worked, or while a refusal stood, is `undecided`. A session is `hung` if it waits forever for a hook run
    that was cut, or for an answer to a hook's question. One refusal that the cap overrode, after any prompt,
    makes the run `capped`, unless a lasso was proved.
    """
    case = replace(
        case,
        lasso=case.lasso or cycle.completed_lasso(case.trace.states),
        assumptions=gather_assumptions(case.trace, case.assumptions),
    )
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
            return _proof(case) or _undecided(case, "a repeated state was seen, but no cycle was proved")
        case "probed":
            return _probed(case) or _undecided(case, "turns were similar, but nothing was proved")
        case "threshold" | "disagreed":
            return _undecided(case, end.why)
        case "turns":
            return _cut(case, f"no end{_no_repeat(case)} in {turns}")
        case "wall":
            return _cut(case, f"no end{_no_repeat(case)} within the time budget ({turns})")
        case "interrupted":
            return _cut(case, f"interrupted after {turns}")
        case _:
            assert_never(end.how)


def _no_repeat(case: JudgeInput) -> str:
    digests = [state.digest for state in case.trace.states.values() if not state.opaque]
    return " and no repeated state" if len(digests) == len(set(digests)) and not case.flaky else ""


def _waiting(case: JudgeInput) -> verdicts.Verdict:
    for step, hooked in reversed([*case.trace.hooked()]):
        if hooked.decision.ruling is Ruling.ASK and hooked.decision.rule == case.end.rule:
            asking = next(hook_run for hook_run in hooked.hook_runs if hook_run.reply.ruling is Ruling.ASK)
            name, rule = _name(asking), hooked.decision.rule
            return verdicts.Hung(turn=step.turn, event=hooked.event, command=name, rule=rule, asked=True)
    for step, hook_run in reversed([*case.trace.hook_runs()]):
        if isinstance(hook_run.ending, TimedOut | HeldOpen):
            rule = case.end.rule or hook_run.reply.rule
            return verdicts.Hung(
                turn=step.turn, event=hook_run.hook.event, command=_name(hook_run), rule=rule
            )
    why = case.end.why or "the host waits for something that never comes"
    return verdicts.Undecided(turn=case.end.turn, why=f"{why}, and no hook run was cut")


def _name(hook_run: HookRun) -> str:
    return hook_run.hook.command or f"a handler of type {hook_run.hook.type}"


def _ended(case: JudgeInput) -> verdicts.Verdict:
    # First the cap: after one override the hooks no longer decided alone, even if a later stop was allowed.
    if first_override(case.trace) is not None:
        return _capped(case)
    if reason := why_stop_not_allowed(case.trace, case.end):
        return verdicts.Undecided(turn=case.end.turn, why=reason)
    return verdicts.Terminated(turn=case.end.turn)


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
    status = case.end.status if own else ""
    return verdicts.Capped(turn=turn, cap=cap, changed=newest_difference(case.trace).files, status=status)


def _cap_of(end: RunEnd, hooked: HookEvent | None) -> verdicts.Cap:
    rule = end.rule or (hooked.decision.rule if hooked else None)
    why = end.why or (rule.text if rule else "The host ended it.")
    return verdicts.Cap(overrides=None, why=why, rule=rule or Rule(why, Basis.ASSUMED, "the simulation"))


def _cut(case: JudgeInput, why: str) -> verdicts.Verdict:
    # The last turn may have completed a lasso just when the budget ended, so a proof comes first.
    proof = _proof(case)
    if proof is not None:
        return proof
    return _capped(case) if first_override(case.trace) is not None else _undecided(case, why)


def _proof(case: JudgeInput) -> verdicts.Livelock | None:
    """Return the livelock that a confirmed lasso proves, if nothing contradicts it."""
    lasso, states = case.lasso, case.trace.states
    # The loop confirmed the lasso already; it is checked again, because a wrong proof is the worst mistake.
    if lasso is None or case.flaky:
        return None
    if cycle.is_confirmed(lasso, states) is not True or cycle.find_contradiction(states) is not None:
        return None
    if case.probing is not None and not case.probing.inert:
        return None
    return _livelock(case, lasso.stem, lasso.period, "exact")


def _probed(case: JudgeInput) -> verdicts.Livelock | None:
    """Return the livelock that probes show, if nothing contradicts it."""
    probing = case.probing
    if probing is None or not probing.inert or cycle.find_contradiction(case.trace.states) is not None:
        return None
    return _livelock(case, probing.turn - 2 * probing.period, probing.period, "probed")


def _livelock(
    case: JudgeInput, stem: int, period: int, evidence: Literal["exact", "probed"]
) -> verdicts.Livelock:
    unprobed = case.probing.limits if case.probing is not None else ()
    listed = ", ".join(sorted(case.masked))
    masked = (f"The scenario masks these differences: {listed}.",) if case.masked else ()
    return verdicts.Livelock(
        stem=stem,
        period=period,
        evidence="masked" if case.masked else evidence,
        assumptions=(*case.assumptions, *unprobed, *masked),
        cap=case.cap,
        limits=case.limits,
    )


def _undecided(case: JudgeInput, why: str) -> verdicts.Undecided:
    conflict = cycle.find_contradiction(case.trace.states)
    if conflict is None:
        difference = newest_difference(case.trace)
    else:
        states = case.trace.states
        difference = state_difference(states[conflict.first + 1], states[conflict.second + 1])
    reasons = [why, *_doubts(case, conflict)]
    if difference.other_parts and not difference.files:
        reasons.append("no file differs, but " + " and ".join(difference.other_parts))
    if difference.unknown:
        reasons.append(f"the state is not known completely: {difference.unknown}")
    return verdicts.Undecided(turn=case.end.turn, why="; ".join(reasons), changed=difference.files)


def _doubts(case: JudgeInput, conflict: cycle.Contradiction | None) -> Iterator[str]:
    threshold = case.probing.threshold if case.probing is not None else None
    if threshold is not None and threshold.seconds is not None and case.end.how == "turns":
        yield f"a probe showed that something else happens after {threshold.at}"
    if case.probing is not None and case.probing.unclear:
        yield f"probes after turn {case.probing.turn} were inconclusive: {case.probing.unclear}"
    if conflict is not None:
        yield (
            f"the same state led to two results in turn {conflict.second + 1}: "
            f"it was there after turn {conflict.first} and after turn {conflict.second}"
        )
        if case.masked:
            yield "a mask may hide what decides"
    elif case.flaky:
        yield f"the same state led to two results in turn {case.end.turn}"
    elif case.lasso is not None and cycle.is_confirmed(case.lasso, case.trace.states) is None:
        repeated = case.lasso.stem + case.lasso.period
        yield f"turn {repeated} repeated turn {case.lasso.stem}, but the confirming repetition is incomplete"
