"""
The standard input of hooks: its values by the engine's names, its keys, their order, and its bytes.

A field with another name says in its ``source`` which of these values it shows. An event adds its own values
to those of the session. Outside of a session, sample calls take the place of the agent's calls.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.replies import JsonParser
from pytest_hookharness.hosts.rules.tools_and_transcript import Operation
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.session_state.facts import (
    Facts,
    derive_datetime,
    derive_digest,
    derive_timestamp,
    derive_uuid,
    start_time,
)
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, Subagent, ToolCall, ToolResult
from pytest_hookharness.model.mutations import Shaping
from pytest_hookharness.model.name_hint import UnknownName, name_hint
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload

if TYPE_CHECKING:
    from pytest_hookharness.hosts.session_state.session_value import Session


def fixed_values(profile: Profile, facts: Facts) -> dict[str, Json]:
    """Return the values that stay the same for a whole session."""
    return {
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": facts.workspace,
        "workspace": facts.workspace,
        "permission_mode": facts.permission_mode,
        "model": facts.model or profile.model,
        **start_time(facts.start),
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
    moment = derive_datetime(facts.start, session.position, session.waited)
    values |= {
        "cwd": session.cwd,
        "hook_event_name": event,
        "timestamp": derive_timestamp(facts.start, session.position, session.waited),
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


_NOTHING: Payload = {}
PLAIN_OPERATIONS: tuple[Operation, ...] = (
    RunCommand(command="true"),
    Edit(file="file.txt", text="text\n"),
    Edit(file="file.txt", text="text", old="word"),
    Read(file="file.txt"),
)
_RESULT_ROLES = frozenset({Role.AFTER_TOOL, Role.TOOL_FAILED})
_CALL_ROLES = frozenset({Role.BEFORE_TOOL, Role.PERMISSION, *_RESULT_ROLES})


def sample_values(
    profile: Profile,
    rule: EventRule,
    facts: Facts,
    given: Mapping[str, Json],
    operations: Sequence[Operation] = PLAIN_OPERATIONS,
) -> Mapping[str, Json]:
    """
    Return the values of a call outside of any session; none if the event is not about a call.

    The call is the first of the ``operations`` that fits the ``given`` keys which name a tool.
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
    if rule.role not in _RESULT_ROLES:  # nobody would see it
        return ToolResult()
    performance = Performance(error="it failed") if rule.role is Role.TOOL_FAILED else Performance(exit=0)
    return profile.tools.result(call, performance, facts.workspace)


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


def shape(payload: Payload, shaping: Shaping) -> Payload:
    """
    Return the same input in another shape: keys reversed at every depth, or unknown keys added.

    No host guarantees an order of keys, and any host may add a key in its next version.
    """
    content = _reversed(payload) if shaping.reversed else payload
    return {**content, **shaping.extra}


def _reversed(content: Payload) -> dict[str, Json]:
    return {key: _reversed_value(content[key]) for key in reversed([*content])}


def _reversed_value(value: Json) -> Json:
    match value:
        case Mapping():
            return _reversed(value)
        case list() | tuple():
            return [_reversed_value(item) for item in value]
        case _:
            return value


def compose(
    fields: EventFields,
    values: Mapping[str, Json],
    *,
    given: Payload = _NOTHING,
    invent: Callable[[Field], Json] | None = None,
) -> dict[str, Json]:
    """
    Return the input of an event, keys in the host's order, from values by the engine's names.

    A ``given`` value of a key replaces that. ``invent`` returns a value for a key without one; it is ``None``
    in
    a session, which has all values.

    Raises:
        KeyError: A key that the host always gives has no value.
    """
    payload: dict[str, Json] = {}
    for field in fields.fields:
        source = field.source or field.name
        if field.name in given:
            payload[field.name] = given[field.name]
        elif field.fixed:
            payload[field.name] = field.fixed[0]
        elif source in values:
            payload[field.name] = values[source]
        elif field.null:
            payload[field.name] = None
        # Optional keys are left out, except identifiers: any session with a prompt has those.
        elif invent is not None and (not field.optional or field.kind == "uuid"):
            payload[field.name] = invent(field)
        elif not field.optional:
            raise KeyError(f"{fields.event}: no value for the required key {field.name!r} (from {source!r})")
    return payload


