"""Advice on a verdict: what to do next."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import combinations
from typing import assert_never

from pytest_hookharness.model.bad_ends import advise_on_own_error
from pytest_hookharness.model.expectations import first_few, ordinal
from pytest_hookharness.model.moves import Wait
from pytest_hookharness.model.outcome import Outcome, last_refusal
from pytest_hookharness.model.probes import PerturbationKind, ProbeEffect, Threshold
from pytest_hookharness.model.protocol import is_stop
from pytest_hookharness.model.verdicts import (
    IF_MASKED,
    Cap,
    Capped,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
)
from pytest_hookharness.reports.model_texts import with_short_paths
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.phrases import text_of_command, text_of_reason
from pytest_hookharness.reports.terminal.time_advice import budget_for_first_verdict, longer_hook_runs

_LOCKOUT_ADVICE = (
    "Allow at least one move that fixes what the hooks complain about, and name it in the reason."
)
_OTHER_MOVES = " If a move that was not tried leads out, name it in `explore: {moves: [...]}`."
# Fields in which hosts report an earlier refusal to a hook.
_SIGNS = ("stop_hook_active", "loop_count")
_MOST_HOOKS = 4
# Experiments in which nothing but time passes.
_OF_TIME = (PerturbationKind.AGED, PerturbationKind.WAITED, PerturbationKind.CLOCK)
# Texts that stand in a YAML list as they are.
_PLAIN_YAML = re.compile(r"\w[\w./-]*")


def advice(outcome: Outcome) -> str:
    """Return what to do next, in two or three sentences; empty if there is nothing to advise."""
    outcome = with_short_paths(outcome)
    verdict = outcome.verdict
    match verdict:
        case Livelock():
            unlike = _unlike_evidence(outcome, verdict)
            return unlike or _several_hooks(outcome, verdict) or _loop(outcome, verdict)
        case Capped():
            return _lower(outcome, verdict) or _allow_before_cap(outcome, verdict)
        case Hung(asked=True):
            return "Let the hook allow or refuse by itself; in this session nobody is there to answer."
        case Hung():
            # The finding says what it waited for.
            return "Give the hook a time limit of its own, so that it decides before the agent waits forever."
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
            told = longer_hook_runs(outcome) or _uncovered(outcome)
            told = told or budget_for_first_verdict(outcome, verdict) or _other_paces(outcome, verdict)
            return told or _beyond(outcome, verdict) or _unknown(outcome, verdict)
        case Terminated():
            return ""
        case _:
            assert_never(verdict)


def advice_on_agent(outcome: Outcome) -> str:
    """Return how to let the agent do what a hook asks for; empty unless a scenario expects an end."""
    refusal, script = last_refusal(outcome.trace), outcome.scenario.script
    wanted = outcome.scenario.origin is not None and outcome.scenario.expect.verdict == "terminated"
    if not wanted or script.reactions or refusal is None or not is_stop(refusal.event):
        return ""
    if not isinstance(outcome.verdict, Livelock | Capped):
        return ""
    return (
        "If an agent can do what the hook asks for, let the scenario's agent do it: "
        f"`when: [{{event: {plain(refusal.event, 40)}, do: [{{run: COMMAND}}]}}]`."
    )


def _lower(outcome: Outcome, verdict: Capped) -> str:
    """Return what to do about hooks that allow the stop only after the cap; empty if that was not seen."""
    if verdict.without.name != "terminated" or verdict.cap.overrides is None:
        return ""
    last = ordinal(verdict.cap.overrides)
    before = f"before the {last} refusal"
    if _by_chance(outcome, verdict):
        return f"Let the hook allow the stop {before} in every run, whatever chance decides."
    if _by_clock(outcome):
        return f"Let the hook allow the stop {before}, at any pace and at any time of the day."
    lower = (
        f"On {plain(outcome.host, 40)} no number of turns shows the stop allowed: lower the hook's threshold "
        f"below {verdict.cap.overrides} refusals in a row"
    )
    threshold = _newest_threshold(outcome)
    # Where the turns were played, the first line already says what the hooks do without the cap.
    if threshold is None or not threshold.at or verdict.without.played:
        return f"{lower}."
    turns = (threshold.turn or 0) + 10
    more = f"`turns: {turns}` and " if turns > outcome.scenario.turns else ""
    return f"{lower}, or set {more}{_key(outcome, 'cap: none')} to see the stop allowed."


def _newest_threshold(outcome: Outcome) -> Threshold | None:
    return outcome.probe_reports[-1].threshold if outcome.probe_reports else None


def _by_chance(outcome: Outcome, verdict: Capped) -> bool:
    if outcome.chance or verdict.without.by_chance:
        return True
    return any(finding.name == "FLAKY" for finding in outcome.findings)


def _by_clock(outcome: Outcome) -> bool:
    """Return whether time decides, as findings and experiments show, or may do so at the scenario's pace."""
    if outcome.scenario.pace or any(finding.name == "CLOCK" for finding in outcome.findings):
        return True
    probes = (probe for report in outcome.probe_reports for probe in report.probes)
    return any(probe.kind in _OF_TIME and probe.seen.reaction is ProbeEffect.DECISION for probe in probes)


