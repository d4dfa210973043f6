"""What holds on a kernel that has nothing of its own: survivors are named and ended."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.model.processes import Tier

from .without_linux import PARTLY, REFUSED

HERE = Path(__file__).parent
RUNNER = HERE / "without_linux.py"
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.uname().machine != "x86_64", reason="the filter is for x86-64"
)

ASK = """\
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def error(*call):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(*map(ctypes.c_long, call)) == -1 else 0
print(json.dumps([error(*call) for call in json.load(sys.stdin)]))
"""


def errors(calls, *before):
    """Return the numbers of the errors with which system calls fail in a process of their own."""
    command = [*before, sys.executable, "-c", ASK]
    done = subprocess.run(command, input=json.dumps(calls), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_kernel_refuses_what_only_linux_has():
    """Each call of the list fails with its error under the runner, whatever its arguments are."""
    wanted = {call: number for number, calls in REFUSED.items() for call in calls.values()}
    calls = [[call, -1, -1, -1] for call in wanted]
    partly = [[call, *[0] * place, value, 0, 0] for call, place, _, value, _ in PARTLY]

    seen = errors([*calls, *partly], sys.executable, str(RUNNER))

    assert seen == [*wanted.values(), *(number for *_, number in PARTLY)]


def test_without_the_runner_they_are_known():
    """The same kernel knows a pidfd and the limit on locks without the runner."""
    assert errors([[434, os.getpid(), 0], [302, 0, 10, 0, 0]]) == [0, 0]


@pytest.mark.nightly
@pytest.mark.slow
def test_the_escaping_hooks_are_ended_or_named():
    """Under the runner each toy that leaves processes has them named, and they are ended."""
    tests = HERE.parent / "execution"
    command = [sys.executable, str(RUNNER), sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    chosen = [f"{tests}/test_endings.py::test_every_process_left_behind_is_named_and_ended"]
    chosen += [f"{tests}/test_process_group.py", "-m", "slow or not slow"]

    done = subprocess.run(
        [*command, *chosen], capture_output=True, text=True, cwd=HERE.parents[1], check=False
    )

    assert done.returncode == 0, done.stdout[-3000:]


def test_the_tests_that_need_linux_exist():
    """Each test that is skipped by name is one, so the list names no test of the past."""
    root = HERE.parents[1]
    named = [
        line.partition("[")[0].split("::") for line in (HERE / "needs_linux.txt").read_text().splitlines()
    ]

    lost = [
        words
        for words in named
        if len(words) == 2 and f"def {words[1]}(" not in (root / words[0]).read_text()
    ]
    assert lost == []
    assert len(named) > 30


@pytest.mark.slow
def test_no_stronger_tier_is_available_there():
    """Under the runner only process groups isolate; here something stronger does."""
    program = (
        "from pytest_hookharness.execution.processes.sandbox import available_tiers\n"
        "print([tier.name for tier in available_tiers()])\n"
    )
    command = [sys.executable, str(RUNNER), sys.executable, "-c", program]
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}

    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)

    assert done.stdout == "['GROUP']\n"
    with Supervisor() as supervisor:
        assert len([tier for tier in Tier if not supervisor.tiers()[tier]]) > 1


# What Docker gives a container by default.
DOCKER = (
    "chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,"
    "audit_write,setfcap"
)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="takes root and setpriv")
@pytest.mark.parametrize(
    "more,refused",
    [("sys_admin", "mounting inside namespaces: Operation not permitted"), ("sys_admin,net_admin", "")],
)
def test_a_container_needs_two_capabilities(more, refused):
    """With what Docker gives and SYS_ADMIN, NET_ADMIN is what namespaces still need."""
    given = ",".join(["-all", *(f"+{name}" for name in f"{DOCKER},{more}".split(","))])
    program = (
        "from pytest_hookharness.execution.processes.sandbox import Supervisor\n"
        "with Supervisor() as supervisor:\n"
        "    print(next(iter(supervisor.tiers().values())))\n"
    )
    command = ["setpriv", "--bounding-set", given, "--inh-caps", given, sys.executable, "-c", program]
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}

    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)

    assert done.stdout.strip().removeprefix("[Errno 1] ") == refused
