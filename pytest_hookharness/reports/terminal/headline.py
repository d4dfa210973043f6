"""
The first line of a report, which must say all that matters by itself.

Pure.
"""

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
from pytest_hookharness.reports.terminal.phrases import changed_words

_LONGEST = 300
# What the paths of promises hold, whatever variant they belong to.
_VERDICT, _OF_CALL, _FINDINGS = "expect.verdict", ".expect", "expect.findings"


def first_line(outcome: Outcome) -> str:
    """
    The verdict in one line, and the gravest promise that it does not show to be broken.

    A loop or another bad end that was promised is no news; then what was broken stands first.
    """
    said = [_verdict(outcome)]
    others = [item for item in _by_weight(outcome) if not item.path.endswith(_VERDICT)]
    if others:
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        said.append(f"{_broken(others[0])}{more}")
        if len(others) == len(outcome.violations) and not isinstance(outcome.verdict, Terminated):
            said.reverse()
    return clip("; ".join(said), _LONGEST)


def gravest(outcome: Outcome) -> Violation | None:
    """
    The broken promise that an outcome is told by, where there is room for one alone.
    """
    return next(iter(_by_weight(outcome)), None)


def _by_weight(outcome: Outcome) -> list[Violation]:
    """
    The verdict first, then single calls, and at last what was merely found.
    """

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
            changed = f"; changing: {changed_words(verdict.changed)}" if verdict.changed else ""
            return f"capped: {_capped(verdict, host)}{changed}"
        case Livelock():
            return f"livelock: {_livelock(outcome, verdict)}"
        case Hung(turn=turn, event=event, command=command, asked=asked):
            who = f"the {plain(event, 40)} hook {plain(command, 60)}"
            if asked:
                return (
                    f"hung: {who} asked for a person's word in turn {turn}, and {host} waits for it for ever"
                )
            return f"hung: {who} did not come back in turn {turn}, and {host} waits for it"
        case Recursing(turn=turn, limit=limit):
            return f"recursing: fires caused fires in turn {turn}, beyond {plain(limit)}"
        case Lockout(turn=turn, moves=moves):
            when = f"after turn {turn}" if turn else "from the beginning"
            which = f"none of the {len(moves)} moves" if len(moves) > 1 else "no move"
            return f"lockout: {when} {which} that the agent has leads to a stop"
        case Undecided(why=why, changed=changed):
            named = f"; changing: {changed_words(changed)}" if changed else ""
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
        return f"the session ended in turn {verdict.turn}, but not by a decision of every hook ({named})"
    return f"the hooks let the agent stop in turn {verdict.turn} {after}"


def _capped(verdict: Capped, host: str) -> str:
    if verdict.status:
        as_what = f"as {plain(verdict.status, 20)!r}"
        return f"{host} ended the run in turn {verdict.turn} {as_what}: {plain(verdict.cap.why)}"
    if verdict.cap.overrides is None:
        return f"the guard of {host} ended it in turn {verdict.turn}: {plain(verdict.cap.why)}"
    return f"{host} overrode block {verdict.cap.overrides} in turn {verdict.turn}"


def _livelock(outcome: Outcome, verdict: Livelock) -> str:
    probing = outcome.probe_reports[-1] if outcome.probe_reports else None
    if verdict.evidence == "probed" and probing is not None:
        return _probed(probing)
    stem, period = verdict.stem, verdict.period
    before = f"after turn {stem}" if stem else "before the first turn"
    last = stem + verdict.repetitions * period
    again = f"turn {last}" if period == 1 else f"turns {last - period + 1} to {last}"
    evidence = "" if verdict.evidence == "exact" else f", {plain(verdict.evidence, 20)} evidence"
    return (
        f"after turn {stem + period} everything is as it was {before} "
        f"(period {period}, and once more in {again}{evidence})"
    )


def _probed(probing: ProbeReport) -> str:
    parts = counted(len(probing.parts), "part")
    which = "that changes decides nothing" if len(probing.parts) == 1 else "that change decide nothing"
    alike = (
        "each turn is like the one before" if probing.period == 1 else f"every {probing.period} turns repeat"
    )
    return (
        f"up to turn {probing.turn} {alike}, and the {parts} {which} "
        f"(period {probing.period}, probed evidence: {counted(len(probing.probes), 'experiment')})"
    )


def guard_words(cap: Cap | None, host: str, limits: Sequence[Limit] = ()) -> str:
    """
    What the host itself would do about a loop.
    """
    if cap is not None and cap.overrides is not None:
        return f"{host} would override it at block {cap.overrides}"
    if limits:
        return f"{host} would end the run in turn {limits[0].turn}"
    if cap is None:
        return f"{host} has no known guard against it"
    return f"the guard of {host} would never act on it"
