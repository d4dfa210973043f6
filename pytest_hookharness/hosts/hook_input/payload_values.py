"""
The values for the standard input of hooks, by the engine's names.

A field with another name says in its ``source`` which of these values it shows. An event adds its own values
to those of the session. Outside of a session, sample calls take the place of the agent's calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.rules.profile import EventRule, Operation, Profile
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session_state.facts import (
    Facts,
    derive_datetime,
    derive_digest,
    derive_timestamp,
    derive_uuid,
)
from pytest_hookharness.hosts.session_state.session_value import Session
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.protocol import Json, Payload


def fixed_values(profile: Profile, facts: Facts) -> dict[str, Json]:
    """Return the values that stay the same for a whole session."""
    return {
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": facts.workspace,
        "workspace": facts.workspace,
        "permission_mode": facts.permission_mode,
        "model": facts.model or profile.model,
        "timestamp": derive_timestamp(0, 0.0),
        "time_ms": int(derive_datetime(0, 0.0).timestamp() * 1000),
        **{f"option {name}": value for name, value in facts.options.items()},
    }


def session_values(session: Session, event: str, given: Mapping[str, Json]) -> dict[str, Json]:
    """
    Return all values for the hooks of an event, including those that the event itself gives.

    Beside the fixed values:

    - ``prompt_id`` and ``turn_id``, once there was a prompt, and ``submitted_prompt``, the newest one;
    - ``spoken``, all texts of the agent since that prompt, and ``moves``, how many moves it made since;
    - ``said``, the text of its newest move, on events about that move;
    - ``messages``, the texts that it gets for its next move;
    - ``stops_refused``, how many stops were refused since the prompt, and ``stops_asked``, that and one more.
    """
    profile, facts = session.profile, session.facts
    values = fixed_values(profile, facts)
    moment = derive_datetime(session.position, session.waited)
    values |= {
        "cwd": session.cwd,
        "hook_event_name": event,
        "timestamp": derive_timestamp(session.position, session.waited),
        "time_ms": int(moment.timestamp() * 1000),
        "submitted_prompt": session.prompt,
        "spoken": "\n".join(session.spoken),
        "messages": [message.text for message in session.messages],
        "moves": session.moves,
        "stops_refused": session.stops_refused,
        "stops_asked": session.stops_refused + 1,
    }
    if session.prompt_id:
        values |= {
            "prompt_id": session.prompt_id,
            "turn_id": derive_uuid(facts.seed, "turn", session.prompt_id),
        }
    values |= given
    return {**values, **profile.own_values(values)}


def identifies_agents(profile: Profile, facts: Facts) -> bool:
    """Return whether the input of a tool call says which agent of a session makes the call."""
    agent_values = _agent_values(profile, facts)
    return any(
        (field.source or field.name) in agent_values
        for rule in profile.events.values()
        if rule.role is Role.BEFORE_TOOL
        for field in rule.fields.fields
    )


def payload_of_subagent(profile: Profile, facts: Facts, event: str, payload: Payload) -> dict[str, Json]:
    """Return the input of an event as a call of a subagent has it."""
    agent_values = _agent_values(profile, facts)
    composed: dict[str, Json] = {}
    for field in profile.events[event].fields.fields:
        source = field.source or field.name
        if source in agent_values:
            composed[field.name] = agent_values[source]
        elif field.name in payload:
            composed[field.name] = payload[field.name]
    return composed


def _agent_values(profile: Profile, facts: Facts) -> dict[str, Json]:
    """Return the values that exist, or differ, only for the calls of a subagent."""
    digest, uuid = derive_digest(facts.seed, "another agent"), derive_uuid(facts.seed, "another agent")
    named: dict[str, Json] = {
        "agent_id": profile.tools.ids.agent.format(digest=digest[:16], uuid=uuid),
        "agent_type": Subagent().kind,
    }
    known = fixed_values(profile, facts)
    # A host's own values may depend on the agent: those that change with its name belong to the subagent.
    usual, own = profile.own_values(known), profile.own_values({**known, **named})
    return {**named, **{word: value for word, value in own.items() if usual.get(word) != value}}


PLAIN_OPERATIONS: tuple[Operation, ...] = (
    RunCommand(command="true"),
    Edit(file="file.txt", text="text\n"),
    Edit(file="file.txt", text="text", old="word"),
    Read(file="file.txt"),
)
_CALL_ROLES = frozenset({Role.BEFORE_TOOL, Role.PERMISSION, Role.AFTER_TOOL, Role.TOOL_FAILED})


def sample_values(
    profile: Profile,
    rule: EventRule,
    facts: Facts,
    given: Mapping[str, Json],
    operations: Sequence[Operation] = PLAIN_OPERATIONS,
) -> Mapping[str, Json]:
    """
    Return the values of a call outside of any session; none if the event is not about a call.

    Args:
        profile: The host.
        rule: Its event.
        facts: The facts of the session.
        given: Values of keys. The call is the first one that fits the keys which name a tool.
        operations: The operations of the calls to choose from.
    """
    if rule.role not in _CALL_ROLES:
        return {}
    fixed = fixed_values(profile, facts)
    named = {
        field.source or field.name: given[field.name]
        for field in rule.fields.fields
        if field.kind == "tool" and field.name in given
    }
    for operation in operations:
        call = profile.tools.call(operation, facts.workspace)
        if rule.tools and call.name not in rule.tools:
            continue
        values = _call_values(profile, rule, facts, call, _result(profile, rule, facts, call))
        values |= profile.own_values({**fixed, **values})
        if named.items() <= values.items():
            return values
    # No sample fits: the call of a tool that only the given keys name.
    name = next(iter((*named.values(), *rule.tools)), "")
    values = _call_values(profile, rule, facts, ToolCall(name=str(name), input={}), ToolResult())
    return {**values, **profile.own_values({**fixed, **values}), **named}


def _result(profile: Profile, rule: EventRule, facts: Facts, call: ToolCall) -> ToolResult:
    if rule.role is Role.TOOL_FAILED:
        return profile.tools.result(call, Performance(error="it failed"), facts.workspace)
    return profile.tools.result(call, Performance(exit=0), facts.workspace)


def _call_values(
    profile: Profile, rule: EventRule, facts: Facts, call: ToolCall, result: ToolResult
) -> dict[str, Json]:
    tools = profile.tools
    digest = derive_digest(facts.seed, "call", 0)[:22]
    values: dict[str, Json] = {
        "tool_name": call.name,
        "tool_input": tools.seen_as(call),
        "tool_use_id": tools.ids.call.format(
            digest=digest, session=facts.session_id, turn=0, index=0, number=0
        ),
    }
    if rule.role is Role.AFTER_TOOL:
        values |= {"tool_response": result.response, "tool_text": result.text, "tool_failed": result.failed}
    if rule.role is Role.TOOL_FAILED:
        values |= {"error": result.text, "is_interrupt": False}
    return values
