"""
This module is concerned with the short forms of hook settings that a scenario may use.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.model.protocol import Json


def expand(profile: Profile, inline: Mapping[str, Json]) -> Mapping[str, Json]:
    """
    Settings in the host's own shape, from that shape or a short form of it.

    ``{hooks: {...}}`` stays as it is but for its events; ``{Stop: ...}`` alone is put below ``hooks``.
    A command stands for a group with this one handler, and so does a handler without a group.
    """
    hooks = inline.get("hooks")
    if isinstance(hooks, Mapping):
        return {**inline, "hooks": {name: _groups(profile, value) for name, value in hooks.items()}}
    if "hooks" in inline or "disableAllHooks" in inline:
        return inline
    return {"hooks": {name: _groups(profile, value) for name, value in inline.items()}}


def _groups(profile: Profile, value: Json) -> Json:
    if isinstance(value, str):
        return [_group(profile, value)]
    if isinstance(value, Mapping):
        return [_group(profile, value)]
    if isinstance(value, Sequence):
        return [_group(profile, item) for item in value]
    return value


def _group(profile: Profile, item: Json) -> Json:
    if isinstance(item, str):
        return {"hooks": [{"type": "command", "command": item}]}
    if not isinstance(item, Mapping) or "hooks" in item:
        return item
    runs = [kind for kind, key in profile.config.types.items() if key in item]
    if not runs:
        return item
    handler = {key: value for key, value in item.items() if key != "matcher"}
    handler.setdefault("type", runs[0])
    group: dict[str, Json] = {"matcher": item["matcher"]} if "matcher" in item else {}
    return {**group, "hooks": [handler]}
