"""
Time shift: one scenario with other times between its turns.

No real time passes. The kernel shows the hooks a clock that is ahead. Where it cannot, shims do; these do not
exist for all programs, so a second run follows in which everything that was written is made older.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.verdict.conclusion import describe_end
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.time_budget import format_duration
from pytest_hookharness.model.verdicts import Capped, Doubt, Finding, Livelock, Terminated
from pytest_hookharness.simulation.session.history import History
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Seconds between two turns of an agent that works with a person, and of one that is left alone.
# Hooks often have a limit of just one hour, where parts of a second would decide.
HUMAN, SLOW = 13.0, 3605.0
_LEAST = 1.0
# How often both ends are played again before the time at which a session begins is said to decide.
_CONFIRMATIONS = 4
_DAY = 86_400.0
_AT_ALL_HOURS = "Decide the same at every hour, or say in the reason of the refusal when it ends."
# By how much longer slow agents must be refused than quick ones. If chance allowed each turn alike, both ends
# of two quick runs would come before all these turns in one of a hundred cases.
_MORE_TURNS = 9
# By how much longer quick agents must be refused than slow ones that twice are in the same turn, alike. On a
# busy machine quick turns take long, so fewer are seen; then as many further slow runs must go alike.
# If chance allowed each turn alike, they would in one of two hundred cases.
_MORE_QUICK_TURNS, _MORE_SLOW_RUNS = 6, 4
# Runs in which they are to be played.
_STEADY_LIMIT = 12
# Runs that narrow down the time from which on the hooks decide differently.
_SEARCH_LIMIT = 14
# Least number of turns at which the real time of a play may move its end by one turn.
_LONG = 10


if TYPE_CHECKING:
    from pytest_hookharness.judging.state_diff.file_timestamps import FileTimestamps


class TimeShift:
    """Lets time pass by making everything older, for hooks that read the machine's clock."""

    def __init__(self, history: History, testbed: Testbed) -> None:
        self._history = history
        self._testbed = testbed
        self._started = testbed.workspace.clock.now
        self._turn = 0
        self._passed = 0.0

    @property
    def has_timestamps(self) -> bool:
        """Whether a file that was written contains a time of this run."""
        return bool(self._timestamps.texts)

    def let_pass(self, seconds: float) -> None:
        """Make all files, and the timestamps in them, older."""
        from pytest_hookharness.simulation.session.checkpoint import CheckpointEditor

        editor = CheckpointEditor(self._testbed)
        # The known contents are those after the last turn, but time may pass several times after one turn.
        newest = max(self._history.states, default=0)
        self._passed = seconds + (self._passed if newest == self._turn else 0.0)
        self._turn = newest
        editor.write(self._timestamps.aged(self._passed))
        editor.age(seconds)
        self._started -= seconds

    @property
    def _timestamps(self) -> FileTimestamps:
        """The times of this run in the files that were written."""
        # Most runs read none of them.
        from pytest_hookharness.judging.state_diff.file_timestamps import find_timestamps
        from pytest_hookharness.judging.state_diff.number_formats import SessionClock

        written = self._history.written(max(self._history.states, default=0))
        return find_timestamps(written, SessionClock(self._started, self._testbed.workspace.clock.now))


def find_doubt(moved: Outcome, aged: Outcome, gap: str) -> Doubt | None:
    """
    Return why a run with a moved clock shows nothing; ``None`` if a second run agrees with it.

    The ``gap`` is why the kernel could not move the clock for all programs.
    """
    if not _differ(moved, aged) and moved.first_difference(aged) is None:
        return None
    return Doubt(
        f"with a moved clock it {_describe(moved)}, and with all files made older it {_describe(aged)}: the "
        "hooks may read another clock, use stored times as names, or notice how long experiments took; the "
        f"clock could not be moved for all programs: {gap}",
        frozenset(["clock"]),
    )


