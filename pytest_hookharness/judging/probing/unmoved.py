"""
Things that could matter to a loop and that no experiment changed.

That no experiment makes a difference says something only of what experiments change: contents of files that
follow a rule, times of files, and the clock where it is moved. A later value of a digest is not known, so an
experiment puts another one in its place, to which the loop does not come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pytest_hookharness.model.probes import PartKind, PerturbationKind, ProbeReport
from pytest_hookharness.model.reads import Influences, LookKind

_OTHER_TIMES = frozenset((PerturbationKind.AGED, PerturbationKind.WAITED, PerturbationKind.CLOCK))
_FOLDER_LOOKS = frozenset((LookKind.LISTED, LookKind.STATUS))
# What they show is not all in the state: times, attributes, and names of the objects of Git.
_BEYOND_STATE = frozenset((LookKind.LISTED, LookKind.STATUS, LookKind.ATTRIBUTE))


def find_unmoved(
    found: Influences, reports: Collection[ProbeReport], *, changing: Collection[str], paced: bool
) -> tuple[str, ...]:
    """
    Return what could matter and no experiment changed, in words.

    What differs in every run by itself, such as random numbers, needs no experiment.

    Args:
        found: What the loop reads that changes or lies outside of its state.
        changing: The state paths that differ between its last repetitions; when it was observed, others may
            have done so too.
        paced: Whether the experiments that go ahead also move the clock.
    """
    places = _places(found, reports, changing)
    return tuple(dict.fromkeys((*places, *found.outside, *_clock(found, reports, paced))))


def _places(found: Influences, reports: Collection[ProbeReport], changing: Collection[str]) -> Iterator[str]:
    parts = [part for report in reports if report.probes for part in report.parts]
    digests = {part.path for part in parts if part.kind is PartKind.DIGEST}
    changed = {part.path for part in parts} - digests
    aged = PerturbationKind.AGED in _kinds(reports)
    for words, path, look in found.places:
        if path not in changing and look not in _BEYOND_STATE:
            continue
        # A folder shows which files come and go in it.
        inside = look in _FOLDER_LOOKS and any(each.startswith(f"{path}/") for each in changed)
        dated = aged and look is LookKind.STATUS and path not in digests
        if path not in changed and not inside and not dated:
            yield words


def _clock(found: Influences, reports: Collection[ProbeReport], paced: bool) -> Iterator[str]:
    kinds = _kinds(reports)
    moved = PerturbationKind.CLOCK in kinds or (paced and PerturbationKind.AHEAD in kinds)
    if not found.clock or moved:
        return
    # A script that only writes the time, or compares times of files, gets other ones where these are older.
    if found.timed or kinds.isdisjoint(_OTHER_TIMES):
        yield from found.timed or ("the clock",)


def _kinds(reports: Collection[ProbeReport]) -> set[PerturbationKind]:
    return {probe.kind for report in reports for probe in report.probes}
