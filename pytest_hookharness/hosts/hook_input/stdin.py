"""The standard input of hooks: its keys, their order, and its bytes."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping

from pytest_hookharness.hosts.hook_input.payload_values import fixed_values, sample_values
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.session_state.facts import Facts, derive_uuid
from pytest_hookharness.hosts.settings.handlers import name_hint
from pytest_hookharness.model.mutations import Shaping
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload


def shape(payload: Payload, shaping: Shaping) -> Payload:
    """
    Return the same input in another shape: keys reversed at every depth, or unknown keys added.

    No host promises an order of keys, and any host may add a key in its next version.
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


def compose(fields: EventFields, values: Mapping[str, Json]) -> dict[str, Json]:
    """
    Return the input of an event, keys in the host's order.

    Raises:
        KeyError: A key that the host always gives has no value.
    """
    payload: dict[str, Json] = {}
    for field in fields.fields:
        source = field.source or field.name
        if field.fixed:
            payload[field.name] = field.fixed[0]
        elif source in values:
            payload[field.name] = values[source]
        elif field.null:
            payload[field.name] = None
        elif not field.optional:
            raise KeyError(f"{fields.event}: no value for the required key {field.name!r} (from {source!r})")
    return payload


def find_event(profile: Profile, event: str) -> EventRule:
    """
    Return the event of a host by its name.

    Raises:
        ValueError: The host has no such event; the message names the nearest one.
    """
    rule = profile.events.get(event)
    if rule is None:
        raise ValueError(f"{profile.id} has no event {event!r}{name_hint(event, profile.events, 'events')}")
    return rule


def payload_for(
    profile: Profile, event: str, facts: Facts, fields: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """
    Return the input of an event outside of any session: given values, and sample values for the rest.

    Raises:
        ValueError: The host has no such event, or the event has no such key.
    """
    given = dict(fields or {})
    rule = find_event(profile, event)
    names = [field.name for field in rule.fields.fields]
    for name in given:
        if name not in names:
            raise ValueError(f"the input of {event} has no key {name!r}{name_hint(name, names, 'keys')}")
    known: dict[str, Json] = {**fixed_values(profile, facts), "hook_event_name": event}
    known |= profile.own_values(known)
    known |= sample_values(profile, rule, facts, given)
    payload: dict[str, Json] = {}
    for field in rule.fields.fields:
        source = field.source or field.name
        if field.name in given:
            payload[field.name] = given[field.name]
        elif field.fixed:
            payload[field.name] = field.fixed[0]
        elif source in known:
            payload[field.name] = known[source]
        elif field.null:
            payload[field.name] = None
        # Optional keys are left out, except identifiers: any session with a prompt has those.
        elif not field.optional or field.kind == "uuid":
            payload[field.name] = _plain_value(field, facts)
    return payload


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


def encode(profile: Profile, payload: Payload) -> bytes:
    """Return the bytes that the host writes to the standard input of a hook."""
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    # A lone half of a surrogate pair has no bytes in UTF-8. The hosts write it as a JSON escape.
    return (text + ("\n" if profile.process.newline else "")).encode("utf-8", "backslashreplace")
