"""Hook runs that begin together: the order of their ends, and the agent sessions that they started."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import NotStarted, ProcessResult, ProcessSpec
from pytest_hookharness.model.protocol import Hook, Payload, Reply
from pytest_hookharness.model.scenario import Answer, Scenario
from pytest_hookharness.model.trace import Change, HookRun, StateEntry
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Seconds within which two ends count as one: by chance quick hooks differ by less than this.
_TOGETHER = 0.1
_CLEARLY = 1.0
# Seconds for a background process that a hook leaves behind to start an agent and end; as long as hooks get.
_LINGER = 10.0
_SHOWN_CALL = 200


class ScenarioAnswers:
    """The replies that a scenario gives for handlers that are not commands, each as often as it allows."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = answers
        self._given = [0] * len(answers)

    @property
    def position(self) -> tuple[int, ...]:
        """How often each answer with a limit was given. Part of the state: it decides the next answer."""
        pairs = zip(self._answers, self._given, strict=True)
        return tuple(given for answer, given in pairs if answer.times is not None)

    @property
    def given(self) -> tuple[int, ...]:
        """How often each answer was given."""
        return tuple(self._given)

    def put_back(self, given: Sequence[int]) -> None:
        """Set how often each answer was given."""
        self._given = [*given]

    def give(self, hook: Hook) -> Payload:
        """Return the next answer for a handler; raise ``SimulationError`` if the scenario has none."""
        options = " ".join(str(value) for value in hook.options.values())
        for place, answer in enumerate(self._answers):
            fits = (answer.event, answer.type) == (hook.event, hook.type) and answer.match in options
            if fits and (answer.times is None or self._given[place] < answer.times):
                self._given[place] += 1
                return answer.reply
        raise SimulationError(
            f"{hook.source}: the {hook.event} hook is of type {hook.type!r} and needs a model or a server; "
            "give its answer in the scenario: "
            f"world: {{answers: [{{event: {hook.event}, type: {hook.type}, reply: {{...}}}}]}}"
        )


def run_batch(
    hooks: Sequence[Hook],
    launches: Mapping[int, ProcessSpec],
    run: Callable[[Sequence[ProcessSpec]], Sequence[ProcessResult]],
    answers: ScenarioAnswers,
) -> tuple[ProcessResult | Payload, ...]:
    """
    Run the hooks of an event, whether the host's session is ours or a fake agent's.

    Args:
        launches: How each hook that is a command is started, by its place among the hooks.

    Returns:
        For each hook the result of its process, or the answer.
    """
    results = dict(zip(launches, run([*launches.values()]), strict=True))
    return tuple(
        results[place] if place in results else answers.give(hook) for place, hook in enumerate(hooks)
    )


def finished(given: Sequence[ProcessResult | Payload]) -> tuple[int, ...]:
    """
    Return the order in which the hook runs of a batch ended.

    Ends close together count as one, in the order of configuration: which of two quick hooks ends first is
    chance, and the same seed must give the same trace.
    """
    ends = _ends(given)
    order = sorted(range(len(ends)), key=ends.__getitem__)
    groups: list[list[int]] = []
    for place in order:
        if groups and ends[place] - ends[groups[-1][-1]] < _TOGETHER:
            groups[-1].append(place)
        else:
            groups.append([place])
    return tuple(place for group in groups for place in sorted(group))


def _ends(given: Sequence[ProcessResult | Payload]) -> list[float]:
    return [run.started + run.wall if isinstance(run, ProcessResult) else 0.0 for run in given]


