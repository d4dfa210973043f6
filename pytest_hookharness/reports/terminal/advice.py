"""
Advice: what to do next about a verdict.

Pure. Advice on findings comes with the findings themselves.
"""

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
from pytest_hookharness.reports.terminal.phrases import command_words, reason_words

# Fields by which hosts tell a hook that it refused before.
_SIGNS = ("stop_hook_active", "loop_count")
_MOST_HOOKS = 4
_STOPS = ("stop", "subagentstop", "afteragent", "agentstop", "on_stop")


def advice(outcome: Outcome) -> str:
    """
    What to do next, in two or three sentences; empty if all is as promised or nothing can be said.
    """
    verdict = outcome.verdict
    match verdict:
        case Livelock():
            return _set_of_hooks(outcome, verdict) or _loop(outcome)
        case Capped():
            proof = f" {_mask(verdict.changed)}" if verdict.changed else ""
            return (
                f"Only the guard of {plain(outcome.host, 40)} ended this; other hosts, and other agents, "
                f"have none. {_let_go(outcome)}{proof}"
            )
        case Hung(asked=True):
            return (
                "Let the hook decide by itself, by an allow or a refusal, where nobody is there to be asked."
            )
        case Hung():
            return (
                "Give the hook a limit of its own, and let it read what it needs instead of waiting for the "
                "end of its input, a terminal or the network."
            )
        case Recursing() if outcome.background.denials:
            return (
                "Let the hook fire only on what its own thread cannot cause again: name exit codes or a "
                "narrower pattern, and keep `max_spawns` low."
            )
        case Recursing():
            return "Let the hook see that it caused itself, for example by a variable that it sets and reads."
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
    """
    Which hook demands what, if several refuse in one lap; empty if it is one.
    """
    lap = range(verdict.stem + 1, verdict.stem + verdict.period + 1)
    demands: dict[str, str] = {}
    for step, hooked in outcome.trace.hooked():
        if step.turn in lap and hooked.decision.refused:
            refusing = [fire for fire in hooked.hook_runs if fire.reply.ruling is hooked.decision.ruling]
            demands |= {command_words(fire): reason_words(fire) for fire in refusing}
    if len(demands) < 2:
        return ""
    listed = "; ".join(f"{command} demands {reason}" for command, reason in [*demands.items()][:_MOST_HOOKS])
    return (
        f"These hooks send the agent from one to the other: {listed}. Let each of them let through what "
        "another one demands."
    )


def _locked(outcome: Outcome) -> str:
    """
    Which hooks hold the agent, and what to do about it.
    """
    trap = outcome.explored.trap if outcome.explored is not None else None
    said = {command_words(fire): reason_words(fire) for fire in (trap.holding if trap is not None else ())}
    listed = "; ".join(f"{command} says {reason}" for command, reason in [*said.items()][:_MOST_HOOKS])
    held = f"The agent is held by these hooks: {listed}. " if listed else ""
    return (
        f"{held}Let at least one move through that mends what the hooks complain about, and name it in the "
        "reason."
    )


def _loop(outcome: Outcome) -> str:
    refusal = _last_refusal(outcome)
    if refusal is None:
        return "Nothing is refused, and yet it goes on: see in the story which hook keeps the turn alive."
    if refusal.event.lower() in _STOPS:
        return f"The same stop will be refused for ever. {_let_go(outcome)}"
    return (
        f"The same {plain(refusal.event, 40)} will be refused for ever. Let the reason name a move that is "
        "allowed, and let the stop through when nothing else is left."
    )


def _let_go(outcome: Outcome) -> str:
    refusal = _last_refusal(outcome)
    asked = [hooked for _, hooked in outcome.trace.hooked(refusal.event)] if refusal is not None else []
    if len(asked) == 1:
        return "The hook was asked once and not again, so no limit of its own would have ended this."
    sentence = "Let the hook allow when nothing changed since its last refusal"
    fires = [fire for hooked in asked for fire in hooked.hook_runs]
    # A sign that is never raised, or always, tells the hook nothing.
    told = {word: {str(fire.payload[word]) for fire in fires if word in fire.payload} for word in _SIGNS}
    sign = next((word for word, values in told.items() if len(values) > 1), None)
    return f"{sentence}, or read `{sign}` from its input." if sign else f"{sentence}."


def _mask(changed: tuple[Change, ...]) -> str:
    return f"If what changes decides nothing, say so: `mask: [{plain(changed[0].path, 60)}]`."


def _beyond(outcome: Outcome) -> str:
    valve = outcome.probe_reports[-1].threshold if outcome.probe_reports else None
    if valve is None:
        return ""
    if valve.turn is None:
        return (
            "Let the hook count its refusals instead of seconds, so that it lets go at any pace of the agent."
        )
    return (
        f"To see it let go, give the run `turns: {valve.turn + 10}`; to spare the agent all these turns, let "
        "the hook give up earlier."
    )


def _uncovered(outcome: Outcome) -> str:
    if outcome.explored is None or not outcome.explored.open:
        return ""
    return (
        "Let more be tried (`explore: {states: ..., time: ...}`, within the budget of the run), or name the "
        "moves that matter (`explore: {moves: [...]}`). Where something only counts or grows, no number of "
        "states is enough: if that decides nothing, say so (`mask`)."
    )


def _unknown(verdict: Undecided) -> str:
    if "two answers" in verdict.why:
        return (
            "Something outside of the state decides: a clock, a random number, the network, another folder. "
            "Find what the hook reads, and name a folder with `world.cover`."
        )
    if verdict.why.startswith("interrupted"):
        return ""
    if verdict.changed:
        return (
            f"{_mask(verdict.changed)} If it is a limit of the hook's own, give the run more `turns` so that "
            "it can be reached."
        )
    return "Give the run more turns or time, or let the script go on until the agent tries to stop."