def find_event(profile: Profile, event: str) -> EventRule:
    """Return the event of a host; raise ``ValueError`` with the nearest name if it has no such event."""
    rule = profile.events.get(event)
    if rule is None:
        raise UnknownName(f"{profile.id} has no event {event!r}{name_hint(event, profile.events, 'events')}")
    return rule


def payload_for(
    profile: Profile, event: str, facts: Facts, fields: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """
    Return the input of an event outside of any session: given values, and sample values for the rest.

    Raises:
        ValueError: The host has no such event, or the event has no such key.
    """
    given, rule = dict(fields or {}), find_event(profile, event)
    names = [field.name for field in rule.fields.fields]
    for name in given:
        if name not in names:
            raise UnknownName(f"the input of {event} has no key {name!r}{name_hint(name, names, 'keys')}")
    known: dict[str, Json] = {**fixed_values(profile, facts), "hook_event_name": event}
    known |= profile.own_values(known)
    known |= sample_values(profile, rule, facts, given)
    return compose(rule.fields, known, given=given, invent=lambda field: _plain_value(field, facts))


def _plain_value(field: Field, facts: Facts) -> Json:
    plain: Mapping[str, Json] = {
        "uuid": derive_uuid(facts.seed, field.name),
        "path": posixpath.join(facts.workspace, "file.txt"),
        "folder": facts.workspace,
        "flag": False,
        "count": 0,
        "list": [],
        "object": {},
        "nothing": None,
        "input": {},
        "input text": "{}",
        "response": "",
    }
    return plain.get(field.kind, field.choices[0] if field.choices else field.name)


def value_in(rule: EventRule, payload: Payload, word: str) -> Json:
    """Return the value of an input by the engine's name of it; ``None`` for no value."""
    return payload.get(key_of(rule, word))


def key_of(rule: EventRule, word: str) -> str:
    """Return the key under which an input has a value, by the engine's name of it."""
    fields = rule.fields.fields
    return next((field.name for field in fields if (field.source or field.name) == word), word)


def matcher_target(profile: Profile, event: str, payload: Payload) -> str:
    """Return the value of an input that matchers are compared with."""
    rule = profile.events[event]
    return str(value_in(rule, payload, rule.target) or "") if rule.target else ""


# A number that Python writes with a fraction or an exponent; it may also be a part of a string.
_FRACTION = re.compile(r"\d(?:\.0\b|e[+-])")
_to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]\d+)?')


def _as_javascript(found: re.Match[str]) -> str:
    """Return a string as it is, and a number as JavaScript writes it: 1 for 1.0, 0.00005 for 5e-05."""
    word = found[0]
    if word[0] == '"' or not {".", "e"} & {*word}:
        return word
    value = float(word)
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = word.partition("e")
    if exponent and 1e-6 <= abs(value) < 1:
        sign = "-" if value < 0 else ""
        return f"{sign}0.{'0' * (-int(exponent) - 1)}{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{int(exponent):+d}" if exponent else word


def encode(profile: Profile, payload: Payload) -> bytes:
    """Return the bytes that the host writes to the standard input of a hook."""
    text = _to_json(payload)
    if profile.replies.answers.parser is JsonParser.JAVASCRIPT and _FRACTION.search(text):
        text = _STRING_OR_NUMBER.sub(_as_javascript, text)
    # A lone half of a surrogate pair has no bytes in UTF-8. The hosts write it as a JSON escape.
    return (text + ("\n" if profile.process.newline else "")).encode("utf-8", "backslashreplace")
