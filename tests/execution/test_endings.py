"""How one hook run ends, in both tiers that guarantee that nothing survives it."""

from __future__ import annotations

import math
import os
import signal
import time
from pathlib import Path
from subprocess import Popen

import pytest

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.activities import describe_activities
from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.model.processes import (
    Cut,
    Exited,
    HeldOpen,
    KillPolicy,
    KillScope,
    NotStarted,
    ProcessResult,
    Signaled,
    Stdin,
    Stdio,
    Tier,
    TimedOut,
)

from .toys import STAY, launch, staying

SHORT = 0.25
QUICK = KillPolicy(grace=0.1)


def run_hook(sandbox: Sandbox, *words: str, **changes: object) -> ProcessResult:
    (run,) = sandbox.run([launch(*words, **changes)])
    return run


def cut(sandbox: Sandbox, *words: str, **changes: object) -> tuple[ProcessResult, TimedOut]:
    run = run_hook(sandbox, *words, **{"hook_timeout": SHORT, "kill": QUICK, **changes})
    assert isinstance(run.ending, TimedOut)
    return run, run.ending


@pytest.mark.parametrize("code", [0, 2, 255])
def test_an_exit_code_is_reported_as_it_is(sandbox: Sandbox, code: int) -> None:
    """A hook that exits is reported with its own code."""
    assert run_hook(sandbox, "sh", "-c", f"exit {code}").ending == Exited(code)


def test_a_signal_the_hook_sent_itself_is_its_ending(sandbox: Sandbox) -> None:
    """A hook that dies by a signal that is not ours is reported with that signal."""
    assert run_hook(sandbox, "sh", "-c", "kill -9 $$").ending == Signaled(9)


LEAVERS = {
    "plain_children.sh": 2,
    "setsid_child.sh": 1,
    "double_fork_daemon.sh": 1,
    "cleared_env_daemon.sh": 1,
    "leaves_term_ignorer.sh": 1,
    "stopped_child.sh": 1,
    "forks_200_children.sh": 200,
}


@pytest.mark.parametrize("toy", LEAVERS)
def test_every_process_left_behind_is_named_and_ended(sandbox: Sandbox, toy: str) -> None:
    """
    Every process that a hook leaves behind is a leftover of a hook run that exited, and dead afterwards.
    """
    run = run_hook(sandbox, toy)
    assert run.ending == Exited(0)
    assert len(run.leftovers) == LEAVERS[toy]
    # A child that was only just forked still has the name of its script.
    assert all((STAY in left.command or toy in left.command) for left in run.leftovers)
    assert all(0 <= left.age < 15 for left in run.leftovers)
    assert staying() == []


def test_a_child_that_ends_within_the_linger_is_no_leftover(sandbox: Sandbox) -> None:
    """A descendant that ends in time is not reported."""
    run = run_hook(sandbox, "sh", "-c", "sleep 0.1 </dev/null >/dev/null 2>&1 & exit 0", linger=10.0)
    assert run.ending == Exited(0)
    assert run.leftovers == ()


@pytest.mark.nightly
@pytest.mark.parametrize("toy,code", [("holds_stdout.sh", 0), ("holds_stderr.sh", 2)])
@pytest.mark.parametrize("stdio", [Stdio.PIPE, Stdio.SOCKET])
def test_output_held_open_by_a_child_is_an_ending_of_its_own(
    sandbox: Sandbox, toy: str, code: int, stdio: Stdio
) -> None:
    """
    A hook that exited while a child holds its output is held open, with its own code and the child's name.
    """
    run = run_hook(sandbox, toy, stdio=stdio)
    assert isinstance(run.ending, HeldOpen)
    assert run.ending.exit == Exited(code)
    assert run.ending.waited == 0.2
    assert [holder.command for holder in run.ending.holders] == [f"sleep {STAY}"]
    assert (run.stdout.text + run.stderr.text).strip()


