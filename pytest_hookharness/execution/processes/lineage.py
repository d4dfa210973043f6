"""
Lineage: which hook of a batch started a process, also after its parent has ended.

Loaded by the supervisor too.
"""

from __future__ import annotations

from pytest_hookharness.execution import platform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_table = platform.processes()
_STEP = 1 << 12
_LARGEST = 1 << 62


class Lineage:
    """
    The hooks of one batch, and which of them a process descends from.

    Each hook has a mark that its descendants inherit. The second evidence is the session and the process
    group that a hook led. A mark consists of the mark of the process that starts the batch and of the hook's
    place. So hooks that a fake agent within a hook starts have marks that belong to that hook, and the mark
    of a hook is the same in each run.
    """

    def __init__(self, count: int) -> None:
        # With one hook nothing is to be told apart.
        self._marks = count > 1
        self._own = _table.own_mark() if self._marks else 0
        self._base = (self._own or 1) * _STEP
        self._by_mark: dict[int, int] = {}
        self._pids: list[int] = []

    def before_start(self, place: int) -> None:
        """Mark the hook that is started next; ``place`` is its place in the batch."""
        if self._marks:
            known = place + 1 < _STEP and self._base < _LARGEST // _STEP
            _table.mark_children(self._base + place + 1 if known else self._own)

    def started(self, place: int, pid: int) -> None:
        """Record the process of the hook at a place of the batch."""
        self._pids.append(pid)
        self._by_mark[self._base + place + 1] = pid

    def after_starts(self) -> None:
        """Take the mark of the last hook from this process."""
        if self._marks:
            _table.mark_children(self._own)

    def owner(self, pid: int) -> int:
        """Return the process of the hook that started a process; 0 if that is unknown."""
        if not self._marks:
            return self._pids[0] if self._pids else 0
        mark = _table.mark(pid)
        while mark >= self._base + _STEP:
            mark //= _STEP
        if mark in self._by_mark:
            return self._by_mark[mark]
        found = _table.row(pid)
        led = () if found is None else (found.session, found.group)
        return next((leader for leader in led if leader in self._pids), 0)

    def owners(self, tree: Collection[int]) -> list[tuple[int, int]]:
        """Return the processes of a tree, parents first, each with its owner or else that of its parent."""
        found: dict[int, int] = {}
        for pid in tree:
            found[pid] = self.owner(pid)
            if not found[pid] and (row := _table.row(pid)) is not None:
                found[pid] = found.get(row.parent, 0)
        return [*found.items()]
