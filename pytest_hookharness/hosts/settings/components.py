"""
Hooks of components: in the files of a plugin, and in the front matter of commands, skills and subagents.

The host runs the latter while the component is active. The simulation plays the start and the stop of a
subagent, so the hooks of its stop run. All others are reported, because the work of a component is not
simulated.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from pytest_hookharness.hosts.rules.settings import ConfigRules
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, SettingsProblem

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_HOOKS = re.compile(r"^[\"']?hooks[\"']?[ \t]*:", re.MULTILINE)
_PLAIN = re.compile(r"^([\w-]+):[ \t]+([^\"'|>\s].*?)[ \t]*\r?$", re.MULTILINE)
_AGENTS = "agents"
_STOPS = ("Stop", "SubagentStop")


@dataclass(frozen=True, slots=True)
class ComponentHooks:
    """The hooks of a component that are played, as in a settings file, and why others are not."""

    path: str
    content: Mapping[str, Json]
    problems: tuple[SettingsProblem, ...] = ()


def read_components(config: ConfigRules, files: Mapping[str, str]) -> Iterator[ComponentHooks]:
    """Yield the hooks of each component that has any, from texts by state path."""
    for path, text in files.items():
        front = _FRONT_MATTER.match(text)
        if front is None or not _HOOKS.search(front[1]):
            continue
        values = _parse(front[1])
        hooks = values.get("hooks")
        if isinstance(hooks, Mapping):
            name = str(values.get("name") or posixpath.basename(path).removesuffix(".md"))
            yield _component(config, path, name, hooks)
        elif hooks is not None or not values:
            why = "the front matter cannot be read, so the host runs none of its hooks"
            problem = SettingsProblem("unreadable", path, "hooks", why, config.rules["unreadable"])
            yield ComponentHooks(path, {}, (problem,))


def component_hooks(text: str, *, agent: bool) -> Mapping[str, Json]:
    """
    Return the hooks in the front matter of a component, as they run while it is active; empty for none.

    The host calls the stops of a subagent (``agent``) ``SubagentStop``.
    """
    front = _FRONT_MATTER.match(text)
    hooks = _parse(front[1]).get("hooks") if front is not None and _HOOKS.search(front[1]) else None
    if not isinstance(hooks, Mapping):
        return {}
    return {"SubagentStop" if agent and event == "Stop" else event: value for event, value in hooks.items()}


def _parse(text: str) -> Mapping[str, Json]:
    # Few projects have such hooks, and the library takes time to import.
    import yaml  # noqa: PLC0415

    # The host reads values such as `argument-hint: [file] [line]`, which are no YAML, as if they were quoted.
    for readable in (text, _PLAIN.sub(_quote, text)):
        try:
            values: Json = yaml.safe_load(readable)
        except (yaml.YAMLError, ValueError, RecursionError):
            continue
        return values if isinstance(values, Mapping) else {}
    return {}


def _quote(found: re.Match[str]) -> str:
    # JSON is YAML.
    return f"{found[1]}: {json.dumps(found[2])}"


def _component(config: ConfigRules, path: str, name: str, hooks: Mapping[str, Json]) -> ComponentHooks:
    is_agent = _AGENTS in path.split("/")[:-1]
    # The host takes a subagent's Stop for its SubagentStop; only this subagent runs them.
    played = [groups for event, groups in hooks.items() if is_agent and event in _STOPS]
    groups = (group for value in played if isinstance(value, list) for group in value)
    own = [{**group, "matcher": name} for group in groups if isinstance(group, Mapping)]
    why = "subagents make no calls" if is_agent else "commands and skills run no hooks, also if one is used"
    text = f"these hooks were not played, for in a simulation {why}"
    rule = config.rules["components"]
    problems = tuple(
        SettingsProblem("unreachable-component", path, f"hooks.{event}", text, rule)
        for event in hooks
        if not is_agent or event not in _STOPS
    )
    content: Mapping[str, Json] = {"hooks": {"SubagentStop": own}} if own else {}
    return ComponentHooks(path, content, problems)


def plugin_files(config: ConfigRules, read: Callable[[str], str | None]) -> dict[str, str]:
    """
    Return the texts of a plugin's files with hooks, by path relative to the plugin.

    ``read`` returns the text of a file by such a path; ``None`` for no such file.
    """
    manifest = read(config.plugin_manifest) if config.plugin_manifest else None
    written = _manifest_value(config, manifest or "", "hooks")
    usual = "" if config.plugin_replaces and written is not None else config.plugin_path
    named = (value for value in _values(written) if isinstance(value, str))
    paths = dict.fromkeys(posixpath.normpath(path) for path in (usual, *named) if path)
    found = {path: text for path in paths if (text := read(path)) is not None}
    if manifest is not None and _inline(written):
        found[config.plugin_manifest] = manifest
    return found


def plugin_name(config: ConfigRules, read: Callable[[str], str | None]) -> str:
    """Return the name that the manifest of a plugin gives it; empty if it gives none."""
    manifest = read(config.plugin_manifest) if config.plugin_manifest else None
    name = _manifest_value(config, manifest or "", "name")
    return name if isinstance(name, str) else ""


def _manifest_value(config: ConfigRules, text: str, key: str) -> Json:
    """Return a value of a manifest; ``None`` if there is none, or the manifest cannot be parsed."""
    try:
        content = config.parse(text)
    except (ValueError, RecursionError):
        return None
    return content.get(key) if isinstance(content, Mapping) else None


def read_manifest(config: ConfigRules, text: str) -> Mapping[str, Json]:
    """Return the hooks that a manifest contains itself, in the form of a settings file."""
    events: dict[str, Json] = {}
    for value in _inline(_manifest_value(config, text, "hooks")):
        events.update(value)
    return {"hooks": events}


def _values(hooks: Json) -> list[Json]:
    return [*hooks] if isinstance(hooks, list) else [hooks]


def _inline(hooks: Json) -> list[Mapping[str, Json]]:
    found: list[Mapping[str, Json]] = []
    for value in _values(hooks):
        if isinstance(value, Mapping):
            inner = value.get("hooks")
            found.append(inner if isinstance(inner, Mapping) else value)
    return found
