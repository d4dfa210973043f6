"""
Patterns: how files move from lap to lap, and where they would be otherwise.

Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_hookharness.judging.state_diff import deviation
from pytest_hookharness.judging.state_diff.extrapolate import extent, push_thread, tell
from pytest_hookharness.judging.state_diff.file_series import Files, FileSeries, Lost, follow, text_of
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.targets import Target, is_json, targets_of
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind, StatePart

_GROWING = (PartKind.GROWTH, PartKind.FILES)


@dataclass(frozen=True, slots=True)
class Irregular:
    """
    Files that did not move in a way that can be followed.

    Attributes:
        paths: The files.
        why: Why not, in one sentence about the first of them.
    """

    paths: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """
    How files move from lap to lap.

    Attributes:
        threads: The files, each followed through the laps.
        targets: Their parts, with what a push of them changes.
        clock: The clock of the session at the newest moment.
    """

    threads: tuple[FileSeries, ...]
    targets: tuple[Target, ...]
    clock: SessionClock

    @property
    def newest(self) -> Files:
        """
        The files at the newest moment; ``None`` for one that is not there any more.
        """
        return self.pushed(Perturbation(parts=(), how=PerturbationKind.AHEAD))

    @property
    def paths(self) -> tuple[str, ...]:
        """
        The files of the pattern, those included that are not there any more.
        """
        return tuple(self.newest)

    @property
    def parts(self) -> tuple[StatePart, ...]:
        """
        What differs from lap to lap.
        """
        return tuple(target.part for target in self.targets)

    def pushed(self, push: Perturbation) -> Files:
        """
        The newest moment's files with some parts pushed; growth is bounded.

        Returns:
            Every file of the pattern with its whole content; ``None`` for one that is not there then.
        """
        files: dict[str, bytes | None] = {}
        for number, thread in enumerate(self.threads):
            chosen = [target for target in self._chosen(push) if target.thread == number]
            for path, content in push_thread(thread, chosen, push, self.clock):
                # Of two threads that share a name the file that is there counts.
                if content is not None or path not in files:
                    files[path] = content
        return files

    def departure(self, before: Files, after: Files, clock: SessionClock) -> str:
        """
        How one lap departs from the pattern.

        Args:
            before: The files before the lap, pushed or not.
            after: What the hooks made of them.
            clock: The clock with the present after the lap.

        Returns:
            One sentence that names file and place; empty if the lap moved the files as the laps before did.
        """
        return deviation.departure(self.threads, self.targets, before, after, clock)

    def relaxed(self, before: Files, after: Files) -> Pattern:
        """
        The same pattern without the steps that one more look at a lap refuted.

        Args:
            before: The files before the lap, pushed or not.
            after: What the hooks made of them.
        """
        threads = tuple(deviation.relax(self.threads, before, after))
        return Pattern(threads, targets_of(threads), self.clock)

    def unpredictable(self, before: Files, after: Files) -> tuple[int, ...]:
        """
        The parts that follow from the files by no rule that is seen, from one more look at a lap.

        Args:
            before: The files before the lap, all parts put back to what they were.
            after: What the hooks made of them.
        """
        return tuple(deviation.lawless(self.threads, self.targets, before, after))

    def told(self, index: int, push: Perturbation) -> str:
        """
        How far one part was pushed, in words for a report.
        """
        target = self.targets[index]
        return tell(self.threads[target.thread], target, push)

    def reached(self, push: Perturbation) -> str:
        """
        How far all pushed parts were pushed, in words for a report.
        """
        return ", ".join(self.told(index, push) for index in push.parts)

    def clipped(self, push: Perturbation) -> tuple[int, ...]:
        """
        The parts that grow and therefore did not go the whole way ahead.
        """
        if push.how is not PerturbationKind.AHEAD:
            return ()
        return tuple(
            index
            for index in push.parts
            if (target := self.targets[index]).part.kind in _GROWING
            and extent(self.threads[target.thread], target, push.repetitions) < push.repetitions
        )

    def _chosen(self, push: Perturbation) -> list[Target]:
        return [self.targets[index] for index in sorted(set(push.parts))]


def recognise(moments: Sequence[Files], clock: SessionClock) -> Pattern | Irregular:
    """
    How files move, from how they did.

    Args:
        moments: At least three moments, oldest first, each one lap after the other: the content of every
            file that differs between any two of them.
        clock: The clock of the session at the newest moment.

    Raises:
        ValueError: There are fewer than three moments.
    """
    if len(moments) < 3:
        raise ValueError(
            f"{len(moments)} moments show no pattern; at least 3 do, each one lap after the other"
        )
    followed = follow(moments, clock)
    lost = [thread for thread in followed if isinstance(thread, Lost)]
    if lost:
        return Irregular(
            tuple(one.path for one in lost), f"{lost[0].path} cannot be followed: {lost[0].why}."
        )
    threads = tuple(thread for thread in followed if isinstance(thread, FileSeries))
    pattern = Pattern(threads, targets_of(threads), clock)
    return _broken(pattern) or pattern


def _broken(pattern: Pattern) -> Irregular | None:
    """
    The JSON files that would be none any more if their parts were pushed.
    """
    whole = {thread.path for thread in pattern.threads if is_json(text_of(thread.raw) or "")}
    everything = tuple(range(len(pattern.targets)))
    for push in (
        Perturbation(parts=everything, how=PerturbationKind.AHEAD, repetitions=2),
        Perturbation(parts=everything, how=PerturbationKind.OLDER),
    ):
        files = pattern.pushed(push)
        broken = tuple(path for path in sorted(whole) if _is_broken(files.get(path)))
        if broken:
            return Irregular(
                broken, f"{broken[0]} cannot be followed: its text goes on in no way that is JSON."
            )
    return None


def _is_broken(content: bytes | None) -> bool:
    return content is not None and not is_json(text_of(content) or "")
