"""What could matter to a loop, and no experiment changed."""

import pytest

from pytest_hookharness.judging.probing.unmoved import find_unmoved
from pytest_hookharness.model.probes import (
    PartKind,
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    StatePart,
)
from pytest_hookharness.model.reads import Influences, LookKind

N = "workspace/n"
CLOCK = "the clock (`-ge 20` in workspace/check.sh)"
OF_TIME = (PerturbationKind.AGED, PerturbationKind.WAITED, PerturbationKind.CLOCK)


def part(kind=PartKind.COUNTER, path=N):
    return StatePart(path=path, kind=kind, before="7", after="8")


def tried(*parts, how=(PerturbationKind.AHEAD,)):
    """A report on experiments of these kinds with these parts."""
    same = ProbeResult(reaction=ProbeEffect.SAME)
    probes = tuple(Probe(kind=kind, tried="a change", seen=same) for kind in how)
    return ProbeReport(turn=8, period=1, parts=parts, probes=probes)


def unmoved(*reports, changing=(N,), paced=False, **found):
    return find_unmoved(Influences(**found), reports, changing=changing, paced=paced)


def at(look, path=N, words="it"):
    """What is read of the state at a path."""
    return ((words, path, look),)


def test_a_part_that_was_changed():
    """A file that is read is changed by the experiments with its parts, and by no others."""
    places = at(LookKind.OPENED)

    assert unmoved(tried(part()), places=places) == ()
    assert unmoved(tried(part(path="workspace/other")), places=places) == ("it",)
    assert unmoved(tried(part(), how=()), places=places) == ("it",)
    assert unmoved(places=places) == ("it",)


@pytest.mark.parametrize(("look", "counts"), [(LookKind.OPENED, False), (LookKind.LISTED, True)])
def test_a_file_that_changes_no_more(look, counts):
    """A content that was observed while it changed, and no longer does, is part of a state that recurs."""
    assert unmoved(places=at(look), changing=()) == (("it",) if counts else ())


def test_all_experiments_of_a_run_count():
    """What earlier experiments changed is not unchanged because later ones left it alone."""
    assert unmoved(tried(part()), tried(part(path="workspace/other")), places=at(LookKind.OPENED)) == ()


def test_a_digest_is_not_moved_on():
    """A digest that is replaced by another does not become one to which the loop comes."""
    report = tried(part(), part(PartKind.DIGEST), how=(PerturbationKind.AHEAD, PerturbationKind.AGED))

    assert unmoved(report, places=at(LookKind.OPENED)) == ("it",)
    assert unmoved(report, places=at(LookKind.STATUS)) == ("it",)


@pytest.mark.parametrize("look", [LookKind.LISTED, LookKind.STATUS])
def test_a_folder_shows_what_comes_and_goes_in_it(look):
    """A folder is changed by experiments with the files in it, and not by those beside it."""
    places = at(look, path="workspace/runs")

    assert unmoved(tried(part(path="workspace/runs/7")), places=places) == ()
    assert unmoved(tried(part(path="workspace/runs2/7")), places=places) == ("it",)


@pytest.mark.parametrize(("look", "moved"), [(LookKind.STATUS, True), (LookKind.ATTRIBUTE, False)])
def test_older_files_have_other_times(look, moved):
    """Where files are made older, their status was changed, and neither their content nor attributes."""
    assert unmoved(tried(how=(PerturbationKind.AGED,)), places=at(look)) == (() if moved else ("it",))


def test_nothing_moves_what_lies_outside_of_the_state():
    """What lies outside of the state is never changed, and what is not listed differs by itself."""
    report = tried(part(), how=tuple(PerturbationKind))

    assert unmoved(report, outside=("/proc/uptime",)) == ("/proc/uptime",)
    assert unmoved(report, matters=("random numbers",), chance=True) == ()


@pytest.mark.parametrize("how", OF_TIME)
def test_other_times_for_a_script_that_writes_the_time(how):
    """A clock that no code compares has other times where stored ones are older, or time passes."""
    assert unmoved(tried(how=(how,)), clock=True) == ()
    assert unmoved(tried(), clock=True) == ("the clock",)
    assert unmoved(tried()) == ()


@pytest.mark.parametrize("how", OF_TIME)
def test_other_times_for_a_script_that_compares_the_time(how):
    """Code that compares the time has other ones only where the clock itself was moved."""
    found = {"clock": True, "timed": (CLOCK,)}

    assert unmoved(tried(how=(how,)), **found) == (() if how is PerturbationKind.CLOCK else (CLOCK,))
    assert unmoved(tried(), paced=True, **found) == ()
    assert unmoved(tried(how=(how,)), paced=True, **found) == unmoved(tried(how=(how,)), **found)
