"""Handlers in a settings file: read them as hooks, and report problems."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.settings import (
    ConfigRules,
    Effect,
    Flaw,
    HandlerKeys,
    MalformedSettings,
    RawHandler,
    SettingsForm,
)
from pytest_hookharness.hosts.rules.turns import COMMON
from pytest_hookharness.hosts.settings.formats import describe_value, read_timeout, require_object
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.name_hint import name_hint
from pytest_hookharness.model.protocol import Hook, Json, SettingsProblem

# Characters that JSON allows and arguments of a process do not: NUL, and halves of surrogate pairs.
_UNPASSABLE = re.compile("[\0\ud800-\udfff]")
# A word with variables that hosts fill in where there is no shell.
_FILLED_IN = re.compile(r'[^"`\\$]*(?:\$\{\w+\}[^"`\\$]*)+')


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSource:
    """
    The content of a settings file and how to read it.

    Attributes:
        events: The host's own event for each event name of the file.
        only: Whether it is another host's file, of which only these events count.
        options: Options added to each of its handlers.
        problems: Why it cannot be read as it is written.
        plugin: Whether it is a plugin's.
        component: Whether it is a command, skill or subagent.
    """

    name: str
    content: Mapping[str, Json]
    form: SettingsForm
    keys: HandlerKeys
    events: Mapping[str, str] = field(default_factory=dict)
    only: bool = False
    options: Mapping[str, Json] = field(default_factory=dict)
    problems: tuple[SettingsProblem, ...] = ()
    plugin: bool = False
    component: bool = False

    @property
    def own(self) -> bool:
        """Whether it is a file of the host itself, with settings beside hooks."""
        return not (self.plugin or self.only or self.component)


class _UnpassableError(Exception):
    """A handler that the host accepts, with a text that cannot be passed to a process."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.path = path
        self.text = text


def read_hooks(profile: Profile, source: SettingsSource) -> tuple[list[Hook], list[SettingsProblem], str]:
    """Return the hooks of one file, its problems, and why the session cannot start (empty if it can)."""
    reading = _FileReader(profile, source)
    reading.read()
    problems = [*reading.problems, *_unreachable(profile, source.name, reading.hooks)]
    return _numbered(profile.config, reading.hooks), problems, reading.refused


def _numbered(config: ConfigRules, hooks: list[Hook]) -> list[Hook]:
    if not config.numbered:
        return hooks
    order = sorted(range(len(hooks)), key=lambda place: config.numbered.index(hooks[place].event))
    numbers = {place: number for number, place in enumerate(order)}
    return [replace(hook, number=numbers[place]) for place, hook in enumerate(hooks)]


class _FileReader:
    """The state of reading one file."""

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
            if key in known:
                continue
            text = f"is not a key that the host knows{name_hint(key, known, 'keys')}"
            if self._apply_effect(MalformedSettings(key, Flaw.UNKNOWN_KEY, text)):
                return
        try:
            for event, path, value in self.source.form.events(self.source.content):
                self._read_event(event, path, value)
        except MalformedSettings as bad:
            self._apply_effect(bad)
        # Flaws come after unknown events, and turn off hooks only when all of the file is read: a later flaw
        # turns off the hooks found before it as well.
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

    def _read_entry(self, event: str, entry: RawHandler) -> None:
        if entry.bad is not None and self._apply_effect(entry.bad):
            return
        try:
            hook = _read_handler(self, entry, event)
        except MalformedSettings as bad:
            self._apply_effect(bad)
        except _UnpassableError as bad:
            self._report(bad.path, bad.text, "it is left out", "unpassable")
        else:
            options = {**hook.options, **self.source.options}
            self.hooks.append(replace(hook, options=options, foreign=self.source.only))

    def _apply_effect(self, bad: MalformedSettings) -> bool:
        """Carry out the host's rule for a flaw. Return whether the value with the flaw is thereby dropped."""
        match self.config.effect(bad.flaw):
            case Effect.TAKES:
                return False
            case Effect.DEFAULTS:
                self._report(bad.path, bad.text, "the host uses its own limit", "malformed")
                return False
            case Effect.DROPS:
                after = "it is left out"
            case Effect.VOIDS:
                after, self.void = "the host runs no hook of this file", True
            case Effect.FAILS:
                after = "the host starts no session"
                self.refused = f"{self.source.name}: {bad.path} {bad.text}; {after}"
        self._report(bad.path, bad.text, after, "malformed")
        return True

    def _report(self, path: str, text: str, after: str, rule: str) -> None:
        text = f"{self.source.name}: {path} {text}; {after}"
        problem = SettingsProblem("malformed", self.source.name, path, text, self.config.rules[rule])
        # All handlers of a group report the flaw of their group; it is listed once.
        if problem not in self.malformed:
            self.malformed.append(problem)

    def limit(self, path: str, written: Json) -> float | None:
        """Return a timeout in seconds; ``None`` for the host's default."""
        seconds, bad = read_timeout(self.config.limits, path, written)
        if bad is not None:
            effect = self.config.effect(bad.flaw)
            if effect is Effect.DEFAULTS:
                self._apply_effect(bad)
                return None
            if effect is not Effect.TAKES or seconds is None:
                raise bad
        return seconds


def _unreachable(profile: Profile, source: str, hooks: Sequence[Hook]) -> Iterator[SettingsProblem]:
    for event in dict.fromkeys(hook.event for hook in hooks):
        why = profile.events[event].unreachable
        if why:
            text = f"{source}: the hooks of {event} never run in a simulation: {why}"
            rule = profile.config.rules["unreachable"]
            yield SettingsProblem("unreachable-event", source, f"hooks.{event}", text, rule)


