"""
Where hosts find hooks in a project, and copies of projects with files that cannot be copied.

A settings file that several hosts read belongs to the first of them. Files in the person's home are not read.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.project_files import IgnoredFiles, stays_below
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
        files = [file for file in _files(root, profile.config.paths) if file not in claimed]
        claimed.update(files)
        hook_set = _read(profile, root, files) if files else None
        if hook_set is not None:
            yield hook_set
    yield from _plugins(root, host)


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


_SHOWN = 3


@contextmanager
def copyable(hook_set: HookSet) -> Generator[tuple[HookSet, str]]:
    """
    Yield a hook set whose project can be copied, and a sentence about what is left out; empty for nothing.

    A virtual environment has links to an interpreter elsewhere, and a server leaves its socket. Neither can
    be copied, so what hooks do with them is not tested.
    """
    with TemporaryDirectory(prefix="hookharness-check-") as folder:
        # Files that git ignores are not copied anyway.
        odd = {*_uncopyable(hook_set.root, IgnoredFiles.of(hook_set.root, Path(folder)).paths)}
        if not odd:
            yield hook_set, ""
            return
        root = Path(folder, hook_set.root.name)
        shutil.copytree(hook_set.root, root, symlinks=True, ignore=_leave_out(hook_set.root, odd))
        yield replace(hook_set, root=root), _describe_left_out(hook_set.root, odd)


def _uncopyable(root: Path, ignored: Collection[Path]) -> Generator[Path]:
    for folder, folders, files in os.walk(root):
        left_out = {root / ".git", *ignored}
        folders[:] = [name for name in folders if Path(folder, name) not in left_out]
        files[:] = [name for name in files if Path(folder, name) not in left_out]
        inside = Path(folder).relative_to(root).parts
        for path in (Path(folder, name) for name in (*folders, *files)):
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                if not stays_below(root, inside, str(path.readlink())):
                    yield path
            elif not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                yield path


def _leave_out(root: Path, odd: Collection[Path]) -> Callable[[str, list[str]], list[str]]:
    def choose(folder: str, names: list[str]) -> list[str]:
        top = Path(folder) == root
        return [name for name in names if Path(folder, name) in odd or (top and name == ".git")]

    return choose


def _describe_left_out(root: Path, odd: Collection[Path]) -> str:
    names = sorted(str(path.relative_to(root)) for path in odd)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Left out of the copies, because they lead out of the project: {', '.join(names[:_SHOWN])}{more}."
