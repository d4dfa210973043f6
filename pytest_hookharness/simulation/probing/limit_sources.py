"""Where exact limits come from: the source of hooks, the files that they read, and the sizes that grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_hookharness.judging.probing.limits import KnownNumbers, find_limits
from pytest_hookharness.judging.probing.sizes import GrowingSize, find_growing_sizes
from pytest_hookharness.judging.probing.thresholds import MOST_CANDIDATES, MOST_REPETITIONS, Candidates
from pytest_hookharness.judging.state_diff.pattern import Pattern
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.probes import Perturbation, PerturbationKind
from pytest_hookharness.model.trace import HookRun
from pytest_hookharness.simulation.session.history import History
from pytest_hookharness.simulation.testbed.hook_source import read_small, texts
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Bytes of a file that is read for limits; of one that changes itself, which is a log rather than a setting.
_LARGEST, _LARGEST_CHANGING = 1 << 24, 1 << 12
# Files of the workspace that are looked at besides, each of them short.
_MOST_FILES = 200
# Part of the time that is left, seconds that an experiment takes beside its hooks and for each file that it
# writes and takes back, and limits that are tried in any case.
_SHARE, _OWN_TIME, _FILE_TIME, _FEWEST = 1 / 3, 0.03, 0.001, 12


def gather_limits(
    testbed: Testbed, hook_runs: Iterable[HookRun], read: Iterable[str], changing: Iterable[str]
) -> KnownNumbers:
    """
    Return the numbers that hooks may compare a count with.

    Args:
        read: The real places of the files that they opened.
        changing: State paths of the files that are not the same after each repetition.
    """
    roots = testbed.workspace.roots
    places = (path.partition("/") for path in changing if not path.startswith("/"))
    moving = {f"{roots[name]}/{rest}" for name, _, rest in places}
    # What shows the simulated clock is no file of the hooks, and its paths have numbers of this run.
    shims = f"{testbed.workspace.clock.folder}/"
    paths = dict.fromkeys([*(path for path in read if not path.startswith(shims)), *_short_files(testbed)])
    files = (read_small(path, _LARGEST_CHANGING if path in moving else _LARGEST) for path in paths)
    return find_limits(_sources(testbed, hook_runs), (text for text in files if b"\0" not in text))


def named_limits(testbed: Testbed, hook_runs: Iterable[HookRun]) -> KnownNumbers:
    """Return the numbers that stand in the sources of hooks, without those in other files."""
    return find_limits(_sources(testbed, hook_runs), ())


def _sources(testbed: Testbed, hook_runs: Iterable[HookRun]) -> Iterator[bytes]:
    yield from (value.encode("utf-8", "surrogateescape") for value in testbed.scenario.env.values())
    yield from texts(testbed, hook_runs)


def _short_files(testbed: Testbed) -> Iterator[str]:
    paths = [path for path, entry in testbed.files.items() if entry.kind == "file"]
    for path in paths[:_MOST_FILES]:
        name, _, rest = path.partition("/")
        place = testbed.workspace.top / rest
        if name == "workspace" and not rest.startswith(".git/") and place.stat().st_size <= _LARGEST_CHANGING:
            yield str(place)


def growing_sizes(
    history: History, turn: int, period: int, refusals: tuple[int, int]
) -> tuple[GrowingSize, ...]:
    """Return the sizes that grew in the last repetition; ``refusals`` are those so far, and those in it."""
    contents = history.changed_files((turn - period, turn))
    if isinstance(contents, str):
        return ()
    before, after = contents
    # A hook may count both, turns and refusals, in the transcript or in a log that is not covered.
    counts = (GrowingSize(turn, period), *((GrowingSize(*refusals),) if refusals[1] else ()))
    return (*counts, *find_growing_sizes(before, after, history.states[turn].files))


def most_candidates(remaining: float, wall: float, pattern: Pattern | None) -> int:
    """Return how many exact limits are tried: fewer if hooks are slow or files many, for others follow."""
    every = () if pattern is None else tuple(range(len(pattern.parts)))
    far = Perturbation(parts=every, how=PerturbationKind.AHEAD, repetitions=MOST_REPETITIONS)
    files = 0 if pattern is None else len(pattern.perturbed(far))
    each = _OWN_TIME + files * _FILE_TIME + wall
    return max(_FEWEST, min(MOST_CANDIDATES, int(_SHARE * remaining / each)))


def describe_untried(candidates: Candidates, turn: int, period: int, played: int) -> Iterator[str]:
    """Yield that some exact limits were not tried, and in which turn the first is reached, if so."""
    reached = (turn + number * period + 1 for number in candidates.left)
    # Turns that were played need no experiment.
    if left := [each for each in reached if each > played]:
        yield (
            f"{counted(len(left), 'exact limit')} that the hooks' files suggest were not tried; the "
            f"first would be reached in turn {left[0]:,}."
        )
