"""
Formats of settings files: the places of handlers in them, their timeouts, and replaced commands.

A format finds handlers and reports flaws. The host's rules say what a flaw does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pytest_hookharness.hosts.rules.settings import (
    ConfigRules,
    Flaw,
    LimitRules,
    MalformedSettings,
    RawHandler,
    SettingsForm,
)
from pytest_hookharness.model.protocol import Json

# Tokens of JSON with comments. A parser would lose comments and spacing, which must stay as they are.
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|:|[^\s":/]+|.', re.DOTALL)


def command_keys(config: ConfigRules) -> frozenset[str]:
    """Return the keys whose values are command lines in a host's settings."""
    own = config.types["command"]
    return frozenset({own, *(alias for alias, key in config.keys.aliases.items() if key == own)})


def replace_commands(text: str, keys: Collection[str], commands: Mapping[str, str]) -> tuple[str, int]:
    """
    Replace the command lines at some keys of a settings file in JSON, and leave all other bytes as they are.

    The file may have comments. Returns the new text, and the number of command lines replaced.
    """
    parts: list[str] = []
    key, before, number = "", "", 0
    for piece in _JSON_TOKEN.findall(text):
        written = piece
        if piece.startswith('"'):
            value = _json_text(piece)
            if key in keys and value in commands:
                written, number = json.dumps(commands[value], ensure_ascii=False), number + 1
            key, before = "", value
        elif piece == ":":
            key = before
        elif not piece.isspace() and not piece.startswith(("//", "/*")):
            key = before = ""
        parts.append(written)
    return "".join(parts), number


def _json_text(literal: str) -> str:
    try:
        value = json.loads(literal, strict=False)
    except ValueError:
        return ""
    return str(value)


def describe_value(value: Json) -> str:
    """Return a value, or its kind, in few words."""
    if isinstance(value, bool) or value is None or isinstance(value, int | float):
        return repr(value)
    return "text" if isinstance(value, str) else "an object" if isinstance(value, Mapping) else "a list"


def parse_json(text: str) -> Json:
    """Return the values of a JSON file; raise ``ValueError`` if the text is not JSON."""
    try:
        value: Json = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        before = error.doc[: error.pos].rstrip()
        if before.endswith(",") and error.doc[error.pos : error.pos + 1] in ("]", "}"):
            where = f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10)) - 1}"
            raise ValueError(f"{where}: a comma after the last value, which JSON does not allow") from None
        raise
    return value


def parse_toml(text: str) -> Json:
    """Return the values of a TOML file; raise ``ValueError`` if the text is not TOML."""
    import tomllib  # few hosts have settings in TOML

    value: Json = tomllib.loads(text.removeprefix("\ufeff"))
    return value


def require_object(path: str, value: Json) -> Mapping[str, Json]:
    """Return a value of a settings file that must be an object; raise ``MalformedSettings`` if it is none."""
    if not isinstance(value, Mapping):
        raise MalformedSettings(path, Flaw.NOT_OBJECT, f"is {describe_value(value)}; expected an object")
    return value


