"""Advice on verdicts. Advice on findings comes with the findings."""

from __future__ import annotations

from typing import assert_never

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Change, HookEvent
from pytest_hookharness.model.verdicts import (
    Capped,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
)
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.phrases import text_of_command, text_of_reason

# Fields in which hosts report an earlier refusal to a hook.
_SIGNS = ("stop_hook_active", "loop_count")
_MOST_HOOKS = 4
_STOPS = ("stop", "subagentstop", "afteragent", "agentstop", "on_stop")


def advice(outcome: Outcome) -> str:
    """Return what to do next, in two or three sentences; empty if there is nothing to advise."""
    verdict = outcome.verdict
    match verdict:
        case Livelock():
            return _set_of_hooks(outcome, verdict) or _loop(outcome)
        case Capped():
            proof = f" {_mask(verdict.changed)}" if verdict.changed else ""
            return (
                f"Only the cap of {plain(outcome.host, 40)} ended this; other hosts may have none. "
                f"{_allow(outcome)}{proof}"
            )
        case Hung(asked=True):
            return "Let the hook allow or refuse by itself; in this session nobody is there to answer."
        case Hung():
            return (
                "Give the hook a timeout of its own. Let it read only what it needs instead of "
                "waiting for the "
                "end of its input, a terminal or the network."
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
    refusals = [
        hooked
        for _, hooked in outcome.trace.hooked()
        if hooked.decision.refused or hooked.decision.overridden
    ]
    return refusals[-1] if refusals else None


def _set_of_hooks(outcome: Outcome, verdict: Livelock) -> str:
    """Return which hook demands what, if several refuse in one cycle; empty if only one refuses."""
    cycle = range(verdict.stem + 1, verdict.stem + verdict.period + 1)
    demands: dict[str, str] = {}
    for step, hooked in outcome.trace.hooked():
        if step.turn in cycle and hooked.decision.refused:
            refusing = [fire for fire in hooked.hook_runs if fire.reply.ruling is hooked.decision.ruling]
            demands |= {text_of_command(fire): text_of_reason(fire) for fire in refusing}
    if len(demands) < 2:
        return ""
    listed = "; ".join(f"{command} demands {reason}" for command, reason in [*demands.items()][:_MOST_HOOKS])
    return (
        f"These hooks send the agent back and forth: {listed}. Let each of them allow what another one "
        "demands."
    )


def _locked(outcome: Outcome) -> str:
    """Return which hooks lock the agent in, and what to do about it."""
    trap = outcome.explored.trap if outcome.explored is not None else None
    said = {
        text_of_command(fire): text_of_reason(fire) for fire in (trap.holding if trap is not None else ())
    }
    listed = "; ".join(f"{command} says {reason}" for command, reason in [*said.items()][:_MOST_HOOKS])
    held = f"These hooks lock the agent in: {listed}. " if listed else ""
    return (
        f"{held}Allow at least one move that fixes what the hooks complain about, and name it in the reason."
    )


def _loop(outcome: Outcome) -> str:
    refusal = _last_refusal(outcome)
    if refusal is None:
        return "Nothing is refused and the session goes on: the turns above show which hook keeps it going."
    if refusal.event.lower() in _STOPS:
        return f"The same stop will be refused forever. {_allow(outcome)}"
    return (
        f"The same {plain(refusal.event, 40)} will be refused forever. Let the reason name a move that is "
        "allowed, and allow the stop when nothing else is left."
    )


def _allow(outcome: Outcome) -> str:
    refusal = _last_refusal(outcome)
    asked = [hooked for _, hooked in outcome.trace.hooked(refusal.event)] if refusal is not None else []
    if len(asked) == 1:
        return "The hook was asked only once, so no threshold of its own could have ended this."
    sentence = "Let the hook allow when nothing changed since its last refusal"
    fires = [fire for hooked in asked for fire in hooked.hook_runs]
    # A field that never changes gives the hook no information.
    seen = {word: {str(fire.payload[word]) for fire in fires if word in fire.payload} for word in _SIGNS}
    sign = next((word for word, values in seen.items() if len(values) > 1), None)
    return f"{sentence}, or read `{sign}` from its input." if sign else f"{sentence}."


def _mask(changed: tuple[Change, ...]) -> str:
    return f"If the changing file decides nothing, declare it: `mask: [{plain(changed[0].path, 60)}]`."


def _beyond(outcome: Outcome) -> str:
    threshold = outcome.probe_reports[-1].threshold if outcome.probe_reports else None
    if threshold is None:
        return ""
    if threshold.turn is None:
        return "Let the hook count its refusals instead of seconds, so that it allows the stop at any pace."
    return (
        f"To see the stop allowed, give the run `turns: {threshold.turn + 10}`; to spare the agent "
        "these turns, "
        "lower the hook's threshold."
    )


def _uncovered(outcome: Outcome) -> str:
    if outcome.explored is None or not outcome.explored.open:
        return ""
    return (
        "Explore more (`explore: {states: ..., time: ...}`, within the time budget), or name the moves that "
        "matter (`explore: {moves: [...]}`). Where a file only counts or grows, no number of states "
        "is enough: "
        "if it decides nothing, declare it (`mask`)."
    )


def _unknown(verdict: Undecided) -> str:
    if "two answers" in verdict.why:
        return (
            "Something outside the state decides: a clock, a random number, the network, another folder. "
            "Find what the hook reads; a folder can be added with `cover`."
        )
    if verdict.why.startswith("interrupted"):
        return ""
    if verdict.changed:
        return f"{_mask(verdict.changed)} If it is a threshold of the hook, raise `turns` to reach it."
    return "Give the run more turns or time, or extend the script until the agent tries to stop."
