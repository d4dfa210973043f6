"""Patterns: how the files of a state change per repetition, and how they would look in other states."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.judging.state_diff import deviation
from pytest_hookharness.judging.state_diff.extrapolate import (
    describe_perturbation,
    perturb_series,
    reachable_repetitions,
)
from pytest_hookharness.judging.state_diff.file_series import (
    Files,
    FileSeries,
    follow_files,
    text_of,
)
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.part_locations import PartLocation, is_json, locate_parts
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind, StatePart

_GROWING = (PartKind.GROWTH, PartKind.FILES)


@dataclass(frozen=True, slots=True)
class Pattern:
    """How files change from repetition to repetition, with the clock of the session in the newest state."""

    all_series: tuple[FileSeries, ...]
    locations: tuple[PartLocation, ...]
    clock: SessionClock

    @property
    def newest(self) -> Files:
        """The files in the newest state; ``None`` for one that no longer exists."""
        return self.perturbed(Perturbation(parts=(), how=PerturbationKind.AHEAD))

    @property
    def parts(self) -> tuple[StatePart, ...]:
        """What changes from repetition to repetition."""
        return tuple(location.part for location in self.locations)

    def perturbed(self, perturbation: Perturbation) -> Files:
        """
        Return all files of the newest state with some parts perturbed; ``None`` for a file that is gone.

        Growth is limited.
        """
        files: dict[str, bytes | None] = {}
        indices = sorted(set(perturbation.parts))
        for number, series in enumerate(self.all_series):
            chosen = [one for part in indices if (one := self.locations[part]).series == number]
            for path, content in perturb_series(series, chosen, perturbation, self.clock):
                # If two series share a path, the file that exists counts.
                if content is not None or path not in files:
                    files[path] = content
        return files

    def find_deviation(self, before: Files, after: Files, clock: SessionClock) -> str:
        """Say how a repetition that ends now, by the clock, deviates from the pattern; empty if not."""
        return deviation.find_deviation(self.all_series, self.locations, before, after, clock)

    def without_refuted_steps(self, before: Files, after: Files) -> Pattern:
        """Return the pattern without the steps that one more repetition refuted."""
        all_series = tuple(deviation.refute_steps(self.all_series, before, after))
        return Pattern(all_series, locate_parts(all_series), self.clock)

    def find_unpredictable(self, before: Files, after: Files) -> tuple[int, ...]:
        """
        Return the parts that are derived from the files, but by an unknown rule.

        ``before`` has all parts at their older values, and ``after`` is one repetition later.
        """
        return tuple(deviation.find_unpredictable(self.all_series, self.locations, before, after))

    def describe(self, index: int, perturbation: Perturbation) -> str:
        """Say how one part was perturbed."""
        location = self.locations[index]
        return describe_perturbation(self.all_series[location.series], location, perturbation)

    def describe_all(self, perturbation: Perturbation) -> str:
        """Say how all perturbed parts were perturbed."""
        return ", ".join(self.describe(index, perturbation) for index in perturbation.parts)

    def truncated(self, perturbation: Perturbation) -> tuple[int, ...]:
        """Return the growing parts that a limit keeps from growing as far as the perturbation asks."""
        if perturbation.how is not PerturbationKind.AHEAD:
            return ()
        return tuple(
            index
            for index in perturbation.parts
            if (location := self.locations[index]).part.kind in _GROWING
            and reachable_repetitions(self.all_series[location.series], location, perturbation.repetitions)
            < perturbation.repetitions
        )


def find_pattern(states: Sequence[Files], clock: SessionClock) -> Pattern | None:
    """
    Return how files change, from the states of consecutive repetitions; ``None`` if they follow no rule.

    Args:
        states: At least three states, oldest first, one repetition apart: the content of every file that
            differs between any two of them.
        clock: The clock of the session in the newest state.

    Raises:
        ValueError: There are fewer than three states.
    """
    if len(states) < 3:
        raise ValueError(
            f"{len(states)} states are too few for a pattern; at least 3 are needed, one repetition apart"
        )
    followed = follow_files(states, clock)
    if followed is None:
        return None
    pattern = Pattern(tuple(followed), locate_parts(followed), clock)
    return pattern if _keeps_json(pattern) else None


def _keeps_json(pattern: Pattern) -> bool:
    """Return whether perturbations leave all JSON files valid."""
    # One step in each direction shows whether separators and chunks still fit together.
    whole = {series.path for series in pattern.all_series if _is_json(series.raw)}
    everything = tuple(range(len(pattern.locations)))
    for perturbation in (
        Perturbation(parts=everything, how=PerturbationKind.AHEAD, repetitions=2),
        Perturbation(parts=everything, how=PerturbationKind.OLDER),
    ):
        files = pattern.perturbed(perturbation)
        predicted = (content for path in whole if (content := files.get(path)) is not None)
        if not all(map(_is_json, predicted)):
            return False
    return True


def _is_json(content: bytes) -> bool:
    return is_json(text_of(content) or "")
