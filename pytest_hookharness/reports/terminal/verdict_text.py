"""Verdicts in words: the first line of a report, which must be enough for a reader who reads nothing else."""

from __future__ import annotations

import re
from typing import assert_never

from pytest_hookharness.model import verdicts
from pytest_hookharness.model.expectations import counted, first_few, ordinal
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.name_hint import without_events
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS, Outcome
from pytest_hookharness.model.protocol import Ruling, is_afterwards
from pytest_hookharness.model.trace import HookEvent, HookRun, Moved, Performed
from pytest_hookharness.reports.model_texts import with_short_paths
from pytest_hookharness.reports.safe_text import clip_words, plain, quoted
from pytest_hookharness.reports.terminal.phrases import (
    EVERYTHING,
    text_of_changes,
    text_of_command,
)

_LONGEST, _LONGEST_BROKEN, _LONGEST_SEEN = 360, 180, 130
_LONGEST_WAIT, _LONGEST_WHY = 120, 260
_WAITS_FOR_CHILD = re.compile(r"^(?:[^,]* waits for its child [^,]* \(pid \d+\), )+")
# Parts of the key paths of expectations, in the base and in every variant.
_VERDICT, _OF_CALL, _FINDINGS = "expect.verdict", ".expect", "expect.findings"


def first_line(outcome: Outcome, *, verbose: bool = False) -> str:
    """
    Return the verdict in one line, with the most severe broken expectation that it does not show already.

    A loop that the scenario expects is no news; then the broken expectation stands first. With ``verbose``
    the reasons of the verdict are not cut.
    """
    outcome = with_short_paths(outcome)
    # Each part is cut on its own: in the middle of the whole line stands what the verdict rests on.
    longest = EVERYTHING if verbose else _LONGEST
    said = [clip_words(_verdict(outcome, EVERYTHING if verbose else _LONGEST_WHY), longest)]
    others = [item for item in _by_weight(outcome) if not _is_in_verdict(item, outcome)]
    if others:
        count = len(others) - 1
        more = f" (and {counted(count, 'more broken expectation')})" if count else ""
        said.append(f"{clip_words(_broken(others[0]), _LONGEST_BROKEN)}{more}")
        if len(others) == len(outcome.violations) and not isinstance(outcome.verdict, verdicts.Terminated):
            said.reverse()
    return "; ".join(said)


def _is_in_verdict(item: verdicts.Violation, outcome: Outcome) -> bool:
    """Return whether the verdict in words already says what broke an expectation."""
    if item.path.endswith(_VERDICT):
        return True
    hollow = _hollow(outcome)
    return (
        hollow is not None and _FINDINGS in item.path and item.seen.startswith(f"{hollow.code} {hollow.name}")
    )


def _hollow(outcome: Outcome) -> verdicts.Finding | None:
    """Return why the end of a session is not the decision of every hook; ``None`` if it is."""
    if not isinstance(outcome.verdict, verdicts.Terminated) or not outcome.verdict.turn or _halts(outcome):
        return None
    return next((each for each in outcome.findings if each.name in INCONCLUSIVE_FINDINGS), None)


def shown_verdict(outcome: Outcome) -> str:
    """Return the verdict's name; of a session that ended without the decision of every hook, why."""
    if outcome.verdict_name != "terminated" or outcome.terminated:
        return outcome.verdict_name
    cut = any(finding.name == "HUNG-HOOK" for finding in outcome.findings)
    return "hook cut" if cut else "hook not run"


def most_severe(outcome: Outcome) -> verdicts.Violation | None:
    """Return the most severe broken expectation, for places with room for one; ``None`` if all hold."""
    return next(iter(_by_weight(outcome)), None)


def _by_weight(outcome: Outcome) -> list[verdicts.Violation]:
    """Sort: the verdict first, then single calls, findings last."""

    def weight(item: verdicts.Violation) -> int:
        if item.path.endswith(_VERDICT):
            return 0
        return 1 if item.path.endswith(_OF_CALL) else 3 if _FINDINGS in item.path else 2

    return sorted(outcome.violations, key=weight)


def _broken(violation: verdicts.Violation) -> str:
    seen = clip_words(plain(violation.seen, _LONGEST), _LONGEST_SEEN)
    return f"{plain(violation.path)}: expected {plain(violation.expected)}, seen {seen}"


