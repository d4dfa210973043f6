"""The first line of a report. It must be enough for a reader who reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS, Outcome
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Hung,
    Limit,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
    Violation,
)
from pytest_hookharness.reports.safe_text import clip, plain, quoted
from pytest_hookharness.reports.terminal.phrases import first_few, text_of_changes, text_of_command

_LONGEST = 300
# Parts of the key paths of expectations, in the base and in every variant.
_VERDICT, _OF_CALL, _FINDINGS = "expect.verdict", ".expect", "expect.findings"


def first_line(outcome: Outcome) -> str:
    """
    Return the verdict in one line, with the most severe broken expectation that it does not show already.

    A loop that the scenario expects is no news; then the broken expectation stands first.
    """
    said = [_verdict(outcome)]
    others = [item for item in _by_weight(outcome) if not item.path.endswith(_VERDICT)]
    if others:
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        said.append(f"{_broken(others[0])}{more}")
        if len(others) == len(outcome.violations) and not isinstance(outcome.verdict, Terminated):
            said.reverse()
    return clip("; ".join(said), _LONGEST)


def most_severe(outcome: Outcome) -> Violation | None:
    """Return the most severe broken expectation, for places with room for one; ``None`` if all hold."""
    return next(iter(_by_weight(outcome)), None)


def _by_weight(outcome: Outcome) -> list[Violation]:
    """Sort: the verdict first, then single calls, findings last."""

    def weight(item: Violation) -> int:
        if item.path.endswith(_VERDICT):
            return 0
        return 1 if item.path.endswith(_OF_CALL) else 3 if _FINDINGS in item.path else 2

    return sorted(outcome.violations, key=weight)


def _broken(violation: Violation) -> str:
    return f"{plain(violation.path)}: expected {plain(violation.expected)}, seen {plain(violation.seen)}"


def _verdict(outcome: Outcome) -> str:
    verdict, host = outcome.verdict, plain(outcome.host, 40)
    match verdict:
        case Terminated():
            return f"terminated: {_terminated(outcome, verdict)}"
        case Capped():
            changed = f"; changing: {text_of_changes(verdict.changed)}" if verdict.changed else ""
            return f"capped: {_capped(verdict, host)}{changed}"
        case Livelock():
            return f"livelock: {_livelock(outcome, verdict)}"
        case Hung(turn=turn, event=event, command=command, asked=asked):
            who = f"the {plain(event, 40)} hook {plain(command, 60)}"
            if asked:
                return f"hung: {who} asked the person in turn {turn}, and {host} waits for an answer forever"
            return f"hung: {who} did not end in turn {turn}, and {host} waits for it forever"
        case Recursing(turn=turn, limit=limit):
            return f"recursing: hook runs caused hook runs in turn {turn}, beyond {plain(limit)}"
        case Lockout(turn=turn, moves=moves):
            when = f"after turn {turn}" if turn else "from the beginning"
            which = f"none of the agent's {len(moves)} moves" if len(moves) > 1 else "no move of the agent"
            return f"lockout: {when} {which} leads to a stop"
        case Undecided(why=why, changed=changed):
            named = f"; changing: {text_of_changes(changed)}" if changed else ""
            return f"undecided: {plain(why, 220)}{named}"
        case _:
            assert_never(verdict)


def _terminated(outcome: Outcome, verdict: Terminated) -> str:
    blocks = outcome.blocks()
    after = f"after {counted(blocks, 'block')}" if blocks else "without a block"
    halts = [hooked.decision.halt for _, hooked in outcome.trace.hooked() if hooked.decision.halt is not None]
    if halts:
        return f"a hook ended the turn, turn {verdict.turn}, {after}: {quoted(halts[-1], 60)}"
    if verdict.turn == 0:
        return "the hooks refused the prompt, so the agent never started"
    hollow = [finding.name for finding in outcome.findings if finding.name in INCONCLUSIVE_FINDINGS]
    if hollow:
        named = ", ".join(dict.fromkeys(hollow))
        return f"the session ended in turn {verdict.turn}, but not every hook decided ({named})"
    return f"the hooks allowed the stop in turn {verdict.turn} {after}"


def _capped(verdict: Capped, host: str) -> str:
    if verdict.status:
        as_what = f"as {plain(verdict.status, 20)!r}"
        return f"{host} ended the run in turn {verdict.turn} {as_what}: {plain(verdict.cap.why)}"
    if verdict.cap.overrides is None:
        return f"the cap of {host} ended it in turn {verdict.turn}: {plain(verdict.cap.why)}"
    return f"{host} overrode block {verdict.cap.overrides} in turn {verdict.turn}"


def _livelock(outcome: Outcome, verdict: Livelock) -> str:
    probing = outcome.probe_reports[-1] if outcome.probe_reports else None
    if verdict.evidence == "probed" and probing is not None:
        return f"{_blocked(outcome, verdict)} ({_probed(probing)})"
    stem, period = verdict.stem, verdict.period
    begins = f"turn {stem}" if stem else "the beginning"
    last = stem + verdict.repetitions * period
    confirmed = f"turn {last}" if period == 1 else f"turns {last - period + 1} to {last}"
    evidence = "" if verdict.evidence == "exact" else f"; {plain(verdict.evidence, 20)} evidence"
    return (
        f"{_blocked(outcome, verdict)} (state repeats every {_turns(period)} from {begins}; "
        f"confirmed in {confirmed}{evidence})"
    )


def _turns(period: int) -> str:
    return "turn" if period == 1 else f"{period} turns"


def _blocked(outcome: Outcome, verdict: Livelock) -> str:
    """Return which events are blocked in the cycle, and by which hooks."""
    cycle = [hooked for step, hooked in outcome.trace.hooked() if step.turn > verdict.stem]
    refused = [hooked for hooked in cycle if hooked.decision.refused]
    if not refused:
        return "the session repeats forever"
    events = first_few([*dict.fromkeys(plain(hooked.event, 40) for hooked in refused)])
    hooks = dict.fromkeys(
        text_of_command(run)
        for hooked in refused
        for run in hooked.hook_runs
        if run.reply.ruling is hooked.decision.ruling
    )
    verb = "is" if len({hooked.event for hooked in refused}) == 1 else "are"
    return f"{events} {verb} blocked forever" + (f" by {first_few([*hooks])}" if hooks else "")


def _probed(probing: ProbeReport) -> str:
    changing = "part that changes does" if len(probing.parts) == 1 else "parts that change do"
    return (
        f"every {_turns(probing.period)} the same up to turn {probing.turn}; the {len(probing.parts)} "
        f"{changing} "
        f"not affect the decision; probed evidence: {counted(len(probing.probes), 'experiment')}"
    )


def describe_cap(cap: Cap | None, host: str, limits: Sequence[Limit] = ()) -> str:
    """Describe what the host itself would do about a loop."""
    if cap is not None and cap.overrides is not None:
        return f"{host} would override it at block {cap.overrides}"
    if limits:
        return f"{host} would end the run in turn {limits[0].turn}"
    if cap is None:
        return f"{host} has no known cap on refusals"
    return f"the cap of {host} would never act on this loop"
