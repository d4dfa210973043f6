"""An observed hook run goes like any other one, and its record never claims more than was seen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.reads.observer import ReadObserver
from pytest_hookharness.model.delivery import Terminal
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import (
    Cut,
    Exited,
    KillPolicy,
    NotStarted,
    ProcessResult,
    ProcessSpec,
    Signaled,
    Stdin,
    Stdio,
    Tier,
    TimedOut,
)
from pytest_hookharness.model.reads import LookKind, PathLook, Reads, SourceKind

from .toys import launch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=[Tier.NAMESPACES, Tier.SUBREAPER], ids=lambda tier: tier.name.lower())
def place(supervisor: Supervisor, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox that can write to the folder of the test."""
    if reason := supervisor.tiers()[request.param]:
        pytest.skip(f"no {request.param.value} here: {reason}")
    folder = str(tmp_path)
    confinement = Confinement(tier=request.param, visible=(folder,), writable=(folder,))
    with supervisor.open(confinement) as opened:
        yield opened


def observed(sandbox: Sandbox, spec: ProcessSpec) -> tuple[ProcessResult, Reads]:
    (result,) = ReadObserver().run(sandbox.run, [spec])
    assert result.reads is not None
    return result, result.reads


# Each signal has a handler after which calls do not start again by themselves.
_INTERRUPTED = """
import os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for each in range(1500):
    os.stat("/")
signal.setitimer(signal.ITIMER_REAL, 0)
"""
SCRIPTS = {
    "code": "exit 3",
    "signal": "kill -9 $$",
    "term": "kill -TERM $$",
    "streams": "cat; echo two >&2; exit 2",
    "children": "sleep 1000 & kill $!; wait $!; echo $?",
    "stopped child": "sh -c 'kill -STOP $$; echo on' & sleep 0.1; kill -CONT $!; wait",
    "trap": "trap 'echo caught; exit 4' USR1; kill -USR1 $$; exit 5",
    "handed on": "exec 3<&0; (cat <&3) | tr a-z A-Z",
    "place": "pwd; umask; ulimit -n; env | sort; ls -l /proc/self/fd | wc -l",
    "session": "set -- $(cut -d' ' -f5,6 /proc/$$/stat); [ $1 = $$ ] && [ $2 = $$ ] && echo leads",
    "processors": "nproc; (nproc; true); sleep 0.3; nproc",
    "much output between looks": "for each in $(seq 40); do [ -e x ]; printf %09999d $each; done",
    "blocked signals": "exec grep -E 'SigBlk|SigIgn' /proc/self/status",
    "parent": "read -r x </proc/$PPID/comm; echo $x",
}


@pytest.mark.nightly
@pytest.mark.parametrize("expected", [False, True], ids=["unexpected", "expected"])
@pytest.mark.parametrize("stdio", [Stdio.PIPE, Stdio.SOCKET, Stdio.TTY], ids=lambda stdio: stdio.value)
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_observed_run_says_and_does_the_same(
    place: Sandbox, name: str, stdio: Stdio, expected: bool
) -> None:
    """Ending, output and consumed input of an observed hook run are those of one that is not observed."""
    spec = launch("sh", "-c", SCRIPTS[name], stdin=Stdin(data=b"one\n"), stdio=stdio)
    (plain,) = place.run([spec])
    if expected:
        place.expect_observed()
    result, reads = observed(place, spec)
    assert reads.gap == ""
    assert result.ending == plain.ending
    assert (result.stdout, result.stderr) == (plain.stdout, plain.stderr)
    assert (result.stdin_taken, result.stdin_read) == (plain.stdin_taken, plain.stdin_read)


@pytest.mark.nightly
def test_signals_interrupt_no_call_that_would_not_wait(place: Sandbox) -> None:
    """A call that waits for the tracer alone never fails because of a signal, as it would not have waited."""
    if os.uname().machine != "x86_64":
        pytest.skip("elsewhere the kernel decides before the tracer sees the signal")
    spec = launch(sys.executable, "-c", _INTERRUPTED)
    (moved,) = place.run([replace(spec, ahead=3600.0)])
    seen, _ = observed(place, spec)
    assert (moved.ending, seen.ending) == (Exited(0), Exited(0)), moved.stderr.text + seen.stderr.text


