"""
Files of a person's HOME that sessions get, so that hooks work as for their owner: named files, and caches.

Hooks have a HOME of their own. Into it are copied files that the hooks name, and the folder of a program that
a command starts there; what the person has not, and an installer would put there, comes from the project.
Caches of package runners are shown at their own place, and only where what is written to them is thrown away.
Nothing that looks like a secret is lent.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import stat
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import project_files
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.reports.redaction import has_secrets

# How shells, Python and JavaScript name a file below HOME.
_NAMED = re.compile(r"(?:(?<![\w/])~|\$HOME|\$\{HOME\})[\"']?/([\w.@+-]+(?:/[\w.@+-]+)*)")
_JOINED = re.compile(r"(?:homedir\(\)|Path\.home\(\))((?:\s*[,/]\s*[\"'][\w.@+/-]+[\"'])+)")
# Such a path where a command stands.
_STARTED = re.compile(rf"(?:^|[;&|(]\s*|\b(?:ba|da|z)?sh\s+|\bpython3?\s+|\bnode\s+)[\"']?{_NAMED.pattern}")
_PART = re.compile(r"[\"']([^\"']+)[\"']")
# Package runners: their cache below HOME, and the variable that names it.
_RUNNERS: Mapping[str, tuple[str, str]] = {
    "uv": (".cache/uv", "UV_CACHE_DIR"),
    "npx": (".npm", "npm_config_cache"),
}
_RUNNER = re.compile(r"(?<![\w./-])(uv(?=x?[\s\"'])|npx(?=[\s\"']))")
_COMMENT = re.compile(r"^[ \t]*(?:#|//).*$", re.MULTILINE)
SECRET_NAME = re.compile(
    r"^\.env|cred|secret|token|passw|\.pem$|\.key$|\.p12$|\.kdbx$|^id_|netrc|npmrc|pypirc|pgpass|history|cookie"
    r"|auth\.|^\.claude\.json$|keyring|wallet|^\.(?:ssh|gnupg|aws|azure|docker|kube|password-store|mozilla)$",
    re.IGNORECASE,
)
# Folders with files of many programs; of them, and of those of hosts, which hold conversations, only single
# files are lent.
_SHARED = frozenset(("", "bin", ".local/bin", ".local", ".config", ".cache"))
_LARGEST, _MOST_FILES = 1 << 20, 400


def find_lent(hooks: Sequence[Hook], sources: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return what of HOME is lent to hooks, by relative path, the caches of package runners last."""
    home = Path.home()
    commands = [" ".join(hook.words) for hook in hooks]
    started = dict.fromkeys(path for command in commands for path in _STARTED.findall(command))
    parents = {posixpath.dirname(path) for path in started if os.path.isfile(home / path)}  # noqa: PTH113
    folders = {path for path in parents if not _is_shared(path)}
    named = (path for text in (*commands, *(text for _, text in sources)) for path in _names(text))
    found = [path for path in (*sorted(folders), *dict.fromkeys(named)) if may_lend(home, path, folders)]
    inner = [path for path in found if not path.startswith(tuple(f"{folder}/" for folder in folders))]
    caches = (_RUNNERS[name][0] for name in _find_runners(hooks, sources))
    return (*inner, *(cache for cache in caches if (home / cache).is_dir()))


def find_installed(hooks: Sequence[Hook], root: Path) -> tuple[tuple[str, str], ...]:
    """
    Return the files below HOME that commands name, that this person has not and the project has.

    Collections of hooks are installed so: their settings name ``~/.claude/hooks/x.py``, and ``hooks/x.py`` of
    the project is copied there.

    Returns:
        Pairs of path below HOME and path in the project, which are the same from some folder on.
    """
    found: dict[str, str] = {}
    for path in (path for hook in hooks for path in _NAMED.findall(" ".join(hook.words))):
        parts = path.split("/")
        if ".." in parts or os.path.lexists(Path.home() / path):
            continue
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        named = next((end for end in ends if _is_inside(root / end, root)), "")
        found |= {path: named} if named else {}
    return tuple(found.items())


def _is_inside(file: Path, root: Path) -> bool:
    # Unlike pathlib, this takes a name that is too long for one of no file.
    return os.path.isfile(file) and file.resolve().is_relative_to(root.resolve())  # noqa: PTH113


