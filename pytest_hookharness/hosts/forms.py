"""
This module is concerned with the forms of settings files: where in them handlers stand.

Middle floor: hosts. A form finds handlers and says what is odd on the way; what that does is the host's rule.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.hosts.rules.configuring import Flaw, Form, Misshapen, RawEntry
from pytest_hookharness.model.protocol import Json


def kind_of(value: Json) -> str:
    """
    A value in few words.
    """
    if isinstance(value, bool) or value is None or isinstance(value, int | float):
        return repr(value)
    return "text" if isinstance(value, str) else "an object" if isinstance(value, Mapping) else "a list"


def parse_json(text: str) -> Json:
    """
    The values of a JSON file; raises ``ValueError`` if it is none.
    """
    value: Json = json.loads(text.removeprefix("\ufeff"))
    return value


def parse_toml(text: str) -> Json:
    """
    The values of a TOML file; raises ``ValueError`` if it is none.
    """
    value: Json = tomllib.loads(text.removeprefix("\ufeff"))
    return value


def _below_hooks(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    events = content.get("hooks", {})
    if not isinstance(events, Mapping):
        raise Misshapen("hooks", Flaw.NOT_OBJECT, f"is {kind_of(events)} instead of an object")
    return ((event, f"hooks.{event}", value) for event, value in events.items())


def _with_or_without(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    if "hooks" in content:
        return _below_hooks(content)
    return ((event, event, value) for event, value in content.items())


def _by_name(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    for name, events in content.items():
        if not isinstance(events, Mapping):
            raise Misshapen(name, Flaw.NOT_OBJECT, f"is {kind_of(events)} instead of an object")
        if events.get("enabled") is False:
            continue
        yield from (
            (event, f"{name}.{event}", value) for event, value in events.items() if event != "enabled"
        )


def _from_table(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    for place, item in enumerate(_items(content.get("hooks", []))):
        event = item.get("event") if isinstance(item, Mapping) else None
        yield str(event), f"hooks[{place}]", [item]


def _items(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _listed(path: str, value: Json) -> Iterator[tuple[str, Json, RawEntry | None]]:
    """
    The items of a list with their key paths; what is no list is the only one, and that is pointed out.
    """
    odd = None
    if isinstance(value, str) or not isinstance(value, Sequence):
        text = f"is {kind_of(value)} instead of a list"
        odd = RawEntry(path=path, handler=value, flaw=Flaw.NOT_LIST, place=path, text=text)
        yield path, value, odd
        return
    yield from ((f"{path}[{place}]", item, None) for place, item in enumerate(value))


def _grouped(path: str, value: Json) -> Iterator[RawEntry]:
    for here, group, odd in _listed(path, value):
        if not isinstance(group, Mapping):
            text = f"is {kind_of(group)} instead of an object"
            yield odd or RawEntry(path=here, flaw=Flaw.NOT_OBJECT, place=here, text=text)
            continue
        if "hooks" not in group:
            text = "has no list 'hooks'; a handler must stand in such a list"
            yield odd or RawEntry(path=here, handler=group, flaw=Flaw.FLAT, place=here, text=text)
            continue
        flawed = odd or _odd_matcher(here, group)
        handlers = list(_listed(f"{here}.hooks", group["hooks"]))
        yield from (_entry(place, handler, group, flawed or wrong) for place, handler, wrong in handlers)
        if flawed is not None and not handlers:
            yield flawed


def _odd_matcher(path: str, group: Mapping[str, Json]) -> RawEntry | None:
    matcher = group.get("matcher")
    if matcher is None or isinstance(matcher, str):
        return None
    text = f"is {kind_of(matcher)} instead of a string"
    return RawEntry(path=path, flaw=Flaw.BAD_MATCHER, place=f"{path}.matcher", text=text)


def _entry(path: str, handler: Json, group: Mapping[str, Json], odd: RawEntry | None) -> RawEntry:
    entry = RawEntry(path=path, handler=handler, matcher=group.get("matcher"), group=group)
    return entry if odd is None else replace(entry, flaw=odd.flaw, place=odd.place, text=odd.text)


def _flat(path: str, value: Json) -> Iterator[RawEntry]:
    for here, handler, odd in _listed(path, value):
        around = handler if isinstance(handler, Mapping) else {}
        yield _entry(here, handler, around, odd or _odd_matcher(here, around))


def _both(path: str, value: Json) -> Iterator[RawEntry]:
    for here, item, odd in _listed(path, value):
        if odd is not None:
            yield odd
        elif isinstance(item, Mapping) and "hooks" in item:
            yield from _grouped(here, [item])
        else:
            yield from _flat(here, [item])


def _as_groups(events: Mapping[str, Json]) -> dict[str, Json]:
    return {
        event: [_group(item) for item in value]
        if isinstance(value, Sequence) and not isinstance(value, str)
        else value
        for event, value in events.items()
    }


def _group(item: Json) -> Json:
    if not isinstance(item, Mapping) or "hooks" in item or not item.keys() - {"matcher"}:
        return item
    handler = {key: value for key, value in item.items() if key != "matcher"}
    group: dict[str, Json] = {"matcher": item["matcher"]} if "matcher" in item else {}
    return {**group, "hooks": [handler]}


def _as_rows(events: Mapping[str, Json]) -> list[Json]:
    pairs = ((event, item) for event, value in events.items() for item in _items(value))
    return [{"event": event, **item} if isinstance(item, Mapping) else item for event, item in pairs]


# An event has a list of groups, each with a matcher and a list of handlers, all below the key "hooks".
GROUPS = Form(_below_hooks, _grouped, lambda events: {"hooks": _as_groups(events)})
# The same, with or without that key.
OPEN_GROUPS = Form(_with_or_without, _grouped, lambda events: {"hooks": _as_groups(events)})
# An event has a list of handlers, each with its own matcher.
FLAT = Form(_below_hooks, _flat, lambda events: {"hooks": dict(events)})
# The same, with or without groups around the handlers.
MIXED = Form(_below_hooks, _both, lambda events: {"hooks": dict(events)})
# Sets of hooks have names, and events below these; a list holds groups or handlers.
NAMED = Form(_by_name, _both, lambda events: {"inline": _as_groups(events)})
# One list of handlers, each of which names its event.
TABLE = Form(_from_table, _flat, lambda events: {"hooks": _as_rows(events)})
