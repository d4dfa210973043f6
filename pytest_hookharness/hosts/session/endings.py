"""
Ends of turns that no hook decides: limits, circles, and waiting without end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.session_state.facts import derive_digest
from pytest_hookharness.hosts.session_state.session_value import Close, Session
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.processes import Cut, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.verdicts import Limit


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
    return (_out_of_steps(session) if session.moves else None) or _circle(session)


def out_of_steps(session: Session) -> bool:
    """
    Whether the agent has made all moves that a turn can have.
    """
    steps = session.profile.steps
    if steps is None:
        return False
    given = session.facts.options.get(steps.option, steps.most)
    return session.moves >= int(given)


def _out_of_steps(session: Session, *, stopped: bool = False) -> Session | None:
    steps = session.profile.steps
    if steps is None or not out_of_steps(session):
        return None
    why = f"the host lets an agent make {session.moves} moves in a turn"
    status = (steps.stopped if stopped else "") or steps.status
    return session.finish("capped", why, steps.rule, status)


def _circle(session: Session) -> Session | None:
    stuck = session.profile.stuck
    if stuck is None or session.facts.options.get(stuck.option) is False:
        return None
    why = stuck.detect(session.recent)
    return session.finish("capped", why, stuck.rule, stuck.status) if why else None


def find_limits(session: Session, turn: int, period: int) -> tuple[Limit, ...]:
    """
    What would end a loop that no hook and no guard ends, the soonest first.

    Args:
        session: The session after a lap.
        turn: The turn that was the last of it.
        period: How many turns a lap has.
    """
    # A lap with a prompt in it begins all counts again.
    if not period or not session.in_turn or session.moves <= period:
        return ()
    found = [*_limit_of_steps(session, turn), *_limit_of_circles(session, turn, period)]
    return tuple(sorted(found, key=lambda limit: limit.turn))


def _limit_of_steps(session: Session, turn: int) -> Iterator[Limit]:
    steps = session.profile.steps
    if steps is not None:
        most = int(session.facts.options.get(steps.option, steps.most))
        why = f"the host lets an agent make {most} moves in a turn"
        yield Limit(turn=turn + most - session.moves, why=why, rule=steps.rule)


def _limit_of_circles(session: Session, turn: int, period: int) -> Iterator[Limit]:
    stuck, recent = session.profile.stuck, session.recent
    if stuck is None or session.facts.options.get(stuck.option) is False:
        return
    halves = (size for size in range(1, len(recent) // 2 + 1) if recent[-size:] == recent[-2 * size : -size])
    size = next(halves, 0)
    for more in range(1, (stuck.remembered if size else 0) + 1):
        recent = (*recent, recent[-size])[-stuck.remembered :]
        why = stuck.detect(recent)
        if why:
            # A turn may hold several moves of this kind, or none; that of the end lies in this lap.
            turns = more if size == period else period * -(-more // size)
            yield Limit(turn=turn + turns, why=why, rule=stuck.rule)
            return


def stop_at_limit(session: Session) -> Session | None:
    """
    The session after a stop that was its last move, so that no hook is asked; ``None`` for any other.
    """
    return _out_of_steps(session, stopped=True)


def close_unasked(session: Session) -> Session:
    """
    The session after a stop that its hooks are not asked about, because they refused often enough.
    """
    guard = session.profile.cap
    why = f"the hooks of a stop are asked no more after {counted(session.streak, 'refusal')}"
    return session.finish("capped", why, guard.rules["cap"], guard.status)


def find_endless(
    session: Session, rule: EventRule, runs: Sequence[ProcessResult | Payload | None]
) -> Hook | None:
    """
    The hook among those that were asked whose end the host waits for without end, if there is one.

    Only our patience cut it: the host sends its signals at the limit, and then nothing ends the waiting.
    """
    if session.profile.process.kill.close_wait is not None or not rule.waits:
        return None
    for hook, run in zip(session.hooks, runs, strict=True):
        ending = run.ending if isinstance(run, ProcessResult) else None
        if not isinstance(ending, TimedOut) or ending.by is not Cut.HOOK_TIMEOUT:
            continue
        limit = hook.timeout if hook.timeout is not None else rule.timeout
        # A hook that still runs before its limit is yet to get a signal; one that has ended never will.
        if ending.ended is not None or limit < ending.after:
            return hook
    return None


def wait_for(session: Session, hook: Hook) -> Session:
    """
    The session that waits for a hook without end.
    """
    why = f"the host waits for {hook.command!r}, or its output, and nothing ends that"
    session = session.finish("waiting", why, session.profile.process.rules["kill"])
    return replace(session, agenda=(Close(),))
