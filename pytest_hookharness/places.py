"""
This module is concerned with places: where the hosts find hooks in a project.

Upper floor. A file that several hosts read belongs to the first of them; files of the person's own home
are not looked at.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.drafts import look_up
from pytest_hookharness.model.checkups import Place
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.settings import SimulationError

_WORKSPACE = "workspace/"
_WORD = re.compile(r"[\w./@+-]+")
_LONGEST = 1 << 18
# Folders by which the plugins of these hosts are known.
_PLUGINS = {".claude-plugin": "claude-code", ".factory-plugin": "droid"}


def find_places(path: Path, host: str = "") -> tuple[Place, ...]:
    """
    The places with hooks in a project folder, or the one of a settings file.

    Args:
        path: A folder or a file.
        host: The only host that is looked for; empty for all.

    Raises:
        SimulationError: There is no hook.
        UnknownHost: There is no such host.
    """
    whole = path.resolve()
    if whole.is_file():
        profile, place = look_up(whole, host)
        found = [_read(profile, whole.parents[place.count("/")], (place,), only=place)]
    elif whole.is_dir():
        found = [*_in_folder(whole, host)]
    else:
        raise SimulationError(f"{path}: there is no such file or folder; name a project or a settings file")
    with_hooks = tuple(place for place in found if place.hooks or place.flaws)
    if not with_hooks:
        who = hosts.find(host).id if host else "any host"
        raise SimulationError(
            f"{path}: no hooks of {who} are configured below it; allowed are a project with settings such as "
            ".claude/settings.json, a plugin, or a settings file"
        )
    return with_hooks


def _in_folder(root: Path, host: str) -> Iterator[Place]:
    claimed: set[str] = set()
    seen: set[str] = set()
    for profile in (hosts.find(host),) if host else hosts.known():
        if profile.name in seen:
            continue
        seen.add(profile.name)
        files = [file for file in _files(root, profile.config.paths) if file not in claimed]
        claimed.update(files)
        place = _read(profile, root, files) if files else None
        if place is not None:
            yield place
    yield from _plugins(root, host)


def _plugins(root: Path, host: str) -> Iterator[Place]:
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
) -> Place:
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
    return Place(
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
