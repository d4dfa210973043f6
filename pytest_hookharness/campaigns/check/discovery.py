"""
Where hosts find hooks in a project.

A settings file that several hosts read is checked with the first of them; the others run its hooks too, as
they really do, but report nothing about them. Files in the person's home are not read.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_WORKSPACE = "workspace/"
_WORD = re.compile(r"[\w./@+-]+")
_LONGEST = 1 << 18
# The folders that make a project a plugin of these hosts.
_PLUGINS = {".claude-plugin": "claude-code", ".factory-plugin": "droid"}


def find_hook_sets(path: Path, host: str = "") -> tuple[HookSet, ...]:
    """
    Return the hook sets of a project folder, one for each host, or the one of a settings file.

    Args:
        path: A folder or a file.
        host: The only host whose hooks are wanted; empty for all.

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
        found = [_read(profile, whole.parents[file.count("/")], (file,), only=file)]
    elif whole.is_dir():
        found = [*_in_folder(whole, host)]
    else:
        problem = "is neither a file nor a folder" if whole.exists() else "there is no such file or folder"
        raise SimulationError(f"{path}: {problem}; name a project or a settings file")
    with_hooks = tuple(hook_set for hook_set in found if hook_set.hooks or hook_set.flaws)
    if not with_hooks:
        if links := links_out(path, host):
            raise SimulationError("; ".join(links))
        who = hosts.find(host).id if host else "any host"
        raise SimulationError(
            f"{path}: no hooks of {who} are configured below it; name a project with settings such as "
            ".claude/settings.json, a plugin, or a settings file"
        )
    return with_hooks


def links_out(path: Path, host: str = "") -> tuple[str, ...]:
    """Return sentences about the settings files of a project that are left out, as links lead out of it."""
    root = path.resolve()
    patterns = {
        pattern.removeprefix(_WORKSPACE)
        for profile in ((hosts.find(host),) if host else hosts.known())
        for pattern in profile.config.paths
        if pattern.startswith(_WORKSPACE)
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
    """Return the host that reads a settings file, and the path of the file in its project."""
    profiles = (hosts.find(host),) if host else hosts.known()
    for profile in profiles:
        for pattern in profile.settings_paths:
            inside = pattern.removeprefix(_WORKSPACE)
            path = "/".join(file.parts[-1 - inside.count("/") :])
            if inside != pattern and fnmatchcase(path, inside):
                return profile, path
    who = hosts.find(host).id if host else "any host"
    raise SimulationError(
        f"{file}: {who} does not look for settings here, but at paths such as .claude/settings.json below a "
        "project; move the file, or write a scenario file with `hooks: PATH`"
    )


def _in_folder(root: Path, host: str) -> Iterator[HookSet]:
    claimed: set[str] = set()
    seen: set[str] = set()
    for profile in (hosts.find(host),) if host else hosts.known():
        if profile.name in seen:
            continue
        seen.add(profile.name)
        imported = [path for one in profile.config.imports for path in one.paths]
        readable = [*_files(root, profile.config.paths), *_files(root, imported)]
        files = [file for file in _files(root, profile.config.paths) if file not in claimed]
        if files:
            shared = [file for file in readable if file in claimed]
            yield _with_shared(_read(profile, root, files), shared)
        claimed.update(files)
    yield from _plugins(root, host)


def _with_shared(hook_set: HookSet, files: Sequence[str]) -> HookSet:
    """Return a hook set with the hooks of files that are checked with another host, and run here as well."""
    if not files:
        return hook_set
    whole = _read(hosts.find(hook_set.host), hook_set.root, [*hook_set.files, *files])
    return replace(hook_set, shared=tuple(hook for hook in whole.hooks if hook.source in files))


def _plugins(root: Path, host: str) -> Iterator[HookSet]:
    for folder, owner in _PLUGINS.items():
        profile = hosts.find(host or owner)
        file = profile.config.plugin_path
        if profile.name == owner and (root / folder).is_dir() and (root / file).is_file():
            yield _read(profile, root, (file,), plugin=True)


def _files(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    inside = (pattern.removeprefix(_WORKSPACE) for pattern in patterns if pattern.startswith(_WORKSPACE))
    for pattern in inside:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.resolve().is_relative_to(root):
                yield str(path.relative_to(root))


def _read(
    profile: hosts.Profile, root: Path, files: Sequence[str], *, only: str = "", plugin: bool = False
) -> HookSet:
    texts: dict[str, str] = {}
    for file in files:
        try:
            texts[file] = (root / file).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SimulationError(f"{root / file}: cannot be read: {error}") from error
    if plugin:
        configuration = hosts.configure(profile, {}, plugin_files=texts, plugin_root=str(root))
    else:
        configuration = hosts.configure(
            profile, {f"{_WORKSPACE}{file}": text for file, text in texts.items()}
        )
    return HookSet(
        host=profile.name,
        root=root,
        files=tuple(files),
        only=only,
        plugin=plugin,
        hooks=configuration.hooks,
        flaws=tuple(problem.text for problem in configuration.problems),
        sources=tuple(_sources(root, configuration.hooks)),
        git=shutil.which("git") is not None,
    )


def _sources(root: Path, hooks: Sequence[Hook]) -> Iterator[tuple[str, str]]:
    names = dict.fromkeys(
        os.path.normpath(word.lstrip("/"))
        for hook in hooks
        for part in (hook.command.replace(str(root), ""), *(hook.args or ()))
        for word in _WORD.findall(part)
    )
    for name in names:
        path = root / name
        there = os.path.isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
        if name.startswith("..") or not there or not path.resolve().is_relative_to(root):
            continue
        data = path.read_bytes() if path.stat().st_size <= _LONGEST else b""
        if data and b"\0" not in data:
            yield name, data.decode("utf-8", "replace")
