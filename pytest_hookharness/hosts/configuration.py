"""
This module is concerned with configuration: the hooks that a host takes from its settings.

Middle floor: hosts.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pytest_hookharness.hosts.entries import Problem, find_unpassable, read_entries
from pytest_hookharness.hosts.profile import Profile
from pytest_hookharness.hosts.shorthand import expand
from pytest_hookharness.model.protocol import Hook, Json

INLINE = "inline"
PLUGIN = "plugin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """
    What the settings of a host come to.

    Attributes:
        hooks: All hooks, in the order of the files and in them.
        problems: What is wrong with the settings.
        allowed: Permission rules for calls that need no asking.
        env: Variables that the settings give to the session and its hooks.
        disabled: Whether the settings turn all hooks off.
    """

    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    allowed: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class _Settings:
    source: str
    content: Mapping[str, Json]
    problems: tuple[Problem, ...] = ()
    plugin: bool = False


def configure(
    profile: Profile,
    files: Mapping[str, str],
    *,
    inline: Mapping[str, Json] | None = None,
    plugin_files: Mapping[str, str] | None = None,
    plugin_root: str = "",
) -> Configuration:
    """
    Read settings as the host does: all levels add up.

    Args:
        profile: The host.
        files: Texts of settings files by state path (``workspace/...``, ``home/...``).
        inline: Settings written in the scenario; short forms are allowed.
        plugin_files: Texts of a plugin's files by path relative to its folder.
        plugin_root: The plugin's folder, absolute.
    """
    settings = [_read(profile, _shorten(path), files[path]) for path in _in_order(profile, files)]
    if inline is not None:
        settings.append(_Settings(INLINE, expand(profile, inline)))
    text = (plugin_files or {}).get(profile.config.plugin_path)
    if text is not None:
        read = _read(profile, f"{PLUGIN}/{profile.config.plugin_path}", text)
        settings.append(replace(read, plugin=True))
    return _merge(profile, settings, plugin_root)


def _in_order(profile: Profile, files: Mapping[str, str]) -> Iterable[str]:
    known = [path for path in profile.config.paths if path in files]
    return [*known, *(path for path in files if path not in known)]


def _shorten(path: str) -> str:
    head, _, rest = path.partition("/")
    return {"workspace": rest, "home": f"~/{rest}"}.get(head, path) if rest else path


def _read(profile: Profile, source: str, text: str) -> _Settings:
    rule = profile.config.rules["unreadable"]
    try:
        content = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        told = f"{source} is not JSON ({error}); none of its hooks run"
        return _Settings(source, {}, (Problem("unreadable", source, "", told, rule),))
    if not isinstance(content, dict):
        told = f"{source} holds {type(content).__name__} instead of an object; none of its hooks run"
        return _Settings(source, {}, (Problem("unreadable", source, "", told, rule),))
    stray = [name for name in content if name in profile.events and "hooks" not in content]
    if stray:
        told = f"{source} has {', '.join(stray)} at the top; the host looks for them below the key 'hooks'"
        problem = Problem("misplaced", source, stray[0], told, profile.config.rules["misplaced"])
        return _Settings(source, content, (problem,))
    return _Settings(source, content)


def _merge(profile: Profile, settings: list[_Settings], plugin_root: str) -> Configuration:
    hooks: list[Hook] = []
    problems: list[Problem] = []
    allowed: list[str] = []
    env: dict[str, str] = {}
    disabled = False
    for one in settings:
        read, wrong = read_entries(profile, one.content.get("hooks", {}), one.source)
        hooks += [_in_plugin(hook, plugin_root) for hook in read] if one.plugin else read
        problems += [*one.problems, *wrong]
        if one.plugin:
            continue
        allowed += _allowed(one.content)
        variables = _variables(one.content)
        odd = [name for name, value in variables.items() if find_unpassable(f"{name}{value}")]
        problems += [_left_out(profile, one.source, name) for name in odd]
        env.update({name: value for name, value in variables.items() if name not in odd})
        if isinstance(one.content.get("disableAllHooks"), bool):
            disabled = one.content["disableAllHooks"] is True
    if disabled and hooks:
        told = f"'disableAllHooks' turns off all {len(hooks)} hooks"
        source = next(one.source for one in settings if one.content.get("disableAllHooks") is True)
        rule = profile.config.rules["disabled"]
        problems.append(Problem("disabled", source, "disableAllHooks", told, rule))
    kept = () if disabled else tuple(replace(hook, env={**env, **hook.env}) for hook in hooks)
    return Configuration(
        hooks=kept, problems=tuple(problems), allowed=tuple(allowed), env=env, disabled=disabled
    )


def _left_out(profile: Profile, source: str, name: str) -> Problem:
    told = f"{source}: the variable env.{name!r} holds what no process can be given; it is left out"
    return Problem("malformed", source, f"env.{name!r}", told, profile.config.rules["unpassable"])


def _in_plugin(hook: Hook, root: str) -> Hook:
    def filled(text: str) -> str:
        return text.replace("${CLAUDE_PLUGIN_ROOT}", root)

    return replace(
        hook,
        command=filled(hook.command),
        args=None if hook.args is None else tuple(filled(arg) for arg in hook.args),
        env={**hook.env, "CLAUDE_PLUGIN_ROOT": posixpath.normpath(root) if root else ""},
    )


def _allowed(content: Mapping[str, Json]) -> list[str]:
    permissions = content.get("permissions")
    rules = permissions.get("allow") if isinstance(permissions, Mapping) else None
    return [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else []


def _variables(content: Mapping[str, Json]) -> dict[str, str]:
    env = content.get("env")
    return {name: str(value) for name, value in env.items()} if isinstance(env, Mapping) else {}