def test_a_child_without_the_output_does_not_hold_it_open(sandbox: Sandbox) -> None:
    """A child that lives but does not hold the output does not make a hook run held open."""
    assert run_hook(sandbox, "plain_children.sh", pipe_wait=10.0).ending == Exited(0)


def test_an_answer_that_comes_before_the_pipes_are_closed_is_no_holding(sandbox: Sandbox) -> None:
    """Output that a child closes within the wait belongs to the answer of a hook that exited."""
    run = run_hook(sandbox, "sh", "-c", "(sleep 0.1; echo late) & exit 0", pipe_wait=10.0)
    assert run.ending == Exited(0)
    assert run.stdout.data == b"late\n"


def test_closed_streams_are_not_an_exit(sandbox: Sandbox) -> None:
    """A hook that closes its streams early still ends with its own exit code."""
    assert run_hook(sandbox, "closes_its_stdio.sh").ending == Exited(7)


@pytest.mark.slow
def test_a_hook_that_ignores_term_is_cut_and_reported_so(sandbox: Sandbox) -> None:
    """A hook that ignores TERM is cut by the hook timeout, killed, and reported as ignoring it."""
    _, ending = cut(sandbox, "ignores_term.sh")
    assert ending.ignored_term
    assert ending.by is Cut.HOOK_TIMEOUT
    assert ending.after == SHORT
    assert staying() == []


def test_a_hook_that_obeys_term_did_not_ignore_it(sandbox: Sandbox) -> None:
    """A hook that ends on TERM is cut and not reported as ignoring it."""
    _, ending = cut(sandbox, "waits_for_child.sh")
    assert not ending.ignored_term


def test_a_kill_without_warning_is_not_an_ignored_term(sandbox: Sandbox) -> None:
    """A host that sends KILL at once gives a hook no chance to ignore anything."""
    _, ending = cut(sandbox, "ignores_term.sh", kill=KillPolicy(signals=(9,), grace=5.0))
    assert not ending.ignored_term


def test_the_hosts_limit_differs_from_the_hook_timeout(sandbox: Sandbox) -> None:
    """A hook run cut at the host's limit is marked so, and got exactly that limit."""
    _, ending = cut(sandbox, "waits_for_child.sh", limit=0.2, hook_timeout=5.0)
    assert ending.by is Cut.LIMIT
    assert ending.after == 0.2


@pytest.mark.slow
def test_a_host_that_signals_the_child_alone_leaves_the_rest_to_us(sandbox: Sandbox) -> None:
    """Under a host that signals only the direct child, the grandchild is a leftover."""
    policy = KillPolicy(signals=(15,), scope=KillScope.CHILD, grace=5.0)
    run, _ = cut(sandbox, "waits_for_child.sh", kill=policy)
    assert [left.command for left in run.leftovers] == [f"sleep {STAY}"]
    assert staying() == []


@pytest.mark.nightly
@pytest.mark.parametrize("scope", [KillScope.GROUP, KillScope.TREE])
def test_a_host_that_signals_all_leaves_nothing_over(sandbox: Sandbox, scope: KillScope) -> None:
    """Under a host that signals the group or the tree, no process is left over."""
    run, _ = cut(sandbox, "waits_for_child.sh", kill=KillPolicy(scope=scope, grace=5.0), linger=5.0)
    assert run.leftovers == ()


@pytest.mark.slow
def test_a_stopped_hook_is_alive_and_is_cut(sandbox: Sandbox) -> None:
    """A hook that stopped itself is cut, and its state is reported."""
    _, ending = cut(sandbox, "stops_itself.sh")
    (activity,) = ending.doing
    assert activity.state == "T"
    assert activity.waits_for == "a signal to continue: it is stopped"


@pytest.mark.nightly
@pytest.mark.parametrize("stdio", [Stdio.PIPE, Stdio.SOCKET])
def test_a_wait_for_end_of_file_is_described(sandbox: Sandbox, stdio: Stdio) -> None:
    """A hook that reads an input which the host keeps open is described as waiting for exactly that."""
    _, ending = cut(sandbox, "cat", stdin=Stdin(data=b"{}\n", close=False), stdio=stdio)
    (activity,) = ending.doing
    assert activity.process.command == "cat"
    assert activity.blocked_in == "read"
    assert activity.waits_for == "end of file on stdin, which the host keeps open"