def _below_hooks(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    events = require_object("hooks", content.get("hooks", {}))
    return ((event, f"hooks.{event}", value) for event, value in events.items())


def _with_or_without(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    if "hooks" in content:
        return _below_hooks(content)
    return ((event, event, value) for event, value in content.items())


def _by_name(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    for name, value in content.items():
        events = require_object(name, value)
        if events.get("enabled") is not False:
            yield from (
                (event, f"{name}.{event}", each) for event, each in events.items() if event != "enabled"
            )


def _from_table(content: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    for place, item in enumerate(_as_list(content.get("hooks", []))):
        event = item.get("event") if isinstance(item, Mapping) else None
        yield str(event), f"hooks[{place}]", [item]


def _as_list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _indexed_items(path: str, value: Json) -> Iterator[tuple[str, Json, MalformedSettings | None]]:
    """Yield the items of a list with their key paths; a value that is no list as one item with a flaw."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        text = f"is {describe_value(value)}; expected a list"
        yield path, value, MalformedSettings(path, Flaw.NOT_LIST, text)
        return
    yield from ((f"{path}[{place}]", item, None) for place, item in enumerate(value))


def _grouped(path: str, value: Json) -> Iterator[RawHandler]:
    for here, group, unlisted in _indexed_items(path, value):
        if not isinstance(group, Mapping):
            text = f"is {describe_value(group)}; expected an object"
            yield RawHandler(
                path=here, handler=group, bad=unlisted or MalformedSettings(here, Flaw.NOT_OBJECT, text)
            )
            continue
        if "hooks" not in group:
            text = "has no key 'hooks'; expected the handler in a list below that key"
            yield RawHandler(
                path=here, handler=group, bad=unlisted or MalformedSettings(here, Flaw.FLAT, text)
            )
            continue
        bad = unlisted or _matcher_flaw(here, group)
        handlers = list(_indexed_items(f"{here}.hooks", group["hooks"]))
        yield from (_entry(at, handler, group, bad or flaw) for at, handler, flaw in handlers)
        if bad is not None and not handlers:
            # A group without handlers has nothing else to report its own flaw with.
            yield RawHandler(path=here, handler=group, bad=bad)


def _matcher_flaw(path: str, group: Mapping[str, Json]) -> MalformedSettings | None:
    matcher = group.get("matcher")
    if matcher is None or isinstance(matcher, str):
        return None
    text = f"is {describe_value(matcher)}; expected a string"
    return MalformedSettings(f"{path}.matcher", Flaw.BAD_MATCHER, text)


def _entry(path: str, handler: Json, group: Mapping[str, Json], bad: MalformedSettings | None) -> RawHandler:
    return RawHandler(path=path, handler=handler, matcher=group.get("matcher"), group=group, bad=bad)


def _flat(path: str, value: Json) -> Iterator[RawHandler]:
    for here, handler, bad in _indexed_items(path, value):
        around = handler if isinstance(handler, Mapping) else {}
        yield _entry(here, handler, around, bad or _matcher_flaw(here, around))


def _both(path: str, value: Json) -> Iterator[RawHandler]:
    for here, item, bad in _indexed_items(path, value):
        if bad is not None:
            yield RawHandler(path=here, handler=item, bad=bad)
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
    pairs = ((event, item) for event, value in events.items() for item in _as_list(value))
    return [{"event": event, **item} if isinstance(item, Mapping) else item for event, item in pairs]


# Each event has a list of groups below the key "hooks"; a group has a matcher and a list of handlers.
GROUPS = SettingsForm(_below_hooks, _grouped, lambda events: {"hooks": _as_groups(events)})


# The same, with or without the key "hooks".
OPEN_GROUPS = SettingsForm(_with_or_without, _grouped, lambda events: {"hooks": _as_groups(events)})


# Each event has a list of handlers below "hooks", each with its own matcher.
FLAT = SettingsForm(_below_hooks, _flat, lambda events: {"hooks": dict(events)})


# The same, with or without groups around the handlers.
MIXED = SettingsForm(_below_hooks, _both, lambda events: {"hooks": dict(events)})


# Sets of hooks have names, with events below them; a list contains groups or handlers.
NAMED = SettingsForm(_by_name, _both, lambda events: {"inline": _as_groups(events)})


# One list of handlers, each of which names its event.
TABLE = SettingsForm(_from_table, _flat, lambda events: {"hooks": _as_rows(events)})


def read_timeout(
    rules: LimitRules, path: str, written: Json
) -> tuple[float | None, MalformedSettings | None]:
    """Return the seconds of a timeout, ``None`` if the host cannot read it, and the flaw, if it has one."""
    if written is None:
        return None, None
    unit = "seconds" if rules.unit == 1.0 else "milliseconds"
    text = f"is {written!r}; expected a number of {unit} above 0"
    if isinstance(written, bool) or not isinstance(written, int | float):
        number = _number(written)
        seconds = None if number is None else _seconds(rules, number)
        return seconds, MalformedSettings(path, Flaw.LIMIT_TEXT, text)
    seconds = _seconds(rules, float(written))
    if written <= 0:
        flaw = Flaw.LIMIT_NEGATIVE if written else Flaw.LIMIT_ZERO
        return seconds, MalformedSettings(path, flaw, text)
    if written != written // 1:
        text = f"is {written!r}; expected a whole number of {unit}"
        return seconds, MalformedSettings(path, Flaw.LIMIT_FRACTION, text)
    return seconds, None


def _number(written: Json) -> float | None:
    try:
        return float(str(written))
    except ValueError:
        return None


def _seconds(rules: LimitRules, number: float) -> float:
    counts_milliseconds = rules.milliseconds_from is not None and number >= rules.milliseconds_from
    seconds = number / 1000 if counts_milliseconds else number * rules.unit
    return max(seconds, rules.least, 0.0)
