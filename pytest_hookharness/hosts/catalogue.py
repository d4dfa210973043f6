"""
The known hosts, by name and version, and a host with a cap that a scenario assumes instead of its own.

A profile is imported when it is asked for, because a run needs only one or two of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.turns import CapRules, Resets
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.name_hint import UnknownName
from pytest_hookharness.model.protocol import THE_SCENARIO, Basis, Rule
from pytest_hookharness.model.scenario import AssumedCap, without_final_zeros

# The newest version of a host comes first.
_BUILT_IN = (
    "claude-code@2.1.329",
    "codex@0.169.0",
    "gemini-cli@0.61.0",
    "gemini-cli@0.30.0",
    "gemini-cli@0.26.0",
    "qwen-code@0.24.4",
    "qwen-code@0.15.10",
    "openhands@1.58",
    "openhands@1.12",
    "openhands@pr3183",
    "cursor@2026-08",
    "cursor@2026-08-reported",
    "copilot-cli@1.0.78",
    "copilot-cli@1.0.71",
    "antigravity@1.1.18",
    "kimi@0.38.0",
    "goose@2026",
    "droid@2026-07",
)

# The entry points of other distributions with a profile, such as `codex@1.2 = module:PROFILE`.
GROUP = "pytest_hookharness.hosts"


class UnknownHost(UnknownName):
    """There is no profile for this host, or for this version of it."""


# The profiles that plugins of a pytest run bring, by name and version.
_REGISTERED: dict[str, Profile] = {}


def register(profile: object) -> None:
    """
    Make a profile known in this process.

    Raises:
        UnknownHost: It is not a profile, or one that is built in has its name and version.
    """
    if not isinstance(profile, Profile):
        raise UnknownHost(f"pytest_hook_hosts gave {profile!r}; it must return profiles")
    if profile.id in _BUILT_IN:
        raise UnknownHost(f"pytest_hook_hosts gave {profile.id!r}, which is built in; choose another version")
    _REGISTERED[profile.id] = profile


def forget(profile: Profile) -> None:
    """Undo `register`."""
    _REGISTERED.pop(profile.id, None)


@cache
def _plugged_in() -> Mapping[str, EntryPoint]:
    # A built-in profile wins over an entry point of the same name.
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in _BUILT_IN}


def _identifiers() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_BUILT_IN, *_REGISTERED, *_plugged_in())))


def _load(identifier: str) -> Profile:
    if identifier in _REGISTERED:
        return _REGISTERED[identifier]
    if identifier not in _BUILT_IN:
        return _load_plugged_in(_plugged_in()[identifier])
    profiles = _built_in_profiles(identifier.partition("@")[0])
    return next(profile for profile in profiles if profile.id == identifier)


def _built_in_profiles(host: str) -> tuple[Profile, ...]:
    # Import statements, not a table of names, so that the test of the layers sees them.
    match host:
        case "claude-code":
            from pytest_hookharness.hosts.profiles.claude_code.profile import PROFILES
        case "codex":
            from pytest_hookharness.hosts.profiles.codex.profile import PROFILES
        case "gemini-cli":
            from pytest_hookharness.hosts.profiles.gemini.profile import PROFILES
        case "qwen-code":
            from pytest_hookharness.hosts.profiles.qwen.profile import PROFILES
        case "openhands":
            from pytest_hookharness.hosts.profiles.openhands.profile import PROFILES
        case "cursor":
            from pytest_hookharness.hosts.profiles.cursor.profile import PROFILES
        case "copilot-cli":
            from pytest_hookharness.hosts.profiles.copilot.profile import PROFILES
        case "antigravity":
            from pytest_hookharness.hosts.profiles.documented.antigravity import PROFILES
        case "kimi":
            from pytest_hookharness.hosts.profiles.documented.kimi import PROFILES
        case "goose":
            from pytest_hookharness.hosts.profiles.documented.goose import PROFILES
        case "droid":
            from pytest_hookharness.hosts.profiles.documented.droid import PROFILES
        case _:
            raise AssertionError(host)
    return PROFILES


def _load_plugged_in(point: EntryPoint) -> Profile:
    profile = point.load()
    if not isinstance(profile, Profile) or profile.id != point.name:
        seen = getattr(profile, "id", type(profile).__name__)
        raise UnknownHost(
            f"the entry point {point.name!r} of group {GROUP!r} gives {seen!r}; "
            f"it must name a Profile whose name and version are {point.name!r}: {point.value}"
        )
    return profile


def names() -> tuple[str, ...]:
    """Return the names by which hosts are found: bare ones, for the newest version, then with versions."""
    identifiers = _identifiers()
    return (*dict.fromkeys(identifier.partition("@")[0] for identifier in identifiers), *identifiers)


def known() -> tuple[Profile, ...]:
    """Return all profiles; of each host the newest version comes first."""
    return tuple(map(_load, _identifiers()))


@cache
def settings_folders() -> frozenset[str]:
    """Return the names of the folders, in a project and in HOME, in which built-in hosts keep settings."""
    known_paths = (_load(identifier).config.paths for identifier in _BUILT_IN)
    return frozenset(path.split("/")[1] for paths in known_paths for path in paths)


def find(name: str) -> Profile:
    """
    Return the profile of a host, by ``name`` (its newest version) or ``name@version``.

    Raises:
        UnknownHost: There is no such profile.
    """
    # Entry points are read only if no built-in profile fits, because that takes time.
    identifier = _match(name, (*_BUILT_IN, *_REGISTERED)) or _match(name, _plugged_in())
    if identifier is not None:
        return _load(identifier)
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UnknownHost(f"there is no host {name!r}; {hint}known hosts: {', '.join(_identifiers())}")


def _match(name: str, identifiers: Iterable[str]) -> str | None:
    same = without_final_zeros(name)
    known = ((one, (without_final_zeros(one), one.partition("@")[0])) for one in identifiers)
    return next((one for one, meant in known if same in meant), None)


def assumed_of_calls(name: str) -> tuple[str, ...]:
    """Return what is only assumed about calling a host from a shell, as sentences."""
    profile = find(name)
    rules = profile.calling.rules.values() if profile.calling is not None else ()
    return tuple(f"{profile.id}: {rule.text}." for rule in rules if rule.basis is Basis.ASSUMED)


_RESETS = {
    "prompt": Resets.NOTHING,
    "calls_done": Resets.CALLS_DONE,
    "calls_tried": Resets.CALLS_TRIED,
}
_RULES = ("cap", "cap across refused calls", "counted", "off", "reset", "no cap")


def with_cap(profile: Profile, cap: AssumedCap) -> Profile:
    """Return a host whose cap is the assumed one, wherever the host itself would read a cap from."""
    resets = _RESETS.get(cap.resets, profile.cap.resets)
    rule = Rule(describe_assumed_cap(profile, cap), Basis.ASSUMED, THE_SCENARIO)
    rules = CapRules(
        cap=cap.refusals,
        resets=resets,
        at_cap=profile.cap.at_cap,
        message=profile.cap.message,
        status=profile.cap.status,
        flag=profile.cap.flag,
        rules={**profile.cap.rules, **dict.fromkeys(_RULES, rule)},
    )
    return replace(profile, cap=rules)


def describe_assumed_cap(profile: Profile, cap: AssumedCap) -> str:
    """Return what the scenario assumes, as a clause."""
    if cap.refusals is None:
        return f"{profile.id} honours any number of refusals of a stop"
    resets = _RESETS.get(cap.resets, profile.cap.resets)
    honoured = f"{profile.id} honours {counted(cap.refusals, 'refusal')} of a stop in a row"
    return f"{honoured}, and {resets.value} resets the count"