@pytest.mark.slow
def test_a_shell_that_waits_names_its_child(sandbox: Sandbox) -> None:
    """A shell and the child it waits for are both described, each with what it waits for."""
    _, ending = cut(sandbox, "waits_for_child.sh")
    shell, child = ending.doing
    assert shell.waits_for == f"its child sleep (pid {child.process.pid})"
    assert child.waits_for == "a timer: it sleeps"


@pytest.mark.slow
def test_a_reader_of_a_fifo_is_described(sandbox: Sandbox, tmp_path: object) -> None:
    """A hook that opens a FIFO without a writer is described as waiting for a file to be opened."""
    _, ending = cut(sandbox, "sh", "-c", f"mkfifo {tmp_path}/fifo; read x < {tmp_path}/fifo")
    assert ending.doing[0].blocked_in == "openat"
    assert "FIFO" in ending.doing[0].waits_for


@pytest.mark.slow
def test_a_wait_for_a_lock_names_the_file(sandbox: Sandbox, tmp_path: object) -> None:
    """A hook that waits for a lock is described with the file that is locked."""
    script = f"exec 9>{tmp_path}/state.lock; flock 9; exec 8>{tmp_path}/state.lock; exec flock 8"
    _, ending = cut(sandbox, "bash", "-c", script)
    assert ending.doing[0].waits_for == f"a lock on {tmp_path}/state.lock"


@pytest.mark.parametrize(
    "words,changes,reason",
    [
        (("no-such-command",), {}, "no-such-command was not found on PATH"),
        (("/no/such/command",), {}, "/no/such/command does not exist"),
        (("/etc/passwd",), {}, "/etc/passwd cannot be executed: Permission denied"),
        (
            ("true",),
            {"cwd": "/no/such"},
            "its working folder /no/such cannot be entered: No such file or directory",
        ),
        (
            ("true",),
            {"cwd": "/etc/passwd"},
            "its working folder /etc/passwd cannot be entered: Not a directory",
        ),
    ],
)
@pytest.mark.parametrize("stdio", list(Stdio))
def test_a_command_that_cannot_start_is_not_an_exit(
    sandbox: Sandbox, words: tuple[str, ...], changes: dict[str, object], reason: str, stdio: Stdio
) -> None:
    """A command that cannot be started is reported with the reason, not with an exit code."""
    assert run_hook(sandbox, *words, **changes, stdio=stdio).ending == NotStarted(reason)


def test_a_missing_interpreter_differs_from_a_missing_script(sandbox: Sandbox, tmp_path: object) -> None:
    """A script whose interpreter is missing is not reported as missing itself."""
    script = f"{tmp_path}/hook"
    Path(script).write_text("#!/no/such/interpreter\n")
    run_hook(sandbox, "chmod", "+x", script)
    ending = run_hook(sandbox, script).ending
    assert ending == NotStarted(f"{script} exists, but the interpreter that its first line names does not")


@pytest.mark.slow
def test_a_budget_cuts_what_is_still_alive(sandbox: Sandbox) -> None:
    """When the budget of a batch is used up, a hook that ended keeps its ending and any other is cut."""
    launches = [launch("true"), launch("waits_for_child.sh", kill=QUICK, limit=8.0)]
    quick, slow = sandbox.run(launches, budget=0.3)
    assert quick.ending == Exited(0)
    assert isinstance(slow.ending, TimedOut)
    assert slow.ending.by is Cut.BUDGET
    assert slow.ending.after <= 0.3


