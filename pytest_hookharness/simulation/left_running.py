"""
Runs after which something was left running, played again with processes that live longer.

The harness ends what a hook or a command of the agent leaves running, so that nothing but the state decides.
Hosts let it live. In one more run it gets some seconds, as it would while a model answers; in another one it
lives until the session ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Performed
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Seconds that such a process gets, as while a model answers, and turns that are played after the first one.
_LINGER, _TURNS_LATER = 5.0, 3
# Seconds for further runs, however little is left of the budget.
_LEAST = 3.0

# Plays the same scenario until the host ends it; nothing if the time ended before.
Replay = Callable[[Settings], Outcome | None]


@dataclass(frozen=True, slots=True)
class _Left:
    """The first process that was left running: its turn, its command, and whether a hook left it."""

    turn: int
    command: str
    by_hook: bool

    def __str__(self) -> str:
        who = "a hook" if self.by_hook else "the agent's command"
        return f"`{self.command}`, which {who} left running, was ended with the {self.run}"

    @property
    def run(self) -> str:
        """What left it running."""
        return "hook run" if self.by_hook else "command"


def find_difference(outcome: Outcome, settings: Settings, replay: Replay) -> str:
    """
    Return why a verdict does not hold if what was left running lives on; empty if it holds, or none is known.

    Args:
        settings: Those of all further runs together.
    """
    left = next(_left_running(outcome), None)
    # Fake agents have their own rule for what hooks leave running.
    decided = isinstance(outcome.verdict, Terminated | Livelock | Capped) and not outcome.scenario.fake_agents
    if left is None or not decided:
        return ""
    began, given = time.monotonic(), max(_LEAST, settings.wall)

    def play(linger: float | None, turns: int) -> Outcome | None:
        rest = given - (time.monotonic() - began)
        return replay(replace(settings, wall=rest, turns=turns, linger=linger))

    if found := _find_other_end(outcome, play, settings.turns or outcome.iterations):
        return f"{left}; if it stays alive, {found}"
    if not left.by_hook or isinstance(outcome.verdict, Terminated):
        return ""
    second = play(_LINGER, left.turn + _TURNS_LATER)
    if second is None or not isinstance(second.verdict, Terminated):
        return ""
    longer = f"if it may run for {_LINGER:g} s more"
    return f"{left}; {longer}, the hooks allow the stop in turn {second.verdict.turn}"


def _find_other_end(outcome: Outcome, play: Callable[[float | None, int], Outcome | None], turns: int) -> str:
    """Return how the run ends if all that is left running stays alive; empty if equally, or by chance."""
    living = play(None, turns)
    if living is None or _end(living) == _end(outcome):
        return ""
    ended = _end(living)
    control = play(0.0, turns if ended is None else ended + 1)
    if control is None or _end(control) != _end(outcome):
        return ""
    if ended is not None:
        return f"the hooks allow the stop in turn {ended}"
    return f"the hooks did not allow the stop in {living.iterations} turns"


def _end(outcome: Outcome) -> int | None:
    """Return the turn in which the hooks allowed the stop; ``None`` if they did not."""
    return outcome.verdict.turn if isinstance(outcome.verdict, Terminated) else None


def _left_running(outcome: Outcome) -> Iterator[_Left]:
    for step in outcome.trace.steps:
        if isinstance(step.exchange, Performed) and step.exchange.run is not None:
            for process in step.exchange.run.leftovers:
                yield _Left(step.turn, process.command, by_hook=False)
    for step, hook_run in outcome.trace.hook_runs():
        if hook_run.run is not None:
            for process in hook_run.run.leftovers:
                yield _Left(step.turn, process.command, by_hook=True)
