"""
The process tracer: a program that runs one command and reports every program that it executed.

It runs inside the sandbox. The kernel stops each task when it has become another program and when it is about
to end; what is true at that moment is read there. No system call is stopped, so the command runs as fast as
alone. Where the system refuses to trace, the program fails, and nothing is known.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys

from pytest_hookharness.execution.platform import linux_ptrace as tracing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DECIDES = re.compile(r"[;|&\n(){}`$!\[\]<>'\"*?#]")
_OUTPUT_LIMIT = 1 << 16
_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


class _ProcessEvents:
    """One process, as seen when it executed its last program and when it ended."""

    def __init__(self, parent: int) -> None:
        self.parent = parent
        self.argv: list[str] = []
        self.environment: dict[str, str] = {}
        self.folder = ""
        self.files: dict[str, str] = {}
        self.programs = 0
        self.code: int | None = None
        self.order = 0
        self.written: int | None = None
        self.parent_written: int | None = None
        self.acted = False
        self.started = False

    def executed(self, pid: int) -> None:
        """Read what it has become."""
        self.programs += 1
        self.argv, self.environment, self.folder = tracing.program(pid)

    def exits(self, pid: int, status: int, order: int) -> None:
        """Read how it ends, while everything that it had is still there."""
        self.code, self.order = os.waitstatus_to_exitcode(status), order
        self.written, self.parent_written = tracing.written(pid), tracing.written(self.parent)
        if self.code:
            words = (word for argument in self.argv[1:] for word in (argument, *_words(argument)))
            self.files = {word: _kind(os.path.join(self.folder, word)) for word in words}


def _words(argument: str) -> list[str]:
    """Return the words of a text that is one simple command; none if a shell decides anything in it."""
    return [] if _DECIDES.search(argument) else argument.split()


def _kind(path: str) -> str:
    """Return what stands at a path, as this process may see it."""
    if not os.path.lexists(path):
        return "missing"
    if not os.path.exists(path) or not os.access(path, os.R_OK):
        return "unreadable"
    return "file" if os.path.isfile(path) else "other"


class ProgramTracer:
    """The tasks of one command."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._processes: dict[int, _ProcessEvents] = {}
        self._streams = [tracing.memory_file(name) for name in ("stdin", "stdout", "stderr")]
        self._ended = 0
        # How much of the input had been read when each process executed its program.
        self._taken: dict[int, int] = {}

    def run(self) -> dict[str, Any]:
        """Run the command to its end; return the report."""
        os.write(self._streams[0], self._spec["stdin"].encode("utf-8", "surrogateescape"))
        os.lseek(self._streams[0], 0, os.SEEK_SET)
        waits, go = os.pipe()
        root = os.fork()
        if root == 0:
            self._become(waits, go)
        self._processes[root] = _ProcessEvents(0)
        tracing.follow(root)
        os.write(go, b"s")
        while self._attend() != root:
            continue
        return {
            "root": root,
            "processes": {pid: vars(each) for pid, each in self._processes.items()},
            "output": [self._output(number).decode("latin-1") for number in self._streams[1:]],
        }

    def _become(self, waits: int, go: int) -> None:
        try:
            os.setsid()
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            for descriptor, stream in enumerate(self._streams):
                os.dup2(stream, descriptor)
            os.close(go)
            os.read(waits, 1)
            os.chdir(self._spec["cwd"])
            words, environment = self._spec["argv"], self._spec["env"]
            os.execvpe(words[0], words, environment)  # noqa: S606  # a hook runs any program
        finally:
            os._exit(126)

    def _attend(self) -> int:
        """Wait for the next event of any task and let it continue; return its number if it has ended."""
        task, status = os.waitpid(-1, tracing.ALL_TASKS)
        if not os.WIFSTOPPED(status):
            return task
        number, event = os.WSTOPSIG(status), status >> 16
        if event in tracing.FORKS:
            if new := tracing.event_message(task):
                self._processes.setdefault(new, _ProcessEvents(next(iter(tracing.relatives(task)), task)))
        elif event == tracing.EXECUTED:
            # The kernel may report a new process before the fork that made it.
            self._executed(task)
        elif event == tracing.EXITING and next(iter(tracing.relatives(task)), 0) == task:
            self._ended += 1
            process = self._process(task)
            process.acted |= self._position() > self._taken.get(task, self._position())
            process.exits(task, tracing.event_message(task), self._ended)
        if event == tracing.STOPPED and number != signal.SIGTRAP:
            tracing.keep_stopped(task)
        else:
            tracing.resume(task, 0 if event else number)
        return 0

    def _executed(self, pid: int) -> None:
        process = self._process(pid)
        process.executed(pid)
        self._taken[pid] = self._position()
        if process.parent in self._processes:
            parent = self._processes[process.parent]
            parent.acted = parent.started = True

    def _position(self) -> int:
        """Return how much of the input has been read; all processes share its position."""
        return os.lseek(self._streams[0], 0, os.SEEK_CUR)

    def _process(self, pid: int) -> _ProcessEvents:
        return self._processes.setdefault(pid, _ProcessEvents(next(iter(tracing.relatives(pid)[1:]), 0)))

    @staticmethod
    def _output(descriptor: int) -> bytes:
        return os.pread(descriptor, _OUTPUT_LIMIT, 0)


def main() -> None:
    """Trace the command that standard input describes."""
    json.dump(ProgramTracer(json.load(sys.stdin)).run(), sys.stdout)
