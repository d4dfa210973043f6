"""
This module is concerned with the current folder of a session, which the agent's shell takes along.

Middle floor: hosts.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.state import Ask, Session
from pytest_hookharness.model.moves import Performance


def follow(session: Session, done: Performance) -> tuple[Session, Performance, tuple[Ask, ...]]:
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
    return replace(session, cwd=new), done, (Ask(role=Role.FOLDER_CHANGED, values=values),)


def _lies_in(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip("/") + "/")
