"""
Offspring: processes that a stand-in starts below itself, as a host its hooks.

They are attended to by the code that a keeper uses, in the stand-in's own process.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence

from pytest_hookharness.execution import platform
from pytest_hookharness.execution.processes import item_supervisor
from pytest_hookharness.execution.processes.batch import Batch
from pytest_hookharness.execution.processes.process_tree import Descendants, ProcessGroup
from pytest_hookharness.execution.processes.spawn import Spawner
from pytest_hookharness.execution.processes.translation import decode, encode
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec


class NestedProcesses:
    """
    The processes that a stand-in starts, which all are gone before it goes on.
    """

    def __init__(self) -> None:
        self._reach: Descendants | ProcessGroup
        try:
            platform.spawning().become_subreaper()
            self._reach = Descendants(first_of_namespace=False)
        except OSError:
            self._reach = ProcessGroup()
        self._spawner = Spawner()
        self._wake = item_supervisor.watch_children()
        # A batch ends when somebody speaks on this line; nobody does.
        self._control, self._silent = socket.socketpair()

    def run(self, launches: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
        """
        Start all launches at once and return their runs in the same order.
        """
        batch = Batch(self._reach, self._spawner, self._control, self._wake)
        return tuple(decode(report) for report in batch.run([encode(launch) for launch in launches], None))
