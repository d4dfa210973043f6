"""
Records of the sessions that fake agents play, and which session started which.

A fake agent is a process inside the sandbox, so it can only leave records; hooks can reach these too, so a
reader trusts nothing in them. The parent of a session follows from the process table and not from what a hook
passes on: a fake agent is the reaper of everything that it starts, so neither a cleared environment nor a
second fork hides a descendant. Where the system has no such table every session counts as one of the first
level, and only their number is limited.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_hookharness.execution.paths import WorkspaceError, confine, make_folders, read_bytes, write_bytes
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.model.agent_sessions import ChildCall, ChildHookRun, ChildSession, Nesting
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass

_MAX_RECORD = 8 << 20
_MAX_SESSIONS = 200
_MAX_COUNTED = 100_000
_MAX_WORD = 4096


@dataclass(frozen=True, slots=True)
class SessionRecords:
    """The sessions of one workspace's fake agents, in a folder of records."""

    folder: Path

    @property
    def count(self) -> int:
        """The number of sessions that were started so far."""
        number = 0
        while number < _MAX_COUNTED and (self.folder / str(number + 1)).is_dir():
            number += 1
        return number

    def prepare(self) -> None:
        """Make the folder."""
        make_folders(self.folder / "living")

    def begin(self) -> int:
        """
        Assign later sessions to a new event; return the number of earlier ones, or raise `WorkspaceError`.
        """
        if not self.folder.is_dir():
            return 0
        # A hook may have put a link in its place.
        write_bytes(confine(self.folder / "before", [self.folder.parent]), str(self.count).encode())
        return self.count

    def enter(self, limits: Nesting) -> SessionWriter:
        """Record one more session, started by this very process."""
        # The nearest ancestor that is a recorded session is the parent, however many processes lie between.
        ancestors = tuple(_ancestors())
        parent, above = self._parent(ancestors)
        number = self._claim()
        before = int(read_bytes(self.folder / "before", most=_MAX_WORD) or 0)
        session = ChildSession(number=number, parent=parent, depth=above + 1, ancestors=ancestors)
        if session.depth > limits.depth:
            session = replace(session, refused=f"a depth of {limits.depth}")
        elif number - before > limits.sessions:
            session = replace(session, refused=f"{counted(limits.sessions, 'session')} of one event")
        own = os.getpid()
        row = system.row(own)
        known = {"number": number, "depth": session.depth, "born": row.started if row else 0.0}
        write_bytes(self.folder / "living" / str(own), json.dumps(known).encode())
        return SessionWriter(self.folder / str(number), session)

    def _claim(self) -> int:
        number = self.count + 1
        while True:
            try:
                (self.folder / str(number)).mkdir()
            except FileExistsError:
                number += 1
            else:
                return number

    def _parent(self, ancestors: tuple[int, ...]) -> tuple[int, int]:
        for pid in ancestors:
            record, row = read_bytes(self.folder / "living" / str(pid), most=_MAX_WORD), system.row(pid)
            known = json.loads(record) if record and row is not None else {}
            # The number of a process that is gone may belong to another one now.
            if known and row is not None and known["born"] == row.started:
                return int(known["number"]), int(known["depth"])
        return 0, 0

    def read(self, after: int) -> tuple[ChildSession, ...]:
        """
        Return the sessions that were started after the first ``after``, in order; at most 200.

        Raises:
            WorkspaceError: Their records cannot be read: hooks can put anything in their place.
        """
        if not self.folder.is_dir():
            return ()
        found: dict[int, ChildSession] = {}
        for number in range(after + 1, min(self.count, after + _MAX_SESSIONS) + 1):
            place = confine(self.folder / str(number), [self.folder.parent])
            try:
                found[number] = _read(number, read_bytes(place / "record", most=_MAX_RECORD) or b"")
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                message = f"is not a record of a session: {error}; did a hook write there?"
                raise WorkspaceError(place / "record", message) from error
        return tuple(_started(session, found) for session in found.values())


class SessionWriter:
    """The record of one session, written line by line, since the session may be killed at any time."""

    def __init__(self, folder: Path, session: ChildSession) -> None:
        self.folder = folder
        self.session = session

    def append(self, **values: object) -> None:
        """Append one line."""
        write_bytes(self.folder / "record", json.dumps(values).encode() + b"\n", append=True)


def _ancestors() -> Iterator[int]:
    row = system.row(os.getpid())
    while row is not None and row.parent > 0:
        yield row.parent
        row = system.row(row.parent)


def _read(number: int, record: bytes) -> ChildSession:
    session = ChildSession(number=number)
    # A line without an end was cut off in the middle.
    for line in record.split(b"\n")[:-1]:
        session = _add(session, json.loads(line))
    return session


def _add(session: ChildSession, record: Mapping[str, Any]) -> ChildSession:
    if "start" in record:
        start = record["start"]
        words = tuple(str(word)[:_MAX_WORD] for word in start["argv"])
        environment = {str(name): str(value) for name, value in start["environment"].items()}
        return replace(
            session, parent=int(start["parent"]), depth=int(start["depth"]), host=str(start["host"]),
            argv=words, size=int(start["size"]), ancestors=tuple(int(pid) for pid in start["ancestors"]),
            environment=environment, folder=str(start["folder"]), refused=str(start["refused"]),
        )  # fmt: skip
    if "hook_runs" in record:
        # Hook runs that were recorded as running have ended.
        ended = (hook_run for hook_run in session.hook_runs if hook_run.done)
        started = (ChildHookRun(**hook_run) for hook_run in record["hook_runs"])
        return replace(session, hook_runs=(*ended, *started))
    if "call" in record:
        return replace(session, calls=(*session.calls, ChildCall(**record["call"])))
    return replace(session, ended=str(record.get("ended", "")), trouble=str(record.get("trouble", "")))


def _started(session: ChildSession, found: Mapping[int, ChildSession]) -> ChildSession:
    parent = found.get(session.parent)
    if parent is None:
        return session
    hook_runs = [(hook_run.event, hook_run.command, hook_run.pid) for hook_run in parent.hook_runs]
    return replace(session, starter=session.find_starter(hook_runs))
