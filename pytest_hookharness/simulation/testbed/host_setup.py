"""
What a host reads in the workspace before a session begins: hook settings, instructions and commands.

All files are read here, so the simulated session itself reads none.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Protocol

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.user_home import find_programs
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.hosts.settings.configuration import INLINE
from pytest_hookharness.model.expectations import FileExpectations
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.protocol import SettingsProblem
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.launch_overrides import ordered
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_FLAG = "stop_hook_active"
_PATH = re.compile(r"/[^\s\"'`;|&<>()$*?]+")
# A hook has streams of its own. That of this process may be a file, which must not be shown.
_STREAM = re.compile(r"/dev/(std(in|out|err)|fd)(/.*)?")


class HostFolders(Protocol):
    """
    The folders in which a host works: those of a workspace, or what a fake agent inside one sees of them.

    Attributes:
        root: The project folder: the one in which the session starts.
        plugin: The plugin's folder; ``None`` without a plugin.
        roots: The folders by the first part of their state paths.
    """

    root: Path
    home: Path
    tmp: Path
    plugin: Path | None
    roots: Mapping[str, Path]
    environment: Mapping[str, str]

    def read(self, state_path: str) -> str | None:
        """Return the text of a file; ``None`` if there is no such file."""
        ...


_WORKSPACE = "workspace/"
# Stands for the identifier of the session in the files of a scenario.
_SESSION_ID = "{{session_id}}"


def with_identifiers(scenario: Scenario, seed: int) -> Scenario:
    """Return a scenario whose files name the session that will run, where they ask for that."""
    expected = scenario.expect.files or FileExpectations()
    texts = [scenario.files, scenario.home, expected.equal, expected.contain]
    names = [*(name for one in texts for pair in one.items() for name in pair), *scenario.modes]
    if not any(_SESSION_ID in name for name in (*names, *expected.absent, *expected.unchanged)):
        return scenario
    session = hosts.session_id(seed)

    def fill(text: str) -> str:
        return text.replace(_SESSION_ID, session)

    files, home, equal, contain = ({fill(path): fill(text) for path, text in one.items()} for one in texts)
    absent, unchanged = (tuple(map(fill, paths)) for paths in (expected.absent, expected.unchanged))
    filled = replace(expected, equal=equal, contain=contain, absent=absent, unchanged=unchanged)
    return replace(
        scenario,
        files=files,
        home=home,
        modes={fill(path): mode for path, mode in scenario.modes.items()},
        expect=replace(scenario.expect, files=filled if scenario.expect.files is not None else None),
    )


def settings_paths(scenario: Scenario, profile: hosts.Profile) -> tuple[str, ...]:
    """Return the state paths of hook settings; a path may have a star in its last part."""
    named = scenario.hooks
    if isinstance(named, str):
        return (f"workspace/{named}",)
    paths = profile.settings_paths if named is None else ()
    if not scenario.subfolder:
        return paths
    place, config = PurePosixPath(scenario.subfolder), profile.config
    # Nothing above the folder is read without a repository.
    above = [str(folder) for folder in reversed(place.parents)] if config.reads_above and scenario.git else []
    folders = [*above, str(place)]
    inner = [path.removeprefix(_WORKSPACE) for path in paths if path.startswith(_WORKSPACE)]
    found = (posixpath.normpath(f"{_WORKSPACE}{folder}/{path}") for path in inner for folder in folders)
    at_top = config.top_paths if scenario.git else ()
    return (*(path for path in paths if not path.startswith(_WORKSPACE)), *at_top, *found)


def _as_named(path: str, workspace: HostFolders) -> str:
    """Return the path of a settings file with the folder of the session as the workspace."""
    inner = _subfolder(workspace)
    if inner == "." or not path.startswith(_WORKSPACE):
        return path
    return _WORKSPACE + posixpath.relpath(path.removeprefix(_WORKSPACE), inner)


def _subfolder(workspace: HostFolders) -> str:
    return str(workspace.root.relative_to(workspace.roots["workspace"]))


def _in_subfolder(workspace: HostFolders, path: str) -> str:
    """Return the state path of a file or folder that the host looks for in the folder of the session."""
    if not path.startswith(_WORKSPACE):
        return path
    return posixpath.normpath(f"{_WORKSPACE}{_subfolder(workspace)}/{path.removeprefix(_WORKSPACE)}")


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
    Return the hooks of a workspace, as its host reads them.

    Args:
        scenario: Names the settings, or contains them.
        again: Whether they were read before; then a missing file was removed, which is no error.
        only: The only state paths to read; ``None`` for all.
        further: Texts of settings from the host's command line, by name.

    Raises:
        SimulationError: The file that the scenario names does not exist, or `order` does not fit the hooks.
        WorkspaceError: A settings file cannot be read.
    """
    named = scenario.hooks
    inline = None if named is None or isinstance(named, str) else named
    paths = [path for path in settings_paths(scenario, profile) if only is None or path in only]
    found = [path for pattern in paths for path in _expand(workspace, pattern)]
    texts = {_as_named(path, workspace): text for path in found if (text := workspace.read(path)) is not None}
    texts |= further or {}
    if isinstance(named, str) and not texts and not again:
        raise SimulationError(f"hooks: the workspace has no file {named!r}; add it to `project` or `files`")
    plugin = workspace.plugin

    def read_plugin(path: str) -> str | None:
        return workspace.read(f"plugin/{path}") if plugin is not None else None

    found_there = hosts.configure(
        profile,
        texts,
        inline=inline,
        plugin_files=hosts.plugin_files(profile.config, read_plugin),
        plugin_root=str(plugin or ""),
        plugin_name=hosts.plugin_name(profile.config, read_plugin),
        components=dict(_components(profile, workspace)) if only is None else None,
        options=scenario.options,
    )
    return ordered(_placed(found_there, scenario), scenario)


