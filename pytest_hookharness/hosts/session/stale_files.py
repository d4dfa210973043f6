"""
Files as the agent last saw them, on hosts that refuse to edit others.

Contents are compared, not times: what was written anew as it was is the same file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.requests import PerformCall
from pytest_hookharness.hosts.session_state.session_value import Look, PendingCall, Perform, Session
from pytest_hookharness.model.moves import Edit, Performance, Read


def keep_sight(session: Session, call: PendingCall, done: Performance) -> Session:
    """
    The session that knows what its agent saw in a file, or wrote to it.
    """
    operation = session.profile.tools.operation(call.made, session.facts.workspace)
    if not session.profile.tools.stale_notice or not isinstance(operation, Edit | Read):
        return session
    if done.error or done.content is None:
        return session
    return replace(session, seen={**session.seen, operation.file: _digest(done.content)})


def look_first(session: Session, call: PendingCall) -> tuple[Session, PerformCall] | None:
    """
    The request for a look at the file that a call edits; ``None`` if the host need not look.
    """
    operation = session.profile.tools.operation(call.made, session.facts.workspace)
    if not isinstance(operation, Edit) or operation.file not in session.seen:
        return None
    request = PerformCall(
        call=call.made,
        operation=Read(file=operation.file, label=operation.label),
        records=session.records,
        transcript_path=session.facts.transcript_path,
    )
    return replace(session, waiting=Look(call, operation.file)), request


def compare(session: Session, look: Look, found: Performance) -> Session | Performance:
    """
    The session that goes on with a call after the look; or what the call comes to if the file has changed.
    """
    if not _differs(found.content, session.seen[look.file]):
        return session.first(Perform(look.call, looked=True))
    return Performance(error=session.profile.tools.stale_notice, original=found.content)


def outdated(session: Session, read: Callable[[str], str | None]) -> tuple[str, ...]:
    """
    Files that are others by now than the agent saw, in order; it is part of the state which these are.

    Those that are as it saw them are left out: in the next lap of a loop they are seen again.
    """
    return tuple(file for file, digest in sorted(session.seen.items()) if _differs(read(file), digest))


def _differs(text: str | None, digest: str) -> bool:
    return text is not None and _digest(text) != digest


def _digest(text: str) -> str:
    return derive_digest(0, text)[:32]