class EndOrder:
    """
    The order in which hooks of one event end, as it was first seen in a session.

    It holds until they clearly end differently: on a busy machine it is chance which of two hooks ends first,
    and one state must not lead to two.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[int, ...]] = {}

    def find(self, hooks: Sequence[Hook], given: Sequence[ProcessResult | Payload]) -> tuple[int, ...]:
        """Return the order in which the runs of some hooks ended."""
        key = tuple(word for hook in hooks for word in (hook.event, hook.command))
        ends = _ends(given)
        known = self._known.get(key)
        if known is None or any(ends[first] - ends[then] > _CLEARLY for first, then in pairwise(known)):
            known = self._known[key] = finished(given)
        return known


class ChangeMakers:
    """Which hooks may have changed each file since a scan; ``beside``: background processes may have too."""

    def __init__(self, since: Mapping[str, StateEntry], *, beside: bool) -> None:
        self.since = since
        self._beside = beside
        self._hooks: dict[str, dict[str, None]] = {}
        self._in_doubt: set[str] = set()

    def note(self, changes: Sequence[Change], hooks: Sequence[str]) -> None:
        """Note changes that were made while these hooks ran, and no other."""
        for change in changes:
            self._hooks.setdefault(change.path, {}).update(dict.fromkeys(hooks))
            if self._beside or len({*hooks}) > 1:
                self._in_doubt.add(change.path)

    def name(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return changes with the hooks that may have made them."""
        return tuple(
            replace(change, hooks=tuple(self._hooks[change.path]), in_doubt=change.path in self._in_doubt)
            if self._hooks.get(change.path)
            else change
            for change in changes
        )


def started(hooks: Sequence[Hook], given: Sequence[ProcessResult | Payload]) -> tuple[str, ...]:
    """Return the commands of the hooks of a batch whose process was started: only these can change files."""
    return tuple(
        hook.command
        for hook, run in zip(hooks, given, strict=True)
        if isinstance(run, ProcessResult) and not isinstance(run.ending, NotStarted)
    )


def linger(scenario: Scenario) -> float:
    """
    Return how many seconds background processes of a hook run may live on; 0 for the host's own rule.

    They live on only in scenarios with fake agents, because they may start one.
    """
    return _LINGER if scenario.fake_agents else 0.0


def attribute(
    children: Sequence[ChildSession],
    event: str,
    hooks: Sequence[Hook],
    given: Sequence[ProcessResult | Payload],
) -> tuple[ChildSession, ...]:
    """
    Return sessions of fake agents with the hook run that started each, if it was one of these.

    Raises:
        SimulationError: A fake agent could not run its session.
    """
    check_ran(children)
    hook_runs = [
        (event, hook.command, run.pid)
        for hook, run in zip(hooks, given, strict=True)
        if isinstance(run, ProcessResult)
    ]
    return tuple(
        child if child.parent else replace(child, starter=child.find_starter(hook_runs)) for child in children
    )


def check_ran(children: Sequence[ChildSession]) -> None:
    """Raise ``SimulationError`` for a session that its fake agent could not run: its course is unknown."""
    for child in children:
        if child.trouble:
            call = " ".join(child.argv)[:_SHOWN_CALL]
            raise SimulationError(
                f"commands: the fake agent called by `{call}` could not run its session: {child.trouble}; "
                "call it with other arguments, or replace it by a plain double"
            )


def _without_echo(reply: Reply, payload: Payload, run: ProcessResult | Payload) -> Reply:
    """Return a reply without the fault that a host does not know the keys of its own input."""
    if reply.fault is None or not reply.fault.startswith("ignored") or not isinstance(run, ProcessResult):
        return reply
    try:
        echo = json.loads(run.stdout.data) == payload
    except (ValueError, RecursionError):
        echo = False
    return replace(reply, fault=None, echo=True) if echo else reply


def collect(
    hooks: Sequence[Hook],
    payload: Payload,
    specs: Sequence[ProcessSpec | None],
    given: Sequence[ProcessResult | Payload],
    replies: Sequence[Reply],
    opened: bool | None = None,
) -> tuple[HookRun, ...]:
    """Return the hook runs of a batch as the trace keeps them."""
    return tuple(
        HookRun(
            hook=hook,
            payload=payload,
            stdin=b"" if spec is None else spec.stdin.data,
            run=run if isinstance(run, ProcessResult) else None,
            reply=_without_echo(reply, payload, run),
            transcript_opened=opened,
        )
        for hook, spec, run, reply in zip(hooks, specs, given, replies, strict=True)
    )


def delayed(given: Sequence[ProcessResult | Payload], seconds: float) -> list[ProcessResult | Payload]:
    """Return what hook runs gave, as if they had started so much later."""
    if not seconds:
        return [*given]
    return [
        replace(result, started=result.started + seconds) if isinstance(result, ProcessResult) else result
        for result in given
    ]
