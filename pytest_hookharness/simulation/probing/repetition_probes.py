"""The probes of the last repetition of a run, and which of its periods are worth them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pytest_hookharness.judging.probing.sizes import GrowingSize
from pytest_hookharness.judging.state_diff.pattern import Pattern, find_pattern
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.reads import Influences
from pytest_hookharness.simulation.probing import limit_sources
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.probing.prober import Prober

# Patterns that are tried, of which most turn out to be none.
_TRY_LIMIT = 20
# Similar periods that are tried as progressions.
_TRIED = 12
# Repetitions: a pattern that breaks within these is not a progression.
_MIN_REPETITIONS = 8


class RepetitionProbes:
    """Probes the state after the last turn of a run."""

    def __init__(
        self, run: ProbedRun, influences: Callable[[int], Influences], played: Callable[[], int]
    ) -> None:
        """
        Prepare to probe a run, given what a cycle of a period reads, and the last turn that was played.

        That turn may be one without the limits of the host.
        """
        self._run = run
        self._driver = run.driver
        self._history = run.history
        self._influences = influences
        self._played = played
        self._tries = 0
        # By period the turn before which it is not tried again.
        self._not_before: dict[int, int] = {}

    def probe_patterns(self, periods: Sequence[int]) -> ProbeReport | None:
        """Return the report on the first period whose parts move by a progression; ``None`` for none."""
        turn = self._driver.turn
        if periods and (report := self._probe_without_unread(periods[0])) is not None:
            return report
        for period in periods[:_TRIED]:
            if self._tries >= _TRY_LIMIT:
                return None
            if turn < self._not_before.get(period, 0):
                continue
            pattern = self._pattern(turn, period)
            if pattern is None:
                continue
            self._tries += 1
            report = self.probe(period, pattern)
            if not report.unpredictable and not report.changes_within(_MIN_REPETITIONS):
                return report
            self._not_before[period] = turn + max(3, turn // 2)
        return None

    def _probe_without_unread(self, period: int) -> ProbeReport | None:
        """Return the report on a period after which nothing differs but files that nothing read."""
        turn, unread = self._driver.turn, self._influences(period).unread
        if not unread or self._tries >= _TRY_LIMIT:
            return None
        self._tries += 1
        contents = self._history.changed_files((turn - 2 * period, turn - period, turn), unread)
        if isinstance(contents, str) or any(contents):
            return None
        report, (first, *more) = self.probe(period, unread=unread), sorted(unread)
        names = f"{first} and {counted(len(more), 'more file')}" if more else first
        left_out = f"Changes of {names} were left out, for no hook read them in an observed repetition."
        return replace(report, limits=(*report.limits, left_out))

    def _pattern(self, turn: int, period: int) -> Pattern | None:
        contents = self._history.changed_files((turn - 2 * period, turn - period, turn))
        return None if isinstance(contents, str) else find_pattern(contents, self._run.clock)

    def probe(self, period: int, pattern: Pattern | None = None, unread: Collection[str] = ()) -> ProbeReport:
        """
        Return the report on a period whose states recur, or whose parts move by a pattern.

        The ``unread`` state paths are left out, because nothing reads them.
        """
        driver, turn = self._driver, self._driver.turn
        repetition = self._run.last_repetition(period)
        sizes: tuple[GrowingSize, ...] = ()
        if pattern is None and not repetition.point.progress.session.reported_counts:
            # The limits are only used to lengthen the transcript.
            limits = limit_sources.named_limits(driver.testbed, repetition.hook_runs)
        else:
            differing = [change.path for change in self._history.differing(turn, period)]
            limits = limit_sources.gather_limits(
                driver.testbed, repetition.hook_runs, self._influences(period).read, differing
            )
            refusals = driver.refusals(), driver.refusals(turn - period)
            sizes = limit_sources.growing_sizes(self._history, turn, period, refusals)
        prober = Prober(
            self._run,
            repetition,
            pattern=pattern,
            sizes=sizes,
            limits=limits,
            unread=unread,
            chance=self._influences(period).chance,
            played=self._played(),
        )
        return prober.probe()
