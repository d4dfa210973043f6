"""
Process traces: one run of a command, with every program that it executed and how each ended.

The program that traces is ``program_tracer``; this module starts it inside a sandbox and reads its report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from pytest_hookharness.execution.processes.sandbox import library_paths, python_program
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Stdin

_PROGRAM = "pytest_hookharness.execution.startup.program_tracer"
_REPORT = 16 << 20

Start = Callable[[Sequence[ProcessSpec]], Sequence[ProcessResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedProcess:
    """
    One process of a traced command.

    Attributes:
        parent: Number of the process that started it.
        argv: The arguments of the last program that it executed; empty if it executed none.
        environment: The environment of that program.
        folder: The working folder in which it executed that program.
        files: What stood at the path that each argument names when it ended with another code than 0:
            ``file``, ``missing``, ``unreadable`` or ``other``.
        programs: How many programs it executed, one after the other.
        code: Its exit code, negative for a signal; ``None`` if it had not ended.
        order: The position of its end among all ends, from 1.
        written: Bytes that it had written at its end; ``None`` if unknown.
        parent_written: Bytes that its parent had written at that time, likewise.
        acted: Whether its program read of the command's input, or ``started``.
        started: Whether another process that it started executed a program.
    """

    parent: int
    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    programs: int = 0
    code: int | None = None
    order: int = 0
    written: int | None = None
    parent_written: int | None = None
    acted: bool = False
    started: bool = False


@dataclass(frozen=True, slots=True)
class ProcessTrace:
    """All processes of one command by number, the number of the first, and what was printed."""

    root: int
    processes: Mapping[int, TracedProcess]
    stdout: str
    stderr: str

    @property
    def code(self) -> int | None:
        """The exit code of the command."""
        return self.processes[self.root].code

    def find_decider(self) -> TracedProcess:
        """
        Return the process whose exit code became that of the command.

        A process passes on the code of a child if it ends with the same code and wrote nothing after the
        child had ended. A shell that prints a reason of its own decides itself.
        """
        number = self.root
        while True:
            here = self.processes[number]
            children = [
                (each.order, child)
                for child, each in self.processes.items()
                if each.parent == number and each.code == here.code and _is_silent_after(here, each)
            ]
            if not children:
                return self._program_of(number)
            number = max(children)[1]

    def ancestors(self, process: TracedProcess) -> Iterator[TracedProcess]:
        """Yield the processes above one, the nearest first."""
        while process.parent in self.processes:
            process = self.processes[process.parent]
            yield process

    def _program_of(self, number: int) -> TracedProcess:
        """Return the process, or the nearest one above it that executed a program."""
        while not self.processes[number].argv and self.processes[number].parent in self.processes:
            number = self.processes[number].parent
        return self.processes[number]


def _is_silent_after(parent: TracedProcess, child: TracedProcess) -> bool:
    return parent.written is not None and parent.written == child.parent_written


def trace(start: Start, spec: ProcessSpec) -> ProcessTrace | None:
    """
    Run a command and trace it; ``None`` if the system does not allow that, or the command did not end.

    ``start`` runs processes in a sandbox that shows this package.
    """
    task = {
        "argv": spec.argv,
        "cwd": spec.cwd,
        "env": dict(spec.env),
        "stdin": spec.stdin.data.decode("utf-8", "surrogateescape"),
    }
    program = ProcessSpec(
        argv=python_program(_PROGRAM, "-B"),
        cwd="/",
        env=library_paths(spec.env),
        stdin=Stdin(data=json.dumps(task).encode()),
        limit=spec.limit,
        hook_timeout=spec.hook_timeout,
        output_limit=_REPORT,
    )
    (run,) = start([program])
    if run.ending != Exited(0):
        return None
    return _decode(json.loads(run.stdout.data))


def _decode(report: Mapping[str, Any]) -> ProcessTrace:
    processes = {int(pid): _process(values) for pid, values in report["processes"].items()}
    stdout, stderr = (text.encode("latin-1").decode("utf-8", "replace") for text in report["output"])
    return ProcessTrace(report["root"], processes, stdout, stderr)


def _process(values: dict[str, Any]) -> TracedProcess:
    argv: list[str] = values.pop("argv")
    return TracedProcess(argv=tuple(argv), **values)