def _components(profile: hosts.Profile, workspace: HostFolders) -> Iterator[tuple[str, str]]:
    for folder in (_in_subfolder(workspace, path) for path in profile.config.components):
        root, _, inner = folder.partition("/")
        top = workspace.roots.get(root)
        place = top / inner if top is not None else None
        for file in sorted(place.rglob("*.md")) if place is not None and place.is_dir() else ():
            path = f"{folder}/{file.relative_to(place)}" if place is not None else ""
            text = workspace.read(path) if file.is_file() else None
            if text is not None:
                yield path, text


def _placed(configuration: hosts.Configuration, scenario: Scenario) -> hosts.Configuration:
    """Return a configuration whose problems name the line of the scenario that they come from, if any."""
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
    """Return whether a state path is one of hook settings."""
    return any(fnmatchcase(path, pattern) for pattern in paths)


def _expand(workspace: HostFolders, pattern: str) -> Iterator[str]:
    """Yield the state paths that match a pattern; one without a star matches itself."""
    if "*" not in pattern:
        yield pattern
        return
    folder, _, last = pattern.rpartition("/")
    yield from (f"{folder}/{name}" for name in _names_in(workspace, folder) if fnmatchcase(name, last))


def _names_in(workspace: HostFolders, folder: str) -> list[str]:
    """Return the names in a folder, given by its state path; none if there is no such folder."""
    root, _, inner = folder.partition("/")
    place = workspace.roots[root] / inner
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def named_folders(configuration: hosts.Configuration, workspace: Workspace) -> Iterator[str]:
    """
    Yield what hooks name in places that a sandbox hides: a folder, the folder around a file, or the file.

    Commands, arguments and variables name it. Programs there show further paths that they need.
    """
    hidden = tuple(f"{point}/" for point in workspace.private)
    found: dict[str, None] = {}
    for text in _texts_with_paths(configuration, workspace):
        for word in _PATH.findall(text):
            own = word.startswith(str(workspace.base)) or _STREAM.fullmatch(word)
            if word.startswith(hidden) and not own:
                path = Path(word)
                folder = str(path if path.is_dir() else path.parent)
                if path.is_dir() or path.is_file():
                    found[word if folder in workspace.private else folder] = None
    # A place that is hidden as a whole, and that is only named, stays hidden.
    named = tuple(path for path in found if path not in workspace.private)
    yield from named
    yield from (needed for home in workspace.homes for needed in find_programs(home, named))


def _texts_with_paths(configuration: hosts.Configuration, workspace: Workspace) -> Iterator[str]:
    for hook in configuration.hooks:
        yield from (*hook.words, *hook.env.values())
    yield from configuration.env.values()
    yield from workspace.environment.values()


def find_facts(
    scenario: Scenario,
    profile: hosts.Profile,
    configuration: hosts.Configuration,
    workspace: HostFolders,
    seed: int,
    start: float,
) -> hosts.Facts:
    """
    Return what is fixed for a whole session in a workspace.

    Args:
        start: When the session starts, in seconds since the epoch.

    Raises:
        SimulationError: The scenario asks for a start that this host, or this workspace, does not have.
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
        start=start,
    )


def _instructions(profile: hosts.Profile, workspace: HostFolders) -> tuple[str, ...]:
    files = (workspace.root / name for name in profile.config.instructions)
    return tuple(str(file) for file in files if file.is_file())


def _command_files(profile: hosts.Profile, workspace: HostFolders) -> Iterator[tuple[str, str]]:
    rules = profile.commands
    folders: Mapping[str, str] = rules.folders if rules is not None else {}
    for folder in folders:
        found = _in_subfolder(workspace, folder)
        for name in _names_in(workspace, found):
            text = workspace.read(f"{found}/{name}") if rules and name.endswith(rules.suffix) else None
            if text is not None:
                yield f"{folder}/{name}", text


def _check(
    scenario: Scenario, profile: hosts.Profile, configuration: hosts.Configuration, workspace: HostFolders
) -> None:
    if scenario.setup and profile.by_role(hosts.Role.SETUP) is None:
        raise SimulationError(f"setup: {profile.id} has no setup event; remove the key")
    if scenario.flags and not profile.uses_value(_FLAG):
        raise SimulationError(f"flag: {profile.id} does not send {_FLAG} to hooks; remove the key")
    if not scenario.worktree:
        return
    if profile.worktrees is None:
        raise SimulationError(f"worktree: {profile.id} starts no session in a worktree; remove the key")
    rule = profile.by_role(hosts.Role.WORKTREE)
    hooked = rule is not None and any(hook.event == rule.name for hook in configuration.hooks)
    if not hooked and not (workspace.roots["workspace"] / ".git").exists():
        event = f" for {rule.name}" if rule is not None else ""
        raise SimulationError(
            f"worktree: no hook{event} makes {scenario.worktree!r}, and git cannot make it because the "
            "workspace is not a repository; add `git: true` or such a hook"
        )
