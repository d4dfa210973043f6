"""
Sandboxes as the pytest process sees them: an item's hooks run in one.

The processes behind a sandbox are in ``supervisor`` and ``item_supervisor``.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from pytest_hookharness.execution.paths import PACKAGE
from pytest_hookharness.execution.platform.linux_inotify import InotifyPool
from pytest_hookharness.execution.processes import framing, pseudo_terminals
from pytest_hookharness.execution.processes.framing import WAITS
from pytest_hookharness.execution.processes.slots import CpuSlot, NoFreeSlot
from pytest_hookharness.execution.processes.translation import Confinement, decode, encode, longest, notes_of
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, Tier

_PROGRAM = "pytest_hookharness.execution.processes.supervisor"
_OPEN_TIMEOUT, _CLOSE_TIMEOUT, _MARGIN = 30.0, 30.0, 60.0
_Results: TypeAlias = tuple[ProcessResult, ...]


class ExecutionError(Exception):
    """The harness itself failed. Never counted as a pass or as an exit code of a hook."""


class Sandbox(AbstractContextManager["Sandbox"]):
    """
    Where the hooks of one item run; everything they start is dead when it is closed.

    Attributes:
        tier: The isolation tier in force.
        notes: What this tier cannot guarantee, in sentences.
        stubs: Files and folders that were made as mount points, below private folders and ``outside``.
        contained: Whether no write outside of the writable places reaches the machine.
    """

    def __init__(
        self, peer: socket.socket, confinement: Confinement, supervisor: Supervisor, slot: CpuSlot
    ) -> None:
        self._peer = peer
        self._slot = slot
        self._supervisor = supervisor  # a reference, or it could be collected and end this sandbox
        self._busy = False
        self._closed = False
        self._confinement = confinement
        peer.settimeout(_OPEN_TIMEOUT)
        self._tell(confinement.encode())

    def wait_until_open(self) -> None:
        """Wait until processes can be run in it; raise `ExecutionError` if it could not be opened."""
        try:
            state, *answer = self._ask()
        except BaseException:
            self.close()
            raise
        if state != "ready":
            self.close()
            raise ExecutionError(f"the sandbox could not be opened: {answer[0]}")
        tier, stubs, contained, refusals, reason, evidence = answer
        self.tier = Tier(tier)
        self.stubs: tuple[str, ...] = tuple(stubs)
        self.contained = "/" in contained and not refusals
        self._overlays = contained
        self.notes = tuple(notes_of(self.tier, self._confinement, reason, contained, refusals, evidence))

    def run(self, specs: Sequence[ProcessSpec], *, budget: float | None = None) -> _Results:
        """
        Start all processes at once and return their results in the same order.

        Args:
            budget: Seconds for all of it; hooks still running then are cut as by the hook timeout.

        Raises:
            ExecutionError: The sandbox is closed, or its item supervisor failed.
            NoFreeSlot: A hook began to work again while all CPU slots were taken.
        """
        if self._closed:
            raise ExecutionError("the sandbox is closed")
        if self._busy:
            raise ExecutionError("the sandbox was interrupted during a run and cannot be used again")
        wanted = [spec.terminal for spec in specs]
        if not any(wanted):
            return self._run(specs, [""] * len(specs), budget)
        with pseudo_terminals.open_terminals(wanted, self._open_terminal) as terminals:
            runs = self._run(specs, [one.path if one else "" for one in terminals], budget)
        return tuple(map(pseudo_terminals.with_dialogue, runs, terminals))

    def _open_terminal(self) -> pseudo_terminals.OpenedTerminal:
        """Open a terminal where the processes of the sandbox can find it."""
        self._tell((framing.TERMINAL,))
        kind, path = self._ask()
        if kind != framing.TERMINAL:
            raise ExecutionError(f"no terminal could be opened: {path}")
        _, descriptors, _, _ = socket.recv_fds(self._peer, 1, 2)
        if len(descriptors) != 2:
            raise ExecutionError("no terminal could be opened: this process has no more file descriptors")
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        return descriptors[0], descriptors[1], path

    def _run(self, specs: Sequence[ProcessSpec], terminals: Sequence[str], budget: float | None) -> _Results:
        # Still set after an interrupted run, the rest of whose answer would be taken for the next one.
        self._busy = True
        # The item supervisor enforces all limits itself. This timeout, a longer one, is for one that hangs.
        if (most := longest(specs) + _MARGIN) != self._peer.gettimeout():
            self._peer.settimeout(most)
        self._tell(([*map(encode, specs, terminals)], budget, self._slot.shared))
        self._slot.work()
        kind, value = self._ask()
        # Only a simulation that shares the CPUs gets these: its hooks began to wait, or to work again.
        while kind == "load":
            try:
                (self._slot.leave if value == WAITS else self._slot.resume)()
            except NoFreeSlot:
                # Processes that still run must not write to files that are restored meanwhile.
                self.close()
                raise
            kind, value = self._ask()
        self._slot.take()
        self._busy = False
        if kind != "runs":
            raise ExecutionError(f"the item supervisor failed: {value}")
        return tuple(decode(report, spec.limit) for report, spec in zip(value, specs, strict=True))

    def start_lasting(self, spec: ProcessSpec) -> None:
        """Start one process that runs until the sandbox is closed; nothing else can be run in the sandbox."""
        self._busy = True
        framing.send(self._peer, ([encode(spec)], None))

    def expect_observed(self) -> None:
        """Say that the next run is probably that of one observed hook, so that it starts sooner."""
        if self.tier is not Tier.GROUP and not (self._closed or self._busy):
            self._tell((framing.OBSERVED,))

    def renew(self) -> bool:
        """
        Ask that the sandbox be made as new, with the same view of the files; return whether that is possible.

        Everything in the sandbox is ended. Nothing can be run before `wait_until_renewed`.
        """
        if self._closed or self._busy or not self.contained:
            return False
        self._tell((framing.AGAIN, self._overlays))
        return True

    def wait_until_renewed(self) -> bool:
        """Return whether `renew` was successful: not where a hook has changed what it cannot undo."""
        with contextlib.suppress(ExecutionError):
            return bool(self._ask()[0] == "ready")
        return False

    @property
    def ended(self) -> bool:
        """Whether the process that should last has ended."""
        return bool(select.select([self._peer], [], [], 0)[0])

    def _tell(self, request: object) -> None:
        with contextlib.suppress(OSError):  # it may be gone; why shows when it is waited for
            framing.send(self._peer, request)

    def _ask(self) -> Any:
        try:
            self._slot.wait_readable(self._peer)
            return framing.receive(self._peer)
        except TimeoutError as problem:
            raise ExecutionError("the item supervisor does not answer") from problem
        except (EOFError, OSError) as problem:
            raise ExecutionError(f"the item supervisor was lost: {problem}") from problem

    def close(self, *, at_once: bool = False) -> None:
        """End all processes in the sandbox; return when they are dead and, unless ``at_once``, unmounted."""
        if self._closed:
            return
        self._closed = True
        try:
            self._peer.settimeout(_CLOSE_TIMEOUT)
            # The item supervisor reads the end of its input, kills everything, and closes its end only after
            # the last process inside is dead. The rest of an interrupted answer is discarded.
            self._peer.shutdown(socket.SHUT_WR)
            if at_once and not self._busy and framing.receive(self._peer) == (framing.ENDED,):
                return
            while self._peer.recv(1 << 18):
                pass
        except TimeoutError as problem:
            raise ExecutionError("the processes of the sandbox did not end") from problem
        except (OSError, EOFError):
            pass  # it is gone already
        finally:
            self._peer.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class Supervisor(AbstractContextManager["Supervisor"]):
    """
    The small process beside pytest that makes sandboxes; started when the first one is needed.

    Any thread may open sandboxes; one sandbox belongs to one thread.

    Attributes:
        watches: Watches on the files of its sandboxes' workspaces, reused from one to the next.
    """

    def __init__(self) -> None:
        self.watches = InotifyPool()
        self._starting = threading.Lock()
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._tiers: Mapping[Tier, str] | None = None

    @property
    def pid(self) -> int | None:
        """The number of its process; ``None`` if it was not started."""
        return self._process.pid if self._process else None

    def open(self, confinement: Confinement, slot: CpuSlot | None = None) -> Sandbox:
        """Open a sandbox; without a slot, the simulation always has the CPU."""
        sandbox = self.begin(confinement, slot)
        sandbox.wait_until_open()
        return sandbox

    def begin(
        self, confinement: Confinement, slot: CpuSlot | None = None, reserved: socket.socket | None = None
    ) -> Sandbox:
        """Begin to open a sandbox, sooner if one was reserved; it can be closed before it is open."""
        peer = reserved or self.reserve(confinement.tier, network=confinement.network)
        return Sandbox(peer, confinement, self, slot or CpuSlot())

    def reserve(self, tier: Tier | None, *, network: bool) -> socket.socket:
        """Have an item supervisor ready for a sandbox that is opened soon; return our end of its socket."""
        best = framing.BEST if tier is not Tier.SUBREAPER and not network else framing.ANY
        return self._connect(framing.PLAIN if tier is Tier.GROUP else best)

    def start(self) -> socket.socket:
        """Start its process if it does not run; do not wait until it is ready. Return the socket to it."""
        with self._starting:
            return self._channel or self._start()

    def tiers(self) -> Mapping[Tier, str]:
        """Return every tier with the reason why it is not available here, empty if it is."""
        if self._tiers is not None:
            return self._tiers
        with self._connect(framing.PLAIN) as peer:
            peer.settimeout(_OPEN_TIMEOUT)
            with contextlib.suppress(BrokenPipeError):
                framing.send(peer, ("tiers",))
            answer = framing.receive(peer)
        if not isinstance(answer, dict):
            raise ExecutionError(f"the supervisor cannot fork: {answer[1]}")
        self._tiers = {Tier(name): reason for name, reason in answer.items()}
        return self._tiers

    def _connect(self, kind: bytes) -> socket.socket:
        """Have an item supervisor forked; return our end of the socket to it."""
        channel = self.start()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(channel, [kind], [theirs.fileno()])
            except OSError as problem:
                ours.close()
                raise ExecutionError(f"the supervisor was lost: {problem}") from problem
        return ours

    def _start(self) -> socket.socket:
        program = python_program(_PROGRAM, *(["-B"] if sys.dont_write_bytecode else []))
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [*program, str(theirs.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    cwd="/",
                    env=library_paths(os.environ),
                )
            except BaseException:
                ours.close()
                raise
        # Only now: with a channel, later calls would take the supervisor for started.
        self._channel = ours
        return ours

    def dismiss(self) -> None:
        """Have it end all sandboxes that are still open, and itself; do not wait for that."""
        if self._channel is not None:
            with contextlib.suppress(OSError):
                self._channel.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End the supervisor, and with it all sandboxes that are still open."""
        self.watches.close()
        if self._channel is None or self._process is None:
            return
        self.dismiss()
        try:
            with self._channel as channel, contextlib.suppress(ConnectionError):
                channel.settimeout(_CLOSE_TIMEOUT)
                channel.recv(1)  # its end closes the other end; a wait with a timeout would poll
            self._process.wait(_CLOSE_TIMEOUT)
        except (TimeoutError, subprocess.TimeoutExpired) as problem:
            raise ExecutionError("the supervisor did not end") from problem
        finally:
            self._channel = self._process = None

    def __exit__(self, *_: object) -> None:
        self.close()


def available_tiers() -> tuple[Tier, ...]:
    """List the tiers that work here, best first."""
    with Supervisor() as supervisor:
        return tuple(tier for tier, reason in supervisor.tiers().items() if not reason)


def python_program(module: str, *flags: str) -> tuple[str, ...]:
    """
    Return the words that run the ``main`` of one of our modules in a Python of its own; arguments may follow.

    It is isolated and has no site packages: so it starts faster, and nothing of the project reaches it. The
    folder of the package comes last on its path, so what lies beside the package hides no standard module.
    """
    if not sys.executable:
        raise ExecutionError("the path of the Python interpreter is not known")
    # As bytes: the code is ASCII then, and Python accepts it whatever the folder and the locale are.
    place = f"sys.path.append(os.fsdecode({os.fsencode(PACKAGE.parent)!r}))"
    code = f"import os, sys; {place}; from {module} import main; main(*sys.argv[1:])"
    return (sys.executable, "-I", "-S", *flags, "-c", code)


def library_paths(env: Mapping[str, str]) -> dict[str, str]:
    """Return what remains of an environment for our own programs: some interpreters need it to start."""
    return {name: value for name, value in env.items() if name.endswith("LIBRARY_PATH")}
