"""What holds for every test: nothing survives it, and nothing is compiled twice."""

from __future__ import annotations

import faulthandler
import gc
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.platform.linux_inotify import InotifyPool

_GRACE = 5.0
# Seconds after which a test is probably stuck, and between two moments from which that is counted.
# Not fewer: a traceback of running threads can crash the interpreter.
_STUCK, _COUNTED = 600.0, 30.0
# The toys that stay sleep for this long, with the number of the pytest process that started them as fraction.
_MARK = f"86399.{os.getpid()}"
# One supervisor may live as long as the run; an item supervisor, its child, may not outlive its test.
_SUPERVISOR = "execution.processes.supervisor"


def pytest_configure(config: pytest.Config) -> None:
    """
    Let tests spend no time on starting Python.

    Its processes share what they compile, also where none may leave it beside the source. Hooks find the
    interpreter of the tests first, for a wrapper may take longer than they do. GitHub is informed about
    this run, not about those that its tests start.
    """
    # Where only the shipped scenarios are run, it is not installed.
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import settings  # noqa: PLC0415 - see above

        # A machine with other work to do is no failure.
        settings.register_profile("unhurried", settings(), deadline=None)
        settings.load_profile("unhurried")
    config.pluginmanager.register(Watchdog())
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        os.environ.pop(name, None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # If a shell started pytest in the background, processes that tests interrupt would inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        folder = tempfile.TemporaryDirectory(prefix="compiled-")
        os.environ["PYTHONPYCACHEPREFIX"] = folder.name
        config.add_cleanup(folder.cleanup)


class Watchdog:
    """
    Prints the stacks of all threads where a test is probably stuck.

    pytest has an option for this, which starts and ends a thread for each test. Quick tests take no longer.
    """

    def __init__(self) -> None:
        # Before output is captured.
        self._stderr = os.dup(sys.__stderr__.fileno()) if sys.__stderr__ else -1
        self._begun = -_COUNTED

    def pytest_runtest_logstart(self) -> None:
        """Begin to count anew, but not for each test."""
        now = time.monotonic()
        if self._stderr >= 0 and now - self._begun > _COUNTED:
            self._begun = now
            faulthandler.dump_traceback_later(_STUCK, file=self._stderr)

    def pytest_unconfigure(self) -> None:
        """Count no more."""
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Use three workers for two processors: many tests wait, for time limits or for processes that wait."""
    return max(2, len(os.sched_getaffinity(0)) * 3 // 2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each worker tests that stand together, so that few make what the tests of a file share."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling  # noqa: PLC0415 - it need not be installed

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, which then looks at none of the thousands of items again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def many_values() -> Iterator[None]:
    """Switch off the garbage collector for a test that holds many values at once, such as parsed files."""
    gc.disable()
    yield
    gc.enable()


def needs_linux() -> dict[str, str]:
    """Return why tests need what only Linux has, by node id with or without parameters."""
    found, reason = {}, ""
    for line in (Path(__file__).parent / "portable" / "needs_linux.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found[line] = reason
    return found


def _reports_touched_files() -> bool:
    """Return whether this kernel reports which files are touched, as only Linux does."""
    pool = InotifyPool()
    try:
        pool.give_back(pool.take())
    except OSError:
        return False
    pool.close()
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip by name the tests that need more than any system offers, where the kernel does not offer it."""
    if _reports_touched_files():
        return
    needing = needs_linux()
    for item in items:
        reason = needing.get(item.nodeid) or needing.get(item.nodeid.partition("[")[0])
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"needs Linux: {reason}"))


def _parent(pid: int) -> tuple[int, str] | None:
    """Look up parent and state of a process."""
    stat = _read(f"/proc/{pid}/stat")
    if not stat:
        return None
    state, parent = stat[stat.rfind(")") + 2 :].split(None, 2)[:2]
    return int(parent), state


def _command(pid: int) -> str:
    return _read(f"/proc/{pid}/cmdline").replace("\0", " ")


def _read(path: str) -> str:
    """Return the text of a file of the system; nothing if its process is gone."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - this runs after each test
            return file.read()
    except OSError:
        return ""


def _is_below(pid: int, known: dict[int, bool]) -> bool:
    """Return whether a process is a descendant of one that is known to be, and remember it."""
    if pid not in known:
        row = _parent(pid)
        known[pid] = row is not None and row[0] > 1 and _is_below(row[0], known)
    return known[pid]


def started_since(newest: int) -> set[int]:
    """List the processes of this machine that were started after the newest one of an earlier moment."""
    numbers = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - as above
    # Numbers are given in order, and again from the first one.
    return {pid for pid in numbers if pid > newest} if newest <= newest_process() else numbers


def survivors(newest: int = 0) -> dict[int, str]:
    """
    List the descendants of this process and the toys of its tests, with their command lines.

    Only processes that were started after the ``newest`` one of an earlier moment are looked at. Other test
    processes start many, and each that is looked at takes time after each test.
    """
    if not Path("/proc/self/stat").exists():
        return {}
    me = os.getpid()
    known, found = {me: True}, {}
    for pid in started_since(newest) - {me}:
        below, command = _is_below(pid, known), _command(pid)
        # A toy that left its parents was started by this test, too.
        if (below or _MARK in command) and (row := _parent(pid)) and row[1] != "Z":
            found[pid] = (row[0], command)
    supervisors = {pid for pid, (parent, command) in found.items() if parent == me and _SUPERVISOR in command}
    left = {pid: command for pid, (_, command) in found.items() if pid not in supervisors}
    # Each supervisor may have one sandbox that waits for the next test, and one that was entered ahead of the
    # item after that; nothing runs in them.
    parents = {parent for pid, (parent, command) in found.items() if pid in left and _SUPERVISOR in command}
    if all(_SUPERVISOR in command for command in left.values()) and all(
        _sandboxes(pid) <= 2 for pid in parents
    ):
        return {}
    return left


def _sandboxes(supervisor: int) -> int:
    """Return how many processes a supervisor has, those that are only still to be collected left out."""
    numbers = _read(f"/proc/{supervisor}/task/{supervisor}/children").split()
    rows = [_parent(int(number)) for number in numbers]
    return sum(row is not None and row[1] != "Z" for row in rows)


def newest_process() -> int:
    """Return the newest process number; 0 if the system does not tell."""
    try:
        return int(Path("/proc/loadavg").read_text().rsplit(None, 1)[-1])
    except OSError:
        return 0


@pytest.fixture(autouse=True)
def nothing_survives() -> Iterator[None]:
    """Fail a test that leaves a process behind, and end that process."""
    newest = newest_process()
    yield
    if newest and newest == newest_process():  # no process was started on this machine meanwhile
        return
    end = time.monotonic() + _GRACE
    while left := survivors(newest):
        if time.monotonic() > end:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            pytest.fail(f"left behind: {left}")
        select.select((), (), (), 0.01)


@pytest.fixture
def takes_linear_time() -> Callable[..., None]:
    """
    Check that work on a text grows with its length.

    A text four times as long takes about four times as long, and a quadratic search would take sixteen. A few
    milliseconds may be added, for what is short is measured badly.
    """

    def check(text_of: Callable[[int], str], work: Callable[[str], object], added: float = 0.001) -> None:
        def measure(length: int) -> float:
            text = text_of(length)
            begun = time.process_time()
            work(text)
            return time.process_time() - begun

        # Both are measured in turn, for a busy machine makes both of them longer.
        assert any(measure(16_000) < 9 * (measure(4_000) + added) for _ in range(5))

    return check
