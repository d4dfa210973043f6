"""Which verdict several threads get together."""

import pytest

from pytest_hookharness.judging.expectations.events import broken_threads
from pytest_hookharness.judging.verdict.conclusion import judge_threads
from pytest_hookharness.model.background import BackgroundReport, Denial, HookThread
from pytest_hookharness.model.expectations import ProcessExpectation, Range
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Cap, Capped, Hung, Recursing, Terminated, Undecided

RULE = Rule("It waits.", Basis.OBSERVED, "a host")
ENDED = Terminated(turn=2)
CAPPED = Capped(turn=4, cap=Cap(overrides=9, why="It overrides.", rule=RULE))
HUNG = Hung(turn=3, event="Stop", command="./x", rule=RULE)
OPEN = Undecided(turn=5, why="no end in 5 turns")
STOPPED = Denial(
    process="build", hook="build.on_exit", reason="the depth limit", stops=True, chain=("a", "b")
)
UNKNOWN = Denial(process="rm", hook="", reason="no such process", stops=False)
CAUGHT = Recursing(turn=7, limit="the depth limit", chain=("a", "b"))


@pytest.mark.parametrize(
    ("verdicts", "denials", "unfinished", "verdict"),
    [
        ([ENDED], [], [], Terminated(turn=7)),
        ([ENDED, ENDED], [UNKNOWN], [], Terminated(turn=7)),
        ([ENDED, CAPPED], [], [], CAPPED),
        ([CAPPED, OPEN], [], [], OPEN),
        ([ENDED, OPEN], [STOPPED], [], CAUGHT),
        ([ENDED, HUNG], [STOPPED], [], HUNG),
        ([ENDED], [STOPPED], ["the process a still ran"], CAUGHT),
        ([ENDED], [], ["a", "b"], Undecided(turn=7, why="it was ended while a; b")),
    ],
)
def test_the_worst_decides(verdicts, denials, unfinished, verdict):
    """A run has terminated only if all of its threads have, no limit stopped it and nothing is left."""
    assert judge_threads(verdicts, denials, turn=7, unfinished=unfinished) == verdict


def thread(number, name, hook, depth):
    """A thread that was spawned."""
    return HookThread(number=number, name=name, process=name, hook=hook, because="", depth=depth)


@pytest.mark.parametrize(
    ("threads", "depth", "paths"),
    [
        ({"build": 3, "build.on_exit": 1, "build.on_exit.2": 2, "built": 0}, 2, []),
        ({"build": 2}, None, ["expect.processes.threads.build"]),
        ({"build.on_exit": 3}, None, ["expect.processes.threads.build.on_exit"]),
        ({}, 3, ["expect.processes.depth"]),
    ],
)
def test_expectations_about_threads(threads, depth, paths):
    """Threads are counted by process and by hook, also if one name begins like another; so is their depth."""
    tracked = BackgroundReport(
        threads=(
            thread(1, "build", "build.on_exit", 1),
            thread(2, "build", "build.on_exit.2", 1),
            thread(3, "build", "build.on_exit.2", 2),
        )
    )
    outcome = Outcome(scenario=Scenario(name="a"), host="h", trace=Trace(), verdict=ENDED, background=tracked)
    expected = ProcessExpectation(
        threads={word: Range.exactly(number) for word, number in threads.items()},
        depth=None if depth is None else Range.exactly(depth),
    )

    assert [broken.path for broken in broken_threads(outcome, expected)] == paths