def test_a_signal_interrupts_a_call_that_the_kernel_holds(place: Sandbox, tmp_path: Path) -> None:
    """A process that waits for the reader of a named pipe is interrupted as if it were not observed."""
    os.mkfifo(tmp_path / "pipe")
    script = (
        "import os, signal; signal.signal(signal.SIGALRM, lambda *_: exit(7)); "
        "signal.setitimer(signal.ITIMER_REAL, 0.1); os.open('pipe', os.O_WRONLY | os.O_CREAT)"
    )
    result, _ = observed(place, launch(sys.executable, "-c", script, cwd=str(tmp_path), hook_timeout=5.0))
    assert result.ending == Exited(7)


def test_no_listener_reaches_a_hook(place: Sandbox) -> None:
    """A hook inherits its streams only, also beside another one whose calls wait."""
    spec = launch("sh", "-c", "sleep 0.1; ls /proc/self/fd")
    (plain,) = place.run([spec])
    for result in place.run([replace(spec, ahead=3600.0)] * 2):
        assert result.reads is not None
        assert (result.reads.gap, result.stdout) == ("", plain.stdout)


def test_what_was_expected_is_recorded_like_the_rest(place: Sandbox, tmp_path: Path) -> None:
    """A hook run that was expected has the record, and the input, of one that was not."""
    (tmp_path / "a").write_text("one\n")
    data = Stdin(data=b"x" * 200_000)
    spec = launch("sh", "-c", "cat a; wc -c; date >b; ls; exit 2", cwd=str(tmp_path), stdin=data)
    (tmp_path / "b").touch()
    result, reads = observed(place, spec)
    place.expect_observed()
    again, expected = observed(place, spec)
    assert (again.ending, again.stdout) == (result.ending, result.stdout)
    assert reads.looks
    assert expected == reads


def test_something_else_may_follow_than_what_was_expected(place: Sandbox) -> None:
    """An observed hook that was expected in vain leaves no process, and changes no other run."""
    spec = launch("sh", "-c", "nproc; ls /proc | grep -c '^[0-9]'; exit 2")
    (before,) = place.run([spec])
    for specs in ([spec], [spec, spec], [replace(spec, observed=True), spec]):
        place.expect_observed()
        place.expect_observed()
        results = place.run(specs)
        assert all(result.ending == Exited(2) for result in results)
        assert not any(result.leftovers for result in results)
    place.expect_observed()
    (after,) = place.run([spec])
    if place.tier is Tier.NAMESPACES:
        assert after.stdout == before.stdout
        place.expect_observed()
        assert not place.contained or (place.renew() and place.wait_until_renewed())
    place.expect_observed()
    place.close()


def test_a_hook_without_a_session_of_its_own_is_observed(place: Sandbox) -> None:
    """A hook that leads only its process group is started so under observation as well."""
    script = "set -- $(cut -d' ' -f5,6 /proc/$$/stat); [ $1 = $$ ] && [ $2 != $$ ] && echo leads"
    result, reads = observed(place, launch("sh", "-c", script, own_session=False))
    assert (result.stdout.text, reads.complete) == ("leads\n", True)


def test_an_observed_hook_has_its_terminal(place: Sandbox) -> None:
    """An observed hook can ask on its controlling terminal, which counts as a device."""
    result, reads = observed(place, launch("sh", "-c", "echo ask >/dev/tty", terminal=Terminal()))
    assert result.ending == Exited(0)
    assert reads.asked(SourceKind.DEVICE)


def test_an_observed_hook_is_cut_at_its_limit(place: Sandbox) -> None:
    """A hook that waits is cut under observation, with what it waited for, and its record is complete."""
    spec = launch("sh", "-c", "[ -e x ]; exec sleep 1000", limit=0.3, kill=KillPolicy(grace=0.1))
    result, reads = observed(place, spec)
    assert isinstance(result.ending, TimedOut)
    assert (result.ending.by, result.ending.after) == (Cut.LIMIT, 0.3)
    assert [(each.state, each.waits_for) for each in result.ending.doing] == [("S", "a timer: it sleeps")]
    assert reads.complete
    assert PathLook(f"{spec.cwd}/x", LookKind.STATUS, existed=False) in reads.looks


@pytest.mark.nightly
def test_a_busy_hook_is_cut_while_it_is_recorded(place: Sandbox) -> None:
    """A hook that asks without end is cut and counts as one that runs."""
    spec = launch("sh", "-c", "while :; do [ -e x ]; done", limit=0.3, kill=KillPolicy(grace=0.1))
    result, reads = observed(place, spec)
    assert isinstance(result.ending, TimedOut)
    assert {each.state for each in result.ending.doing} <= {"R", "S"}
    assert reads.complete


