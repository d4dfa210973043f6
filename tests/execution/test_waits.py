"""How long a host waits for a hook that it cuts, and for output that stays open."""

from __future__ import annotations

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox
from pytest_hookharness.model.processes import Cut, Exited, KillPolicy, KillScope, ProcessResult, TimedOut

from .toys import STAY, launch, staying

pytestmark = pytest.mark.slow
LIMIT = 0.3


def run_hook(
    sandbox: Sandbox, script: str, kill: KillPolicy, **changes: object
) -> tuple[ProcessResult, TimedOut]:
    """Run a hook with a limit that counts for its output too."""
    (run,) = sandbox.run(
        [launch("sh", "-c", script, limit=LIMIT, pipe_wait=None, kill=kill, **changes)],
    )
    assert isinstance(run.ending, TimedOut)
    return run, run.ending


def test_output_that_is_open_at_the_limit_cuts_a_hook_that_ended(sandbox: Sandbox) -> None:
    """
    Where a host waits for output until the limit, a hook that had ended is cut, and its own end is known.
    """
    run, ending = run_hook(sandbox, f"sleep {STAY} & echo no; exit 2", KillPolicy(scope=KillScope.GROUP))
    assert (ending.by, ending.ended) == (Cut.LIMIT, Exited(2))
    assert run.wall < LIMIT
    assert run.leftovers == ()
    assert staying() == []


def test_output_that_is_closed_before_the_limit_is_no_cut(sandbox: Sandbox) -> None:
    """Output that a child closes before the limit leaves the hook its own ending."""
    (run,) = sandbox.run([launch("sh", "-c", "(sleep 0.1; echo late) & exit 2", pipe_wait=None)])
    assert run.ending == Exited(2)
    assert run.stdout.data == b"late\n"


@pytest.mark.nightly
def test_a_child_outside_of_the_group_is_a_leftover(sandbox: Sandbox) -> None:
    """
    A child in a session of its own outlives a host that signals the group, and one in the group does not.
    """
    apart, _ = run_hook(
        sandbox, f"setsid sleep {STAY} & exit 0", KillPolicy(signals=(9,), scope=KillScope.GROUP)
    )
    shell, _ = run_hook(sandbox, f"sleep {STAY} & wait", KillPolicy(signals=(9,), scope=KillScope.CHILD))
    assert len(apart.leftovers) == len(shell.leftovers) == 1
    assert staying() == []


@pytest.mark.nightly
def test_the_second_signal_waits_for_the_whole_tree(sandbox: Sandbox) -> None:
    """A child that ignores the first signal gets its grace period although the hook itself is gone."""
    script = f"(trap '' TERM; sleep {STAY}; :) & wait"
    run, ending = run_hook(sandbox, script, KillPolicy(scope=KillScope.TREE, grace=0.2))
    assert ending.ignored_term
    assert run.leftovers == ()
    assert staying() == []


@pytest.mark.nightly
def test_a_host_without_a_limit_waits_until_the_hook_timeout(sandbox: Sandbox) -> None:
    """
    A host that sends one signal and waits for the end without a limit is simulated up to the hook timeout.
    """
    kill = KillPolicy(signals=(15,), scope=KillScope.CHILD, close_wait=None)
    _, own_end = run_hook(sandbox, "trap '' TERM; sleep 0.8", kill)
    _, no_end = run_hook(sandbox, f"trap '' TERM; sleep {STAY}", kill, hook_timeout=0.8)
    assert (own_end.by, own_end.after) == (Cut.LIMIT, LIMIT)
    assert (no_end.by, no_end.after) == (Cut.HOOK_TIMEOUT, 0.8)
    assert staying() == []


@pytest.mark.nightly
@pytest.mark.parametrize("wait,lasts", [(0.0, False), (0.5, True)])
def test_a_host_waits_for_the_output_of_a_hook_that_it_cut(
    sandbox: Sandbox, wait: float, lasts: bool
) -> None:
    """What a child prints after its hook was cut counts as far as the host waits for it."""
    kill = KillPolicy(signals=(9,), scope=KillScope.CHILD, close_wait=wait)
    run, _ = run_hook(sandbox, f"(sleep {LIMIT + 0.25}; echo late) & wait", kill, linger=0.0)
    assert (b"late" in run.stdout.data) is lasts
