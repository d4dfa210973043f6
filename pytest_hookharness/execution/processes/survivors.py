"""
The process tree without a reaper: processes are looked for by what they inherited from their hook.

Loaded by the supervisor too. Nobody tells this process of orphans, so it searches the process table for
processes that are younger than the batch and show that they come from one of its hooks.
"""

from __future__ import annotations

import os
import signal
import time

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.process_tree import (
    SurvivorError,
    send,
    send_group,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pytest_hookharness.execution.processes.process_owners import ProcessOwners

_KILL_TIMEOUT = 10.0


class ProcessGroup:
    """
    The processes of hooks where the system gives orphans to another process.

    The evidence is group, session (which a terminal belongs to), mark, streams and environment of a process,
    its parent, and its control group where the hooks have one of their own. A process without any of it is
    out of reach.
    """

    sees_all = False

    def __init__(self, confined: Callable[[], Collection[int]] = tuple) -> None:
        """Begin with no process; ``confined`` returns those in the control group of the hooks."""
        self._confined = confined

    def below(self, pid: int) -> list[int]:
        """List a process itself; its descendants are among `others`."""
        return [pid]

    def others(self, running: Collection[int], owners: ProcessOwners) -> Iterator[tuple[int, int]]:
        """Yield the living processes that hooks started, with the hook; 0 where it may be any of several."""
        owners.look()
        confined, found = frozenset(self._confined()), dict.fromkeys(running, 0)
        for pid in running:
            found[pid] = pid
        rows = [row for row in system.all_rows() if row.state != "Z" and row.started >= owners.since]
        # Parents first, because a process may show nothing but that its parent shows something.
        for row in sorted(rows, key=lambda row: (row.started, row.pid)):
            if row.pid in found or row.pid == os.getpid():
                continue
            owner = owners.shown_by(row) or found.get(row.parent)
            if owner is None and (row.pid in confined or owners.has_environment(row.pid)):
                owner = owners.only_hook
            if owner is not None:
                found[row.pid] = owner
        yield from ((pid, owner) for pid, owner in found.items() if pid not in running)

    def all_processes(self) -> list[int]:
        """List all processes that hooks may have started: all but this one."""
        return [each.pid for each in system.all_rows() if each.pid != os.getpid()]

    def kill_all(self, hooks: Collection[int], owners: ProcessOwners | None = None) -> None:
        """
        Kill the groups of hooks, and what else is found of them; raise `SurvivorError` after 10 seconds.
        """
        end = time.monotonic() + _KILL_TIMEOUT
        for pid in hooks:
            send_group(pid, signal.SIGKILL)
        # Another process reaps the orphans, so their end can only be polled for.
        while (others := dict(self.others((), owners)) if owners else {}) or any(map(_is_group, hooks)):
            send(others, signal.SIGKILL)
            if time.monotonic() > end:
                raise SurvivorError(f"the kernel does not end the processes of {list(hooks)}")
            time.sleep(0.001)
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _is_group(pid: int) -> bool:
    """Return whether a process lives in the group that a process led."""
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return any(each.group == pid and each.state != "Z" for each in system.all_rows())
