"""
Experiments: when a run is probed, and how it goes on after that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pytest_hookharness.judging.probing.experiments import PREDICTABLE
from pytest_hookharness.judging.probing.sizes import GrowingSize, find_growing_sizes
from pytest_hookharness.judging.recurrence.cycle import Lasso, same_state
from pytest_hookharness.judging.recurrence.similar_turns import find_similar_periods
from pytest_hookharness.judging.state_diff import Irregular, Pattern, SessionClock, find_pattern
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model.probes import ProbeEffect, ProbeReport, Threshold
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.simulation.probing.prober import Prober, Repetition
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import History
from pytest_hookharness.simulation.testbed.hook_source import numbers

# A run whose behaviour changes again and again is driven, not probed for ever.
_MOST_PROBINGS = 4
_MOST_TRIES = 20
# Seconds that are waited for, turn by turn, instead of being a reason to stop.
_SOON = 3.0
_FEW_LAPS = 8


class ProbeSchedule:
    """
    The experiments of one run.

    Attributes:
        made: What each of them showed.
    """

    def __init__(
        self,
        player: SessionDriver,
        history: History,
        *,
        most_turns: int,
        remaining: Callable[[], float],
        on_probe: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Make ready to probe a run.

        Args:
            player: Who plays the run.
            history: What is known of its turns.
            most_turns: Most turns that will be played.
            remaining: Tells how many seconds of real time are left.
            on_probe: Called after each experiment.
        """
        self.made: list[ProbeReport] = []
        self._player = player
        self._history = history
        self._most_turns = most_turns
        self._remaining = remaining
        self._on_probe = on_probe
        self._started = player.stage.workspace.clock.now
        self._driven: Threshold | None = None
        self._not_before = 3
        self._misses = 0
        self._tries = 0
        # Turns before which a period is not tried again.
        self._lawless: dict[int, int] = {}

    def recurring(self, period: int) -> RunEnd | None:
        """
        The end of a run that has come back to the very same state, once time was asked about.

        It has none if a little time is seen to end it, which then is left to pass.
        """
        if self._driven is not None:
            return self._drive(self._driven)
        if self._time_is_left:
            return None
        probing = self._probe(period, None)
        valve = probing.threshold
        if self._time_is_left:
            return None
        if valve is not None and valve.turn is not None and valve.turn <= self._most_turns:
            self._driven = valve
            return None
        if valve is not None:
            return self._end("threshold", _beyond(valve, self._most_turns))
        return self._end("threshold", probing.unclear) if probing.unclear else self._end("lasso")

    def ticked(self, lasso: Lasso) -> bool:
        """
        Whether a lap was not gone round alike only because a clock went on meanwhile.

        If so, the states of that lap are taken for what they are: each at another time.
        """
        later = [turn + lasso.period for turn in range(lasso.stem, lasso.stem + lasso.period + 1)]
        states = self._history.states
        differing = [turn for turn in later if not same_state(states[turn - lasso.period], states[turn])]
        if not all(self._history.ticked(turn - lasso.period, turn, self._clock) for turn in differing):
            return False
        for turn in differing:
            self._history.blur(turn)
        return True

    def moving(self) -> RunEnd | None:
        """
        The end of a run whose turns are alike, if experiments show one.
        """
        turn = self._player.turn
        if self._driven is not None:
            return self._drive(self._driven)
        if self._time_is_left:
            return None
        if turn < self._not_before or len(self.made) >= _MOST_PROBINGS:
            return None
        probing = self._look(turn)
        if probing is None:
            self._misses += 1
            self._not_before = turn + 1 + self._misses // 8
            return None
        if probing.inert:
            return self._end("probed")
        self._not_before = turn + 5 * len(self.made)
        valve = probing.threshold
        if valve is None or self._time_is_left:
            return None
        if valve.turn is None or valve.turn > self._most_turns:
            return self._end("threshold", _beyond(valve, self._most_turns))
        self._driven = valve
        return None

    def _look(self, turn: int) -> ProbeReport | None:
        """
        The first probing of a period whose parts move by laws, if there is one.
        """
        for period in find_similar_periods(turn, self._history.likeness):
            if self._tries >= _MOST_TRIES:
                return None
            if turn < self._lawless.get(period, 0):
                continue
            pattern = self._pattern(turn, period)
            if pattern is None:
                continue
            self._tries += 1
            probing = self._probe(period, pattern)
            if not probing.unpredictable and not _breaks_soon(probing):
                return probing
            self.made.pop()
            self._lawless[period] = turn + max(3, turn // 2)
        return None

    @property
    def _time_is_left(self) -> bool:
        """
        Whether so little time is seen to end it that it can be left to pass, turn by turn.
        """
        valve = self.made[-1].threshold if self.made else None
        return valve is not None and valve.seconds is not None and valve.seconds <= _SOON

    def _drive(self, threshold: Threshold) -> RunEnd | None:
        turn, probing = self._player.turn, self.made[-1]
        if threshold.turn is None or turn < threshold.turn:
            return None
        self._driven = None
        if threshold.reaction is not ProbeEffect.DECISION:
            return None
        if any(part.kind not in PREDICTABLE for part in probing.parts):
            # The next id or process number was only guessed at.
            return None
        now, before = (
            self._history.likeness(threshold.turn),
            self._history.likeness(threshold.turn - probing.period),
        )
        if now is None or before is None or now.actions != before.actions:
            return None
        return self._end(
            "disagreed",
            f"by experiment something else would have happened in turn {threshold.turn} ({threshold.at}), "
            "and it did not: this is a defect of the harness, please report it",
        )

    def _pattern(self, turn: int, period: int) -> Pattern | None:
        moments = self._history.moved((turn - 2 * period, turn - period, turn))
        if isinstance(moments, str):
            return None
        pattern = find_pattern(moments, self._clock)
        return None if isinstance(pattern, Irregular) else pattern

    def _sizes(self, period: int) -> tuple[GrowingSize, ...]:
        turn = self._player.turn
        moments = self._history.moved((turn - period, turn))
        if isinstance(moments, str):
            return ()
        before, after = moments
        refused = [
            step.turn
            for step in self._player.steps
            if isinstance(step.exchange, HookEvent) and step.exchange.decision.refused
        ]
        lately = sum(1 for number in refused if number > turn - period)
        # A hook may find both in the transcript, or in a log of its own that is no file of ours.
        counted = (GrowingSize(turn, period), *((GrowingSize(len(refused), lately),) if lately else ()))
        return (*counted, *find_growing_sizes(before, after, self._history.states[turn].files))

    def _probe(self, period: int, pattern: Pattern | None) -> ProbeReport:
        player = self._player
        steps = tuple(step for step in player.steps if step.turn > player.turn - period)
        fires = [
            fire for step in steps if isinstance(step.exchange, HookEvent) for fire in step.exchange.hook_runs
        ]
        lap = Repetition(
            before=self._history.moment(player.turn - period),
            moment=player.moment,
            period=period,
            steps=steps,
            files=player.stage.files,
            written=self._history.written(player.turn),
            read=self._history.outlines.of,
            wall=sum(fire.run.wall for fire in fires if fire.run is not None),
        )
        prober = Prober(
            player.stage,
            lap,
            clock=self._clock,
            pattern=pattern,
            sizes=self._sizes(period) if pattern is not None else (),
            numbers=numbers(player.stage, fires) if pattern is not None else (),
            remaining=self._remaining,
            on_probe=self._on_probe,
        )
        self.made.append(prober.probe())
        return self.made[-1]

    @property
    def _clock(self) -> SessionClock:
        return SessionClock(started=self._started, now=self._player.stage.workspace.clock.now)

    def _end(self, how: Literal["lasso", "probed", "threshold", "disagreed"], why: str = "") -> RunEnd:
        return RunEnd(how=how, turn=self._player.turn, why=why)


def _breaks_soon(probing: ProbeReport) -> bool:
    # What goes another way in a few laps is no law of its files; a longer period may be.
    valve = probing.threshold
    if valve is None or valve.turn is None or valve.reaction is not ProbeEffect.EFFECT:
        return False
    return valve.turn - probing.turn <= _FEW_LAPS * probing.period


def _beyond(threshold: Threshold, most_turns: int) -> str:
    what = "would let go" if threshold.allows_stop else f"would do something else ({threshold.what})"
    if threshold.seconds is not None:
        return (
            f"it goes on for ever while turns follow at once, and {what} after {threshold.at} "
            "(probed, not driven)"
        )
    return (
        f"it {what} at {threshold.at}, in turn {threshold.turn:,}, and {most_turns:,} turns are allowed "
        "(probed, not driven)"
    )
