"""Which of several hooks that run at the same time started a process, with real processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.process_owners import DescriptorMark, ProcessOwners
from pytest_hookharness.execution.processes.sandbox import Sandbox

from .toys import STAY, launch, staying

# A process with another session, no environment and no parent, in the ways in which daemons are made.
DAEMONS = {
    "new session": "setsid sleep $TOY_SECONDS >/dev/null 2>&1 </dev/null &",
    "no environment": "env -i setsid sleep $TOY_SECONDS >/dev/null 2>&1 </dev/null &",
    "two forks": "(setsid sh -c 'sleep $0 & :' $TOY_SECONDS >/dev/null 2>&1 </dev/null &)",
    "all of it": "(env -i setsid sh -c 'setsid sleep $0 & :' $TOY_SECONDS >/dev/null 2>&1 </dev/null &)",
}
WAITER = launch("sh", "-c", "sleep 0.5")
# Removes the harness's mark, and leaves the session. No evidence is left then.
UNMARKED = (
    "import os, resource, sys\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "resource.setrlimit(10, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
    "for n in range(3): os.close(n)\n"
    "os.execvpe('sleep', ['sleep', sys.argv[1]], {})\n"
)


@pytest.mark.nightly
@pytest.mark.parametrize("daemon", DAEMONS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_daemon_belongs_to_the_hook_that_started_it(sandbox: Sandbox, daemon: str, place: int) -> None:
    """Of three hooks that run side by side, the one that started a daemon has it as leftover."""
    specs = [WAITER, WAITER]
    specs.insert(place, launch("sh", "-c", f"{DAEMONS[daemon]}\nsleep 0.1"))
    runs = sandbox.run(specs)

    assert [len(run.leftovers) for run in runs] == [int(index == place) for index in range(3)]
    assert [run.unclaimed for run in runs] == [(), (), ()]
    assert staying() == []


def test_each_hook_has_its_own_daemon(sandbox: Sandbox) -> None:
    """If all hooks leave a daemon, each has its own."""
    spawn = "env -i setsid sh -c 'setsid sleep $0 0.{} & :' $TOY_SECONDS >/dev/null 2>&1 </dev/null"
    runs = sandbox.run([launch("sh", "-c", f"{spawn.format(number)}; sleep 0.1") for number in range(1, 5)])

    seen = [[left.command for left in run.leftovers] for run in runs]
    assert seen == [[f"sleep {STAY} 0.{number}"] for number in range(1, 5)]


@pytest.mark.nightly
def test_a_process_without_evidence_names_all_hooks(sandbox: Sandbox) -> None:
    """A daemon that removed every trace of its origin is reported with each hook that can have started it."""
    leaver = launch(sys.executable, "-S", "-c", UNMARKED, STAY)
    missing = launch("no-such-program-anywhere")
    runs = sandbox.run([WAITER, leaver, missing])

    assert [len(run.leftovers) for run in runs] == [0, 0, 0]
    assert [[left.command for left in run.unclaimed] for run in runs] == [[f"sleep {STAY}"]] * 2 + [[]]
    assert staying() == []


def test_a_single_hook_has_all_that_is_left(sandbox: Sandbox) -> None:
    """Without another hook, a daemon needs no evidence."""
    (run,) = sandbox.run([launch(sys.executable, "-S", "-c", UNMARKED, STAY)])

    assert [left.command for left in run.leftovers] == [f"sleep {STAY}"]
    assert run.unclaimed == ()


def test_the_mark_is_not_in_the_environment(sandbox: Sandbox) -> None:
    """Hooks that run side by side have the environment of their process specs and nothing else."""
    specs = [launch("env", env={"PATH": os.defpath, "NUMBER": str(number)}) for number in range(2)]

    printed = [sorted(run.stdout.text.splitlines()) for run in sandbox.run(specs)]
    assert printed == [sorted([f"PATH={os.defpath}", f"NUMBER={number}"]) for number in range(2)]


def test_marks_end_with_the_batch(sandbox: Sandbox) -> None:
    """A hook that runs alone after a batch has no mark."""
    command = launch("sh", "-c", "grep locks /proc/self/limits")
    alone, *_ = sandbox.run([command])
    sandbox.run([command, command])

    assert sandbox.run([command])[0].stdout.data == alone.stdout.data


def test_hooks_within_a_hook_belong_to_it() -> None:
    """What hooks of a nested batch leave behind belongs to the hook in which that batch was."""
    table = system
    nested = (
        "from pytest_hookharness.execution.processes.process_owners import ProcessOwners\n"
        "import subprocess\n"
        "owners = ProcessOwners(2)\n"
        "owners.before_start(1)\n"
        "subprocess.run(['cat'])\n"
    )
    owners, hooks = ProcessOwners(2), []
    for place in range(2):
        owners.before_start(place)
        words = [sys.executable, "-c", nested]
        hooks.append(subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True))
        owners.started(place, hooks[-1].pid)
    owners.after_starts()
    try:
        for hook in hooks:
            while not (below := table.children(hook.pid)):
                assert hook.poll() is None
            assert owners.owner(below[0]) == hook.pid
            assert table.mark(below[0]) >= 1 << 24
    finally:
        for hook in hooks:
            hook.communicate()


def test_a_pipe_that_marks_a_hook_keeps_its_name() -> None:
    """Its reading end is open until the batch ends: a Mac gives the name of a closed one to another pipe."""
    mark = DescriptorMark()
    for _ in range(2):
        mark.renew()
        assert os.write(mark.passed[0], b"x") == 1
    others = os.dup(mark.passed[0])
    mark.forget()
    with os.fdopen(others, "wb", buffering=0) as inherited, pytest.raises(BrokenPipeError):
        inherited.write(b"x")


def test_a_stream_is_evidence_only_while_it_is_open() -> None:
    """A process has the streams of a hook only as long as no other pipe can have got their names."""
    table, hook = system, (1 << 22) + 1
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdin is not None
        streams = [table.stream_name(process.stdin.fileno(), socket=False)]
        owners, row = ProcessOwners(1, whole_machine=True), table.row(process.pid)
        owners.before_start(0)
        owners.started(0, hook, lambda: streams)
        owners.after_starts()
        assert row is not None
        found = []
        for _ in range(2):
            owners.look()
            found.append(owners.shown_by(row))
            streams.clear()
        owners.end()
        process.stdin.close()
    assert found == [hook, 0]
