"""What holds for every test: nothing survives it, and nothing is compiled twice."""

from __future__ import annotations

import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution import platform

_GRACE = 5.0
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
    pool = platform.watch_pool()
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
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    rest = stat[stat.rfind(")") + 2 :].split()
    return int(rest[1]), rest[0]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def _is_below(pid: int) -> bool:
    """Return whether a process is a descendant of this one."""
    while pid > 1 and (row := _parent(pid)):
        if row[0] == os.getpid():
            return True
        pid = row[0]
    return False


def started_since(newest: int) -> set[int]:
    """List the processes of this machine that were started after the newest one of an earlier moment."""
    with os.scandir("/proc") as entries:
        numbers = {int(entry.name) for entry in entries if entry.name.isdecimal()}
    # Numbers are given in order, and again from the first one.
    return {pid for pid in numbers if pid > newest} if newest <= newest_process() else numbers


def survivors(newest: int = 0) -> dict[int, str]:
    """
    List the descendants of this process and the toys of its tests, with their command lines.

    Nothing is listed if no process of ours was started after the ``newest`` one of an earlier moment. Other
    test processes start many, and each that is looked at takes time after each test.
    """
    if not Path("/proc/self/stat").exists():
        return {}
    fresh = started_since(newest)
    if not any(_is_below(pid) or _MARK in _command(pid) for pid in fresh):
        return {}
    parents = {pid: row for pid in started_since(0) if (row := _parent(pid))}
    below = {os.getpid()}
    while more := {pid for pid, (parent, _) in parents.items() if parent in below} - below:
        below |= more
    # A toy that left its parents was started by this test, too.
    rows = {pid: (*row, _command(pid)) for pid, row in parents.items() if pid in below | fresh}
    supervisors = {
        pid for pid, (parent, _, text) in rows.items() if parent == os.getpid() and _SUPERVISOR in text
    }
    found = {
        pid: command
        for pid, (_, state, command) in rows.items()
        if (pid in below or _MARK in command) and pid not in (os.getpid(), *supervisors) and state != "Z"
    }
    # Each supervisor may have one sandbox that waits for the next test, and one that was entered ahead of the
    # item after that; nothing runs in them.
    waiting = [rows[pid][0] for pid, command in found.items() if _SUPERVISOR in command]
    if len(waiting) == len(found) and all(waiting.count(pid) <= 2 for pid in supervisors):
        return {}
    return found


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
