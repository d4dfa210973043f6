"""The configuration of a host: hooks and other settings, merged from its settings files and short forms."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

from pytest_hookharness.hosts.replies.json_parser import dig
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.settings import ConfigRules, Import, KeyPath, Switch, TrustRule
from pytest_hookharness.hosts.rules.turns import COMMON
from pytest_hookharness.hosts.settings.components import read_components, read_manifest
from pytest_hookharness.hosts.settings.formats import describe_value
from pytest_hookharness.hosts.settings.handlers import SettingsSource, find_unpassable, read_hooks
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Basis, Hook, Json, SettingsProblem

INLINE, PLUGIN = "inline", "plugin"
# Files that have nothing but hooks, and keys that only one who means a hook writes there.
_OF_HOOKS_ALONE = re.compile(r"(?:^|/)hooks(?:/[^/]+)?\.json$")
_OF_A_HOOK = frozenset(["bash", "powershell", "command", "event", "events", "matcher", "Hooks"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """
    The settings of a host, merged.

    Attributes:
        hooks: All hooks, in the order of the files and of each file.
        allowed: Permission rules for calls that need no approval.
        env: Variables that the settings give to the session and its hooks.
        disabled: Whether the settings turn all hooks off.
        refused: Why the host starts no session with these settings; empty if it does.
        contents: The contents of the files, the file with the highest precedence last.
    """

    hooks: tuple[Hook, ...] = ()
    problems: tuple[SettingsProblem, ...] = ()
    allowed: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    disabled: bool = False
    refused: str = ""
    contents: tuple[Mapping[str, Json], ...] = ()

    def setting(self, path: KeyPath) -> Json:
        """Return the value at a key path in the nearest file that has it; ``None`` for no value."""
        found = (dig(content, path) for content in reversed(self.contents)) if path else ()
        return next((value for value in found if value is not None), None)


def configure(
    profile: Profile,
    files: Mapping[str, str],
    *,
    inline: Mapping[str, Json] | None = None,
    plugin_files: Mapping[str, str] | None = None,
    plugin_root: str = "",
    plugin_name: str = "",
    components: Mapping[str, str] | None = None,
    options: Mapping[str, Json] = MappingProxyType({}),
) -> Configuration:
    """
    Return the configuration that the host reads from its settings files.

    Args:
        files: Texts of settings files by state path (``workspace/...``, ``home/...``).
        inline: Settings written in the scenario, which may be short forms.
        plugin_files: Texts of a plugin's files by path relative to its folder.
        plugin_root: The plugin's folder, absolute.
        plugin_name: Its name; empty for the name of the folder.
        components: Texts of the files of commands, skills and subagents by state path.
    """
    config = profile.config
    # First the host's own files, then files imported from other hosts, the scenario's settings, the plugin's.
    own = [path for path in files if not any(_matches_any(path, one.paths) for one in config.imports)]
    own = _in_order(config.paths, own)
    own = own[:1] if config.first_only else own
    settings = [_read(profile, _shorten(path), files[path]) for path in own]
    for one in config.imports:
        theirs = _in_order(one.paths, [path for path in files if _matches_any(path, one.paths)])
        settings += [_read(profile, _shorten(path), files[path], one) for path in theirs]
    if inline is not None:
        settings.append(_source(profile, INLINE, expand_short_form(profile, inline)))
    for path, text in (plugin_files or {}).items():
        name = f"{PLUGIN}/{path}"
        if path == config.plugin_manifest:
            read = _source(profile, name, read_manifest(config, text))
        else:
            read = _read(profile, name, text)
        settings.append(replace(read, plugin=True))
    found = tuple(read_components(config, components or {}))
    for each in found:
        if each.content:
            source = _source(profile, _shorten(each.path), each.content)
            settings.append(replace(source, plugin=each.path.startswith(f"{PLUGIN}/"), component=True))
    trusted = [(one, _find_distrust(config, one, options)) for one in settings]
    merged = _merge(profile, [one for one, why in trusted if why is None], plugin_root)
    problems = (replace(one, source=_shorten(one.source)) for each in found for one in each.problems)
    unread = (_unread(one, why) for one, why in trusted if why and read_hooks(profile, one)[0])
    named = (replace(hook, plugin_name=plugin_name) if hook.plugin else hook for hook in merged.hooks)
    return replace(merged, hooks=tuple(named), problems=(*merged.problems, *problems, *unread))


def _find_distrust(config: ConfigRules, one: SettingsSource, options: Mapping[str, Json]) -> TrustRule | None:
    """Return the rule by which the host leaves a file out; ``None`` if it reads it."""
    own = one.name.startswith("~/")
    given = (rule for rule in config.trust if options.get(rule.option) == rule.value)
    return next((rule for rule in given if not (own and rule.project_only)), None)


def _unread(one: SettingsSource, why: TrustRule) -> SettingsProblem:
    name, value = one.name, str(why.value).lower()
    text = f"{name}: its hooks are left out, because the option {why.option} is {value}"
    return SettingsProblem("disabled", name, "", text, why.rule)


def expand_short_form(profile: Profile, inline: Mapping[str, Json]) -> Mapping[str, Json]:
    """
    Return settings in the host's own format, from that format or a short form of it.

    ``{hooks: {...}}`` keeps everything but its events; ``{Stop: ...}`` alone is put into the host's format. A
    command stands for a handler, and a handler for the group around it that the format needs.
    """
    config = profile.config
    hooks = inline.get("hooks")
    if isinstance(hooks, Mapping):
        return {**inline, **config.form.build(_handler_lists(config, hooks))}
    # Other values of "hooks" and settings that only switch hooks off are taken as they are written.
    if "hooks" in inline or any(switch.path[0] in inline for switch in config.switches):
        return inline
    inline = {own_event(profile, name): value for name, value in inline.items()}
    known = {*profile.events, *config.events}
    # Named sets of hooks, as the format NAMED has them, are complete already.
    named = (isinstance(value, Mapping) and known & set(value) for value in inline.values())
    if inline and not known & set(inline) and all(named):
        return inline
    return config.form.build(_handler_lists(config, inline))


def own_event(profile: Profile, name: str) -> str:
    """Return the host's own name of an event given by its common name; any other name as it is."""
    if name in profile.events or name in profile.config.events or name not in COMMON:
        return name
    rule = profile.by_role(COMMON[name])
    return name if rule is None else rule.name


