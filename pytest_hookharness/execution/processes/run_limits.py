"""
The limits of one hook run: until when it may go on, and which of them ends it.

Loaded by the supervisor too.
"""

from __future__ import annotations

from pytest_hookharness.execution.processes import process_tree
from pytest_hookharness.execution.processes.framing import AT_ONCE, MOST_EXTENDED, ON_REQUEST, ProcessRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST_EXTENSION = 0.1  # part of a hook timeout; a hook that was kept waiting for less is cut


class RunLimits:
    """
    How long a hook run may take, from its start.

    Attributes:
        seconds: Seconds until the first limit is reached.
        background: Seconds after which the host went on without the run; ``None`` while it waits.
        listens: Whether the first line of output can still make the host go on without the run.
    """

    def __init__(self, request: ProcessRequest, began: float, budget_end: float) -> None:
        self._request = request
        self._began = began
        self._budget = budget_end - began
        self._stated = self.patience = request.hook_timeout
        self.background: float | None = None
        self.listens = request.detach == ON_REQUEST
        self._limit()
        if request.detach == AT_ONCE:
            self._go_on(0.0)

    def _limit(self) -> float:
        self.seconds = min(self._request.limit, self.patience, self._budget)
        return self._began + self.seconds

    @property
    def deadline(self) -> float:
        """When the first limit is reached, on the monotonic clock."""
        return self._began + self.seconds

    @property
    def hook_timeout_end(self) -> float:
        """When the hook timeout is over, on the monotonic clock."""
        return self._began + self.patience

    @property
    def extended(self) -> float:
        """Seconds by which the hook timeout was extended, because the run had no CPU."""
        return self.patience - self._stated

    def look_at(self, output: bytes, now: float) -> bool:
        """Return whether what the run has printed makes the host go on without it from now on."""
        line, complete, _ = output.partition(b"\n")
        # As the host: it looks once, as soon as an answer may be complete.
        self.listens = not complete and b"}" not in line
        if self.listens or not _asks_for_background(line):
            return False
        self._go_on(now - self._began)
        return True

    def _go_on(self, after: float) -> None:
        self.background = after
        self._stated = self.patience = min(self._request.hook_timeout, after + self._request.background)
        self._limit()

    def extend(self, members: Sequence[int], now: float) -> bool:
        """Extend a hook timeout that is not stated by the time for which the run had no CPU."""
        request = self._request
        if request.exact or not self.patience <= self.seconds < request.limit:
            return False
        lost = process_tree.wait_for_cpu(members, now - self._began)
        until = extended_wait(self._stated, lost)
        if until < self.patience + _LEAST_EXTENSION * self._stated:
            return False
        self.patience = round(until, 1)
        return self._limit() > now

    @property
    def reached(self) -> str:
        """The name of the limit that is reached first."""
        # The host's limit is named only if no limit of the harness was shorter.
        if min(self._request.limit, self.patience) > self.seconds:
            return "budget"
        if self.background is not None:
            return "background"
        return "limit" if self._request.limit <= self.seconds else "hook_timeout"


def extended_wait(seconds: float, lost: float) -> float:
    """Return how long to wait for what has no CPU for some of the time, instead of some seconds."""
    return min(seconds + lost, seconds * MOST_EXTENDED)


def _asks_for_background(line: bytes) -> bool:
    if b'"async"' not in line:
        return False
    import json  # rarely needed, and its import would make each start slower

    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(answer, dict) and answer.get("async") is True
