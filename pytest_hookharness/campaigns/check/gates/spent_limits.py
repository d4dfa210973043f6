"""
Stop hooks that give up after some refusals, met by the next prompt of the same session.

Their limit is meant for one turn. If nothing begins the count anew, all later stops of the session are
allowed, although what they check still fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.check.grouping import ProvedSymptom
from pytest_hookharness.campaigns.check.held_loops import stops_of
from pytest_hookharness.campaigns.check.played_sessions import PlayedSession, TryOut
from pytest_hookharness.campaigns.check.reads.shared_symptoms import symptom_of
from pytest_hookharness.judging.findings.codes import STUCK_PHASE
from pytest_hookharness.model.checkup import CheckSession, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import Edit, Prompt, Script, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import commands_of

# A hook that refuses once may only want to be read once.
_FEWEST, _MOST = 2, 12
_AGAIN = Prompt(text="Go on.")
_ADVICE = (
    "Begin the count anew with each prompt: in a hook of the prompt, or where `stop_hook_active` is false."
)


def prove_spent_limits(
    _hook_set: HookSet, play: TryOut, _known: Collection[Problem], played: Sequence[PlayedSession]
) -> Iterator[ProvedSymptom]:
    """
    Yield the hooks that allow the next turn's stop at once, after they gave up in one turn.

    The sessions are those already played in which a check kept failing.
    """
    reported = set[str]()
    for one in played:
        refused = [was_refused for was_refused, _ in _stops(one.outcome)]
        limit = refused.count(True)
        spent = _FEWEST <= limit <= _MOST and refused == [True] * limit + [False]
        # Only of gates: a loop that was started for some rounds is over after them.
        if not spent or not (one.session.proof and one.session.way_out):
            continue
        hook = next(commands for was_refused, commands in _stops(one.outcome) if was_refused)
        for again in play([_one_more_turn(one.session, limit)]) if hook not in reported else ():
            if again.outcome is None or _tells_user(again.outcome):
                continue
            if [was for was, _ in _stops(again.outcome)] == [*refused, False]:
                reported.add(hook)
                symptom = _symptom(again.outcome, hook, limit)
                yield ProvedSymptom(symptom, again.session, again.outcome.trace)


def _one_more_turn(session: CheckSession, limit: int) -> CheckSession:
    """Return a session until the hook gives up, with one more prompt and stop."""
    acts = session.scenario.script.acts
    stop = next(act for act in acts if isinstance(act, Stop))
    until = acts[: acts.index(stop)]
    # The next turn changes the same files, as a count may begin anew with a change.
    changes = [replace(act, text=f"{act.text}more text\n") for act in until if isinstance(act, Edit)]
    script = Script(acts=(*until, *(stop for _ in range(limit + 1)), _AGAIN, *changes, stop))
    scenario = replace(session.scenario, script=script, turns=len(script.acts))
    return replace(session, title=f"{session.title}, and another prompt", scenario=scenario, ends=False)


def _stops(outcome: Outcome | None) -> Iterator[tuple[bool, str]]:
    """Yield for each stop whether it was refused, with the hooks that decided."""
    yield from ((one.decision.refused, commands_of(one.deciding)) for one in stops_of(outcome))


def _tells_user(outcome: Outcome) -> bool:
    """Return whether a hook told the user something at the last stop: then it has checked the turn."""
    runs = [hooked.hook_runs for hooked in stops_of(outcome)]
    return any(run.reply.user_text for run in (runs[-1] if runs else ()))


def _symptom(outcome: Outcome, hook: str, limit: int) -> Symptom:
    event = next(hooked.event for _, hooked in outcome.trace.hooked() if commands_of(hooked.deciding) == hook)
    text = (
        f"{event} is refused {limit} times and then allowed; after the next prompt it is allowed at once, "
        "although nothing was fixed."
    )
    return symptom_of(STUCK_PHASE, hook, text, _ADVICE, turn=1)
