"""Hooks that ask on the terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.delivery import Asked, Terminal, TypedAnswer
from pytest_hookharness.model.processes import Exited, HeldOpen, ProcessResult, Stdio, Tier, TimedOut

from .toys import launch

ASKS = "printf 'Name: ' >/dev/tty; read -r name </dev/tty; echo \"it is $name\""
NOBODY = Terminal()
ROBIN = Terminal((TypedAnswer(expect="Name: ", send="robin"),))
NEVER = 0.2
OPEN = Path("/proc/self/fd")


@pytest.fixture(
    params=[
        Tier.NAMESPACES,
        *(pytest.param(tier, marks=pytest.mark.slow) for tier in (Tier.SUBREAPER, Tier.GROUP)),
    ],
)
def place(supervisor: Supervisor, request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox of each tier."""
    if reason := supervisor.tiers()[request.param]:
        pytest.skip(f"no {request.param.value} here: {reason}")
    with supervisor.open(Confinement(tier=request.param)) as opened:
        yield opened


def ask(sandbox: Sandbox, script: str, terminal: Terminal | None, **changes: object) -> ProcessResult:
    (run,) = sandbox.run([launch("/bin/sh", "-c", script, terminal=terminal, **changes)])
    return run


def test_an_unanswered_question_is_reported_with_the_cut(place: Sandbox) -> None:
    """A hook run that waits for an answer on its terminal is cut, and its question is known."""
    run = ask(place, ASKS, NOBODY, hook_timeout=NEVER)
    assert isinstance(run.ending, TimedOut)
    assert [activity.asks for activity in run.ending.doing] == ["Name:"]
    assert run.dialogue is not None
    assert (run.dialogue.shown, run.dialogue.asked) == (b"Name: ", ())


@pytest.mark.parametrize("stdio", [Stdio.PIPE, Stdio.SOCKET])
def test_an_answer_is_typed(place: Sandbox, stdio: Stdio) -> None:
    """An expected question is answered, and standard output holds only what the hook printed."""
    run = ask(place, ASKS, ROBIN, stdio=stdio)
    assert (run.ending, run.stdout.data) == (Exited(0), b"it is robin\n")
    assert run.dialogue is not None
    assert (run.dialogue.asked, run.dialogue.unanswered) == ((Asked("Name:", "robin"),), "")


def test_another_question_is_not_answered(place: Sandbox) -> None:
    """An unexpected question is not answered, though another one would be."""
    run = ask(place, ASKS.replace("Name", "Age"), ROBIN, hook_timeout=NEVER)
    assert isinstance(run.ending, TimedOut)
    assert run.dialogue is not None
    assert (run.dialogue.asked, run.dialogue.unanswered) == ((), "Age:")


def test_without_a_terminal_there_is_none_to_open(place: Sandbox) -> None:
    """A hook that was given no terminal cannot open one."""
    run = ask(place, "exec 2>&1; : </dev/tty", None)
    assert run.ending != Exited(0)
    assert b"No such device" in run.stdout.data
    assert run.dialogue is None


@pytest.mark.nightly
def test_the_end_of_a_hook_hangs_nobody_up(place: Sandbox) -> None:
    """A child that a hook leaves behind is found as it would be without a terminal."""
    runs = [ask(place, "sleep 60 & exit 0", terminal) for terminal in (None, NOBODY)]
    assert [type(run.ending) for run in runs] == [HeldOpen, HeldOpen]
    assert [len(run.leftovers) for run in runs] == [1, 1]


def test_a_flood_on_the_terminal_is_bounded(place: Sandbox) -> None:
    """Output without end on a terminal is drained and counted, and kept in part."""
    run = ask(place, "head -c 300000 /dev/zero | tr '\\0' x >/dev/tty", NOBODY)
    assert run.ending == Exited(0)
    assert run.dialogue is not None
    assert (run.dialogue.total, len(run.dialogue.shown)) == (300_000, 1 << 16)


@pytest.mark.nightly
def test_nothing_of_a_terminal_is_left(place: Sandbox) -> None:
    """After hook runs with terminals there are no more descriptors and threads than before."""
    ask(place, ASKS, ROBIN)
    before = len([*OPEN.iterdir()]), threading.active_count()
    for terminal in (ROBIN, NOBODY):
        place.run([launch("/bin/sh", "-c", ASKS, terminal=terminal, hook_timeout=NEVER)] * 3)
    assert (len([*OPEN.iterdir()]), threading.active_count()) == before
