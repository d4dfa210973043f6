"""
This module is concerned with the entries of hook settings: reading them, and what is wrong with them.

Middle floor: hosts.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.model.protocol import Hook, Json, Rule

# What can stand in a text of JSON and in no argument of a process: NUL, and halves of surrogate pairs.
_UNPASSABLE = re.compile("[\0\ud800-\udfff]")
_OWN_KEYS = ("type", "command", "args", "timeout", "onFailure")


@dataclass(frozen=True, slots=True)
class Problem:
    """
    Something wrong with the settings.

    Attributes:
        kind: ``malformed``, ``unreadable``, ``unknown-event``, ``unreachable-event``, ``misplaced``,
            ``disabled`` or ``ignored``.
        source: The file.
        path: Key path in it.
        text: What was seen and what it does, in one sentence.
        rule: The host's rule behind it.
    """

    kind: str
    source: str
    path: str
    text: str
    rule: Rule


class _Malformed(Exception):
    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.path = path
        self.text = text


class _Unpassable(_Malformed):
    """
    A handler that the host takes, with a text that no process can be given; the others are not affected.
    """


def read_entries(profile: Profile, settings: Json, source: str) -> tuple[list[Hook], list[Problem]]:
    """
    The hooks of one file, and what is wrong with it.
    """
    hooks: list[Hook] = []
    problems: list[Problem] = []
    malformed: list[_Malformed] = []
    if not isinstance(settings, Mapping):
        malformed.append(_Malformed("hooks", f"is {_kind(settings)} instead of an object"))
        settings = {}
    for event, groups in settings.items():
        if event not in profile.events:
            problems.append(_unknown(profile, source, event))
            continue
        read, wrong = _read_event(profile, event, groups, source)
        hooks += read
        malformed += wrong
    problems += [_wrong(profile, source, bad) for bad in malformed]
    if any(_voids(profile, bad) for bad in malformed):
        hooks = []
    return hooks, [*problems, *_unreachable(profile, source, hooks)]


def _voids(profile: Profile, bad: _Malformed) -> bool:
    return profile.config.one_bad_voids_file and not isinstance(bad, _Unpassable)


def _wrong(profile: Profile, source: str, bad: _Malformed) -> Problem:
    after = "every hook of this file is off" if _voids(profile, bad) else "it is left out"
    rule = profile.config.rules["unpassable" if isinstance(bad, _Unpassable) else "malformed"]
    return Problem("malformed", source, bad.path, f"{source}: {bad.path} {bad.text}; {after}", rule)


def _unreachable(profile: Profile, source: str, hooks: Sequence[Hook]) -> Iterator[Problem]:
    for event in dict.fromkeys(hook.event for hook in hooks):
        why = profile.events[event].unreachable
        if why:
            told = f"{source}: the hooks of {event} are never fired: {why}"
            rule = profile.config.rules["unreachable"]
            yield Problem("unreachable-event", source, f"hooks.{event}", told, rule)


def _unknown(profile: Profile, source: str, event: str) -> Problem:
    lowered = {name.lower(): name for name in profile.events}
    near = difflib.get_close_matches(event.lower(), lowered, n=1)
    hint = f"; did you mean {lowered[near[0]]!r}?" if near else ""
    told = f"{source}: {profile.name} has no event {event!r} and skips its hooks{hint}"
    return Problem("unknown-event", source, f"hooks.{event}", told, profile.config.rules["unknown event"])


def _read_event(
    profile: Profile, event: str, groups: Json, source: str
) -> tuple[list[Hook], list[_Malformed]]:
    hooks: list[Hook] = []
    malformed: list[_Malformed] = []
    try:
        for path, matcher, handler in _handlers(f"hooks.{event}", groups):
            try:
                hook = _read_handler(profile, path, handler, event=event, matcher=matcher, source=source)
                hooks.append(hook)
            except _Malformed as bad:
                malformed.append(bad)
    except _Malformed as bad:
        malformed.append(bad)
    return hooks, malformed


def _handlers(path: str, groups: Json) -> Iterator[tuple[str, str | None, Json]]:
    for index, group in enumerate(_listed(path, groups)):
        here = f"{path}[{index}]"
        if not isinstance(group, Mapping):
            raise _Malformed(here, f"is {_kind(group)} instead of an object")
        if "hooks" not in group:
            raise _Malformed(here, "has no list 'hooks'; a handler must stand in such a list")
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            raise _Malformed(f"{here}.matcher", f"is {_kind(matcher)} instead of a string")
        for place, handler in enumerate(_listed(f"{here}.hooks", group["hooks"])):
            yield f"{here}.hooks[{place}]", matcher, handler


def _listed(path: str, value: Json) -> Sequence[Json]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _Malformed(path, f"is {_kind(value)} instead of a list")
    return value


def _kind(value: Json) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, int | float):
        return repr(value)
    return "text" if isinstance(value, str) else "an object" if isinstance(value, Mapping) else "a list"


def _read_handler(
    profile: Profile, path: str, handler: Json, *, event: str, matcher: str | None, source: str
) -> Hook:
    if not isinstance(handler, Mapping):
        raise _Malformed(path, f"is {_kind(handler)} instead of an object")
    types = profile.config.types
    kind = handler.get("type")
    if not isinstance(kind, str) or kind not in types:
        seen = "has no 'type'" if kind is None else f"has the type {kind!r}"
        raise _Malformed(path, f"{seen}; known are {', '.join(types)}")
    if not isinstance(handler.get(types[kind]), str):
        raise _Malformed(path, f"has no text {types[kind]!r}")
    args = handler.get("args")
    texts = isinstance(args, Sequence) and all(isinstance(arg, str) for arg in args)
    if args is not None and (isinstance(args, str) or not texts):
        raise _Malformed(f"{path}.args", "is not a list of texts")
    timeout = _timeout(path, handler)
    command = str(handler.get("command", "")) if kind == "command" else ""
    words = None if args is None else tuple(str(arg) for arg in args)  # type: ignore[union-attr]
    _check_passable(f"{path}.command", command)
    _check_passable(f"{path}.args", "".join(words or ()))
    return Hook(
        event=event,
        command=command,
        type=kind,
        args=words,
        matcher=matcher,
        timeout=timeout,
        on_failure="block" if handler.get("onFailure") == "block" else "allow",
        source=source,
        options={key: value for key, value in handler.items() if key not in _OWN_KEYS},
    )


def _check_passable(path: str, text: str) -> None:
    bad = find_unpassable(text)
    if bad:
        raise _Unpassable(path, f"holds {bad!r}, which no process can be given")


def find_unpassable(text: str) -> str:
    """
    The first character of a text that no process can be given; empty if there is none.
    """
    found = _UNPASSABLE.search(text)
    return found[0] if found is not None else ""


def _timeout(path: str, handler: Mapping[str, Json]) -> float | None:
    timeout = handler.get("timeout")
    if timeout is None:
        return None
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or float(str(timeout)) <= 0:
        raise _Malformed(f"{path}.timeout", f"is {timeout!r}; it must be a number of seconds above 0")
    return float(str(timeout))
