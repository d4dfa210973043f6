"""Claims about systems on which hooks cannot be run."""

import subprocess
import sys

import pytest

ELSEWHERE = """\
import sys
sys.platform = "sunos5"
sys.modules["termios"] = None
"""
REFUSAL = "pytest-hookharness runs hooks only on Linux and macOS, and this is sunos5; use a container or WSL"


def hookharness(*arguments):
    """Run the shell command as on another system, where some modules do not exist."""
    program = f"{ELSEWHERE}from pytest_hookharness.__main__ import main\nraise SystemExit(main())\n"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_run_of_scenarios_is_a_usage_error(project):
    """Where hooks cannot be run, a run with scenarios ends with one sentence, and other tests run."""
    project.scenario("polite")
    project.write("test_it.py", "def test_it():\n    pass\n")
    project.write("conftest.py", ELSEWHERE)

    refused = project.run_apart("--hook-scenarios")
    others = project.run_apart("test_it.py")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in refused.errlines if line] == [f"ERROR: {REFUSAL}"]
    others.assert_outcomes(passed=1)


@pytest.mark.slow
def test_the_shell_command_is_refused():
    """A command that runs hooks is refused in one sentence; one that only prints works."""
    refused, printed = hookharness("try", "Stop", "true"), hookharness("hosts")

    assert (refused.returncode, refused.stderr) == (2, f"hookharness: {REFUSAL}\n")
    assert printed.returncode == 0


# Names of the standard library that Python does not have on a Mac.
ON_A_MAC = """\
import asyncio, errno, fcntl, os, pkgutil, resource, select, signal, socket, subprocess, sys, time
import sysconfig
sysconfig.get_config_vars()
missing = {
    os: "O_PATH O_DIRECT O_TMPFILE O_NOATIME memfd_create pidfd_open unshare setns getxattr setxattr "
        "listxattr removexattr sched_getaffinity pipe2 posix_fadvise copy_file_range splice eventfd",
    select: "epoll EPOLLIN POLLRDHUP",
    signal: "SIGRTMIN SIGRTMAX SIGPWR SIGSTKFLT sigtimedwait sigwaitinfo pidfd_send_signal",
    socket: "SOCK_CLOEXEC SOCK_NONBLOCK AF_NETLINK SO_PEERCRED MSG_CMSG_CLOEXEC",
    time: "CLOCK_BOOTTIME CLOCK_TAI",
    resource: "prlimit RLIMIT_SIGPENDING RUSAGE_THREAD",
    fcntl: "F_SETPIPE_SZ F_GETPIPE_SZ F_NOTIFY",
    errno: "EUCLEAN ENOMEDIUM EREMOTEIO",
}
for module, names in missing.items():
    for name in names.split():
        vars(module).pop(name, None)
sys.platform = "darwin"
import pytest_hookharness
for module in pkgutil.walk_packages(pytest_hookharness.__path__, "pytest_hookharness."):
    __import__(module.name)
from pytest_hookharness.execution.platform.current import system
print(system.__name__)
"""


@pytest.mark.slow
def test_each_module_can_be_imported_on_a_mac():
    """No module needs, when it is imported, a name that Python has on Linux only."""
    done = subprocess.run([sys.executable, "-c", ON_A_MAC], capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout == "pytest_hookharness.execution.platform.darwin\n"
