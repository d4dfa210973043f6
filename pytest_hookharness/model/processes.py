"""Processes: how one is started, and its result. Times are in seconds, sizes in bytes."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness.model.delivery import Dialogue, Terminal
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.reads import Reads

if TYPE_CHECKING:
    from pytest_hookharness.model.start_failures import StartFailure

_INTERPRETER = re.compile(r"(^|/)(sh|dash|bash|zsh|ksh|mksh|node|perl|ruby|python[0-9.]*)$")


class Stdio(enum.Enum):
    """The kind of a hook's standard streams."""

    SOCKET = "socket"
    PIPE = "pipe"
    TTY = "tty"


class Tier(enum.Enum):
    """How hook runs are isolated from the machine, strongest first."""

    NAMESPACES = "namespaces"
    SUBREAPER = "subreaper"
    GROUP = "process group"


class KillScope(enum.Enum):
    """The processes that a host signals when it cuts a hook."""

    CHILD = "child"
    GROUP = "group"
    TREE = "tree"


class Detach(enum.Enum):
    """When a host goes on without a hook run; on request: if the first line of its output asks for it."""

    NEVER = "never"
    AT_ONCE = "at once"
    ON_REQUEST = "on request"


@dataclass(frozen=True, slots=True, kw_only=True)
class KillPolicy:
    """
    How a host cuts a hook that exceeds its time limit.

    Attributes:
        grace: Seconds between one signal and the next, and after the last.
        close_wait: Seconds that the host waits for the output to be closed after the signalled processes
            have ended; ``None`` if it waits forever, also for their end.
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
        data: All bytes, including the final newline if the host writes one.
        close: Whether end of file follows.
        chunk: Number of bytes per write; ``None`` for all at once.
        delay: Seconds before the first byte and between writes.
        stdio: The kind of standard input; ``None`` for that of the other streams.
    """

    data: bytes = b""
    close: bool = True
    chunk: int | None = None
    delay: float = 0.0
    stdio: Stdio | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """
    How to start the process of one hook run.

    Attributes:
        argv: Argument vector; the first word is looked up on the PATH of ``env``.
        cwd: Absolute working folder.
        env: The complete environment.
        own_session: Whether the host starts it in a session of its own (``setsid``).
        limit: The host's time limit.
        hook_timeout: The harness's own time limit; the smaller of the two cuts the run.
        exact: Whether the scenario states the hook timeout; else it is extended while the run has no CPU.
        pipe_wait: Time that the host then waits for the end of the output; ``None``: until the limit cuts it.
        linger: Time that descendants may live after that before they are ended; ``None``: all the time.
        detach: When the host goes on without it.
        background: Time after that until the harness ends it.
        output_limit: Number of bytes of each output stream that are kept.
        observed: Whether to record what it looks at.
        ahead: Seconds by which the kernel shows it a later clock, and later times of files that it writes.
        since: The files that then count as times shown: those changed from then on, in nanoseconds.
        shifts: Since when the clock is by how many seconds ahead; ``chosen``: times of files chosen by it.
        warm: The interpreter that the run may be forked from, and its version on the disk; empty for none.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: Stdin = Stdin()
    stdio: Stdio = Stdio.PIPE
    own_session: bool = True
    limit: float = 60.0
    hook_timeout: float = 10.0
    exact: bool = False
    pipe_wait: float | None = 0.5
    linger: float | None = 0.2
    detach: Detach = Detach.NEVER
    background: float = 1.0  # about what a model takes to answer
    kill: KillPolicy = KillPolicy()
    output_limit: int = 1 << 20
    terminal: Terminal | None = None
    observed: bool = False
    ahead: float = 0.0
    since: int = 0
    shifts: tuple[tuple[int, float], ...] = ()
    chosen: tuple[int, ...] = ()
    warm: str = ""


@dataclass(frozen=True, slots=True)
class Process:
    """
    A process inside the sandbox that was observed, with its command line, shortened.

    Its age is in seconds from the start of the hook run to its own; negative if it started before.
    """

    pid: int
    command: str
    age: float

    @property
    def name(self) -> str:
        """The base name of its program, or of the script that an interpreter runs."""
        first, *others = self.command.split() or [""]
        script = others[0] if others and _INTERPRETER.search(first) and others[0][0] != "-" else first
        return script.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Activity:
    """
    The activity of one process when its hook run was cut.

    Attributes:
        state: The kernel's state letter (``R``, ``S``, ``D``, ``T``, ``Z`` ...).
        blocked_in: System call or kernel function in which it waits; empty if it runs, or if unknown.
        waits_for: What it waits for, in words; empty if unknown.
        idle_until: Seconds after the start of the hook run until which it surely waits; 0 if unknown.
        asks: The question on its terminal whose answer it waits for; empty if there is none.
    """

    process: Process
    state: str
    blocked_in: str = ""
    waits_for: str = ""
    idle_until: float = 0.0
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Exited:
    """The process ended by itself with an exit code."""

    code: int


@dataclass(frozen=True, slots=True)
class Signaled:
    """A signal that the harness did not send ended the process."""

    signal: int


class Cut(enum.Enum):
    """
    The limit that cut a hook run.

    Only ``LIMIT``, the host's, shows what the host would do. After ``HOOK_TIMEOUT`` that is known of runs
    that surely wait until that limit. ``BUDGET``, the time for the whole test, and ``BACKGROUND``, the time
    for a run that the host does not wait for, show nothing about the hook.
    """

    LIMIT = "limit"
    HOOK_TIMEOUT = "hook_timeout"
    BUDGET = "budget"
    BACKGROUND = "background"


@dataclass(frozen=True, slots=True)
class TimedOut:
    """
    The hook run was cut.

    Attributes:
        after: Seconds until then.
        ignored_term: Whether it was still alive after the first signal and its grace.
        ended: How the process itself had ended, if only its output was still open; else ``None``.
    """

    after: float
    by: Cut
    ignored_term: bool = False
    doing: tuple[Activity, ...] = ()
    ended: Exited | Signaled | None = None


@dataclass(frozen=True, slots=True)
class HeldOpen:
    """The process ended, but others kept its output open until the host stopped waiting for it."""

    exit: Exited | Signaled
    waited: float
    holders: tuple[Process, ...] = ()


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The command could not be started."""

    reason: str