def compare(fast: Outcome, simulate: Callable[[float], Outcome]) -> Finding | None:
    """
    Return the finding that the hooks decide by the clock; ``None`` if a slow agent gets the same decisions.

    Each figure in it was played. If a repeated run ends differently, the finding is FLAKY: the difference may
    then be chance. Turns that follow at once take real time, though, and a hook that counts within a second
    gets another end if a second ends meanwhile. So that alone is no chance where slow agents are refused far
    longer.

    Args:
        fast: The outcome of a run whose turns follow at once.
        simulate: Runs the same scenario with a number of seconds between the turns.
    """
    low, high, slow = 0.0, HUMAN, simulate(HUMAN)
    if not _differ(fast, slow):
        low, high, slow = HUMAN, SLOW, simulate(SLOW)
        if not _differ(fast, slow):
            return None
    again, slow_again = simulate(0.0), simulate(high)
    if _differ(slow, slow_again) and not _is_near(slow, slow_again):
        return finding_catalogue.FLAKY.found(_describe_repeated(high, slow, slow_again), turn=slow.iterations)
    uneven = _differ(fast, again)
    if uneven and not _is_no_chance((fast, again), (slow, slow_again), simulate):
        return finding_catalogue.FLAKY.found(_describe_repeated(0.0, fast, again), turn=fast.iterations)
    for _ in range(_SEARCH_LIMIT):
        if high - low <= max(_LEAST, 0.05 * high):
            break
        # Above a minute the middle is the geometric mean: the result is needed to 5 % only.
        middle = (low * high) ** 0.5 if high > 60 and low else (low + high) / 2
        between = simulate(middle)
        if _differ(fast, between) and _differ(again, between):
            high, slow = middle, between
        else:
            low = middle
    # Before the first turn is over no time has passed between two turns.
    first = isinstance(slow.verdict, Terminated) and slow.iterations == 1
    when = "begun at another time" if first else f"with {format_duration(high)} between them"
    at_once = _describe(fast) + (f" (another time it {_describe(again)})" if uneven else "")
    now = "With turns that follow at once"
    if any(isinstance(act, Wait) for act in fast.scenario.script.acts):
        now, when = "With the waits of its script alone", when.replace("between them", "more between turns")
    text = f"{now} it {at_once}; {when}, it {_describe(slow)}."
    return finding_catalogue.CLOCK.found(text, turn=fast.iterations)


class UnevenPlays(Exception):
    """
    Plays at the same time differ, though not by chance: at a pace, hooks see how long a play takes.

    Attributes:
        described: How two of them ended, in words.
    """

    def __init__(self, one: Outcome, other: Outcome) -> None:
        self.described = f"one {_describe(one)}, and another {_describe(other)}"
        super().__init__(self.described)


def compare_starts(
    now: Outcome, begin: Callable[[float], Outcome], starts: Sequence[float]
) -> Finding | None:
    """
    Return the finding that a session goes differently if it begins at another time; ``None`` if none does.

    It is FLAKY if a play of the same time goes differently: the difference may then be chance.

    Raises:
        UnevenPlays: Such plays went differently at a declared pace.

    Args:
        begin: Runs the same scenario, begun by a number of seconds later, until the same turn.
    """
    for later in starts:
        other = begin(later)
        if now.first_difference(other) is None:
            continue
        sooner, other = _sooner(now, begin, later, other)
        when = f"begun {format_duration(sooner)} later"
        for begun, seen, seconds in (("begun at once", now, 0.0), (when, other, sooner)):
            for _ in range(_CONFIRMATIONS):
                again = begin(seconds)
                if seen.first_difference(again) is None:
                    continue
                if now.scenario.pace:
                    raise UnevenPlays(seen, again)
                text = f"Played again, {begun}, its hooks decided differently than before."
                return finding_catalogue.FLAKY.found(text, turn=now.iterations)
        return _find_difference(now, other, when)
    return None


