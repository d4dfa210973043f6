"""
The conclusion on a run: verdict, findings and assumptions together.

Also the verdict on several threads (the user's, and those of process hooks), on an explored state graph, and
on a session whose hooks draw random numbers and that was played again.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.judging.expectations.check_expectations import with_findings, with_verdict
from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.judging.findings.finding_catalogue import CLOCK, FLAKY
from pytest_hookharness.judging.verdict.assumptions import (
    ASSUMED_CLOCK,
    CLOCKS,
    chance_was_drawn,
    gather_assumptions,
    without_unobserved,
)
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.judging.verdict.verdict import judge
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.background import Denial
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.exploration import Exploration
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut
from pytest_hookharness.model.verdicts import Terminated


def judge_threads(
    each: Sequence[verdicts.Verdict], denials: Sequence[Denial], *, turn: int, unfinished: Sequence[str]
) -> verdicts.Verdict:
    """
    Return the verdict on all threads together; the first verdict is that on the user's own.

    The run has terminated only if every thread has, and nothing is left that could start another one:
    ``unfinished`` says in words what could still have started a thread when the run was ended.
    """
    stopped = next((denial for denial in denials if denial.stops), None)
    every: list[verdicts.Verdict] = [*each]
    if stopped is not None:
        every.append(verdicts.Recursing(turn=turn, limit=stopped.reason, chain=stopped.chain))
    if unfinished:
        every.append(verdicts.Undecided(turn=turn, why=f"it was ended while {'; '.join(unfinished)}"))
    for name in verdicts.WORST_FIRST:
        for verdict in every:
            if verdicts.verdict_name(verdict) == name:
                return verdict
    # The remaining verdicts are about threads that ended, in different ways.
    other = next((verdict for verdict in every if not isinstance(verdict, verdicts.Terminated)), None)
    return other or verdicts.Terminated(turn=turn)


_ASSUMED = (
    "The agent has no other moves than the given ones.",
    "The host's cap, which might end the session, is ignored.",
)
_MASKED = "Masked parts of the state do not affect decisions."


def judge_explored(outcome: Outcome, explored: Exploration, doubt: str = "") -> Outcome:
    """
    Return an outcome with what was explored, and the verdict that follows from both.

    A lock-out holds for the candidate moves only. ``doubt`` is why another try might lead out of it.
    """
    if explored.trap is not None and doubt:
        explored = replace(explored, trap=None, open={**explored.open, doubt: len(explored.trap.met)})
    outcome = replace(outcome, explored=explored, wall=outcome.wall + explored.wall)
    outcome = with_verdict(outcome, _verdict(outcome.verdict, explored))
    if explored.trap is None:
        return outcome
    masked = (_MASKED,) if outcome.scenario.masks else ()
    rests = (
        *_ASSUMED,
        *explored.assumed,
        *masked,
        *CLOCKS,
        *outcome.assumptions,
        *gather_assumptions(explored.trap.trace),
    )
    return replace(outcome, assumptions=tuple(dict.fromkeys(rests)))


def _verdict(played: verdicts.Verdict, explored: Exploration) -> verdicts.Verdict:
    """
    Return the verdict on the hooks, given the verdict on the scenario's own agent.

    That agent's loop stays proved even if the exploration is incomplete. But that this one agent could stop
    says nothing about other agents.
    """
    if explored.trap is not None:
        return verdicts.Lockout(turn=len(explored.trap.path), moves=explored.candidates)
    if explored.open and isinstance(played, verdicts.Terminated | verdicts.Capped):
        return verdicts.Undecided(turn=played.turn, why=_why(explored))
    return played


def _why(explored: Exploration) -> str:
    states = counted(explored.states, "state")
    number = sum(explored.open.values())
    reasons = "; ".join(f"{why}: {times}" for why, times in explored.open.items())
    return (
        f"no lock-out was found, but in the {states} that were found the result of "
        f"{counted(number, 'move')} is unknown ({reasons})"
    )


def judge_without_cap(outcome: Outcome, alone: Outcome) -> Outcome:
    """Return a capped outcome with what the same scenario did on the host without its cap."""
    verdict, turns = outcome.verdict, counted(alone.iterations, "turn")
    if not isinstance(verdict, verdicts.Capped):
        return outcome
    match alone.verdict:
        case verdicts.Terminated(turn=turn):
            why = f"the hooks allow the stop in turn {turn} (played again)"
            without = verdicts.WithoutCap(name="terminated", why=why, played=True)
        case verdicts.Livelock(evidence="driven", matters=matters):
            why = f"the hooks did not allow the stop in {turns} (played again; driven evidence: it could "
            without = verdicts.WithoutCap(name="livelock", why=f"{why}depend on {' and '.join(matters)})")
        case verdicts.Livelock() if at := _time_that_allows(outcome):
            # The play without the cap began at another second, and did not meet that time.
            why = (
                f"the hooks did not allow the stop in {turns} (played again), but did at {at} (an experiment)"
            )
            without = verdicts.WithoutCap(name="undecided", why=why)
        case verdicts.Livelock(evidence=evidence):
            masked = verdicts.IF_MASKED if evidence == "masked" else ""
            why = f"the hooks never allow the stop{masked} (played again; {evidence} evidence)"
            without = verdicts.WithoutCap(name="livelock", why=why)
        case verdicts.Undecided(why=why, reasons=reasons):
            without = verdicts.WithoutCap(name="undecided", why=why, reasons=reasons)
        case _:
            return outcome
    return with_verdict(outcome, replace(verdict, without=without))


def _time_that_allows(outcome: Outcome) -> str:
    """Return the time, in words, at which an experiment of a run saw the stop allowed; empty if none did."""
    thresholds = (report.threshold for report in outcome.probe_reports)
    return next(
        (one.at for one in thresholds if one is not None and one.allows_stop and one.seconds is not None), ""
    )


_SLOWER = "turns that follow at once did not end the session, but a run at other times ended (see CLOCK)"
_AT_ONCE = "The session begins now and its turns follow at once; CLOCK says what other times give."
_NOT_UNDONE = (
    "the session ends differently where copies of its state are played first: {} The end depends on chance, "
    "or on what restoring the files does not undo, such as a queue or the time at which a file last changed"
)


def judge_paces(outcome: Outcome, finding: verdicts.Finding, *, tried: bool) -> Outcome:
    """
    Return an outcome with the finding, CLOCK or FLAKY, that comparison runs ended differently.

    ``tried`` is true if copies of states were played in the run, no chance was seen, and a play without
    copies did not end by itself.
    """
    verdict = outcome.verdict
    if isinstance(verdict, verdicts.Terminated):
        if finding.name == FLAKY.name and tried:
            why = _NOT_UNDONE.format(finding.text)
            outcome = with_verdict(outcome, verdicts.Undecided(turn=verdict.turn, why=why))
        else:
            outcome = replace(outcome, assumptions=(*outcome.assumptions, _AT_ONCE))
    elif isinstance(verdict, verdicts.Livelock) and finding.name == CLOCK.name:
        outcome = with_verdict(outcome, verdicts.Undecided(turn=outcome.iterations, why=_SLOWER))
    assumptions = without_unobserved(outcome.assumptions, "chance" if finding.name == FLAKY.name else "clock")
    return with_findings(replace(outcome, assumptions=assumptions), name_chance((finding,), outcome.chance))


def judge_unplayed_times(outcome: Outcome, uses: Sequence[str], seen: str) -> Outcome:
    """
    Return an outcome whose assumptions name the clock, since other times than those played may decide.

    They say where sources of hooks decide by the clock, and what was seen at other times (empty if none were
    played).
    """
    assumed = f"{ASSUMED_CLOCK} ({' and '.join(uses)}). {seen or 'Other times were not played.'}"
    assumptions = (*without_unobserved(outcome.assumptions, "clock"), assumed)
    return replace(outcome, assumptions=assumptions)


def name_chance(findings: Sequence[verdicts.Finding], chance: str) -> tuple[verdicts.Finding, ...]:
    """Return findings whose advice names the random numbers that hooks draw; ``chance`` says how."""
    if not chance:
        return tuple(findings)
    advice = (
        f"The source of the hooks names random numbers ({chance}). If the hooks decide by them, let them "
        "decide by a value that is kept instead, such as a count in a file."
    )
    return tuple(replace(each, advice=advice) if each.code == FLAKY.code else each for each in findings)


def may_be_repeated(outcome: Outcome) -> bool:
    """Return whether a session ended whose hooks draw random numbers; processes have a pace of their own."""
    ended = isinstance(outcome.verdict, verdicts.Terminated | verdicts.Capped)
    return ended and outcome.chance != "" and not outcome.scenario.processes


def form_conclusion(case: JudgeInput) -> verdicts.Conclusion:
    """Return the verdict, the findings and the assumptions of a run."""
    # In a run that was interrupted or that time cut, hooks that did not run yet could have run later.
    configured = None if case.end.how in ("interrupted", "wall") else case.configured
    verdict = judge(case)
    findings = find(
        case.trace,
        problems=case.problems,
        flaky=case.flaky,
        configured=configured,
        expect=case.expect,
        endless=isinstance(verdict, verdicts.Livelock),
    )
    observed = case.observed if isinstance(verdict, verdicts.Livelock) and not case.masked else None
    disagreed = case.end.how == "disagreed"
    assumptions = gather_assumptions(case.trace, case.assumptions, observed, disagreed=disagreed)
    return verdicts.Conclusion(verdict, findings, assumptions)


def was_cut(outcome: Outcome) -> bool:
    """Return whether a hook run was cut, so that another play shows nothing."""
    return any(
        run.run is not None and isinstance(run.run.ending, TimedOut) for _, run in outcome.trace.hook_runs()
    )


def differ(first: Outcome, repeats: Sequence[Outcome]) -> bool:
    """Return whether the last repeat of a session was decided differently from its first play."""
    return bool(repeats) and not was_cut(repeats[-1]) and _difference(first, repeats[-1])[1] != ""


def judge_repeats(outcome: Outcome, repeats: Sequence[Outcome]) -> Outcome:
    """
    Return an outcome with finding FLAKY if its session, played again, went differently.

    No hook was cut in the first play, and its hooks may draw numbers. Only the last repeat may differ.
    """
    if differ(outcome, repeats):
        turn, text = _difference(outcome, repeats[-1])
        return with_findings(outcome, name_chance((FLAKY.found(text, turn=turn),), outcome.chance))
    alike = sum(not was_cut(repeat) for repeat in repeats)
    alone, tried = (chance_was_drawn(outcome.chance, plays) for plays in (0, alike))
    known = (tried if sentence == alone else sentence for sentence in outcome.assumptions)
    return replace(outcome, assumptions=tuple(known))


def _difference(first: Outcome, again: Outcome) -> tuple[int, str]:
    """Return what differs between two plays, as a sentence, and in which turn; empty if nothing does."""
    pair = first.first_difference(again)
    ended = [isinstance(outcome.verdict, Terminated) for outcome in (again, first)]
    end, first_end = describe_end(again), describe_end(first, short=True)
    ends = f"Played again, it {end}, and the first time {first_end}."
    if pair is None:
        alike = ended[0] == ended[1] and (not all(ended) or first.iterations == again.iterations)
        return min(first.iterations, again.iterations), "" if alike else ends
    (turn, event, refused), other = pair
    if (turn, event) != other[:2]:
        return turn, f"Played again, it goes another way in turn {min(turn, other[0])}."
    unlike = ended[0] != ended[1] or first.iterations != again.iterations
    if unlike and turn and event == first.decided[-1][1] == again.decided[-1][1]:
        return turn, ends
    now, then = ("refused" if known else "allowed" for known in (other[2], refused))
    return turn, f"Played again, {event} was {now} in turn {turn}; the first time it was {then}."


def describe_end(outcome: Outcome, *, short: bool = False) -> str:
    """Return when the hooks of a play allowed the stop, as the words that follow "it" in a sentence."""
    turn = outcome.iterations
    if isinstance(outcome.verdict, Terminated):
        return f"in turn {turn}" if short else f"allowed the stop in turn {turn}"
    return f"not by turn {turn}" if short else f"had not allowed the stop by turn {turn}"
