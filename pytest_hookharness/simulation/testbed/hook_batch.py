"""
Hooks fired together: the order of their ends, and who started what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Hook, Payload, Reply
from pytest_hookharness.model.scenario import Answer, Scenario
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Seconds; the real hosts wait longer for their own processes than chance lets two hooks differ.
_TOGETHER = 0.1
# Seconds in which what a hook leaves in the background may still start an agent, and come to an end; no less
# than a hook itself is usually given.
_LINGER = 10.0
_LONGEST_CALL = 200


class ScenarioAnswers:
    """
    What a scenario lets handlers say that are no commands, each as often as it allows.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = answers
        self._given = [0] * len(answers)

    @property
    def position(self) -> tuple[int, ...]:
        """
        How often each answer that is not for ever was given; that decides what is said next.
        """
        pairs = zip(self._answers, self._given, strict=True)
        return tuple(given for answer, given in pairs if answer.times is not None)

    @property
    def given(self) -> tuple[int, ...]:
        """
        How often each answer was given.
        """
        return tuple(self._given)

    def put_back(self, given: Sequence[int]) -> None:
        """
        Go back to where each answer was given that often.
        """
        self._given = [*given]

    def give(self, hook: Hook) -> Payload:
        """
        The next answer for a handler.

        Raises:
            SimulationError: The scenario has none.
        """
        said = " ".join(str(value) for value in hook.options.values())
        for place, answer in enumerate(self._answers):
            fits = (answer.event, answer.type) == (hook.event, hook.type) and answer.match in said
            if fits and (answer.times is None or self._given[place] < answer.times):
                self._given[place] += 1
                return answer.reply
        raise SimulationError(
            f"{hook.source}: the {hook.event} hook is of type {hook.type!r} and needs a model or a server; "
            f"write its answer in the scenario, under world: "
            f"answers: [{{event: {hook.event}, type: {hook.type}, reply: {{...}}}}]"
        )


def finished(given: Sequence[ProcessResult | Payload]) -> tuple[int, ...]:
    """
    The order in which the fires of a batch ended.

    Ends close together count as one, in the order of configuration: which of two quick hooks is first
    is chance, and the same seed must give the same trace.
    """
    ends = [run.started + run.wall if isinstance(run, ProcessResult) else 0.0 for run in given]
    order = sorted(range(len(ends)), key=ends.__getitem__)
    groups: list[list[int]] = []
    for place in order:
        if groups and ends[place] - ends[groups[-1][-1]] < _TOGETHER:
            groups[-1].append(place)
        else:
            groups.append([place])
    return tuple(place for group in groups for place in sorted(group))


def linger(scenario: Scenario) -> float:
    """
    How long descendants of a fire are let live where they may start an agent; 0 for no longer than usual.
    """
    return _LINGER if scenario.fake_agents else 0.0


def attribute(
    children: Sequence[ChildSession],
    event: str,
    hooks: Sequence[Hook],
    given: Sequence[ProcessResult | Payload],
) -> tuple[ChildSession, ...]:
    """
    Sessions of stand-ins with the fire that each was started from, if that was one of these.

    Raises:
        SimulationError: A stand-in could not play its session.
    """
    check_played(children)
    fires = [
        (event, hook.command, run.pid)
        for hook, run in zip(hooks, given, strict=True)
        if isinstance(run, ProcessResult)
    ]
    return tuple(
        child if child.parent else replace(child, starter=child.find_starter(fires)) for child in children
    )


def check_played(children: Sequence[ChildSession]) -> None:
    """
    Refuse sessions that their stand-ins could not play: nothing is known of what the real agent would do.

    Raises:
        SimulationError: The first of them.
    """
    for child in children:
        if child.trouble:
            call = " ".join(child.argv)[:_LONGEST_CALL]
            raise SimulationError(
                f"commands: the stand-in called by `{call}` could not play its session: {child.trouble}; "
                "call it otherwise, or write a plain double for it"
            )


def collect(
    hooks: Sequence[Hook],
    payload: Payload,
    stdins: Sequence[bytes],
    given: Sequence[ProcessResult | Payload],
    replies: Sequence[Reply],
    opened: bool | None = None,
) -> tuple[HookRun, ...]:
    """
    The fires of a batch as the trace keeps them.
    """
    return tuple(
        HookRun(
            hook=hook,
            payload=payload,
            stdin=stdin,
            run=run if isinstance(run, ProcessResult) else None,
            reply=reply,
            transcript_opened=opened,
        )
        for hook, stdin, run, reply in zip(hooks, stdins, given, replies, strict=True)
    )
