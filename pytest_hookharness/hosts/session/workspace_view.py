"""
Files as the agent last saw them, on hosts that refuse to edit others.

Contents are compared, not times: what was written anew as it was is the same file.

Worktrees: a folder of its own that is made for a session before it starts.

The session does not make the folder. It asks hooks for one, or else for a command to be
run, and goes there by another command, so that a folder that is not there is seen.

The current folder of a session, which the agent's shell takes along.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace

from pytest_hookharness.hosts.rules.roles import Role
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    CloseSession,
    EnterWorktree,
    CheckFile,
    PendingCall,
    MakeCall,
    PerformCall,
)
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall
from pytest_hookharness.model.protocol import Decision, Rule


def track_folder(session: Session, done: Performance) -> tuple[Session, Performance, tuple[AskHooks, ...]]:
    """
    The session in the folder in which a command ended, what the agent is told of it, and whom to ask.

    From outside of the project the host goes back to where the session was begun.
    """
    rules = session.profile.tools
    new, old = done.folder, session.cwd
    if not rules.keeps_folder or new in ("", old):
        return session, done, ()
    if not any(_lies_in(new, root) for root in (session.root, session.facts.workspace)):
        new = session.root
        told = rules.put_back.format(folder=new)
        done = replace(done, stderr="\n".join(part for part in (done.stderr.rstrip("\n"), told) if part))
    if new == old:
        return session, done, ()
    values = {"old_cwd": old, "new_cwd": new}
    return replace(session, cwd=new), done, (AskHooks(role=Role.FOLDER_CHANGED, values=values),)


def _lies_in(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip("/") + "/")


def plan_worktree(session: Session) -> tuple[AskHooks, ...]:
    """
    What comes before all else in a session that is to work in a worktree.
    """
    name = session.facts.worktree
    if not name or session.profile.worktrees is None:
        return ()
    return (AskHooks(role=Role.WORKTREE, values={"name": name}),)


def apply_worktree_decision(session: Session, decision: Decision | None) -> Session:
    """
    What follows once the hooks that make a worktree have spoken; without any, the host makes it itself.
    """
    rules, name = session.profile.worktrees, session.facts.worktree
    if rules is None:
        return session
    if decision is None:
        folder = rules.folder.format(name=name)
        words = {"folder": shlex.quote(folder), "branch": shlex.quote(rules.branch.format(name=name))}
        return session.put_first(EnterWorktree(f"{rules.command.format(**words)} && cd -- {words['folder']}"))
    if decision.refused or not decision.folder:
        why = "; ".join(decision.reasons) or "no hook named a folder"
        return _end_session(
            session, f"the worktree {name!r} was not made: {why}", decision.rule, refused=True
        )
    return session.put_first(EnterWorktree(f"cd -- {shlex.quote(decision.folder)}"))


def request_entry(session: Session, task: EnterWorktree) -> PerformCall:
    """
    The request that makes the worktree, where that is left to do, and goes there.
    """
    return PerformCall(
        call=ToolCall(name=Role.WORKTREE.value, input={}),
        operation=RunCommand(command=task.command),
        records=session.records,
        transcript_path=session.facts.transcript_path,
    )


def enter_worktree(session: Session, done: Performance) -> Session:
    """
    The session in its worktree; it is over if that is not there.
    """
    if done.exit == 0 and done.folder:
        return replace(session, root=done.folder, cwd=done.folder)
    said = (done.error or done.stderr).strip() or f"exit code {done.exit}"
    why = f"the worktree {session.facts.worktree!r} cannot be entered: {said}"
    rules = session.profile.worktrees
    rule = rules.rules["entered"] if rules is not None else session.profile.replies.rules["no hooks"]
    return _end_session(session, why, rule, refused=False)


def _end_session(session: Session, why: str, rule: Rule, *, refused: bool) -> Session:
    session = session.finish("halted" if refused else "idle", why, rule)
    return replace(session, agenda=(CloseSession(),))


def remember_content(session: Session, call: PendingCall, done: Performance) -> Session:
    """
    The session that knows what its agent saw in a file, or wrote to it.
    """
    operation = session.profile.tools.operation(call.tool_call, session.facts.workspace)
    if not session.profile.tools.stale or not isinstance(operation, Edit | Read):
        return session
    if done.error or done.content is None:
        return session
    return replace(session, known_files={**session.known_files, operation.file: _digest(done.content)})


def request_check(session: Session, call: PendingCall) -> tuple[Session, PerformCall] | None:
    """
    The request for a look at the file that a call edits; ``None`` if the host need not look.
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
    """
    The session that goes on with a call after the look; or what the call comes to if the file has changed.
    """
    if not _differs(found.content, session.known_files[look.file]):
        return session.put_first(MakeCall(look.call, checked=True))
    return Performance(error=session.profile.tools.stale, original=found.content)


def find_outdated(session: Session, read: Callable[[str], str | None]) -> tuple[str, ...]:
    """
    Files that are others by now than the agent saw, in order; it is part of the state which these are.

    Those that are as it saw them are left out: in the next lap of a loop they are seen again.
    """
    return tuple(file for file, digest in sorted(session.known_files.items()) if _differs(read(file), digest))


def _differs(text: str | None, digest: str) -> bool:
    return text is not None and _digest(text) != digest


def _digest(text: str) -> str:
    return derive_digest(0, text)[:32]
