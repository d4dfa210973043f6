"""
Processes: how one is started and what became of it.

Times are seconds, sizes are bytes.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_hookharness.model.delivery import Dialogue, Terminal

_INTERPRETER = re.compile(r"(^|/)(sh|dash|bash|zsh|ksh|mksh|node|perl|ruby|python[0-9.]*)$")


class Stdio(enum.Enum):
    """
    What the standard streams of a hook are connected to.
    """

    SOCKET = "socket"
    PIPE = "pipe"
    TTY = "tty"


class Tier(enum.Enum):
    """
    How a fire is kept apart from the machine, best first.
    """

    NAMESPACES = "namespaces"
    SUBREAPER = "subreaper"
    GROUP = "process group"


class KillScope(enum.Enum):
    """
    Whom a host signals when it cuts a hook.
    """

    CHILD = "child"
    GROUP = "group"
    TREE = "tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class KillPolicy:
    """
    How a host ends a hook that took too long.

    Attributes:
        signals: Signal numbers in order.
        scope: Who receives them.
        grace: Seconds the host waits after each signal before it sends the next, or gives up.
        close_wait: Seconds it waits for the output to be closed once those are gone whom it signals;
            ``None`` if it waits for ever, for their end too.
    """

    signals: tuple[int, ...] = (15, 9)
    scope: KillScope = KillScope.TREE
    grace: float = 0.5
    close_wait: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stdin:
    """
    How a host writes a hook's standard input.

    Attributes:
        data: All bytes, the final newline included if the host writes one.
        close: Whether the host signals end of file afterwards.
        chunk: Write in pieces of this many bytes; ``None`` for all at once.
        delay: Seconds before the first byte and between pieces.
        stdio: What standard input alone is connected to; ``None`` for the same as the other streams.
    """

    data: bytes = b""
    close: bool = True
    chunk: int | None = None
    delay: float = 0.0
    stdio: Stdio | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """
    All that is needed to fire one hook once.

    Attributes:
        argv: Argument vector; the first word is looked up on the PATH of ``env``.
        cwd: Working folder, absolute.
        env: The complete environment.
        stdin: What is written to the process, and how.
        stdio: What its three standard streams are.
        own_session: Whether the host starts it in a session of its own.
        limit: The host's time limit.
        hook_timeout: Our own limit; the smaller of the two cuts the fire.
        pipe_wait: How long the host waits for the output to be closed once the process has exited;
            ``None`` if until the limit, which then cuts it like a hook that still runs.
        linger: How long descendants may live on after that before they are counted as left over.
        kill: How the host cuts it.
        output_limit: How many bytes of each output stream are kept.
        terminal: Its controlling terminal; ``None`` if it has none.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: Stdin = Stdin()
    stdio: Stdio = Stdio.PIPE
    own_session: bool = True
    limit: float = 60.0
    hook_timeout: float = 10.0
    pipe_wait: float | None = 0.5
    linger: float = 0.2
    kill: KillPolicy = KillPolicy()
    output_limit: int = 1 << 20
    terminal: Terminal | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """
    A process that was seen.

    Attributes:
        pid: Its number, inside the tier's own numbering.
        command: Its command line, bounded.
        age: Seconds since the fire began when it was started; below zero if before.
    """

    pid: int
    command: str
    age: float

    @property
    def name(self) -> str:
        """
        The bare name of its program, or of the script that an interpreter runs.
        """
        first, *others = self.command.split() or [""]
        script = others[0] if others and _INTERPRETER.search(first) and others[0][0] != "-" else first
        return script.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Activity:
    """
    What one process was doing when its fire was cut.

    Attributes:
        process: Which process.
        state: The kernel's state letter (``R``, ``S``, ``D``, ``T``, ``Z`` ...).
        blocked_in: System call or kernel function it waits in; empty if it was running or unknown.
        waits_for: What it waits for, in words; empty if unknown.
        asks: The question on its terminal that it waits to be answered; empty for none.
    """

    process: Process
    state: str
    blocked_in: str = ""
    waits_for: str = ""
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Exited:
    """
    The process ended by itself with an exit code.
    """

    code: int


@dataclass(frozen=True, slots=True)
class Signaled:
    """
    The process was ended by a signal that the harness did not send.
    """

    signal: int


class Cut(enum.Enum):
    """
    Whose limit ended a fire.

    Only the host's says what the host would do; our patience assumes that the fire would never have
    ended, and the budget of the whole run says nothing about the fire at all.
    """

    LIMIT = "limit"
    HOOK_TIMEOUT = "hook_timeout"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class TimedOut:
    """
    The fire was cut.

    Attributes:
        after: Seconds it was given.
        by: Whose limit that was.
        ignored_term: It was still alive after the first signal's grace.
        doing: What each process of the tree was doing.
        ended: How the process itself had ended, if only its output was still open.
    """

    after: float
    by: Cut
    ignored_term: bool = False
    doing: tuple[Activity, ...] = ()
    ended: Exited | Signaled | None = None


@dataclass(frozen=True, slots=True)
class HeldOpen:
    """
    The process ended, but another one still held its output open when the host stopped waiting.

    Attributes:
        exit: How the process itself ended.
        waited: Seconds the output was waited for.
        holders: Who held it.
    """

    exit: Exited | Signaled
    waited: float
    holders: tuple[Process, ...] = ()


@dataclass(frozen=True, slots=True)
class NotStarted:
    """
    The command could not be started at all.
    """

    reason: str


Ending: TypeAlias = Exited | Signaled | TimedOut | HeldOpen | NotStarted


@dataclass(frozen=True, slots=True)
class Output:
    """
    One output stream of a fire.

    Attributes:
        data: What was kept.
        total: How many bytes were written in all.
    """

    data: bytes = b""
    total: int = 0

    @property
    def cut_at(self) -> int | None:
        """
        How many bytes were kept, if that is not all of them.
        """
        return len(self.data) if self.total > len(self.data) else None

    @property
    def text(self) -> str:
        """
        What was kept, as text; bytes that are not UTF-8 are replaced.
        """
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """
    What became of one launch.

    Attributes:
        ending: How it ended.
        stdin_taken: Bytes of standard input that the system accepted from us.
        stdin_read: Bytes that the hook is known to have read; ``None`` where that cannot be known.
        stdout: Standard output.
        stderr: Standard error.
        started: Seconds after the first start of its batch.
        wall: Seconds until the process itself had ended (or was cut).
        cpu: Seconds of processor time, waited-for descendants included.
        peak_memory: Largest resident size of one process, in bytes.
        leftovers: Processes that outlived it and were then ended by the harness.
        pid: The process number it had, inside the tier's own numbering.
        dialogue: What passed over its terminal; ``None`` if it had none.
        limit: Seconds that its host gives it; ``None`` where that is not known.
    """

    ending: Ending
    stdin_taken: int = 0
    stdin_read: int | None = None
    stdout: Output = Output()
    stderr: Output = Output()
    started: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0
    peak_memory: int = 0
    leftovers: tuple[Process, ...] = ()
    pid: int = 0
    dialogue: Dialogue | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class DoubleCall:
    """
    One call of a double.

    Attributes:
        argv: Its arguments, its own name first.
        cwd: Where it was called.
        stdin: What was on its standard input, up to a bound; ``None`` if that was not its own: a stream
            that the caller merely passed on is left alone, for somebody else wants to read it.
        stdin_kind: ``pipe``, ``socket``, ``file``, ``null``, ``terminal``, ``closed`` or ``other``.
    """

    argv: tuple[str, ...]
    cwd: str = ""
    stdin: bytes | None = None
    stdin_kind: str = "other"
