"""
Stops: what is asked when the agent wants to stop, and what comes of it.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness.hosts.rules.transcript_lines import user_message
from pytest_hookharness.hosts.rules.turns import AtCap, Role
from pytest_hookharness.hosts.session import guards
from pytest_hookharness.hosts.session.endings import stop_at_limit
from pytest_hookharness.hosts.session_state.session_value import Ask, Session
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.protocol import Decision, Payload


def attempt_stop(session: Session, text: str) -> Session:
    """
    The session that asks its hooks about a stop, unless the agent has no move left anyway.
    """
    return stop_at_limit(session) or session.first(_stop(session, text))


def _stop(session: Session, text: str) -> Ask:
    active = guards.flag(
        session.profile.cap,
        session.facts.flags,
        session.stops_refused,
        refused=session.stop_hook_active,
    )
    values: Payload = {
        "stop_hook_active": active,
        "last_assistant_message": text,
        "background_tasks": [],
        "session_crons": [],
    }
    return Ask(role=Role.STOP, values=values)


def hold_prompt(session: Session, text: str) -> Session:
    """
    The session after a refused prompt, on a host that goes to the stop with it.
    """
    session = replace(session, held=(*session.held, text))
    return session.first(_stop(session, ""))


def release_prompts(session: Session) -> Session:
    """
    The session that lets its agent see the prompts that were refused and kept.
    """
    for text in session.held:
        session = session.write("user", user_message(text)).tell(Message("prompt", text))
    return replace(session, held=())


def settle_stop(session: Session, decision: Decision | None) -> Session:
    """
    What follows once the hooks of a stop have spoken.
    """
    if session.held and not session.moves and (decision is None or not decision.refused):
        rule = decision.rule if decision is not None else session.profile.replies.rules["no hooks"]
        return session.finish("halted", "a hook refused the prompt, and the hooks let the agent stop", rule)
    if decision is None:
        rule = session.profile.replies.rules["no hooks"]
        return session.finish("stopped", "the agent stopped and no hook was asked", rule)
    if decision.halt is not None:
        return session.finish("halted", f"a hook ended the turn: {decision.halt}", decision.rule)
    if decision.overridden:
        return _cap(session, decision)
    if not decision.refused:
        return session.finish("stopped", "the agent stopped and the hooks let it", decision.rule)
    return _go_on(session, decision)


def _cap(session: Session, decision: Decision) -> Session:
    guard, count = session.profile.cap, session.streak + 1
    did = "overrode" if guard.at_cap is AtCap.OVERRIDES else "ended the run at"
    why = f"the guard {did} refusal {count} in a row"
    if guard.message:
        limit = count if guard.overrides_at_cap else count - 1
        said = guard.message.format(count=count, limit=limit, reason="\n".join(decision.reasons))
        why = f"{why}: {said}"
    return session.finish("capped", why, decision.rule, guard.status)


def _go_on(session: Session, decision: Decision) -> Session:
    between = session.calls_refused and session.streak > 0
    session = replace(
        release_prompts(session),
        streak=session.streak + 1,
        stops_refused=session.stops_refused + 1,
        calls_refused=between,
        stop_hook_active=True,
    )
    if session.profile.turns.refusal_prompts:
        session = replace(session, spoken=())
    for text in decision.to_agent:
        session = session.tell(Message("feedback", text, decision.event))
        session = session.write("user", user_message(text), isMeta=True)
    session = session.ask_model()
    if not session.profile.turns.refusal_prompts:
        return session
    return session.first(Ask(role=Role.PROMPT, values={"prompt": "\n".join(decision.reasons)}, aside=True))