def _install(installed: Sequence[tuple[str, str]], root: Path, home: Path) -> None:
    """Copy folders and files of a project to HOME as an installer would, each file with what is beside it."""
    for path, named in installed:
        if (root / named).is_dir():
            for file in project_files(root / named):
                _copy(file, home / path / file.relative_to(root / named))
            continue
        folder, target = _with_surroundings(root / named, home / path, root)
        files = list(folder.rglob("*")) if folder.is_dir() else [folder]
        for file in files:
            if _is_inside(file, root):
                with suppress(OSError):
                    _copy(file, target / file.relative_to(folder))


def _with_surroundings(file: Path, target: Path, root: Path) -> tuple[Path, Path]:
    """
    Return the largest folder around a file that is copied with it, and where to; the file for none.

    Scripts load modules from the folders above their own.
    """
    found = file, target
    folders = [folder for folder in file.parents if folder != root and folder.is_relative_to(root)]
    for level, folder in enumerate(folders):
        if (target.parents[level].name != folder.name and level) or not _is_small(folder):
            break
        found = folder, target.parents[level]
    return found


def _find_runners(hooks: Sequence[Hook], sources: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the package runners that commands and scripts start, each once."""
    texts = [*(" ".join(hook.words) for hook in hooks), *(_COMMENT.sub("", text) for _, text in sources)]
    yield from dict.fromkeys(name for text in texts for name in _RUNNER.findall(text))


def _names(text: str) -> Iterator[str]:
    yield from _NAMED.findall(text)
    yield from ("/".join(_PART.findall(parts)) for parts in _JOINED.findall(text))


def _is_small(folder: Path) -> bool:
    files = [path for path, _ in zip(folder.rglob("*"), range(_MOST_FILES + 1), strict=False)]
    return len(files) <= _MOST_FILES


def may_lend(home: Path, path: str, folders: Collection[str]) -> bool:
    """Return whether a path below HOME is a harmless file, or a small folder that is one of some."""
    place = home / path
    inside = os.path.realpath(place).startswith(f"{os.path.realpath(home)}/")
    if not inside or any(part == ".." or SECRET_NAME.search(part) for part in path.split("/")):
        return False
    own = path in folders and not _is_shared(path)
    return _is_harmless(place) or (own and os.path.isdir(place) and _is_small(place))  # noqa: PTH112


def _is_shared(path: str) -> bool:
    return path in _SHARED or path in hosts.settings_folders()


def _is_harmless(file: Path) -> bool:
    """Return whether something is a file of some size that holds no secret, as far as its text shows it."""
    try:
        status = file.stat()
        plain = stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST
        return plain and not has_secrets(file.read_text("utf-8", "surrogateescape"))
    except OSError:
        return False


@contextmanager
def lent_home(hook_set: HookSet, base: Path, *, caches: bool) -> Generator[HookSet]:
    """
    Yield the hook set with a folder below ``base`` that its sessions get as HOME, and with caches to read.

    Caches are shown only where what is written to them is thrown away.
    """
    used = [_RUNNERS[name] for name in _find_runners(hook_set.hooks, hook_set.sources)] if caches else []
    shown = {cache: variable for cache, variable in used if cache in hook_set.lent}
    env = {variable: str(Path.home() / cache) for cache, variable in shown.items()}
    kept = {cache for cache, _ in _RUNNERS.values()}
    copied = [path for path in hook_set.lent if path not in kept]
    with TemporaryDirectory(prefix="hookharness-home-", dir=base) as folder:
        for path in copied:
            with suppress(OSError):
                _copy(Path.home() / path, Path(folder, path))
        _install(hook_set.installed, hook_set.root, Path(folder))
        reach = tuple(str(Path.home() / cache) for cache in shown)
        yield replace(
            hook_set, home=Path(folder) if copied or hook_set.installed else None, reach=reach, lent_env=env
        )


def _copy(place: Path, target: Path) -> None:
    """Copy a file, or the harmless files of a folder; links are followed to files only."""
    if place.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(place, target)
        return
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if not SECRET_NAME.search(name)]
        for name in files:
            if not SECRET_NAME.search(name) and _is_harmless(Path(folder, name)):
                _copy(Path(folder, name), target / Path(folder, name).relative_to(place))