def _verdict(outcome: Outcome, longest: int) -> str:
    verdict, host = outcome.verdict, plain(outcome.host, 40)
    match verdict:
        case verdicts.Terminated():
            # An end that a hook did not decide must not read like one that it did.
            undecided = _hollow(outcome) is not None or not outcome.trace.steps
            name = shown_verdict(outcome) if undecided else outcome.verdict_name
            return f"{name}: {_terminated(outcome, verdict)}"
        case verdicts.Capped():
            return f"capped: {_capped(verdict, host)}{_without_cap(verdict, longest)}"
        case verdicts.Livelock():
            return f"livelock: {_livelock(outcome, verdict)}"
        case verdicts.Hung(turn=turn, event=event, command=command, asked=asked):
            who = f"the {plain(event, 40)} hook {plain(command, 60)}"
            if asked:
                return f"hung: {who} asked the person in turn {turn}, and {host} waits for an answer forever"
            return f"hung: {who} did not end in turn {turn}, and {host} waits for it forever"
        case verdicts.Recursing(turn=turn, limit=limit):
            return f"recursing: hook runs caused hook runs in turn {turn}, beyond {plain(limit)}"
        case verdicts.Lockout(turn=turn, moves=moves):
            when = f"after turn {turn}" if turn else "from the beginning"
            which = f"none of the agent's {len(moves)} moves" if len(moves) > 1 else "no move of the agent"
            return f"lockout: {when} {which} leads to a stop"
        case verdicts.Undecided(why=why, changed=changed, cap=cap):
            named = f"; changing: {text_of_changes(changed)}" if changed else ""
            nth = ordinal(cap.overrides) if cap is not None and cap.overrides is not None else ""
            capped = f"; the cap of {host} would override the {nth} refusal in a row" if nth else ""
            return f"undecided: {plain(why, longest)}{named}{capped}"
        case _:
            assert_never(verdict)


def _terminated(outcome: Outcome, verdict: verdicts.Terminated) -> str:
    blocks = outcome.blocks()
    after = f"after {counted(blocks, 'block')}" if blocks else "without a block"
    if halts := _halts(outcome):
        return f"a hook ended the turn, turn {verdict.turn}, {after}: {quoted(halts[-1], 160)}"
    if not outcome.trace.steps:
        return f"{plain(outcome.host, 40)} started no session with these settings"
    if verdict.turn == 0:
        refused = "the hooks refused the prompt, so the agent never started"
        return refused if blocks else "the session ended before the agent's first turn"
    hollow = _hollow(outcome)
    if hollow is not None:
        # The nearest name is enough in one line; all of them follow in the story.
        why = f"{_shorten(without_events(hollow.text)).removesuffix('.')} ({hollow.code} {hollow.name})"
        who = f"{plain(hollow.hook, 60)} did not decide: " if hollow.hook else ""
        return f"{who}{why}; the session ended in turn {verdict.turn}"
    if _is_unasked(outcome, verdict.turn):
        exchanges = (step.exchange for step in outcome.trace.steps)
        calls = sum(isinstance(one, Performed) and one.refused for one in exchanges)
        refused = f"; {counted(calls, 'call')} {'was' if calls == 1 else 'were'} refused" if calls else ""
        earlier = f", {after}" if blocks and not calls else ""
        return f"no hook was asked about the stop in turn {verdict.turn}{earlier}{refused}"
    last = [hooked for step, hooked in outcome.trace.hooked() if step.turn == verdict.turn]
    last = [hooked for hooked in last if not is_afterwards(hooked.event)]
    if last and last[-1].decision.refused:
        why = quoted(next(iter(last[-1].decision.reasons), ""), 160)
        return f"a refusal of {plain(last[-1].event, 40)} ended turn {verdict.turn}: {why}"
    lost = [run for run in (last[-1].hook_runs if last else ()) if _is_lost(run)]
    if lost:
        why = f"{plain(lost[0].hook.command, 60)} did not decide: {_shorten(_fault(lost[0]))}"
        return f"{why}; the session ended in turn {verdict.turn} {after}"
    return f"the hooks allowed the stop in turn {verdict.turn} {after}"


def _fault(run: HookRun) -> str:
    return (run.reply.fault or "").partition(": ")[2] or run.reply.fault or ""


def _is_lost(run: HookRun) -> bool:
    """Return whether a hook run failed, or the host could not use its answer; exit code 0 alone allows."""
    decided = run.reply.ruling is not Ruling.NONE or _fault(run).startswith("exit code 0 allows")
    return bool(run.reply.fault) and not decided


def _shorten(text: str) -> str:
    """Return the text of a finding for one line; processes that only wait for others of them are left out."""
    limit, behind, doing = text.partition("): ")
    if not behind:
        return plain(text, 160)
    return f"{plain(limit, 160)}{behind}{plain(_WAITS_FOR_CHILD.sub('', doing), _LONGEST_WAIT)}"


