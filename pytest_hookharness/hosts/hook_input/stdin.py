"""
The standard input of hooks.

The shape of standard input: the same content, written otherwise.

Pure. No host promises an order of keys, and any may add one in its next version.
"""

from __future__ import annotations

import difflib
import json
import posixpath
from collections.abc import Iterable, Mapping

from pytest_hookharness.hosts.hook_input.payload_values import fixed_values, sample_values
from pytest_hookharness.hosts.rules.events import EventRule
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.session_state.facts import Facts, derive_uuid
from pytest_hookharness.model.mutations import Shaping
from pytest_hookharness.model.protocol import EventFields, Field, Json, Payload


def shape(payload: Payload, shaping: Shaping) -> Payload:
    """
    An input in another shape.
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
    The input of an event, keys in the host's order.

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
            raise KeyError(f"{fields.event} hooks are always given {field.name!r}; there is no {source!r}")
    return payload


def find_event(profile: Profile, event: str) -> EventRule:
    """
    The event of a host that has a name.

    Raises:
        ValueError: The host has no such event; the message names the nearest.
    """
    rule = profile.events.get(event)
    if rule is None:
        raise ValueError(f"{profile.id} has no event {event!r}{_name_hint(event, profile.events)}")
    return rule


def payload_for(
    profile: Profile, event: str, facts: Facts, fields: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """
    The input of an event outside of any session: given values, and plain ones for the rest.

    Raises:
        ValueError: The host has no such event, or the event no such key.
    """
    given = dict(fields or {})
    rule = find_event(profile, event)
    names = [field.name for field in rule.fields.fields]
    for name in given:
        if name not in names:
            raise ValueError(f"{event} hooks are not given {name!r}{_name_hint(name, names)}")
    known: dict[str, Json] = {**fixed_values(profile, facts), "hook_event_name": event}
    known |= profile.own_words(known)
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
        elif not field.optional or field.kind == "uuid":
            payload[field.name] = _plain_value(field, facts)
    return payload


def _name_hint(name: str, names: Iterable[str]) -> str:
    names = list(names)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"; known are {', '.join(names)}{hint}"


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
    """
    What an input says under a word of the session; ``None`` for nothing.
    """
    return payload.get(key_of(rule, word))


def key_of(rule: EventRule, word: str) -> str:
    """
    The key under which an input has a word of the session.
    """
    fields = rule.fields.fields
    return next((field.name for field in fields if (field.source or field.name) == word), word)


def matcher_target(profile: Profile, event: str, payload: Payload) -> str:
    """
    What matchers are compared with, for an input.
    """
    rule = profile.events[event]
    return str(value_in(rule, payload, rule.target) or "") if rule.target else ""


def encode(profile: Profile, payload: Payload) -> bytes:
    """
    The very bytes that the host writes.
    """
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    # Half of a character that stands alone has no bytes; the escape is what the host writes for it.
    return (text + ("\n" if profile.process.newline else "")).encode("utf-8", "backslashreplace")