def _allow_before_cap(outcome: Outcome, verdict: Capped) -> str:
    proof = f" {_mask(outcome, verdict.masks)}" if verdict.masks else ""
    only = f"Only the cap of {plain(outcome.host, 40)} ended this; other hosts may have none."
    played = any(report.uncapped >= outcome.scenario.turns for report in outcome.probe_reports)
    unknown = verdict.without.name == "undecided" and verdict.cap.overrides is not None and not played
    threshold = _newest_threshold(outcome)
    # A play without the cap does not come to a time that only experiments reached.
    unknown = unknown and (threshold is None or threshold.seconds is None)
    shown = f" With {_key(outcome, 'cap: none')} you see what the hooks do without it." if unknown else ""
    return f"{only} {_allow(outcome)}{shown}{proof}"


def _several_hooks(outcome: Outcome, verdict: Livelock) -> str:
    """Return which hook demands what, if several refuse in one cycle; empty if only one refuses."""
    cycle = range(verdict.stem + 1, verdict.stem + verdict.period + 1)
    demands: dict[str, str] = {}
    refusing: list[set[str]] = []
    for step, hooked in outcome.trace.hooked():
        if step.turn in cycle and hooked.decision.refused:
            said = {text_of_command(run): text_of_reason(run) for run in hooked.deciding}
            demands |= said
            refusing.append({*said})
    if len(demands) < 2:
        return ""
    listed = _listed(demands, "demands")
    # Only where one hook refuses and another does not, and then the other way round, do they contradict.
    if any(one - other and other - one for one, other in combinations(refusing, 2)):
        return (
            f"These hooks send the agent back and forth: {listed}. Let each of them allow what another one "
            "demands."
        )
    return f"Several hooks refuse: {listed}. {_loop(outcome, verdict)}"


def _listed(reasons: Mapping[str, str], verb: str) -> str:
    return "; ".join(f"{command} {verb} {reason}" for command, reason in [*reasons.items()][:_MOST_HOOKS])


def _locked(outcome: Outcome) -> str:
    """Return which hooks lock the agent in, and what to do about it."""
    trap = outcome.explored.trap if outcome.explored is not None else None
    said = {text_of_command(run): text_of_reason(run) for run in (trap.holding if trap is not None else ())}
    held = f"After each move that was tried these hooks refuse: {_listed(said, 'says')}. " if said else ""
    given = outcome.scenario.explore is not None and outcome.scenario.explore.moves
    return f"{held}{_LOCKOUT_ADVICE}{'' if given else _OTHER_MOVES}"


