"""
What the session knows of the current folder, and of files that the agent has seen.

Such files are compared by content, not by time: a file rewritten with the same content has not changed.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    CheckFile,
    MakeCall,
    PendingCall,
    PerformCall,
)
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import Edit, Performance, Read


def track_folder(session: Session, done: Performance) -> tuple[Session, Performance, tuple[AskHooks, ...]]:
    """
    Return the session in the folder where a command ended, the performance, and the events that follow.

    From a folder outside the project, the host returns to the folder where the session began. The agent reads
    that in the standard error of the command.
    """
    rules = session.profile.tools
    # An empty folder means that it is not known where the command ended.
    new, old = done.folder, session.cwd
    if not rules.keeps_folder or new in ("", old):
        return session, done, ()
    if not any(_lies_in(new, root) for root in (session.root, session.facts.workspace)):
        new = session.root
        done = _add_to_stderr(done, rules.reset_notice.format(folder=new))
    if new == old:
        return session, done, ()
    values = {"old_cwd": old, "new_cwd": new}
    return replace(session, cwd=new), done, (AskHooks(role=Role.FOLDER_CHANGED, values=values),)


def _add_to_stderr(done: Performance, notice: str) -> Performance:
    return replace(done, stderr="\n".join(part for part in (done.stderr.rstrip("\n"), notice) if part))


def _lies_in(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip("/") + "/")


def remember_content(session: Session, call: PendingCall, done: Performance) -> Session:
    """Return the session that remembers which content of a file the agent read or wrote."""
    operation = session.profile.tools.operation(call.tool_call, session.facts.workspace)
    if not session.profile.tools.stale_notice or not isinstance(operation, Edit | Read):
        return session
    if done.error or done.content is None:
        return session
    return replace(session, known_files={**session.known_files, operation.file: _digest(done.content)})


def request_check(session: Session, call: PendingCall) -> tuple[Session, PerformCall] | None:
    """
    Return the request for the current content of the file that a call edits.

    ``None`` if the agent has not seen the file, or the host does not check.
    """
    operation = session.profile.tools.operation(call.tool_call, session.facts.workspace)
    if not isinstance(operation, Edit) or operation.file not in session.known_files:
        return None
    request = PerformCall(call=call.tool_call, operation=Read(file=operation.file, label=operation.label))
    return replace(session, waiting=CheckFile(call, operation.file)), request


def compare_content(session: Session, look: CheckFile, found: Performance) -> Session | Performance:
    """Return the session that makes the call next; or the call's failure if the file has changed."""
    if not _differs(found.content, session.known_files[look.file]):
        return session.put_first(MakeCall(look.call, checked=True))
    return Performance(error=session.profile.tools.stale_notice, original=found.content)


def find_outdated(session: Session, read: Callable[[str], str | None]) -> tuple[str, ...]:
    """
    Return, sorted, the files that changed since the agent last saw them. They are part of the state.

    Unchanged files are left out: the agent sees them again in the next repetition of a loop.
    """
    return tuple(file for file, digest in sorted(session.known_files.items()) if _differs(read(file), digest))


def _differs(text: str | None, digest: str) -> bool:
    # A missing file is not a changed one: the host creates it again without a complaint.
    return text is not None and _digest(text) != digest


def _digest(text: str) -> str:
    return derive_digest(0, text)[:32]
