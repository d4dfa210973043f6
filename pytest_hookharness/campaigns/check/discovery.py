"""
Where hosts find hooks in a project.

A settings file that several hosts read is checked with the first of them; the others run its hooks too, as
they really do, but report nothing about them. Files in the person's home are not read.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.documented_settings import documented_settings
from pytest_hookharness.campaigns.arming.likely_host import likely_host
from pytest_hookharness.campaigns.arming.marketplaces import (
    lists_plugins,
    manifests,
    marketplaces,
    plugin_folders,
)
from pytest_hookharness.campaigns.arming.project_texts import project_files, read_text
from pytest_hookharness.campaigns.arming.unnamed_scripts import settings_for, unnamed_scripts
from pytest_hookharness.campaigns.check.hook_set_files import (
    PLUGIN,
    WORKSPACE,
    as_settings,
    read_components,
    read_hook_set,
    with_copies,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_USUAL = "claude-code"
# Folders whose settings are made up for tests.
_OF_TESTS = frozenset(["test", "tests", "__tests__", "testdata", "fixtures"])
# The largest size of a settings file; how many that lie elsewhere are checked, and how many are named.
_LONGEST, _MOST, _NAMED = 1 << 18, 20, 3


def find_hook_sets(path: Path, host: str = "", *, copies: bool = False) -> tuple[HookSet, ...]:
    """
    Return the hook sets of a project folder, one for each host, or the one of a settings file.

    Args:
        host: The only host whose hooks are wanted; empty for all.
        copies: Whether files that look like settings elsewhere are wanted where there are no others.

    Raises:
        SimulationError: There is no hook.
        UnknownHost: There is no such host.
    """
    # A settings file may be a link: the host looks for its name, not for that of its target.
    whole = path.parent.resolve() / path.name if path.is_file() else path.resolve()
    if whole.is_file():
        profile, file = _reader_of(whole, host)
        for line in _leaving(whole.parents[file.count("/")], (file,)):
            raise SimulationError(line)
        found = [_in_project(profile, whole, file)]
    elif whole.is_dir():
        found = [*_in_folder(whole, host)]
    else:
        problem = "is neither a file nor a folder" if whole.exists() else "there is no such file or folder"
        raise SimulationError(f"{path}: {problem}; name a project or a settings file")
    with_hooks = _with_hooks(found)
    if with_hooks and copies and whole.is_dir() and lists_plugins(whole):
        with_hooks += _with_hooks(_unlisted(whole, host, with_hooks))
    if not with_hooks and copies:
        for way in (_copied, _documented, _unnamed):
            with_hooks = with_hooks or _with_hooks(way(whole, host))
    if not with_hooks:
        if links := links_out(path, host):
            raise SimulationError("; ".join(links))
        raise SimulationError(_describe_search(path, host))
    return with_hooks


def _with_hooks(found: Iterable[HookSet]) -> tuple[HookSet, ...]:
    return tuple(hook_set for hook_set in found if hook_set.hooks or hook_set.flaws)


def _copied(root: Path, host: str) -> list[HookSet]:
    """Return the hooks of files that look like settings: those of projects below, and copies for others."""
    projects: dict[Path, None] = {}
    found: dict[tuple[str, ...], HookSet] = {}
    for file, name in islice(_settings_elsewhere(root, host), _MOST):
        try:
            profile, place = _reader_of(file, "")
        except SimulationError:
            profile, place = hosts.find(name), file.name
        if host and profile.name != hosts.find(host).name:
            # The settings of another host are no copy for this one.
            continue
        if _looks_there(profile, place):
            projects[file.parents[place.count("/")]] = None
            continue
        hook_set = _in_project(profile, file, place)
        # Installers have a copy for each system.
        key = (name, *(hook.command for hook in hook_set.hooks))
        found.setdefault(key, replace(hook_set, part=str(file.relative_to(root))))
    below = [
        replace(one, part=posixpath.join(_relative(project, root), one.part).rstrip("/"))
        for project in projects
        for one in _in_folder(project, host)
    ]
    every = [*below, *found.values()]
    # The path of the only settings below the folder is known by their name, unless it begins elsewhere.
    return [replace(one, part="") if one.root == root and len(every) == 1 else one for one in every]


def _unlisted(root: Path, host: str, found: Sequence[HookSet]) -> Iterator[HookSet]:
    """Yield the hooks of folders below a marketplace that are like its plugins, and that it does not list."""
    known = {hook_set.root / file for hook_set in found for file in hook_set.files}
    usual = PurePath(hosts.find(_USUAL).config.plugin_path)
    for file, name in islice(_settings_elsewhere(root, host), _MOST):
        if file.parts[-2:] == usual.parts and file not in known:
            hook_set = _in_project(hosts.find(name), file, file.name)
            yield replace(hook_set, part=str(file.relative_to(root)))


def _documented(root: Path, host: str) -> Iterator[HookSet]:
    """Yield the hooks of settings in the documentation whose commands start scripts of the project."""
    profiles = (hosts.find(host),) if host else hosts.known()
    known: set[tuple[str, ...]] = set()
    for file, content in documented_settings(root) if root.is_dir() else ():
        name = likely_host(content, PurePath(file).parts, profiles)
        found = as_settings(hosts.find(name), root, file, content, env={}) if name else None
        # A path such as /path/to/hook.sh is for the reader to replace.
        if found is None or not found.sources or found.meant or len(known) == _MOST:
            continue
        if (key := (name, *sorted(hook.command for hook in found.hooks))) not in known:
            known.add(key)
            yield replace(found, part=file, elsewhere=True)


def _unnamed(root: Path, host: str) -> Iterator[HookSet]:
    """Yield scripts that seem to be hooks, as hooks of the usual host, where no settings name any."""
    profile = hosts.find(_USUAL)
    if not root.is_dir() or (host and hosts.find(host).name != profile.name):
        return
    scripts = unnamed_scripts(root, profile.events)
    if scripts:
        inline = settings_for(scripts, profile.process.project_variables[0])
        found = as_settings(profile, root, next(iter(scripts)), inline, env={})
        hooks = [
            replace(hook, source=next(path for path in scripts if path in hook.command))
            for hook in found.hooks
        ]
        yield replace(found, files=(*scripts,), hooks=tuple(hooks), elsewhere=True)


def _describe_search(path: Path, host: str) -> str:
    """Return where hooks were looked for and not found."""
    who = hosts.find(host).id if host else "any host"
    places: dict[str, None] = {}
    for profile in (hosts.find(host),) if host else hosts.known():
        config = profile.config
        for pattern in profile.settings_paths:
            if pattern.startswith(WORKSPACE):
                places[pattern.removeprefix(WORKSPACE)] = None
        for folder in config.components:
            if folder.startswith(WORKSPACE):
                places[f"{folder.removeprefix(WORKSPACE)}/**/*.md (front matter)"] = None
        for file in (config.plugin_manifest, config.plugin_path, *marketplaces([profile])):
            places |= {file: None} if file else {}
    looked = "".join(f"\n  {place}" for place in places)
    others = "".join(
        f"\n{file.relative_to(path.resolve())} looks like hooks of {name}, which does not look there"
        for file, name in islice(_settings_elsewhere(path.resolve(), host), _NAMED)
    )
    return f"{path}: no hooks of {who} are configured below it; looked for{looked}{others}"


def _settings_elsewhere(root: Path, host: str) -> Iterator[tuple[Path, str]]:
    """Yield other files that look like settings with hooks, each with the host that it is probably for."""
    if not root.is_dir():
        return
    profiles = (hosts.find(host),) if host else hosts.known()
    own = (each for each in project_files(root) if not _OF_TESTS & {*each.relative_to(root).parts})
    for file in (each for each in own if each.suffix == ".json"):
        name = likely_host(_read_json(file), file.relative_to(root).parts[:-1], profiles)
        if name:
            yield file, name


def _read_json(file: Path) -> object:
    try:
        return json.loads(file.read_bytes()) if file.stat().st_size <= _LONGEST else None
    except (OSError, ValueError, RecursionError):
        return None


def links_out(path: Path, host: str = "") -> tuple[str, ...]:
    """Return sentences about the settings files of a project that are left out, as links lead out of it."""
    root = path.resolve()
    patterns = {
        pattern.removeprefix(WORKSPACE)
        for profile in ((hosts.find(host),) if host else hosts.known())
        for pattern in profile.config.paths
        if pattern.startswith(WORKSPACE)
    }
    files = {str(file.relative_to(root)) for pattern in patterns for file in root.glob(pattern)}
    return tuple(_leaving(root, sorted(files)))


def _leaving(root: Path, files: Sequence[str]) -> Iterator[str]:
    for file in files:
        target = (root / file).resolve()
        if target.is_file() and not target.is_relative_to(root):
            yield (
                f"{root / file}: is a link to {target}, out of the project; replace it by a copy, or name "
                "the project of that file"
            )


def _reader_of(file: Path, host: str) -> tuple[hosts.Profile, str]:
    """
    Return the host that reads a settings file, and the path of the file in its project.

    A file in another place, such as one that is copied when it is installed, is for the host that is named.
    """
    profiles = (hosts.find(host),) if host else hosts.known()
    for profile in profiles:
        for pattern in profile.settings_paths:
            inside = pattern.removeprefix(WORKSPACE)
            path = "/".join(file.parts[-1 - inside.count("/") :])
            if inside != pattern and fnmatchcase(path, inside):
                return profile, path
    if host:
        return hosts.find(host), file.name
    raise SimulationError(
        f"{file}: no host looks for settings here, but at paths such as .claude/settings.json below a "
        "project; name the host that is meant with --host, or move the file"
    )


def _in_project(profile: hosts.Profile, whole: Path, file: str) -> HookSet:
    """
    Return the hooks of a settings file, with the folder as its project in which most of its scripts are.

    A file in a place where its host does not look is copied into some project: perhaps into the repository.
    """
    nearest = whole.parents[file.count("/")]
    top = next((folder for folder in whole.parents if (folder / ".git").exists()), nearest)
    folders = [folder for folder in whole.parents if folder.is_relative_to(top)] if file == whole.name else []
    read = (
        read_hook_set(profile, folder, (path,), only=path)
        for folder in folders or [nearest]
        for path in (str(whole.relative_to(folder)),)
    )
    # A script that lies elsewhere than its command says is none of that folder's.
    found = max(read, key=lambda hook_set: len(hook_set.sources) - len(hook_set.meant))
    return found if _looks_there(profile, file) else with_copies(found, whole, top)


def _looks_there(profile: hosts.Profile, file: str) -> bool:
    return any(fnmatchcase(f"{WORKSPACE}{file}", pattern) for pattern in profile.settings_paths)


def _in_folder(root: Path, host: str) -> Iterator[HookSet]:
    claimed: set[str] = set()
    seen: set[str] = set()
    components: set[tuple[str, Path]] = set()
    for profile in (hosts.find(host),) if host else hosts.known():
        if profile.name in seen:
            continue
        seen.add(profile.name)
        files = [file for file in _files(root, profile.config.paths) if file not in claimed]
        if files:
            shared = [file for file in _files(root, profile.settings_paths) if file in claimed]
            yield _with_shared(read_hook_set(profile, root, files), shared)
        claimed.update(files)
        yield from read_components(profile, root, WORKSPACE, components)
    yield from _plugins(root, host, components)


def _with_shared(hook_set: HookSet, files: Sequence[str]) -> HookSet:
    """Return a hook set with the hooks of files that are checked with another host, and run here as well."""
    if not files:
        return hook_set
    whole = read_hook_set(hosts.find(hook_set.host), hook_set.root, [*hook_set.files, *files])
    return replace(hook_set, shared=tuple(hook for hook in whole.hooks if hook.source in files))


def _plugins(root: Path, host: str, components: set[tuple[str, Path]]) -> Iterator[HookSet]:
    """Yield the hook sets of a plugin, or of all plugins of a marketplace or of a folder of plugins."""
    folders = {folder: _relative(folder, root) for folder in plugin_folders(root)}
    # A folder with a marketplace of others and no manifest is no plugin, unless it lists itself.
    if not (folders and lists_plugins(root)) or any((root / mark).is_file() for mark in manifests()):
        folders = {root: "", **folders}
    for folder, part in folders.items():
        for hook_set in _plugin(folder, host, components):
            yield replace(hook_set, part=posixpath.join(part, hook_set.part).rstrip("/"))


def _relative(folder: Path, root: Path) -> str:
    return "" if folder == root else str(folder.relative_to(root))


def _plugin(root: Path, host: str, components: set[tuple[str, Path]]) -> Iterator[HookSet]:
    profiles = {profile.name: profile for profile in hosts.known() if profile.config.plugin_path}
    marked = [each for each in profiles.values() if _is_marked(each, root)]
    claimed: set[str] = set()
    # Without a manifest, a folder with the usual file is a plugin of the host that asks for none.
    for profile in marked or [profiles[_USUAL]]:
        texts = hosts.plugin_files(profile.config, lambda path: read_text(root / path))
        mine = host == "" or hosts.find(host).name == profile.name
        if mine and texts.keys() - (set() if host else claimed):
            yield read_hook_set(profile, root, tuple(texts), plugin=True)
        if mine and marked:
            yield from read_components(profile, root, PLUGIN, components)
        claimed.update(texts)


def _is_marked(profile: hosts.Profile, root: Path) -> bool:
    manifest = profile.config.plugin_manifest
    # An empty folder of that name is enough for hosts that find plugins by it.
    folder = posixpath.dirname(manifest)
    return bool(manifest) and ((root / manifest).is_file() or (bool(folder) and (root / folder).is_dir()))


def _files(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    inside = (pattern.removeprefix(WORKSPACE) for pattern in patterns if pattern.startswith(WORKSPACE))
    for pattern in inside:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.resolve().is_relative_to(root):
                yield str(path.relative_to(root))