def _unlike_evidence(outcome: Outcome, verdict: Livelock) -> str:
    """Return why the evidence is not the expected one, and what to do; empty if it is, or if none is."""
    wanted, seen = outcome.scenario.expect.evidence, plain(verdict.evidence, 20)
    if wanted in (None, verdict.evidence):
        return ""
    accept = f"expect `evidence: {seen}`"
    match verdict.evidence:
        case "driven":
            read = first_few([plain(words, 80) for words in verdict.matters])
            why = f"the loop could depend on {read}"
            todo = f"Change the hooks so that they do not read that, or {accept}"
        case "unread":
            steps = (hooked for step, hooked in outcome.trace.hooked() if step.turn > verdict.stem)
            paths = dict.fromkeys(plain(change.path, 80) for hooked in steps for change in hooked.changes)
            why = f"{first_few([*paths]) if paths else 'what no hook reads'} changes from turn to turn"
            todo = f"That proves the loop too: {accept}; for `closed` let nothing change"
        case "masked":
            why = "the scenario masks what differs"
            todo = f"Remove `mask` to see what is proved without it, or {accept}"
        case _:
            why, todo = "the state repeats and all that was read is part of it", accept.capitalize()
    return f"The evidence is `{seen}`, because {why}. {todo}."


def _loop(outcome: Outcome, verdict: Livelock) -> str:
    refusal = last_refusal(outcome.trace)
    if refusal is None:
        return "Nothing is refused and the session goes on: the turns above show which hook keeps it going."
    of_stop = is_stop(refusal.event)
    what = "stop" if of_stop else plain(refusal.event, 40)
    if verdict.evidence == "driven":
        seen = f"The same {what} was refused again and again, and nothing that was tried ended the loop."
    else:
        seen = f"The same {what} will be refused forever{IF_MASKED if verdict.evidence == 'masked' else ''}."
    if of_stop:
        return f"{seen} {_allow(outcome)}"
    return f"{seen} Let the reason name a move that is allowed, and allow the stop when nothing else is left."


def _allow(outcome: Outcome) -> str:
    refusal = last_refusal(outcome.trace)
    asked = [hooked for _, hooked in outcome.trace.hooked(refusal.event)] if refusal is not None else []
    if len(asked) == 1:
        return "The hook was asked only once, so no threshold of its own could have ended this."
    first = next((advise_on_own_error(run.demand) for run in refusal.deciding), "") if refusal else ""
    first = f"{plain(first, 200)} " if first else ""
    sentence = f"{first}Let the hook allow the stop if nothing changed since its last refusal"
    runs = [run for hooked in asked for run in hooked.hook_runs]
    # A field that never changes gives the hook no information.
    seen = {word: {str(run.payload[word]) for run in runs if word in run.payload} for word in _SIGNS}
    sign = next((word for word, values in seen.items() if len(values) > 1), None)
    return f"{sentence}, or read `{sign}` from its input." if sign else f"{sentence}."


def _key(outcome: Outcome, text: str) -> str:
    """Return a key of a scenario; with its place if the run has no scenario file, as after ``try``."""
    return f"`{text}`" if outcome.scenario.origin is not None else f"`{text}` in a scenario file"


def _mask(outcome: Outcome, masks: tuple[str, ...]) -> str:
    listed = ", ".join(mask if _PLAIN_YAML.fullmatch(mask) else json.dumps(mask) for mask in masks)
    return (
        f"With {_key(outcome, f'mask: [{listed}]')} the last turns repeat, as tried on the states of this "
        "run; declare that if these parts decide nothing."
    )


# Nobody waits until more turns were played.
_MOST_TURNS = 20_000


