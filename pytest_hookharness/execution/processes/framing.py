"""
Orders: a launch in the form in which the small processes handle it.

Loaded by the supervisor too, so it imports almost nothing.

Framing: how values cross a socket between pytest and its small processes.

Loaded by the supervisor too, so it imports almost nothing.

Translation: launches into orders, reports into runs.

Only the pytest process loads it.
"""

from __future__ import annotations

import marshal
import os
import socket
import struct
import sys
from typing import Any

from pytest_hookharness.model.processes import (
    Activity,
    Cut,
    Ending,
    Exited,
    HeldOpen,
    NotStarted,
    Output,
    Process,
    ProcessResult,
    ProcessSpec,
    Signaled,
    TimedOut,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEAD = struct.Struct("<I")
_PIECE = 1 << 16  # more would be fetched from the kernel, and returned to it, for every value


def send(peer: socket.socket, value: Any) -> None:
    """
    Write one value.
    """
    # marshal, because both ends are the same interpreter and it is several times faster than pickle or JSON.
    body = marshal.dumps(value)
    peer.sendall(_HEAD.pack(len(body)) + body)


def receive(peer: socket.socket) -> Any:
    """
    Read one value, and nothing of the next; ``EOFError`` if the other side is gone, also in the middle of it.
    """
    (length,) = _HEAD.unpack(_read(peer, _HEAD.size))
    return marshal.loads(_read(peer, length))  # written by ourselves


def _read(peer: socket.socket, size: int) -> bytes | bytearray:
    """
    Read so many bytes; ``EOFError`` if there will not be as many.
    """
    data = peer.recv(min(size, _PIECE))
    if len(data) == size:
        return data
    whole = bytearray(data)
    while len(whole) < size:
        if not data:
            raise EOFError("the other side is gone")
        data = peer.recv(min(size - len(whole), _PIECE))
        whole += data
    return whole


_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def encode(launch: ProcessSpec, terminal: str = "") -> tuple[Any, ...]:
    """
    Turn a launch into the values of an order, in the sequence that ``Order`` unpacks.

    Args:
        launch: What is to be started.
        terminal: Where its controlling terminal is found; empty if it has none.
    """
    if not launch.argv:
        raise ValueError("a launch needs at least one word in argv")
    stdin, kill = launch.stdin, launch.kill
    argv = [os.fsencode(word) for word in launch.argv]
    # Not by ``os.fsencode``: two calls for each variable would take most of the time spent here.
    env = [f"{name}={value}".encode(_ENCODING, _ERRORS) for name, value in launch.env.items()]
    return (
        argv, _candidates(argv[0], launch.env.get("PATH", os.defpath)), os.fsencode(launch.cwd), env,
        stdin.data, stdin.close, stdin.chunk, stdin.delay, (stdin.stdio or launch.stdio).value,
        launch.stdio.value, launch.own_session,
        launch.limit, launch.hook_timeout, launch.pipe_wait, launch.linger,
        kill.signals, kill.scope.value, kill.grace, kill.close_wait, launch.output_limit,
        os.fsencode(terminal),
    )  # fmt: skip


def _candidates(word: bytes, search_path: str) -> list[bytes]:
    """
    List the files that a command word may mean, in the sequence in which the system tries them.
    """
    if b"/" in word:
        return [word]
    return [os.fsencode(folder or ".") + b"/" + word for folder in search_path.split(os.pathsep)]


def decode(values: tuple[Any, ...]) -> ProcessResult:
    """
    Turn one report into a run.
    """
    ending, taken, read, out, out_total, err, err_total, started, wall, cpu, peak, leftovers, pid = values
    return ProcessResult(
        ending=_ending(ending),
        stdin_taken=taken,
        stdin_read=read,
        stdout=Output(out, out_total),
        stderr=Output(err, err_total),
        started=started,
        wall=wall,
        cpu=cpu,
        peak_memory=peak,
        leftovers=_processes(leftovers),
        pid=pid,
    )


def _processes(rows: list[tuple[int, str, float]]) -> tuple[Process, ...]:
    return tuple(Process(*row) for row in rows)


def _exit(values: tuple[str, int]) -> Exited | Signaled:
    kind, number = values
    return Exited(number) if kind == "exited" else Signaled(number)


def _ending(values: tuple[Any, ...]) -> Ending:
    match values:
        case ("exited" | "signaled", int()):
            return _exit(values)
        case ("cut", after, by, ignored_term, doing, ended):
            seen = tuple(Activity(Process(*row[:3]), *row[3:]) for row in doing)
            return TimedOut(after, Cut(by), ignored_term, seen, _exit(ended) if ended else None)
        case ("held", exit, waited, holders):
            return HeldOpen(_exit(exit), waited, _processes(holders))
        case ("not started", reason):
            return NotStarted(reason)
        case _:
            raise ValueError(f"a report with an unknown ending: {values!r}")


if TYPE_CHECKING:
    from typing import Any

SOCKET, PIPE, TTY = "socket", "pipe", "tty"
CHILD, GROUP, TREE = "child", "group", "tree"


class ProcessRequest:
    """
    One launch, encoded: words, folder and environment are bytes already.
    """

    __slots__ = (
        "argv",
        "chunk",
        "close",
        "close_wait",
        "cwd",
        "data",
        "delay",
        "env",
        "executables",
        "grace",
        "hook_timeout",
        "limit",
        "linger",
        "output_limit",
        "own_session",
        "pipe_wait",
        "scope",
        "signals",
        "stdin",
        "stdio",
        "terminal",
    )  # fmt: skip

    argv: list[bytes]
    executables: list[bytes]
    cwd: bytes
    env: list[bytes]
    data: bytes
    close: bool
    chunk: int | None
    delay: float
    stdin: str
    stdio: str
    own_session: bool
    limit: float
    hook_timeout: float
    pipe_wait: float | None
    linger: float
    signals: tuple[int, ...]
    scope: str
    grace: float
    close_wait: float | None
    output_limit: int
    terminal: bytes

    def __init__(self, values: tuple[Any, ...]) -> None:
        (
            self.argv, self.executables, self.cwd, self.env,
            self.data, self.close, self.chunk, self.delay, self.stdin,
            self.stdio, self.own_session,
            self.limit, self.hook_timeout, self.pipe_wait, self.linger,
            self.signals, self.scope, self.grace, self.close_wait, self.output_limit,
            self.terminal,
        ) = values  # fmt: skip