def _is_unasked(outcome: Outcome, last: int) -> bool:
    """Return whether the agent stopped in the last turn, and no hook ran about this stop."""
    stopped, asked = -1, False
    for step in outcome.trace.steps:
        match step.exchange:
            case Moved(move=move):
                stopped, asked = step.turn if isinstance(move, Stop) else -1, False
            case HookEvent(event=event, hook_runs=runs) if stopped == step.turn and runs:
                asked = asked or not is_afterwards(event)
            case _:
                continue
    return stopped == last and not asked


def _halts(outcome: Outcome) -> list[str]:
    """Return why hooks ended the turn."""
    return [hooked.decision.halt for _, hooked in outcome.trace.hooked() if hooked.decision.halt is not None]


def _capped(verdict: verdicts.Capped, host: str) -> str:
    if verdict.status:
        as_what = f"as {plain(verdict.status, 20)!r}"
        return f"{host} ended the run in turn {verdict.turn} {as_what}: {plain(verdict.cap.why)}"
    if verdict.cap.overrides is None:
        return f"the cap of {host} ended it in turn {verdict.turn}: {plain(verdict.cap.why)}"
    return f"{host} overrode the {ordinal(verdict.cap.overrides)} refusal in a row, in turn {verdict.turn}"


def _without_cap(verdict: verdicts.Capped, longest: int) -> str:
    """Return what the hooks would do without the limit that ended the run."""
    changed = f"; changing: {text_of_changes(verdict.changed)}" if verdict.changed else ""
    of_agent = bool(verdict.status) or verdict.cap.overrides is None
    limit, why = "that limit" if of_agent else "the cap", plain(verdict.without.why, longest)
    if of_agent and verdict.without == verdicts.UNKNOWN_WITHOUT_CAP:
        return changed
    if verdict.without.name == "undecided":
        return f"; what the hooks would do without {limit} is unknown: {why}{changed}"
    return f"; without {limit}, {why}"


def _only_end(outcome: Outcome, cap: verdicts.Cap | None) -> str:
    """Return that only the host ends a loop, if its cap does."""
    if cap is None or cap.overrides is None:
        return ""
    nth = ordinal(cap.overrides)
    return f"; only the cap of {plain(outcome.host, 40)} ends it, at the {nth} refusal in a row"


def _livelock(outcome: Outcome, verdict: verdicts.Livelock) -> str:
    stem, period = verdict.stem, verdict.period
    begins = f"after turn {stem}" if stem else "from the beginning"
    last = stem + verdict.repetitions * period
    confirmed = f"turn {last}" if period == 1 else f"turns {last - period + 1} to {last}"
    if verdict.evidence == "driven":
        why = _driven(outcome, verdict)
    elif verdict.evidence == "unread":
        same = f"every {_turns(period)} the same {begins}"
        why = f"{same}, but for files that are written and never read; unread evidence"
    else:
        level = f"{plain(verdict.evidence, 20)} evidence"
        why = f"state repeats every {_turns(period)} {begins}; confirmed in {confirmed}; {level}"
    masked = verdicts.IF_MASKED if verdict.evidence == "masked" else ""
    return f"{_blocked(outcome, verdict)}{masked} ({why}){_only_end(outcome, verdict.cap)}"


def _turns(period: int) -> str:
    return "turn" if period == 1 else f"{period} turns"


def _blocked(outcome: Outcome, verdict: verdicts.Livelock) -> str:
    """Return which events are blocked in the cycle, and by which hooks."""
    cycle = [hooked for step, hooked in outcome.trace.hooked() if step.turn > verdict.stem]
    refused = [hooked for hooked in cycle if hooked.decision.refused]
    proved = verdict.evidence != "driven"
    if not refused:
        return "the session repeats forever" if proved else "the session repeats"
    events = dict.fromkeys(plain(hooked.event, 40) for hooked in refused)
    hooks = dict.fromkeys(text_of_command(run) for hooked in refused for run in hooked.deciding)
    verb = "is" if len(events) == 1 else "are"
    by = f" by {first_few([*hooks])}" if hooks else ""
    return f"{first_few([*events])} {verb} blocked{' forever' if proved else ' again and again'}{by}"


def _driven(outcome: Outcome, verdict: verdicts.Livelock) -> str:
    experiments = sum(len(report.probes) for report in outcome.probe_reports)
    turns = max([outcome.iterations, *(report.uncapped for report in outcome.probe_reports)])
    read = first_few([plain(words, 80) for words in verdict.matters])
    return (
        f"no end in {counted(turns, 'turn')}; {counted(experiments, 'experiment')}; "
        f"driven evidence: it could depend on {read}"
    )