def _unknown_event(profile: Profile, source: str, event: str, path: str) -> SettingsProblem:
    fails = profile.config.effect(Flaw.UNKNOWN_EVENT) is Effect.FAILS
    effect = "starts no session" if fails else "ignores the hooks there"
    common = {name.lower(): role for name, role in COMMON.items()}
    # The name that most hosts have for it is nearer than any name with similar letters.
    same = profile.by_role(common[event.lower()]) if event.lower() in common else None
    known = ", ".join(profile.events)
    hint = name_hint(event, profile.events, "events")
    hint = hint if same is None else f"; did you mean {same.name!r}? known events: {known}"
    text = f"{source}: {profile.name} has no event {event!r} and {effect}{hint}"
    return SettingsProblem("unknown-event", source, path, text, profile.config.rules["unknown event"])


def _read_handler(reading: _FileReader, entry: RawHandler, event: str) -> Hook:
    path, handler, config, keys = entry.path, entry.handler, reading.config, reading.source.keys
    handler = require_object(path, handler)
    unknown = next((key for key in handler if keys.known and key not in keys.known), None)
    if unknown is not None:
        hint = name_hint(unknown, keys.known, "keys")
        raise MalformedSettings(path, Flaw.UNKNOWN_KEY, f"has the unknown key {unknown!r}{hint}")
    handler = _unalias(keys, handler)
    kind = _kind(config, keys, path, handler)
    runs = config.types["command"]
    args = _args(f"{path}.{keys.args}", handler.get(keys.args) if keys.args else None)
    limit = reading.limit(f"{path}.{keys.timeout}", handler.get(keys.timeout))
    program = str(handler.get(runs, "")) if kind == "command" else ""
    _check_passable(f"{path}.{runs}", program)
    _check_passable(f"{path}.{keys.args}", "".join(args or ()))
    # All other keys stay in the hook's options, where the rules of the host look for them.
    own = (keys.type, runs, keys.args, keys.env, keys.folder, keys.timeout, *keys.on_failure)
    given = handler.get(keys.env) if keys.env else None
    env = given if isinstance(given, Mapping) else {}
    _check_passable(f"{path}.{keys.env}", "".join(f"{name}{value}" for name, value in env.items()))
    folder = handler.get(keys.folder) if keys.folder else None
    _check_passable(f"{path}.{keys.folder}", str(folder))
    blocks = any(handler.get(key) == value for key, value in keys.on_failure.items())
    return Hook(
        event=event,
        command=program if args is None else " ".join(map(_quoted, (program, *args))),
        type=kind,
        args=None if args is None else (program, *args),
        matcher=entry.matcher if isinstance(entry.matcher, str) else None,
        timeout=limit,
        on_failure="block" if blocks else "allow",
        source=reading.source.name,
        env={name: str(value) for name, value in env.items()},
        # What a variable in it means is not known.
        folder=folder if isinstance(folder, str) and "$" not in folder else "",
        sequential=bool(config.sequential) and entry.group.get(config.sequential) is True,
        options={key: value for key, value in handler.items() if key not in own and key != "matcher"},
        group=_around(entry.group),
    )


def _around(group: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the keys of a group beside its handlers and the matcher; none if there is no group."""
    own = ("hooks", "matcher")
    return {key: value for key, value in group.items() if key not in own} if "hooks" in group else {}


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
        raise MalformedSettings(path, flaw, f"{seen}; expected one of {', '.join(config.types)}")
    key = config.types[kind]
    value = handler.get(key)
    if not isinstance(value, str):
        seen = f"has no {key!r}" if value is None else f"has {describe_value(value)} as {key!r}"
        flaw = Flaw.NO_COMMAND if value is None else Flaw.BAD_COMMAND
        raise MalformedSettings(path, flaw, f"{seen}; expected a string")
    return kind


def _args(path: str, args: Json) -> tuple[str, ...] | None:
    if args is None:
        return None
    if isinstance(args, str) or not isinstance(args, Sequence):
        raise MalformedSettings(path, Flaw.BAD_ARGS, f"is {describe_value(args)}; expected a list of strings")
    for arg in args:
        if not isinstance(arg, str):
            text = f"contains {describe_value(arg)}; expected a list of strings"
            raise MalformedSettings(path, Flaw.BAD_ARGS, text)
    return tuple(str(arg) for arg in args)


def _quoted(word: str) -> str:
    """Return a word as a shell would need it; the host fills in its variables."""
    return f'"{word}"' if _FILLED_IN.fullmatch(word) else shlex.quote(word)


def _check_passable(path: str, text: str) -> None:
    bad = find_unpassable(text)
    if bad:
        raise _UnpassableError(path, f"contains {bad!r}, which cannot be passed to a process")


def find_unpassable(text: str) -> str:
    """Return the first character of a text that cannot be passed to a process; empty if there is none."""
    found = _UNPASSABLE.search(text)
    return found[0] if found is not None else ""


def find_ignored(profile: Profile, names: Iterable[str]) -> tuple[SettingsProblem, ...]:
    """Return a problem for each given option that the host accepts but ignores."""
    problems: list[SettingsProblem] = []
    for name in names:
        rule = profile.options.get(name)
        if rule is not None and rule.ignored:
            text = f"{profile.id} accepts this option and ignores it: {rule.ignored}"
            problems.append(SettingsProblem("ignored-option", "options", name, text, rule.rule))
    return tuple(problems)