def _handler_lists(config: ConfigRules, events: Mapping[str, Json]) -> dict[str, Json]:
    return {name: _handler_list(config, value) for name, value in events.items()}


def _handler_list(config: ConfigRules, value: Json) -> Json:
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


def _matches_any(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _in_order(patterns: Iterable[str], files: Iterable[str]) -> list[str]:
    files = list(files)
    known = [path for pattern in patterns for path in files if fnmatchcase(path, pattern)]
    return list(dict.fromkeys([*known, *files]))


def _shorten(path: str) -> str:
    head, _, rest = path.partition("/")
    return {"workspace": rest, "home": f"~/{rest}"}.get(head, path) if rest else path


def locate(source: str, workspace: str, home: str) -> str:
    """Return the absolute path of a hook's source; sources that are no file stay as they are."""
    if source == INLINE or source.startswith(f"{PLUGIN}/"):
        return source
    # A file above the folder of the session begins with `..`.
    return f"{home}{source[1:]}" if source.startswith("~/") else posixpath.normpath(f"{workspace}/{source}")


def _source(
    profile: Profile, name: str, content: Mapping[str, Json], imported: Import | None = None
) -> SettingsSource:
    rules = imported or profile.config
    source = SettingsSource(name=name, content=content, form=rules.form, keys=rules.keys, events=rules.events)
    return source if imported is None else replace(source, only=True, options=imported.options)


def _read(profile: Profile, name: str, text: str, imported: Import | None = None) -> SettingsSource:
    rule = profile.config.rules["unreadable"]
    assumed = "it is assumed that " if rule.basis is Basis.ASSUMED else ""
    then = f"{assumed}the host runs none of its hooks until that is fixed"
    try:
        content = profile.config.parse(text)
    except (ValueError, RecursionError) as error:
        content = None
        why = f"cannot be parsed ({error}); {then}"
    else:
        why = f"expected an object, got {describe_value(content)}; {then}"
    if not isinstance(content, Mapping):
        problem = SettingsProblem("unreadable", name, "", f"{name}: {why}", rule)
        return replace(_source(profile, name, {}, imported), problems=(problem,))
    problems = (*_find_misplaced(profile, name, content),)
    return replace(_source(profile, name, content, imported), problems=problems)


def _find_misplaced(profile: Profile, name: str, content: Mapping[str, Json]) -> Iterator[SettingsProblem]:
    rule = profile.config.rules.get("misplaced")
    # With a key "hooks" beside them, such keys may mean something else to the host.
    if rule is None or "hooks" in content:
        return
    stray = [key for key in content if key in profile.events]
    if stray:
        text = f"{name}: {', '.join(stray)} at the top level has no effect; move it below the key 'hooks'"
        yield SettingsProblem("misplaced", name, stray[0], text, rule)
    elif _OF_A_HOOK & content.keys() and _OF_HOOKS_ALONE.search(name):
        text = f"{name}: there is no key 'hooks', so no hooks are read from this file"
        yield SettingsProblem("misplaced", name, "", text, rule)


def _merge(profile: Profile, settings: list[SettingsSource], plugin_root: str) -> Configuration:
    hooks: list[Hook] = []
    problems: list[SettingsProblem] = []
    env: dict[str, str] = {}
    refused = ""
    for one in settings:
        read, flaws, why = read_hooks(profile, one)
        hooks += [_plugin_hook(profile, hook, plugin_root) for hook in read] if one.plugin else read
        problems += [*one.problems, *flaws]
        refused = refused or why
        variables = _env_values(_value_at(one, profile.config.env)) if one.own else {}
        odd = [name for name, value in variables.items() if find_unpassable(f"{name}{value}")]
        problems += [_unpassable_variable(profile, one.name, name) for name in odd]
        env.update({name: value for name, value in variables.items() if name not in odd})
    own = [one for one in settings if one.own]
    off = next(
        (found for switch in profile.config.switches if (found := _find_off_switch(switch, own))), None
    )
    if off is not None and hooks:
        decisive, source = off
        path = ".".join(decisive.path)
        text = f"{source}: {path} is {json.dumps(decisive.off)}, which turns off all hooks ({len(hooks)})"
        rule = profile.config.rules["disabled"]
        problems.append(SettingsProblem("disabled", source, path, text, rule))
    # A hook's own variables go before those of the settings.
    kept = () if off is not None else tuple(replace(hook, env={**env, **hook.env}) for hook in hooks)
    return Configuration(
        hooks=() if refused else kept,
        problems=tuple(problems),
        allowed=tuple(rule for one in own for rule in _texts(_value_at(one, profile.config.allowed))),
        env=env,
        disabled=off is not None,
        refused=refused,
        contents=tuple(one.content for one in own),
    )


def _value_at(source: SettingsSource, path: KeyPath) -> Json:
    return dig(source.content, path) if path else None


def _find_off_switch(switch: Switch, settings: list[SettingsSource]) -> tuple[Switch, str] | None:
    """Return the switch and the file that turns all hooks off; the nearest file with the key decides."""
    for one in reversed(settings):
        value = dig(one.content, switch.path)
        # Compared with the type, since 0 == False: a number does not switch hooks off.
        if type(value) is type(switch.off):
            return (switch, one.name) if value == switch.off else None
    return None


def _unpassable_variable(profile: Profile, source: str, name: str) -> SettingsProblem:
    path = f"env.{name!r}"
    text = f"{source}: {path} contains a character that cannot be passed to a process; it is left out"
    return SettingsProblem("malformed", source, path, text, profile.config.rules["unpassable"])


def _plugin_hook(profile: Profile, hook: Hook, root: str) -> Hook:
    # The command keeps the variable, so that a hook is the same wherever its plugin lies; `launch` fills it.
    folder = posixpath.normpath(root) if root else ""
    return replace(hook, plugin=folder, env={**hook.env, profile.config.plugin_root: folder})


def _texts(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _env_values(value: Json) -> dict[str, str]:
    return {name: str(item) for name, item in value.items()} if isinstance(value, Mapping) else {}
