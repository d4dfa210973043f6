"""
What a host finds in the workspace: its settings, and what it loads first.

It reads what the host would read, so that the session itself needs no file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.hosts.settings.configuration import INLINE
from pytest_hookharness.hosts.settings.handlers import SettingsProblem
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.launch_overrides import ordered
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_FLAG = "stop_hook_active"
_PATH = re.compile(r"/[^\s\"'`;|&<>()$*?]+")


class HostFolders(Protocol):
    """
    Where a host works: a workspace, or what a stand-in inside one sees of it.

    Attributes:
        root: The project folder.
        home: The person's folder.
        tmp: The folder for temporary files.
        plugin: The plugin's folder; ``None`` if there is none.
        roots: Folders by the name that begins their state paths.
        environment: The host's own environment.
    """

    root: Path
    home: Path
    tmp: Path
    plugin: Path | None
    roots: Mapping[str, Path]
    environment: Mapping[str, str]

    def read(self, state_path: str) -> str | None:
        """
        The text of a file; ``None`` if there is no such file.
        """
        ...


def settings_paths(scenario: Scenario, profile: hosts.Profile) -> tuple[str, ...]:
    """
    The state paths at which settings are looked for.
    """
    named = scenario.hooks
    if isinstance(named, str):
        return (f"workspace/{named}",)
    return profile.settings_paths if named is None else ()


def configure(
    scenario: Scenario,
    profile: hosts.Profile,
    workspace: HostFolders,
    *,
    again: bool = False,
    only: Collection[str] | None = None,
    further: Mapping[str, str] | None = None,
) -> hosts.Configuration:
    """
    The hooks of a workspace, as its host reads them.

    Args:
        scenario: Where it says that they are.
        profile: The host.
        workspace: The workspace.
        again: They were read before, so that a file that is missing has been removed.
        only: The only state paths that are read; ``None`` for all.
        further: Texts of settings that the host was started with, by name.

    Raises:
        SimulationError: The file that the scenario names was never there, or its order is none of the hooks.
        WorkspaceError: A settings file cannot be read.
    """
    named = scenario.hooks
    inline = None if named is None or isinstance(named, str) else named
    paths = [path for path in settings_paths(scenario, profile) if only is None or path in only]
    found = [path for pattern in paths for path in _expand(workspace, pattern)]
    texts = {path: text for path in found if (text := workspace.read(path)) is not None}
    texts |= further or {}
    if isinstance(named, str) and not texts and not again:
        raise SimulationError(f"hooks: the workspace has no file {named!r}; is it in project or files?")
    plugin, place = workspace.plugin, profile.config.plugin_path
    text = workspace.read(f"plugin/{place}") if plugin is not None and place else None
    found_there = hosts.configure(
        profile,
        texts,
        inline=inline,
        plugin_files={place: text} if text is not None else None,
        plugin_root=str(plugin or ""),
    )
    return ordered(_placed(found_there, scenario), scenario)


def _placed(configuration: hosts.Configuration, scenario: Scenario) -> hosts.Configuration:
    """
    A configuration whose problems say in which line of the scenario they are, if they are in it.
    """
    origin = scenario.origin
    if origin is None or not origin.marks:
        return configuration

    def placed(problem: SettingsProblem) -> SettingsProblem:
        if problem.source != INLINE:
            return problem
        place = f"{origin.file.name}:{origin.line(scenario.mark(problem.path))}"
        return replace(problem, source=place, text=problem.text.removeprefix(f"{INLINE}: "))

    return replace(configuration, problems=tuple(map(placed, configuration.problems)))


def is_settings(paths: tuple[str, ...], path: str) -> bool:
    """
    Whether settings are looked for at a state path.
    """
    return any(fnmatchcase(path, pattern) for pattern in paths)


def _expand(workspace: HostFolders, pattern: str) -> Iterator[str]:
    """
    The state paths that a pattern stands for; one without a star stands for itself.
    """
    if "*" not in pattern:
        yield pattern
        return
    folder, _, last = pattern.rpartition("/")
    root, _, inner = folder.partition("/")
    place = workspace.roots[root] / inner
    names = sorted(path.name for path in place.iterdir()) if place.is_dir() else []
    yield from (f"{folder}/{name}" for name in names if fnmatchcase(name, last))


def named_folders(configuration: hosts.Configuration, workspace: Workspace) -> Iterator[str]:
    """
    Folders of hooks that are given by their place below /tmp, which a private one would hide.
    """
    hidden = tuple(f"{point}/" for point in workspace.private)
    for hook in configuration.hooks:
        for word in _PATH.findall(hook.command):
            ours = word.startswith(str(workspace.base))
            if word.startswith(hidden) and not ours and Path(word).is_file():
                yield str(Path(word).parent)


def find_facts(
    scenario: Scenario,
    profile: hosts.Profile,
    configuration: hosts.Configuration,
    workspace: HostFolders,
    seed: int,
) -> hosts.Facts:
    """
    What is fixed for the whole of a session in a workspace.

    Raises:
        SimulationError: The scenario asks for a beginning that this host, or this workspace, does not have.
        WorkspaceError: A file that the host would read cannot be read.
    """
    _check(scenario, profile, configuration, workspace)
    return hosts.facts(
        profile,
        workspace=str(workspace.root),
        home=str(workspace.home),
        tmp=str(workspace.tmp),
        seed=seed,
        env=workspace.environment,
        instructions=_instructions(profile, workspace),
        commands=hosts.read_commands(profile, dict(_command_files(profile, workspace))),
        setup=scenario.setup,
        worktree=scenario.worktree,
        options=scenario.options,
        flags=scenario.flags,
    )


def _instructions(profile: hosts.Profile, workspace: HostFolders) -> tuple[str, ...]:
    files = (workspace.root / name for name in profile.config.instructions)
    return tuple(str(file) for file in files if file.is_file())


def _command_files(profile: hosts.Profile, workspace: HostFolders) -> Iterator[tuple[str, str]]:
    rules = profile.commands
    folders: Mapping[str, str] = rules.folders if rules is not None else {}
    for folder in folders:
        root, _, inner = folder.partition("/")
        place = workspace.roots[root] / inner
        names = sorted(path.name for path in place.iterdir()) if place.is_dir() else []
        for name in names:
            text = workspace.read(f"{folder}/{name}") if rules and name.endswith(rules.suffix) else None
            if text is not None:
                yield f"{folder}/{name}", text


def _check(
    scenario: Scenario, profile: hosts.Profile, configuration: hosts.Configuration, workspace: HostFolders
) -> None:
    if scenario.setup and profile.by_role(hosts.Role.SETUP) is None:
        raise SimulationError(f"world.setup: {profile.id} has no event for it; leave the key out")
    if scenario.flags and not profile.tells(_FLAG):
        raise SimulationError(f"flag: {profile.id} tells hooks nothing of {_FLAG}; leave the key out")
    if not scenario.worktree:
        return
    if profile.worktrees is None:
        raise SimulationError(f"world.worktree: {profile.id} starts no session in one; leave the key out")
    rule = profile.by_role(hosts.Role.WORKTREE)
    hooked = rule is not None and any(hook.event == rule.name for hook in configuration.hooks)
    if not hooked and not (workspace.root / ".git").exists():
        event = f" for {rule.name}" if rule is not None else ""
        raise SimulationError(
            f"worktree: there is no hook{event} that makes {scenario.worktree!r}, and git cannot make it, "
            "because the workspace is no repository; add `git: true` or such a hook"
        )