Ending: TypeAlias = Exited | Signaled | TimedOut | HeldOpen | NotStarted


@dataclass(frozen=True, slots=True)
class Output:
    """One output stream of a hook run: its first bytes, which were kept, and their number in total."""

    data: bytes = b""
    total: int = 0

    @property
    def cut_at(self) -> int | None:
        """The number of kept bytes if that is not all; else ``None``."""
        return len(self.data) if self.total > len(self.data) else None

    @property
    def text(self) -> str:
        """The kept bytes as text; bytes that are not UTF-8 are replaced."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """
    The result of one process.

    Attributes:
        stdin_taken: Bytes of standard input that the system accepted from the harness.
        stdin_read: Bytes that the hook read; ``None`` where that is unknown.
        started: Start time in seconds, relative to the first start of its batch.
        wall: Seconds until the process itself ended, was cut, or the host went on without it.
        cpu: Seconds of processor time, including descendants that were waited for.
        peak_memory: Largest resident size of one process, in bytes.
        leftovers: Processes that outlived it; the harness ended them.
        unclaimed: Processes that outlived some run of the same time, each of which has them; ended too.
        pid: Process id inside the sandbox.
        dialogue: The dialogue on its terminal; ``None`` if it had none.
        limit: The host's time limit in seconds; ``None`` if unknown.
        extended: Seconds by which its hook timeout was extended, because it waited for a CPU.
        reads: What it looked at; ``None`` if that was not asked for.
        failure: Why the hook's program did not run; ``None`` if it ran, or if that is unknown.
        doubt: Why it is unknown whether the hook's program ran; empty if it is known.
        suspect: Whether it ended as an interpreter without its program does, so that no refusal counts.
        warm: Whether it was forked from a prepared interpreter.
        warm_difference: In what a run of this hook differed when it was forked, so that none is any more.
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
    unclaimed: tuple[Process, ...] = ()
    pid: int = 0
    dialogue: Dialogue | None = None
    limit: float | None = None
    extended: float = 0.0
    reads: Reads | None = None
    failure: StartFailure | None = None
    doubt: str = ""
    suspect: bool = False
    warm: bool = False
    warm_difference: str = ""

    @property
    def cut_by_budget(self) -> bool:
        """Whether the end of our own time budget cut it, so that it shows nothing."""
        return isinstance(self.ending, TimedOut) and self.ending.by is Cut.BUDGET

    @property
    def cut_in_background(self) -> bool:
        """Whether the harness ended it, and its host had gone on without it."""
        return isinstance(self.ending, TimedOut) and self.ending.by is Cut.BACKGROUND

    @property
    def own_ending(self) -> Exited | Signaled | TimedOut | NotStarted:
        """How the process itself ended, whether or not another one kept its output open."""
        return self.ending.exit if isinstance(self.ending, HeldOpen) else self.ending