def test_what_cannot_be_started_is_not_observed(place: Sandbox) -> None:
    """A command that does not exist is reported as without an observer, and there is no record."""
    spec = launch("no-such-command")
    result, reads = observed(place, spec)
    (plain,) = place.run([spec])
    assert isinstance(result.ending, NotStarted)
    assert result.ending == plain.ending
    assert (reads.observed, reads.gap) == (False, "the command was not started")


def test_hooks_side_by_side_have_records_of_their_own(place: Sandbox, tmp_path: Path) -> None:
    """Of two hooks that run at once each has what it looked at itself."""
    (tmp_path / "a").write_text("")
    (tmp_path / "b").write_text("")
    specs = [launch("sh", "-c", f"cat {name}", cwd=str(tmp_path)) for name in "ab"]
    results = ReadObserver().run(place.run, specs)
    seen = [{Path(look.path).name for look in run.reads.looks} & {"a", "b"} for run in results if run.reads]
    assert seen == [{"a"}, {"b"}]


def test_the_clock_in_shared_memory_is_hidden(place: Sandbox) -> None:
    """No program of an observed hook run but Python and Node gets the address of the vDSO."""
    script = "LD_SHOW_AUXV=1 cat /dev/null | grep -c SYSINFO_EHDR; date +%Y"
    spec = launch("sh", "-c", script)
    (plain,) = place.run([spec])
    result, _ = observed(place, spec)
    (before, year), (after, same) = plain.stdout.text.split(), result.stdout.text.split()
    if before == "0":
        pytest.skip("this C library does not show what the kernel tells it")
    assert (after, same) == ("0", year)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only the vDSO of this processor is known")
def test_python_is_not_stopped_at_the_monotonic_clock(place: Sandbox) -> None:
    """Python and Node are stopped at each reading of the time of day, and at none of the monotonic clock."""
    code = "import ctypes, time; c = ctypes.CDLL(None)\n"
    code += "for _ in range(40): time.monotonic(), time.time(), c.time(None), c.gettimeofday(bytes(16), None)"
    _, reads = observed(place, launch("python3", "-c", code))
    times = {source.detail: source.times for program in reads.programs for source in program.sources}
    assert reads.complete
    assert (times["monotonic"], times["realtime"] >= 120) == (1, True)


@pytest.mark.skipif(shutil.which("perl") is None, reason="no perl here")
def test_other_programs_are_stopped_at_the_monotonic_clock(place: Sandbox) -> None:
    """A program that reads the monotonic clock only if it is told to is stopped each time."""
    code = "use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC); clock_gettime(CLOCK_MONOTONIC) for 1 .. 40"
    _, reads = observed(place, launch("perl", "-e", code))
    times = {source.detail: source.times for program in reads.programs for source in program.sources}
    assert times["monotonic"] >= 40


CLOCK = """
#include <stdio.h>
#include <time.h>
int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    puts(now.tv_sec > 0 ? "ok" : "no");
    return 0;
}
"""


