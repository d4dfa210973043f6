"""
This module is concerned with ends of turns that no hook decides: a host's limits, and its look for circles.

Middle floor: hosts.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.identifiers import derive_digest
from pytest_hookharness.hosts.state import Session


def note_move(session: Session, kind: str, *content: object) -> Session:
    """
    The session with one more move to look for circles among.
    """
    stuck = session.profile.stuck
    if stuck is None:
        return session
    digest = derive_digest(0, kind, *content)[:16]
    return replace(session, recent=(*session.recent, (kind, digest))[-stuck.remembered :])


def find_end(session: Session) -> Session | None:
    """
    The session after the end of a turn in which its agent is not asked again; ``None`` if it is.
    """
    if not session.in_turn:
        return None
    return _circle(session) or (_out_of_steps(session) if session.moves else None)


def out_of_steps(session: Session) -> bool:
    """
    Whether the agent has made all moves that a turn can have.
    """
    steps = session.profile.steps
    if steps is None:
        return False
    given = session.facts.options.get(steps.option, steps.most)
    return session.moves >= int(given)


def _out_of_steps(session: Session) -> Session | None:
    steps = session.profile.steps
    if steps is None or not out_of_steps(session):
        return None
    why = f"the host lets an agent make {session.moves} moves in a turn"
    return session.finish("capped", why, steps.rule, steps.status)


def _circle(session: Session) -> Session | None:
    stuck = session.profile.stuck
    if stuck is None or session.facts.options.get(stuck.option) is False:
        return None
    why = stuck.look(session.recent)
    return session.finish("capped", why, stuck.rule, stuck.status) if why else None


def stop_at_limit(session: Session) -> Session | None:
    """
    The session after a stop that was its last move, so that no hook is asked; ``None`` for any other.
    """
    return _out_of_steps(session)


def close_unasked(session: Session) -> Session:
    """
    The session after a stop that its hooks are not asked about, because they refused often enough.
    """
    guard = session.profile.guard
    why = f"the hooks of a stop are asked no more after {session.streak} refusals"
    return session.finish("capped", why, guard.rules["cap"], guard.status)
