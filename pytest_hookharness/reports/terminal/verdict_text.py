"""
Verdicts in words: the first line of a report, and advice on what to do next.

The first line must be enough for a reader who reads nothing else. Advice on findings comes with the findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import assert_never

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS, Outcome
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.model.verdicts import (
    Capped,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
    Violation,
)
from pytest_hookharness.reports.safe_text import clip, plain, quoted
from pytest_hookharness.reports.short_paths import with_short_paths
from pytest_hookharness.reports.terminal.phrases import (
    first_few,
    text_of_changes,
    text_of_command,
    text_of_reason,
)

_LONGEST = 300
_LOCKOUT_ADVICE = (
    "Allow at least one move that fixes what the hooks complain about, and name it in the reason."
)
# Fields in which hosts report an earlier refusal to a hook.
_SIGNS = ("stop_hook_active", "loop_count")
_MOST_HOOKS = 4
# Texts that stand in a YAML list as they are.
_PLAIN_YAML = re.compile(r"\w[\w./-]*")
_STOPS = ("stop", "subagentstop", "afteragent", "agentstop", "on_stop")
# Parts of the key paths of expectations, in the base and in every variant.
_VERDICT, _OF_CALL, _FINDINGS = "expect.verdict", ".expect", "expect.findings"


def first_line(outcome: Outcome) -> str:
    """
    Return the verdict in one line, with the most severe broken expectation that it does not show already.

    A loop that the scenario expects is no news; then the broken expectation stands first.
    """
    outcome = with_short_paths(outcome)
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
        return f"a hook ended the turn, turn {verdict.turn}, {after}: {quoted(halts[-1], 160)}"
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
    stem, period = verdict.stem, verdict.period
    begins = f"turn {stem}" if stem else "the beginning"
    last = stem + verdict.repetitions * period
    confirmed = f"turn {last}" if period == 1 else f"turns {last - period + 1} to {last}"
    if verdict.evidence == "driven":
        why = _driven(outcome, verdict)
    elif verdict.evidence == "unread":
        why = f"every {_turns(period)} the same from {begins}; what changes is only written"
    else:
        level = "" if verdict.evidence == "closed" else f"; {plain(verdict.evidence, 20)} evidence"
        why = f"state repeats every {_turns(period)} from {begins}; confirmed in {confirmed}{level}"
    return f"{_blocked(outcome, verdict)} ({why})"


def _turns(period: int) -> str:
    return "turn" if period == 1 else f"{period} turns"


def _blocked(outcome: Outcome, verdict: Livelock) -> str:
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


def _driven(outcome: Outcome, verdict: Livelock) -> str:
    experiments = sum(len(report.probes) for report in outcome.probe_reports)
    read = first_few([plain(words, 80) for words in verdict.matters])
    return (
        f"no end in {counted(outcome.iterations, 'turn')}; {counted(experiments, 'experiment')}; "
        f"driven evidence: it could depend on {read}"
    )


def advice(outcome: Outcome) -> str:
    """Return what to do next, in two or three sentences; empty if there is nothing to advise."""
    outcome = with_short_paths(outcome)
    verdict = outcome.verdict
    match verdict:
        case Livelock():
            return _set_of_hooks(outcome, verdict) or _loop(outcome, verdict)
        case Capped():
            proof = f" {_mask(verdict.masks)}" if verdict.masks else ""
            only = f"Only the cap of {plain(outcome.host, 40)} ended this; other hosts may have none."
            return f"{only} {_allow(outcome)}{proof}"
        case Hung(asked=True):
            return "Let the hook allow or refuse by itself; in this session nobody is there to answer."
        case Hung():
            return (
                "Give the hook a timeout of its own. Let it read only what it needs instead of waiting for "
                "the end of its input, a terminal or the network."
            )
        case Recursing() if outcome.background.denials:
            return (
                "Let the hook trigger only on what its own thread cannot cause: name exit codes or a "
                "narrower pattern, and keep `max_spawns` low."
            )
        case Recursing():
            return "Let the hook detect that it caused itself, for example with a variable that it sets."
        case Lockout():
            return _locked(outcome)
        case Undecided():
            return _uncovered(outcome) or _beyond(outcome) or _unknown(verdict)
        case Terminated():
            return ""
        case _:
            assert_never(verdict)


def _last_refusal(outcome: Outcome) -> HookEvent | None:
    events = (event for _, event in reversed([*outcome.trace.hooked()]))
    return next((event for event in events if event.decision.refused or event.decision.overridden), None)


def _set_of_hooks(outcome: Outcome, verdict: Livelock) -> str:
    """Return which hook demands what, if several refuse in one cycle; empty if only one refuses."""
    cycle = range(verdict.stem + 1, verdict.stem + verdict.period + 1)
    demands: dict[str, str] = {}
    for step, hooked in outcome.trace.hooked():
        if step.turn in cycle and hooked.decision.refused:
            demands |= {text_of_command(run): text_of_reason(run) for run in hooked.deciding}
    if len(demands) < 2:
        return ""
    listed = f"These hooks send the agent back and forth: {_listed(demands, 'demands')}."
    return f"{listed} Let each of them allow what another one demands."


def _listed(reasons: Mapping[str, str], verb: str) -> str:
    return "; ".join(f"{command} {verb} {reason}" for command, reason in [*reasons.items()][:_MOST_HOOKS])


def _locked(outcome: Outcome) -> str:
    """Return which hooks lock the agent in, and what to do about it."""
    trap = outcome.explored.trap if outcome.explored is not None else None
    said = {text_of_command(run): text_of_reason(run) for run in (trap.holding if trap is not None else ())}
    held = f"These hooks lock the agent in: {_listed(said, 'says')}. " if said else ""
    return f"{held}{_LOCKOUT_ADVICE}"


def _loop(outcome: Outcome, verdict: Livelock) -> str:
    again = "again and again" if verdict.evidence == "driven" else "forever"
    refusal = _last_refusal(outcome)
    if refusal is None:
        return "Nothing is refused and the session goes on: the turns above show which hook keeps it going."
    if refusal.event.lower() in _STOPS:
        return f"The same stop will be refused {again}. {_allow(outcome)}"
    return (
        f"The same {plain(refusal.event, 40)} will be refused {again}. Let the reason name a move that "
        "is allowed, and allow the stop when nothing else is left."
    )


def _allow(outcome: Outcome) -> str:
    refusal = _last_refusal(outcome)
    asked = [hooked for _, hooked in outcome.trace.hooked(refusal.event)] if refusal is not None else []
    if len(asked) == 1:
        return "The hook was asked only once, so no threshold of its own could have ended this."
    sentence = "Let the hook allow when nothing changed since its last refusal"
    runs = [run for hooked in asked for run in hooked.hook_runs]
    # A field that never changes gives the hook no information.
    seen = {word: {str(run.payload[word]) for run in runs if word in run.payload} for word in _SIGNS}
    sign = next((word for word, values in seen.items() if len(values) > 1), None)
    return f"{sentence}, or read `{sign}` from its input." if sign else f"{sentence}."


def _mask(masks: tuple[str, ...]) -> str:
    listed = ", ".join(mask if _PLAIN_YAML.fullmatch(mask) else json.dumps(mask) for mask in masks)
    return (
        f"With `mask: [{listed}]` the last turns repeat, as tried on the states of this run; declare that if "
        "these parts decide nothing."
    )


def _beyond(outcome: Outcome) -> str:
    threshold = outcome.probe_reports[-1].threshold if outcome.probe_reports else None
    if threshold is None:
        return ""
    if threshold.turn is None:
        return "Let the hook count its refusals instead of seconds, so that it allows the stop at any pace."
    return (
        f"To see the stop allowed, give the run `turns: {threshold.turn + 10}`; to spare the agent these "
        "turns, lower the hook's threshold."
    )


def _uncovered(outcome: Outcome) -> str:
    if outcome.explored is None or not outcome.explored.open:
        return ""
    return (
        "Explore more (`explore: {states: ..., time: ...}`, within the time budget), or name the moves that "
        "matter (`explore: {moves: [...]}`). Where a file only counts or grows, no number of states is "
        "enough."
    )


def _unknown(verdict: Undecided) -> str:
    if "two answers" in verdict.why:
        return (
            "Something outside the state decides: a clock, a random number, the network, another folder. "
            "Find what the hook reads; a folder can be added with `cover`."
        )
    if verdict.why.startswith("interrupted"):
        return ""
    if verdict.masks:
        return f"{_mask(verdict.masks)} If they are a threshold of the hook, raise `turns` to reach it."
    if verdict.changed:
        return "If the changing files are a threshold of the hook, raise `turns` to reach it."
    return "Give the run more turns or time, or extend the script until the agent tries to stop."
