"""
This module is concerned with the short forms of hook settings that a scenario may use.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.hosts.roles import COMMON
from pytest_hookharness.hosts.rules.configuring import ConfigRules
from pytest_hookharness.model.protocol import Json


def expand(profile: Profile, inline: Mapping[str, Json]) -> Mapping[str, Json]:
    """
    Settings in the host's own shape, from that shape or a short form of it.

    ``{hooks: {...}}`` stays as it is but for its events; ``{Stop: ...}`` alone is dressed in the host's form.
    A command stands for a handler, and a handler for all that the form wants around it.
    """
    config = profile.config
    hooks = inline.get("hooks")
    if isinstance(hooks, Mapping):
        return {**inline, **config.form.dress(_listed(config, hooks))}
    if "hooks" in inline or any(switch.path[0] in inline for switch in config.switches):
        return inline
    inline = _renamed(profile, inline)
    known = {*profile.events, *config.events}
    if inline and not known & set(inline) and _nested(known, inline):
        return inline
    return config.form.dress(_listed(config, inline))


def _renamed(profile: Profile, inline: Mapping[str, Json]) -> Mapping[str, Json]:
    """
    The short form with the events that most hosts know by one name under this host's own.
    """
    return {own_event(profile, name): value for name, value in inline.items()}


def own_event(profile: Profile, name: str) -> str:
    """
    The host's own name of an event that most hosts know by another one; any other name as it is.
    """
    if name in profile.events or name in profile.config.events or name not in COMMON:
        return name
    rule = profile.by_role(COMMON[name])
    return name if rule is None else rule.name


def _nested(known: set[str], inline: Mapping[str, Json]) -> bool:
    return all(isinstance(value, Mapping) and known & set(value) for value in inline.values())


def _listed(config: ConfigRules, events: Mapping[str, Json]) -> dict[str, Json]:
    return {name: _items(config, value) for name, value in events.items()}


def _items(config: ConfigRules, value: Json) -> Json:
    if isinstance(value, str | Mapping):
        return [_handler(config, value)]
    if isinstance(value, Sequence):
        return [_handler(config, item) for item in value]
    return value


def _handler(config: ConfigRules, item: Json) -> Json:
    if isinstance(item, str):
        typed: dict[str, Json] = {} if config.untyped else {config.keys.type: "command"}
        return {**typed, config.types["command"]: item}
    if not isinstance(item, Mapping) or "hooks" in item:
        return item
    runs = [kind for kind, key in config.types.items() if key in item]
    if not runs or config.untyped:
        return item
    return {config.keys.type: runs[0], **item}