@pytest.mark.parametrize("linking", ["-static", "-dynamic"])
def test_compiled_programs_run_and_are_seen(place: Sandbox, tmp_path: Path, linking: str) -> None:
    """A static and a dynamic program of C read the clock by calls."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    (tmp_path / "clock.c").write_text(CLOCK)
    flags = ["-static"] if linking == "-static" else []
    built = subprocess.run(
        [compiler, *flags, "-o", "clock", "clock.c"], cwd=tmp_path, capture_output=True, check=False
    )
    if built.returncode:
        pytest.skip("the C compiler cannot link this way")
    result, reads = observed(place, launch(str(tmp_path / "clock")))
    assert (result.stdout.text, reads.gap) == ("ok\n", "")
    assert (SourceKind.CLOCK, "realtime") in [(source.kind, source.detail) for source in reads.sources]


def test_many_arguments_do_not_hide_the_clock(place: Sandbox) -> None:
    """The clock is hidden from a program with thousands of arguments and variables too."""
    env = {"PATH": os.environ["PATH"], **{f"V{number}": "x" * 50 for number in range(2000)}}
    _, reads = observed(place, launch("sh", "-c", "exec date +%s", *["x" * 9] * 2000, env=env))
    assert reads.complete
    assert reads.asked(SourceKind.CLOCK)


GAPS = {
    "unshare": ("unshare -Ur true", "a process enters other namespaces"),
    "tracer": ("strace -o /dev/null true", "a process traces another one itself"),
    "root": ("python3 -c 'import os; os.chroot(\"/\")'", "a process changes its root folder"),
    "size": ("ulimit -f 100", "a process limits the size of files"),
}


@pytest.mark.parametrize("name", GAPS)
def test_what_would_go_unseen_is_a_gap(place: Sandbox, name: str) -> None:
    """Calls after which paths or calls would mean something else make the record incomplete."""
    script, gap = GAPS[name]
    if name != "size" and shutil.which(script.split()[0]) is None:
        pytest.skip(f"no {script.split()[0]} here")
    _, reads = observed(place, launch("sh", "-c", script))
    assert (reads.observed, reads.complete, reads.gap) == (True, False, gap)


def test_a_program_with_rights_of_its_own_is_a_gap(place: Sandbox, tmp_path: Path) -> None:
    """A program that changes its user when it starts makes the record incomplete."""
    program = tmp_path / "other"
    shutil.copy(os.path.realpath(shutil.which("true") or "/bin/true"), program)
    try:
        os.chown(program, 12345, -1)
    except OSError as problem:
        pytest.skip(f"only root can do this: {problem}")
    program.chmod(0o4755)
    _, reads = observed(place, launch(str(program)))
    assert reads.gap == f"{program} changes its rights when it starts"


@pytest.mark.nightly
def test_a_record_is_bounded(place: Sandbox) -> None:
    """A hook that looks at more paths than are recorded continues, and its record is incomplete."""
    code = "import os\nfor n in range(20500): os.access(f'/none/{n}', 0)\nprint('done')"
    result, reads = observed(place, launch("python3", "-c", code, limit=60.0, hook_timeout=60.0))
    assert result.stdout.text == "done\n"
    assert (reads.complete, reads.gap) == (False, "it has more than 20000 entries")


def test_process_groups_alone_are_not_enough(supervisor: Supervisor) -> None:
    """Where a process could outlive the hook run there is no record, and the reason is given."""
    with supervisor.open(Confinement(tier=Tier.GROUP)) as sandbox:
        result, reads = observed(sandbox, launch("sh", "-c", "echo x"))
    assert result.stdout.text == "x\n"
    assert (reads.observed, reads.programs) == (False, ())
    assert "process groups" in reads.gap


# Forbids one call to this process and its children, as a container may, and then observes a hook.
FORBIDDING = """
import sys
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.platform import linux_ptrace
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.reads.observer import ReadObserver
from pytest_hookharness.model.processes import ProcessSpec, Tier

number, first = map(int, sys.argv[1:])
refuse = linux_ptrace.REFUSE | 1
linux_ptrace.install_filter(linux_ptrace.prepare_filter([
    (0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, first), (0x06, 0, 0, refuse),
    (0x06, 0, 0, linux_ptrace.ALLOW),
]))
spec = ProcessSpec(argv=("sh", "-c", "echo x"), cwd="/", env={"PATH": "/usr/bin:/bin"})
with Supervisor() as supervisor, supervisor.open(Confinement(tier=Tier.SUBREAPER)) as sandbox:
    (run,) = ReadObserver().run(sandbox.run, [spec])
    print(run.stdout.text.strip(), run.ending, run.reads.observed, run.reads.complete, run.reads.gap)
"""
NUMBERS = {
    "x86_64": {"ptrace": (101, 0x4206), "seccomp": (317, 1)},
    "aarch64": {"ptrace": (117, 0x4206), "seccomp": (277, 1)},
}


@pytest.mark.parametrize("call", ["ptrace", "seccomp"])
def test_where_tracing_is_not_permitted_there_is_no_record(call: str) -> None:
    """A hook runs as usual where the system refuses to trace or to filter, and the reason is recorded."""
    numbers = NUMBERS.get(os.uname().machine)
    if numbers is None:
        pytest.skip("the system calls of this machine are not known")
    words = [sys.executable, "-c", FORBIDDING, *map(str, numbers[call])]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"x {Exited(0)} False False "), done.stderr
    assert "Operation not permitted" in done.stdout


def test_a_signal_ends_an_observed_hook(place: Sandbox) -> None:
    """A hook that dies by its own signal is reported with it."""
    result, _ = observed(place, launch("sh", "-c", "kill -SEGV $$"))
    assert result.ending == Signaled(11)