# Of a host that sends one signal, and then waits for the end of the output.
PATIENT = KillPolicy(signals=(15,), scope=KillScope.CHILD, close_wait=None)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"script": "trap '' TERM; while :; do sleep 0.1; done", "kill": PATIENT}, id="signals"),
        pytest.param({"script": "trap '' TERM; sleep 8", "kill": KillPolicy(grace=8.0)}, id="grace"),
        pytest.param({"script": "sleep 8 & exit 0", "pipe_wait": 8.0}, id="output"),
        pytest.param({"script": "setsid sleep 8 >/dev/null 2>&1 & exit 0", "linger": 8.0}, id="daemon"),
    ],
)
def test_what_the_budget_ends_is_not_waited_for(sandbox: Sandbox, changes: dict[str, object]) -> None:
    """When the budget is used up, no process gets the time that its host would give it."""
    script = str(changes["script"])
    others = {key: value for key, value in changes.items() if key != "script"}
    began = time.monotonic()
    (run,) = sandbox.run([launch("sh", "-c", script, hook_timeout=8.0, **others)], budget=0.3)
    assert time.monotonic() - began < 4
    assert isinstance(run.ending, TimedOut)
    assert run.ending.by is Cut.BUDGET


def test_results_are_in_the_order_of_their_specs(sandbox: Sandbox) -> None:
    """Hooks run at the same time, and their results are in the order of the process specs."""
    slow = launch("sh", "-c", "sleep 0.2; exit 1")
    runs = sandbox.run([slow, launch("sh", "-c", "exit 2"), launch("nope"), launch("sh", "-c", "exit 3")])
    assert [run.ending for run in runs] == [
        Exited(1),
        Exited(2),
        NotStarted("nope was not found on PATH"),
        Exited(3),
    ]
    assert all(run.started < runs[0].wall for run in runs)


@pytest.mark.slow
def test_leftovers_belong_to_the_hook_that_started_them(sandbox: Sandbox) -> None:
    """A leftover of parallel hook runs belongs to the one whose session it is in."""
    leaver, waiter = sandbox.run([launch("plain_children.sh"), launch("sh", "-c", "sleep 0.3")])
    assert len(leaver.leftovers) == 2
    assert waiter.leftovers == ()


def test_an_empty_batch_has_no_runs(sandbox: Sandbox) -> None:
    """A batch without process specs has no results."""
    assert sandbox.run([]) == ()


def test_what_lives_on_is_not_killed_after_a_batch_of_several_hooks(
    isolating: Supervisor, tmp_path: Path
) -> None:
    """A process that may live until the end may start another one while several hooks run."""
    sleeps = f"until [ -e go ]; do sleep 0.02; done; (sleep {STAY} & ); touch gone; exec sleep {STAY}"
    waits = "touch go; until [ -e gone ]; do sleep 0.02; done"
    alive = {"linger": None, "cwd": str(tmp_path)}
    with isolating.open(Confinement(tier=Tier.NAMESPACES)) as box:
        box.run([launch("sh", "-c", f'setsid sh -c "{sleeps}" >/dev/null 2>&1 &', **alive)])
        box.run([launch("sh", "-c", waits, **alive), launch("true", **alive)])
        first = {*staying()}
        box.run([launch("true", **alive)])
        assert len(first & {*staying()}) == 2
    assert staying() == []


def _idle(*pids: int) -> list[float]:
    """Until when each of some processes surely waits, in seconds since the machine started."""
    rows = describe_activities([*pids], 0.0, {}, writing=False, closes=True, state_of=lambda _, state: state)
    return [until for *_, until in rows]


def test_a_process_that_has_just_ended_leaves_open_how_long_the_others_wait() -> None:
    """If one process of a hook is gone, or begun since, nobody knows until when the others wait."""
    with Popen(["sh", "-c", "sleep 86399; :"]) as shell:
        try:
            while not (children := system.children(shell.pid)):
                pass
            while min(together := _idle(shell.pid, *children)) < 86_000:
                pass
            gone, alone = _idle(shell.pid, *children, 2**22 - 1), _idle(shell.pid)
        finally:
            for pid in children:
                os.kill(pid, signal.SIGKILL)

    assert together[0] == math.inf
    assert gone == [0.0, 0.0]
    assert alone == [0.0]
