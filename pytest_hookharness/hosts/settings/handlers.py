"""
Options that a host is started with: those that it takes and ignores.

The entries of hook settings: reading them, and what is wrong with them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.settings import (
    ConfigRules,
    Effect,
    Flaw,
    Form,
    HandlerKeys,
    Misshapen,
    RawEntry,
)
from pytest_hookharness.hosts.settings.formats import describe_value
from pytest_hookharness.hosts.settings.matchers_and_timeouts import read_timeout
from pytest_hookharness.model.protocol import Hook, Json, Rule

# What can stand in a text of JSON and in no argument of a process: NUL, and halves of surrogate pairs.
_UNPASSABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SettingsProblem:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSource:
    """
    A settings file with the way in which it is read.

    Attributes:
        name: The file.
        content: What stands in it.
        form: Its form.
        keys: What the keys of its handlers are called.
        events: Other names of events; ``only`` these if it is another host's file.
        only: Whether other events are left out without a word.
        options: What is set for each of its handlers.
    """

    name: str
    content: Mapping[str, Json]
    form: Form
    keys: HandlerKeys
    events: Mapping[str, str] = field(default_factory=dict)
    only: bool = False
    options: Mapping[str, Json] = field(default_factory=dict)


class _UnpassableError(Exception):
    """
    A handler that the host takes, with a text that no process can be given; the others are not affected.
    """

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.path = path
        self.text = text


def read_hooks(profile: Profile, source: SettingsSource) -> tuple[list[Hook], list[SettingsProblem], str]:
    """
    The hooks of one file, what is wrong with it, and why the session cannot begin, if it cannot.
    """
    reading = _FileReader(profile, source)
    reading.read()
    problems = [*reading.problems, *_unreachable(profile, source.name, reading.hooks)]
    return reading.hooks, problems, reading.refused


class _FileReader:
    """
    One file being read.
    """

    def __init__(self, profile: Profile, source: SettingsSource) -> None:
        self.profile, self.config, self.source = profile, profile.config, source
        self.hooks: list[Hook] = []
        self.problems: list[SettingsProblem] = []
        self.malformed: list[SettingsProblem] = []
        self.refused = ""
        self.void = False

    def read(self) -> None:
        known = self.config.known_keys
        for key in self.source.content if known else ():
            if key not in known and self._weigh(Misshapen(key, Flaw.UNKNOWN_KEY, "is no key of it")):
                return
        try:
            for event, path, value in self.source.form.events(self.source.content):
                self._read_event(event, path, value)
        except Misshapen as bad:
            self._weigh(bad)
        self.problems += self.malformed
        if self.void:
            self.hooks = []

    def _read_event(self, written: str, path: str, value: Json) -> None:
        event = self.source.events.get(written, written)
        if self.source.only and written not in self.source.events:
            return
        if event not in self.profile.events:
            self.problems.append(_unknown_event(self.profile, self.source.name, written, path))
            if self.config.effect(Flaw.UNKNOWN_EVENT) is Effect.FAILS:
                self.refused = self.problems[-1].text
            return
        for entry in self.source.form.handlers(path, value):
            self._read_entry(event, entry)

    def _read_entry(self, event: str, entry: RawEntry) -> None:
        if entry.flaw is not None and self._weigh(Misshapen(entry.place, entry.flaw, entry.text)):
            return
        try:
            hook = _read_handler(self, entry, event)
        except Misshapen as bad:
            self._weigh(bad)
        except _UnpassableError as bad:
            self._complain(bad.path, bad.text, "it is left out", "unpassable")
        else:
            options = {**hook.options, **self.source.options}
            self.hooks.append(replace(hook, options=options, foreign=self.source.only))

    def _weigh(self, bad: Misshapen) -> bool:
        """
        Do what a flaw does; tell whether it is done with what has it.
        """
        match self.config.effect(bad.flaw):
            case Effect.TAKES:
                return False
            case Effect.DEFAULTS:
                self._complain(bad.path, bad.text, "the host's own limit holds", "malformed")
                return False
            case Effect.DROPS:
                after = "it is left out"
            case Effect.VOIDS:
                after, self.void = "every hook of this file is off", True
            case Effect.FAILS:
                after = "the session does not begin"
                self.refused = f"{self.source.name}: {bad.path} {bad.text}; {after}"
        self._complain(bad.path, bad.text, after, "malformed")
        return True

    def _complain(self, path: str, text: str, after: str, rule: str) -> None:
        told = f"{self.source.name}: {path} {text}; {after}"
        problem = SettingsProblem("malformed", self.source.name, path, told, self.config.rules[rule])
        if problem not in self.malformed:
            self.malformed.append(problem)

    def limit(self, path: str, written: Json) -> float | None:
        """
        A limit in seconds; ``None`` for the host's own.
        """
        limit = read_timeout(self.config.limits, written)
        if limit.flaw is not None:
            bad = Misshapen(path, limit.flaw, limit.text)
            if self.config.effect(limit.flaw) is Effect.DEFAULTS:
                self._weigh(bad)
                return None
            if self.config.effect(limit.flaw) is not Effect.TAKES or limit.seconds is None:
                raise bad
        return limit.seconds


def _unreachable(profile: Profile, source: str, hooks: Sequence[Hook]) -> Iterator[SettingsProblem]:
    for event in dict.fromkeys(hook.event for hook in hooks):
        why = profile.events[event].unreachable
        if why:
            told = f"{source}: the hooks of {event} are never fired: {why}"
            rule = profile.config.rules["unreachable"]
            yield SettingsProblem("unreachable-event", source, f"hooks.{event}", told, rule)


def _unknown_event(profile: Profile, source: str, event: str, path: str) -> SettingsProblem:
    lowered = {name.lower(): name for name in profile.events}
    near = difflib.get_close_matches(event.lower(), lowered, n=1)
    hint = f"; did you mean {lowered[near[0]]!r}?" if near else ""
    told = f"{source}: {profile.name} has no event {event!r} and skips its hooks{hint}"
    if profile.config.effect(Flaw.UNKNOWN_EVENT) is Effect.FAILS:
        told = f"{source}: {profile.name} has no event {event!r}, so the session does not begin{hint}"
    return SettingsProblem("unknown-event", source, path, told, profile.config.rules["unknown event"])


def _read_handler(reading: _FileReader, entry: RawEntry, event: str) -> Hook:
    path, handler, config, keys = entry.path, entry.handler, reading.config, reading.source.keys
    if not isinstance(handler, Mapping):
        raise Misshapen(path, Flaw.NOT_OBJECT, f"is {describe_value(handler)} instead of an object")
    strange = [key for key in handler if keys.known and key not in keys.known]
    if strange:
        told = f"has the key {strange[0]!r}; known are {', '.join(keys.known)}"
        raise Misshapen(path, Flaw.UNKNOWN_KEY, told)
    handler = _unalias(keys, handler)
    kind = _kind(config, keys, path, handler)
    runs = config.types["command"]
    words = _args(f"{path}.{keys.args}", handler.get(keys.args) if keys.args else None)
    limit = reading.limit(f"{path}.{keys.timeout}", handler.get(keys.timeout))
    command = str(handler.get(runs, "")) if kind == "command" else ""
    _check_passable(f"{path}.{runs}", command)
    _check_passable(f"{path}.{keys.args}", "".join(words or ()))
    own = (keys.type, runs, keys.args, keys.env, keys.timeout, *keys.on_failure)
    given = handler.get(keys.env) if keys.env else None
    env = given if isinstance(given, Mapping) else {}
    _check_passable(f"{path}.{keys.env}", "".join(f"{name}{value}" for name, value in env.items()))
    blocks = any(handler.get(key) == value for key, value in keys.on_failure.items())
    return Hook(
        event=event,
        command=command,
        type=kind,
        args=words,
        matcher=entry.matcher if isinstance(entry.matcher, str) else None,
        timeout=limit,
        on_failure="block" if blocks else "allow",
        source=reading.source.name,
        env={name: str(value) for name, value in env.items()},
        sequential=bool(config.sequential) and entry.group.get(config.sequential) is True,
        options={key: value for key, value in handler.items() if key not in own and key != "matcher"},
    )


def _unalias(keys: HandlerKeys, handler: Mapping[str, Json]) -> Mapping[str, Json]:
    named = {key: keys.aliases.get(key, key) for key in handler}
    return {name: handler[name] if name in handler else handler[key] for key, name in named.items()}


def _kind(config: ConfigRules, keys: HandlerKeys, path: str, handler: Mapping[str, Json]) -> str:
    kind = handler.get(keys.type)
    if kind is None and config.untyped:
        kind = config.untyped
    if not isinstance(kind, str) or kind not in config.types:
        seen = f"has no {keys.type!r}" if kind is None else f"has the type {kind!r}"
        flaw = Flaw.NO_TYPE if kind is None else Flaw.BAD_TYPE
        raise Misshapen(path, flaw, f"{seen}; known are {', '.join(config.types)}")
    if not isinstance(handler.get(config.types[kind]), str):
        raise Misshapen(path, Flaw.NO_COMMAND, f"has no text {config.types[kind]!r}")
    return kind


def _args(path: str, args: Json) -> tuple[str, ...] | None:
    if args is None:
        return None
    if isinstance(args, str) or not isinstance(args, Sequence):
        raise Misshapen(path, Flaw.BAD_ARGS, "is not a list of texts")
    if not all(isinstance(arg, str) for arg in args):
        raise Misshapen(path, Flaw.BAD_ARGS, "is not a list of texts")
    return tuple(str(arg) for arg in args)


def _check_passable(path: str, text: str) -> None:
    bad = find_unpassable(text)
    if bad:
        raise _UnpassableError(path, f"holds {bad!r}, which no process can be given")


def find_unpassable(text: str) -> str:
    """
    The first character of a text that no process can be given; empty if there is none.
    """
    found = _UNPASSABLE.search(text)
    return found[0] if found is not None else ""


def find_ignored(profile: Profile, names: Iterable[str]) -> tuple[SettingsProblem, ...]:
    """
    The options of those given that the host takes and does nothing with.
    """
    known = ((name, profile.options[name]) for name in names if name in profile.options)
    return tuple(
        SettingsProblem(
            "ignored-option",
            "options",
            name,
            f"{profile.id} takes this option and ignores it: {rule.ignored}",
            rule.rule,
        )
        for name, rule in known
        if rule.ignored
    )
