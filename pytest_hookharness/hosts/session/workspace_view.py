"""
What the session knows of the workspace: its worktree, its current folder, the files that the agent has seen.

The session creates no worktree itself. It runs hooks for one, or else requests a command, and enters the
folder by a second command so that a missing folder is noticed.

Files are compared by content, not by time: a file rewritten with the same content has not changed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace

from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    CheckFile,
    CloseSession,
    EnterWorktree,
    MakeCall,
    PendingCall,
    PerformCall,
)
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall
from pytest_hookharness.model.protocol import Decision, Rule


def track_folder(session: Session, done: Performance) -> tuple[Session, Performance, tuple[AskHooks, ...]]:
    """
    Return the session in the folder where a command ended, the performance, and the events that follow.

    From a folder outside the project, the host returns to the folder where the session began. The agent reads
    that in the standard error of the command.
    """
    rules = session.profile.tools
    # An empty folder means that nobody knows where the command ended.
    new, old = done.folder, session.cwd
    if not rules.keeps_folder or new in ("", old):
        return session, done, ()
    if not any(_lies_in(new, root) for root in (session.root, session.facts.workspace)):
        new = session.root
        notice = rules.reset_notice.format(folder=new)
        done = replace(done, stderr="\n".join(part for part in (done.stderr.rstrip("\n"), notice) if part))
    if new == old:
        return session, done, ()
    values = {"old_cwd": old, "new_cwd": new}
    return replace(session, cwd=new), done, (AskHooks(role=Role.FOLDER_CHANGED, values=values),)


def _lies_in(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip("/") + "/")


def plan_worktree(session: Session) -> tuple[AskHooks, ...]:
    """Return the event that comes first in a session which works in a worktree."""
    name = session.facts.worktree
    if not name or session.profile.worktrees is None:
        return ()
    return (AskHooks(role=Role.WORKTREE, values={"name": name}),)


def apply_worktree_decision(session: Session, decision: Decision | None) -> Session:
    """Return the session after the hooks that create a worktree. Without hooks the host creates it itself."""
    rules, name = session.profile.worktrees, session.facts.worktree
    if rules is None:
        return session
    if decision is None:
        folder = rules.folder.format(name=name)
        quoted = {"folder": shlex.quote(folder), "branch": shlex.quote(rules.branch.format(name=name))}
        return session.put_first(
            EnterWorktree(f"{rules.command.format(**quoted)} && cd -- {quoted['folder']}")
        )
    if decision.refused or not decision.folder:
        why = "; ".join(decision.reasons) or "no hook named a folder"
        return _end_session(session, f"worktree {name!r} was not created: {why}", decision.rule, refused=True)
    return session.put_first(EnterWorktree(f"cd -- {shlex.quote(decision.folder)}"))


def request_entry(session: Session, task: EnterWorktree) -> PerformCall:
    """Return the request that enters the worktree, after creating it where no hook did."""
    return PerformCall(
        call=ToolCall(name=Role.WORKTREE.value, input={}),
        operation=RunCommand(command=task.command),
        records=session.records,
        transcript_path=session.facts.transcript_path,
    )


def enter_worktree(session: Session, done: Performance) -> Session:
    """Return the session in its worktree; closed if the folder cannot be entered."""
    if done.exit == 0 and done.folder:
        return replace(session, root=done.folder, cwd=done.folder)
    reason = (done.error or done.stderr).strip() or f"exit code {done.exit}"
    why = f"worktree {session.facts.worktree!r} cannot be entered: {reason}"
    rules = session.profile.worktrees
    rule = rules.rules["entered"] if rules is not None else session.profile.replies.rules["no hooks"]
    return _end_session(session, why, rule, refused=False)


def _end_session(session: Session, why: str, rule: Rule, *, refused: bool) -> Session:
    session = session.finish("halted" if refused else "idle", why, rule)
    return replace(session, agenda=(CloseSession(),))


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
    request = PerformCall(
        call=call.tool_call,
        operation=Read(file=operation.file, label=operation.label),
        records=session.records,
        transcript_path=session.facts.transcript_path,
    )
    return replace(session, waiting=CheckFile(call, operation.file)), request


def compare_content(session: Session, look: CheckFile, found: Performance) -> Session | Performance:
    """Return the session that goes on to make the call; or the call's failure if the file has changed."""
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
