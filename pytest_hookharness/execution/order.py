"""
This module is concerned with orders: a launch in the form in which the small processes handle it.

Middle floor: execution. Loaded by the supervisor too, so it imports almost nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOCKET, PIPE, TTY = "socket", "pipe", "tty"
CHILD, GROUP, TREE = "child", "group", "tree"


class Order:
    """
    One launch, encoded: words, folder and environment are bytes already.
    """

    __slots__ = (
        "argv", "chunk", "close", "close_wait", "cwd", "data", "delay", "env", "executables",
        "grace", "limit", "linger", "output_limit", "own_session", "patience", "pipe_wait", "scope",
        "signals", "stdin", "stdio", "terminal",
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
    patience: float
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
            self.limit, self.patience, self.pipe_wait, self.linger,
            self.signals, self.scope, self.grace, self.close_wait, self.output_limit,
            self.terminal,
        ) = values  # fmt: skip