def _beyond(outcome: Outcome, verdict: Undecided) -> str:
    threshold = _newest_threshold(outcome)
    if threshold is None:
        return ""
    if threshold.turn is None:
        return (
            "Let the hook allow the stop after a number of refusals, at any pace and at any time of the day."
        )
    if threshold.turn > _MOST_TURNS:
        return "Lower the hook's threshold: no agent makes that many turns."
    turns, cap_none = threshold.turn + 10, _key(outcome, "cap: none")
    see = "the stop allowed" if threshold.allows_stop else "what happens then"
    if verdict.cap is not None and _turn_of(outcome, verdict.cap) < threshold.turn:
        earlier = "; to see it on this host, lower the hook's threshold" if threshold.allows_stop else ""
        return (
            f"To see {see}, give the run `turns: {turns}` and {cap_none}, because "
            f"{_cap_first(outcome, verdict.cap)}{earlier}."
        )
    if turns <= outcome.scenario.turns:
        return f"Give the run more time to see {see}, in turn {threshold.turn:,} as tried ahead."
    wanted = f"`turns: {turns}`" if outcome.scenario.origin is not None else f"--turns {turns}"
    fewer = "; to spare the agent these turns, lower the hook's threshold" if threshold.allows_stop else ""
    return f"To see {see}, give the run {wanted}{fewer}."


def _turn_of(outcome: Outcome, cap: Cap) -> int:
    """Return the turn in which the cap would act if blocks went on as they did."""
    blocks = outcome.blocks()
    return -(-(cap.overrides or 0) * outcome.iterations // blocks) if blocks else outcome.iterations


def _cap_first(outcome: Outcome, cap: Cap) -> str:
    return f"the cap of {plain(outcome.host, 40)} overrides the {ordinal(cap.overrides or 0)} refusal before"


def _other_paces(outcome: Outcome, verdict: Undecided) -> str:
    """Return what to do about a scenario whose own times cannot be shown to its hooks; empty if they can."""
    if "clock" not in verdict.reasons:
        return ""
    waits = any(isinstance(act, Wait) for act in outcome.scenario.script.acts)
    keys = " and ".join(["`pace`"] * (outcome.scenario.pace > 0) + ["`wait`"] * waits)
    return (
        f"Run it where the kernel lets processes be traced, and no program is for another architecture: all "
        f"programs then see the time that {keys or 'the scenario'} lets pass."
    )


def _uncovered(outcome: Outcome) -> str:
    if outcome.explored is None or not outcome.explored.open:
        return ""
    return (
        "Explore more (`explore: {states: ..., time: ...}`, within the time budget), or name the moves that "
        "matter (`explore: {moves: [...]}`). Where a file only counts or grows, no number of states is "
        "enough."
    )


def _unknown(outcome: Outcome, verdict: Undecided) -> str:
    if "two results" in verdict.reasons:
        return (
            "Something outside the state decides: a clock, a random number, the network, another folder. "
            f"Find what the hook reads; a folder can be added with {_key(outcome, 'cover')}."
        )
    # Of an answer that is too long, the finding says what to do.
    if verdict.reasons & {"interrupted", "answer too long"}:
        return ""
    if "process of a command" in verdict.reasons:
        return "End that process in the agent's script, or make the hook's decision independent of it."
    if "process of a hook" in verdict.reasons:
        return "Let the hook wait for that process, so that each of its answers is final."
    if "hook in the background" in verdict.reasons:
        return (
            f"Let hooks in the background run longer, for example with {_key(outcome, 'hook_timeout: 30s')}."
        )
    threshold = "If the changing files are a threshold of the hook"
    if verdict.cap is not None:
        # Without a changing file nothing hints at a threshold.
        condition = threshold if verdict.changed else "If the hook would allow the stop later"
        none = _key(outcome, "cap: none")
        reach = f"{condition}, set {none} to reach that: {_cap_first(outcome, verdict.cap)}."
    elif verdict.changed:
        more = "`turns`" if outcome.scenario.origin is not None else "--turns"
        reach = f"{threshold}, raise {more} to reach it."
    elif "prompt refused" in verdict.reasons:
        reach = "Give the script a prompt that the hooks allow, so that the agent starts and can stop."
    elif "ended early" in verdict.reasons:
        reach = "Let the script go on, for example with a prompt, until a stop of the agent is allowed."
    else:
        reach = "Give the run more turns or time (--turns, --budget)."
    return f"{_mask(outcome, verdict.masks)} {reach}" if verdict.masks else reach
