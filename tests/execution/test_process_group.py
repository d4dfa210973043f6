"""What the weakest tier guarantees, and what it reports that it does not."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import Exited, HeldOpen, KillPolicy, Tier, TimedOut

from .toys import STAY, eventually, launch, staying


@pytest.fixture
def grouped() -> Iterator[Sandbox]:
    """A sandbox that knows only process groups, of a supervisor that reaps no orphans for it."""
    with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.GROUP)) as sandbox:
        yield sandbox
    for pid in staying():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "toy,count", [("plain_children.sh", 2), ("leaves_term_ignorer.sh", 1), ("forks_200_children.sh", 200)]
)
def test_children_in_the_group_are_named_and_ended(grouped: Sandbox, toy: str, count: int) -> None:
    """Children that stay in the group are leftovers, and dead afterwards."""
    (run,) = grouped.run([launch(toy)])
    assert run.ending == Exited(0)
    assert len(run.leftovers) == count
    assert staying() == []


@pytest.mark.slow
def test_a_hook_that_ignores_term_is_ended(grouped: Sandbox) -> None:
    """A hook that ignores TERM is killed with its whole group."""
    (run,) = grouped.run([launch("ignores_term.sh", hook_timeout=0.3, kill=KillPolicy(grace=0.1))])
    assert isinstance(run.ending, TimedOut)
    assert run.ending.ignored_term
    assert staying() == []


@pytest.mark.slow
def test_held_output_is_seen(grouped: Sandbox) -> None:
    """A child of the group that holds the output is named as holder."""
    (run,) = grouped.run([launch("holds_stdout.sh")])
    assert isinstance(run.ending, HeldOpen)
    assert f"sleep {STAY}" in [holder.command for holder in run.ending.holders]
    assert staying() == []


# How programs leave their parent: each of them ends without a process group that its hook led.
DAEMONS = {
    "session": "setsid sleep $TOY_SECONDS <$N >$N 2>&1 &",
    "environment": "env -i setsid sleep $TOY_SECONDS <$N >$N 2>&1 &",
    "two forks": "(setsid sh -c 'sleep $0 & :' $TOY_SECONDS <$N >$N 2>&1 &)",
    "group": "set -m; sleep $TOY_SECONDS <$N >$N 2>&1 &",
    "all of it": "(env -i setsid sh -c 'setsid sleep $0 & :' $TOY_SECONDS <$N >$N 2>&1 &)",
    "hangup": "nohup setsid sleep $TOY_SECONDS <$N >$N 2>&1 &",
    "unmarked": "ulimit -x unlimited; setsid sh -c 'sleep $0 & :' $TOY_SECONDS <$N >$N 2>&1 &",
    "streams": "ulimit -x unlimited; env -i setsid sh -c 'sleep $0 & :' $TOY_SECONDS <$N 2>$N &",
}
# Nothing is left of what it inherited but the control group; where no limit is the mark, the descriptor is.
TRACELESS = DAEMONS["all of it"].replace("(", "(ulimit -x unlimited; exec 199>&-; ")


def leaves(daemon: str) -> str:
    """Return a hook that leaves a daemon, and waits until it runs."""
    return f'N=/dev/null; {daemon}\nuntil pgrep -f "sleep $TOY_SECONDS" >$N; do :; done; sleep 0.05'


@pytest.mark.nightly
@pytest.mark.parametrize("how", DAEMONS)
def test_a_daemon_is_found_and_ended(grouped: Sandbox, how: str) -> None:
    """A daemon that left the group of its hook is a leftover of it, and dead afterwards."""
    (run,) = grouped.run([launch("bash", "-c", leaves(DAEMONS[how]))])
    assert [left.command for left in run.leftovers] == [f"sleep {STAY}"]
    assert staying() == []


@pytest.mark.slow
def test_a_daemon_belongs_to_its_hook(grouped: Sandbox) -> None:
    """Of two hooks that run side by side, the one that left the daemon has it."""
    runs = grouped.run([launch("sleep", "0.3"), launch("bash", "-c", leaves(DAEMONS["all of it"]))])
    assert [len(run.leftovers) for run in runs] == [0, 1]
    assert [run.unclaimed for run in runs] == [(), ()]


@pytest.mark.slow
def test_a_daemon_of_another_item_is_left_alone(grouped: Sandbox) -> None:
    """A process of an item that runs at the same time, in the same way, is neither blamed nor ended."""
    with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.GROUP)) as other:
        other.start_lasting(
            launch("bash", "-c", DAEMONS["two forks"].replace("$N", "/dev/null") + "\nsleep 60")
        )
        eventually(lambda: len(staying()) == 1, "the other item has its daemon")
        (run,) = grouped.run([launch("sleep", "0.1")])
        assert run.leftovers == ()
        assert len(staying()) == 1
    assert staying() == []


@pytest.mark.slow
def test_a_daemon_without_a_trace_is_found_by_its_control_group(grouped: Sandbox) -> None:
    """A daemon that dropped all it inherited is found in a control group; the notes name the gap."""
    (run,) = grouped.run([launch("bash", "-c", leaves(TRACELESS))])
    found = any("control group" in note for note in grouped.notes)
    assert len(run.leftovers) == found
    assert len(staying()) == (not found)
    assert any("may survive and is not reported" in note for note in grouped.notes)


@pytest.mark.slow
def test_control_groups_are_removed() -> None:
    """After the last item no control group of the harness is left."""
    before = set(Path("/sys/fs/cgroup").glob("**/hookharness-*"))
    with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.GROUP)) as sandbox:
        sandbox.run([launch("bash", "-c", leaves(DAEMONS["all of it"]))])
    made = set(Path("/sys/fs/cgroup").glob("**/hookharness-*")) - before
    # A run beside this one may own some: its process is alive, or it removes them before it ends.
    left = [one for one in made if not Path(f"/proc/{one.name.rpartition('-')[2]}").exists()]
    assert not [one for one in left if one.exists()]
