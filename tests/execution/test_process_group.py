"""What the weakest tier guarantees, and what it reports that it does not."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Exited, HeldOpen, KillPolicy, Tier, TimedOut

from .toys import STAY, launch, staying


@pytest.fixture
def grouped() -> Iterator[Sandbox]:
    """A sandbox that knows only process groups, of a supervisor that reaps no orphans for it."""
    with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.GROUP)) as sandbox:
        yield sandbox
    for pid in staying():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "toy,count", [("plain_children.sh", 2), ("leaves_term_ignorer.sh", 1), ("forks_200_children.sh", 200)]
)
def test_children_in_the_group_are_named_and_ended(grouped: Sandbox, toy: str, count: int) -> None:
    """Children that stay in the group are leftovers, and dead afterwards."""
    (run,) = grouped.run([launch(toy)])
    assert run.ending == Exited(0)
    assert len(run.leftovers) == count
    assert staying() == []


def test_a_hook_that_ignores_term_is_ended(grouped: Sandbox) -> None:
    """A hook that ignores TERM is killed with its whole group."""
    (run,) = grouped.run([launch("ignores_term.sh", hook_timeout=0.3, kill=KillPolicy(grace=0.1))])
    assert isinstance(run.ending, TimedOut)
    assert run.ending.ignored_term
    assert staying() == []


def test_held_output_is_seen(grouped: Sandbox) -> None:
    """A child of the group that holds the output is named as holder."""
    (run,) = grouped.run([launch("holds_stdout.sh")])
    assert isinstance(run.ending, HeldOpen)
    assert f"sleep {STAY}" in [holder.command for holder in run.ending.holders]
    assert staying() == []


@pytest.mark.parametrize(
    "toy,word",
    [
        ("setsid_child.sh", "session of its own"),
        ("double_fork_daemon.sh", "forked twice"),
        ("cleared_env_daemon.sh", "environment"),
    ],
)
def test_a_child_that_leaves_the_group_survives(grouped: Sandbox, toy: str, word: str) -> None:
    """A child that leaves the group is not found, which is why the notes name such children."""
    (run,) = grouped.run([launch(toy)])
    assert run.leftovers == ()
    assert len(staying()) == 1
    assert any(word in note for note in grouped.notes)
