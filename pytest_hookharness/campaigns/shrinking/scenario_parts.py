"""The parts of a scenario that shrinking leaves out: files, hooks and settings of its environment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.host_setup import settings_paths

# What surrounds hooks and agent: variables, commands, options, permission bits, Git.
_ENVIRONMENT = ("env", "unset", "commands", "hidden", "options", "home", "modes", "git")


def with_files(scenario: Scenario, paths: Sequence[str]) -> Scenario:
    """Return a scenario with some of its files."""
    files = {path: text for path, text in scenario.files.items() if path in paths}
    return replace(scenario, files=files, modes={p: m for p, m in scenario.modes.items() if p in files})


def named_files(scenario: Scenario) -> tuple[str, ...]:
    """Return the settings of the host, and the files that these or each other name; often that is enough."""
    paths = settings_paths(scenario, hosts.find(scenario.host))
    patterns = [pattern.removeprefix("workspace/") for pattern in paths]
    found = [path for path in scenario.files if any(fnmatchcase(path, pattern) for pattern in patterns)]
    for path in found:
        names = (other for other in scenario.files if other not in found)
        found += [other for other in names if PurePath(other).name in scenario.files[path]]
    return tuple(found)


def hooks_of(scenario: Scenario) -> list[tuple[str, str, int, int]]:
    """Return file, event, group and position of each hook in the settings files of a scenario."""
    return [
        (path, event, number, position)
        for path, text in scenario.files.items()
        for event, groups in _events_in(path, text).items()
        if isinstance(groups, list)
        for number, group in enumerate(groups)
        for position in range(len(_handlers(group)) or 1)
    ]


def command_of(scenario: Scenario, hook: tuple[str, str, int, int]) -> str:
    """Return the command of a hook in the settings files of a scenario; empty if it has none."""
    path, event, number, position = hook
    group = json.loads(scenario.files[path])["hooks"][event][number]
    handler = (_handlers(group) or (group,))[position]
    command = handler.get("command") if isinstance(handler, Mapping) else None
    return command if isinstance(command, str) else ""


def without_hooks(scenario: Scenario, left_out: Sequence[Any]) -> Scenario:
    """Return a scenario without some of the hooks in its settings files."""
    files = dict(scenario.files)
    for path in dict.fromkeys(path for path, *_ in left_out):
        settings = json.loads(files[path])
        settings["hooks"] = {
            event: kept
            for event, groups in settings["hooks"].items()
            if (kept := [*_groups_without(groups, [one[2:] for one in left_out if one[:2] == (path, event)])])
        }
        files[path] = json.dumps(settings, indent=2) + "\n"
    return replace(scenario, files=files)


def _groups_without(groups: Any, left_out: Sequence[tuple[int, int]]) -> Any:
    for number, group in enumerate(groups):
        handlers = _handlers(group)
        kept = [one for n, one in enumerate(handlers) if (number, n) not in left_out]
        if len(kept) == len(handlers) > 0 or (not handlers and (number, 0) not in left_out):
            yield group
        elif kept:
            yield {**group, "hooks": kept}


def _handlers(group: Json) -> Sequence[Json]:
    handlers = group.get("hooks") if isinstance(group, Mapping) else None
    return handlers if isinstance(handlers, list) else ()


def _events_in(path: str, text: str) -> dict[str, Json]:
    if not path.endswith(".json"):
        return {}
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    hooks = read.get("hooks") if isinstance(read, dict) else None
    return hooks if isinstance(hooks, dict) else {}


def environment_of(scenario: Scenario) -> list[tuple[str, str]]:
    """Return the name of each environment setting that is set; of several values in one, each by its name."""
    found: list[tuple[str, str]] = []
    for name in _ENVIRONMENT:
        value = getattr(scenario, name)
        found += [(name, each) for each in value] if isinstance(value, Mapping | tuple) else []
        found += [(name, "")] if value is True else []
    return found


def without_environment(scenario: Scenario, left_out: Sequence[Any]) -> Scenario:
    """Return a scenario without some of its environment settings."""
    changed: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in left_out):
        value, gone = getattr(scenario, name), {each for other, each in left_out if other == name}
        if isinstance(value, Mapping):
            changed[name] = {key: each for key, each in value.items() if key not in gone}
        elif isinstance(value, tuple):
            changed[name] = tuple(each for each in value if each not in gone)
        else:
            changed[name] = False
    return replace(scenario, **changed)
