"""
This module is concerned with words: what a session knows under which name, for the input of its hooks.

Middle floor: hosts. The names are those of the engine; a field of another name says under which of these its
value is known. An event adds its own words to those that are always there.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.facts import Facts
from pytest_hookharness.hosts.identifiers import derive_moment, derive_time, derive_uuid
from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.hosts.state import Session
from pytest_hookharness.model.protocol import Json


def fixed_words(profile: Profile, facts: Facts) -> dict[str, Json]:
    """
    What is the same for a whole session.
    """
    return {
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": facts.workspace,
        "workspace": facts.workspace,
        "permission_mode": facts.permission_mode,
        "model": facts.model or profile.model,
        "timestamp": derive_time(0, 0.0),
        "time_ms": int(derive_moment(0, 0.0).timestamp() * 1000),
        **{f"option {name}": value for name, value in facts.options.items()},
    }


def session_words(session: Session, event: str, given: Mapping[str, Json]) -> dict[str, Json]:
    """
    All that hooks of an event can be told, with what the event itself gives.

    Beside the fixed words: ``prompt_id`` and ``turn_id`` once there was a prompt, ``submitted_prompt`` the
    newest one, ``said`` what the agent said with its newest move where that is asked about, ``spoken`` all
    that it said since, ``messages`` what it was told for its next move,
    ``moves`` how many it made since, ``stops_refused`` how many stops were refused since, and
    ``stops_asked``, the same with this one.
    """
    profile, facts = session.profile, session.facts
    words = fixed_words(profile, facts)
    moment = derive_moment(session.position, session.waited)
    words |= {
        "cwd": session.cwd,
        "hook_event_name": event,
        "timestamp": derive_time(session.position, session.waited),
        "time_ms": int(moment.timestamp() * 1000),
        "submitted_prompt": session.prompt,
        "spoken": "\n".join(session.spoken),
        "messages": [message.text for message in session.messages],
        "moves": session.moves,
        "stops_refused": session.stops_refused,
        "stops_asked": session.stops_refused + 1,
    }
    if session.prompt_id:
        words |= {
            "prompt_id": session.prompt_id,
            "turn_id": derive_uuid(facts.seed, "turn", session.prompt_id),
        }
    words |= given
    return {**words, **profile.own_words(words)}