def _find_difference(now: Outcome, other: Outcome, when: str) -> Finding | None:
    """Return the finding on the first decision that a play at another time changed; ``when`` names it."""
    pair = now.first_difference(other)
    if pair is None:
        return None
    turn, event, refused = pair[1]
    first, then = ("do not refuse", "refuse") if refused else ("refuse", "do not refuse")
    text = f"Begun at once, the {event} hooks {first} in turn {turn}; {when}, they {then}."
    found = finding_catalogue.CLOCK.found(text, turn=turn)
    # The advice of the catalogue is about stops, which come in the last turn.
    return found if turn == now.iterations else replace(found, advice=_AT_ALL_HOURS)


def _sooner(
    now: Outcome, begin: Callable[[float], Outcome], later: float, other: Outcome
) -> tuple[float, Outcome]:
    """Return the same time of a sooner day, or the next such weekday, if hooks decide differently then."""
    for cycle in (_DAY, 7 * _DAY):
        if later > cycle and now.first_difference(sooner := begin(later % cycle)) is not None:
            return later % cycle, sooner
    return later, other


def _is_no_chance(
    quick: Sequence[Outcome], slow: Sequence[Outcome], simulate: Callable[[float], Outcome]
) -> bool:
    """
    Return whether one kind of run is refused in more turns than the other, which always ends.

    There are two runs whose turns follow at once, and two of a slow agent, which go alike.
    """
    if all(map(_ended, slow)):
        first, then = (sum(run.iterations for run in runs) for runs in (slow, quick))
        sooner = all(run.iterations > slow[0].iterations for run in quick)
        if then >= _MORE_QUICK_TURNS * first or not sooner:
            return sooner
        further = (simulate((number + 2) * SLOW) for number in range(_MORE_SLOW_RUNS))
        return not any(_differ(slow[0], run) for run in further)
    if not all(map(_ended, quick)) or any(map(_ended, slow)):
        return False
    wanted = _MORE_TURNS * sum(run.iterations for run in quick)
    refused = sum(run.iterations for run in slow)
    for number in range(_STEADY_LIMIT):
        if refused >= wanted:
            break
        run = simulate((number + 2) * SLOW)
        if _ended(run):
            return False
        refused += run.iterations
    return refused >= wanted


def _is_near(one: Outcome, other: Outcome) -> bool:
    """Return whether two long plays ended at most one turn apart: the real time they took may differ."""
    ends = sorted(run.iterations for run in (one, other) if isinstance(run.verdict, Terminated))
    return len(ends) == len((one, other)) and ends[0] >= _LONG and ends[1] - ends[0] <= 1


def _describe_repeated(pace: float, *runs: Outcome) -> str:
    when = f"with {format_duration(pace)} between its turns" if pace else "with turns that follow at once"
    return f"Played twice {when}, it {', and then it '.join(map(describe_end, runs))}."


def goes_alike(fast: Outcome, slow: Outcome) -> bool:
    """Return whether two runs ended alike, and the hooks got the same input, which does not name the time."""
    one, other = [*fast.trace.hook_runs()], [*slow.trace.hook_runs()]
    told = [run.stdin for _, run in one] == [run.stdin for _, run in other]
    return told and not _differ(fast, slow) and all(run.transcript_opened is False for _, run in other)


def _differ(fast: Outcome, slow: Outcome) -> bool:
    # What ends a run whose stop is never allowed (a cap, a limit) does not depend on the clock.
    ended, ends = _ended(fast), _ended(slow)
    return ended != ends or (ended and fast.iterations != slow.iterations)


def _ended(run: Outcome) -> bool:
    return isinstance(run.verdict, Terminated)


def _describe(outcome: Outcome) -> str:
    match outcome.verdict:
        case Terminated():
            return f"allows the stop in turn {outcome.iterations}"
        case Capped():
            return f"is ended by the host's cap in turn {outcome.iterations}"
        case Livelock():
            return "never allows the stop"
        case _:
            return f"has not allowed the stop by turn {outcome.iterations}"
