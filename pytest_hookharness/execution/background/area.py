"""
The background area: where background processes run beside the sessions of a simulation.

It is a sandbox of its own in the same workspace. So the end of a hook or a tool call, which ends all of its
processes, leaves these alone, and closing the background area ends all of these. The program inside is
``watcher``.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from pytest_hookharness.execution.background import watcher
from pytest_hookharness.execution.paths import PACKAGE, write_bytes
from pytest_hookharness.execution.processes.sandbox import (
    ExecutionError,
    Supervisor,
    library_paths,
    python_program,
)
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.user_files import store_file
from pytest_hookharness.execution.workspace.test_doubles import TestDoubles
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.model.delivery import DoubleCall
from pytest_hookharness.model.processes import ProcessSpec, Tier

# The command by which an agent, or any process, asks for a process of the scenario to be started.
DETACH = "detach"
_ONE_DAY = 86400.0
_READ = 1 << 18
_PAUSE = 0.005
_TIMEOUT = 10.0
_SHOWN = 80


class BackgroundArea(AbstractContextManager["BackgroundArea"]):
    """
    The background processes of one simulation; when it is closed, all of them are dead.

    Attributes:
        separate: Whether the kernel keeps requests from inside apart from those of the agent's shell.
    """

    def __init__(
        self, workspace: Workspace, supervisor: Supervisor, *, tier: Tier | None, network: bool
    ) -> None:
        self._workspace = workspace
        self._folder = folder = workspace.base / "background"
        self._doubles = TestDoubles(workspace.bin, folder / "asked")
        self._memory = workspace.base / "background-state.json"
        self._rest = b""
        outside = workspace.base / "background-outside"
        for place in (folder, outside, self._doubles.records(DETACH), folder / watcher.PROCESSES):
            place.mkdir(parents=True, exist_ok=True)
        self._processes = folder / watcher.PROCESSES
        self._stack = ExitStack()
        try:
            # Opened for reading only, so that the end of the last writer, the watcher, shows. The
            # other two are opened for reading and writing: they never block and never end.
            self._events = self._open(watcher.EVENTS, os.O_RDONLY)
            self._orders = self._open(watcher.ORDERS, os.O_RDWR)
            self._control = self._open(watcher.CONTROL, os.O_RDWR)
            self._poll = select.poll()
            self._poll.register(self._events, select.POLLIN)
            self.sandbox = supervisor.open(self._confinement(tier, network, outside))
            self._stack.enter_context(self.sandbox)
            self.sandbox.start_lasting(self._program())
        except BaseException:
            self.close()
            raise
        self.separate = self.sandbox.tier is Tier.NAMESPACES

    def _open(self, name: str, flags: int) -> int:
        path = self._folder / name
        os.mkfifo(path)
        descriptor = os.open(path, flags | os.O_NONBLOCK)
        self._stack.callback(os.close, descriptor)
        return descriptor

    def _confinement(self, tier: Tier | None, network: bool, outside: Path) -> Confinement:
        place = self._workspace
        return Confinement(
            tier=tier,
            network=network,
            # Requests from in here are recorded elsewhere than those of the agent's shell.
            private={**place.private, str(place.doubles.records(DETACH)): str(self._doubles.records(DETACH))},
            visible=(*place.visible, str(PACKAGE), str(self._folder)),
            writable=(*place.writable, str(self._folder)),
            outside=str(outside),
        )

    def _program(self) -> ProcessSpec:
        argv = (*python_program(watcher.__name__, "-B"), str(self._folder))
        # The processes themselves get the host's environment.
        env = library_paths(os.environ)
        return ProcessSpec(argv=argv, cwd="/", env=env, limit=_ONE_DAY, hook_timeout=_ONE_DAY)

    def start(self, name: str, command: str, stop_after: float | None) -> None:
        """Have a process started."""
        place = self._processes / name
        place.mkdir()
        order = {
            "argv": ["bash", "-c", command],
            "cwd": str(self._workspace.root),
            "env": dict(self._workspace.environment),
            "stop_after": stop_after,
        }
        write_bytes(place / watcher.ORDER, json.dumps(order).encode())
        # The order file is complete before its name is announced.
        os.write(self._orders, os.fsencode(name) + b"\n")

    def count(self) -> None:
        """Ask which other processes live in the area, besides the harness's own."""
        os.write(self._orders, watcher.COUNT.encode() + b"\n")

    def events(self, wait: float) -> Iterator[Mapping[str, Any]]:
        """
        Yield new reports, waiting at most ``wait`` seconds; raise `ExecutionError` if the watcher is lost.
        """
        for _, seen in self._poll.poll(wait * 1000):
            data = os.read(self._events, _READ) if seen & select.POLLIN else b""
            if not data:
                raise ExecutionError("the watcher of the background processes was lost")
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                yield from _read(line)
        if self.sandbox.ended:
            raise ExecutionError("the background processes were lost: the program that keeps them ended")

    def requests(self) -> tuple[DoubleCall, ...]:
        """Return what was asked for from inside the area so far, in order."""
        return self._doubles.calls(DETACH)

    def kill_watcher(self) -> None:
        """End the watcher with SIGKILL; what it had not passed on is lost."""
        os.write(self._control, watcher.KILL)
        for seen in self._poll_states("does not die"):
            # Some systems report the end of the last writer until it was read, and not afterwards.
            if seen and not (seen & select.POLLIN and os.read(self._events, _READ)):
                break
        self._rest = b""

    def has_ended(self, name: str) -> bool:
        """Return whether the end of a process was written down, with or without a watcher."""
        return (self._processes / name / watcher.END).exists()

    def pause(self) -> None:
        """Wait a few milliseconds while no watcher runs."""
        select.select([], [], [], _PAUSE)

    def start_watcher(self) -> None:
        """Start a new watcher, which first reports what ended meanwhile."""
        os.write(self._control, watcher.START)
        for seen in self._poll_states("does not start"):
            if not seen or seen & select.POLLIN:
                break

    def _poll_states(self, trouble: str) -> Iterator[int]:
        """Yield the state of the pipe until a timeout; once the watcher is dead, no process holds its end."""
        end = time.monotonic() + _TIMEOUT
        while time.monotonic() < end and not self.sandbox.ended:
            yield next((seen for _, seen in self._poll.poll(0)), 0)
            self.pause()
        raise ExecutionError(f"the watcher of the background processes {trouble}")

    def save(self, text: str) -> None:
        """Keep a text, completely or not at all, where no background process can reach it."""
        store_file(self._memory, text.encode(), 0o600)

    def load(self) -> str:
        """Return the text that was kept last."""
        return self._memory.read_text(encoding="utf-8")

    def close(self) -> None:
        """End everything in it."""
        self._stack.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _read(line: bytes) -> Iterator[Mapping[str, Any]]:
    try:
        event = json.loads(line)
    except ValueError:
        # The second half of a line; a watcher that was killed took the first half with it.
        return
    except RecursionError as error:
        problem = "the watcher of the background processes wrote a line that cannot be read"
        raise ExecutionError(problem) from error
    match event:
        case {"what": "lost", "process": name}:
            raise ExecutionError(f"the monitor of the background process {name!r} was lost")
        case {"what": str()}:
            yield event
        case _:
            seen = f"the watcher of the background processes wrote {line[:_SHOWN]!r}"
            raise ExecutionError(f"{seen}, which is not an event; did another process write there?")
