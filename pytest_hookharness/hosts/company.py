"""
This module is concerned with the calls of another agent of a session, as the host tells hooks of them.

Middle floor: hosts. Which keys a subagent's call has is what the profile's tool events say.
"""

from __future__ import annotations

from pytest_hookharness.hosts.facts import Facts
from pytest_hookharness.hosts.identifiers import derive_digest, derive_uuid
from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.words import fixed_words
from pytest_hookharness.model.moves import Subagent
from pytest_hookharness.model.protocol import Json, Payload


def tells_agents_apart(profile: Profile, facts: Facts) -> bool:
    """
    Whether the input of a tool call says which agent of a session makes it.
    """
    told = _agent_words(profile, facts)
    return any(
        (field.source or field.name) in told
        for rule in profile.events.values()
        if rule.role is Role.BEFORE_TOOL
        for field in rule.fields.fields
    )


def as_agent(profile: Profile, facts: Facts, event: str, payload: Payload) -> dict[str, Json]:
    """
    The input of an event as a subagent's call has it.
    """
    told = _agent_words(profile, facts)
    made: dict[str, Json] = {}
    for field in profile.events[event].fields.fields:
        source = field.source or field.name
        if source in told:
            made[field.name] = told[source]
        elif field.name in payload:
            made[field.name] = payload[field.name]
    return made


def _agent_words(profile: Profile, facts: Facts) -> dict[str, Json]:
    """
    The words that are known, or have another meaning, where a subagent is concerned.
    """
    digest, uuid = derive_digest(facts.seed, "another agent"), derive_uuid(facts.seed, "another agent")
    named: dict[str, Json] = {
        "agent_id": profile.tools.ids.agent.format(digest=digest[:16], uuid=uuid),
        "agent_type": Subagent().kind,
    }
    known = fixed_words(profile, facts)
    usual, own = profile.own_words(known), profile.own_words({**known, **named})
    return {**named, **{word: value for word, value in own.items() if usual.get(word) != value}}
