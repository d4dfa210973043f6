"""
The project in the workspace: copied without the files that git ignores, and made one commit.

Modes and times are kept; hard links become separate files; the top ``.git`` and every ``.git`` file (which
points to a repository elsewhere) are left out. Ignored files (installed packages, caches, secrets) are not
copied. Ignored folders are linked: a link leads to the real ones, whose files no write reaches.

Git runs without the developer's configuration, templates and hooks, and with fixed people and times, so that
equal files give equal commits.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Self

from pytest_hookharness.execution.paths import WorkspaceError, lies_in
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.time_budget import check_time
from pytest_hookharness.model.trace import is_cache

_DATE = "2024-01-01T00:00:00+0000"
_NAME, _EMAIL = "Agent", "agent@example.invalid"
_HARDENED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    # Files are added to one pack, and not as a file each, which takes three times as long.
    "core.bigFileThreshold=1",
    "core.compression=0",
    # Git refuses a repository of another user, whose settings may name programs; those are off above.
    "safe.directory=*",
)
_TIMEOUT = 120.0
_MAX_LINKS, _MAX_NAMED = 40, 5
# Special characters of a git pattern, by "gitignore" in its manual.
_SPECIAL = re.compile(r"[\\*?\[]| (?= *$)")


def commit_all(root: Path, excluded: Sequence[str] = ()) -> None:
    """
    Make a folder a repository with one commit on the branch ``main``, without the ``excluded`` paths.

    Raises:
        WorkspaceError: Git is not installed, or refuses.
    """
    if shutil.which("git") is None:
        problem = "`git: true` needs git, which is not on PATH; install it or write `git: false`"
        raise WorkspaceError(root, problem)
    for words in (
        ("init", "--quiet", "--template="),
        ("symbolic-ref", "HEAD", "refs/heads/main"),
        # The agent and its hooks may want to commit as well, and have no configuration of their own.
        ("config", "user.name", _NAME),
        ("config", "user.email", _EMAIL),
        ("add", "--all"),
        ("commit", "--quiet", "--no-verify", "--allow-empty", "--message", "Start"),
    ):
        run_git(words, root)
    # Every new repository has these two, and hooks write there without making the folder. Git itself would
    # also copy a dozen samples.
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    info = root / ".git" / "info"
    info.mkdir(exist_ok=True)
    patterns = (_SPECIAL.sub(r"\\\g<0>", path) for path in excluded)
    with (info / "exclude").open("ab") as exclude:
        exclude.write(os.fsencode("".join(f"/{pattern}\n" for pattern in patterns)))


def list_ignored(root: Path) -> tuple[str, ...]:
    """
    Return what git ignores in a repository, by relative paths; those of folders end with a slash.

    Raises:
        WorkspaceError: Git could not be run, or failed.
    """
    mark = root / ".git"
    if shutil.which("git") is None or not (mark.is_file() or (mark / "HEAD").is_file()):
        return ()
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    # If git finds the project's own repository invalid, it looks for one above, as in the real project.
    above = {"GIT_CEILING_DIRECTORIES": ""}
    return tuple(filter(None, os.fsdecode(run_git(words, root, above)).split("\0")))


def _environment(root: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        # Nothing can be below this path, so there is no configuration.
        "HOME": os.devnull,
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        # Missing objects are not fetched, because the repository itself names the program that would do it.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        # If a hook broke the repository, git must not look for one in the folders above.
        "GIT_CEILING_DIRECTORIES": str(root.parent) if os.path.lexists(root / ".git") else "",
        **{
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", _NAME), ("EMAIL", _EMAIL), ("DATE", _DATE))
        },
    }


def run_git(words: tuple[str, ...], root: Path, more: Mapping[str, str] | None = None) -> bytes:
    """
    Return what git prints, without the developer's configuration and hooks, with ``more`` variables.

    Raises:
        WorkspaceError: It could not be run, or failed.
    """
    settings = [word for setting in _HARDENED for word in ("-c", setting)]
    try:
        done = subprocess.run(
            ["git", *settings, *words],
            cwd=root,
            env={**_environment(root), **(more or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(root, f"git {words[0]} could not be run: {error}") from error
    if done.returncode != 0:
        message = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise WorkspaceError(root, f"git {words[0]} failed with exit {done.returncode}: {message}")
    return done.stdout


def copy_folder(source: Path, target: Path, without: Collection[Path] = ()) -> None:
    """
    Copy a folder, but for some paths below it, into an existing, empty one.

    Raises:
        WorkspaceError: It is not a folder, cannot be read, or holds something that cannot be copied: a link
            that leaves it, a pipe, a socket or a device.
    """
    source = Path(os.path.realpath(source))
    if not source.is_dir():
        raise WorkspaceError(source, "is not a folder; name an existing one")
    if lies_in(target, [source]):
        raise WorkspaceError(source, f"holds {target}, where it is to be copied; choose another base folder")
    try:
        _copy_below(source, source, target, without)
    except OSError as error:
        where = error.filename or source
        raise WorkspaceError(str(where), f"cannot be copied: {error.strerror or error}") from error


def _copy_below(top: Path, source: Path, target: Path, without: Collection[Path]) -> None:
    with os.scandir(source) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        check_time(f"{entry.path} was copied")
        place = target / entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        # A nested repository (a folder) is copied; a worktree's or submodule's ``.git`` file points out of
        # the project.
        if (entry.name == ".git" and (source == top or not is_folder)) or source / entry.name in without:
            continue
        if is_folder:
            place.mkdir()
            _copy_below(top, Path(entry.path), place, without)
        elif entry.is_symlink():
            # Links are copied as links. One that leaves the project would let a hook write to the developer's
            # files.
            place.symlink_to(_checked_target(top, Path(entry.path)))
        elif entry.is_file(follow_symlinks=False):
            system.copy_file(entry.path, str(place))
        else:
            raise WorkspaceError(entry.path, "is neither file, folder nor link; remove it from the project")
    # Last, since copying into a folder changes its time.
    shutil.copystat(source, target)


def _checked_target(top: Path, link: Path) -> str:
    target = os.readlink(link)
    folder = link.parent.relative_to(top).parts
    if not stays_below(top, folder, target):
        problem = f"links to {target}, which leaves the project; make it a relative link within {top}"
        raise WorkspaceError(link, problem)
    return target


def stays_below(top: Path, folder: tuple[str, ...], target: str) -> bool:
    """Return whether a link in ``folder`` stays below ``top`` at each step to its target."""
    done, pending, links = list(folder), target.split("/")[::-1], 1
    if target.startswith("/"):
        return False
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not done:
                return False
            done.pop()
            continue
        place = top.joinpath(*done, part)
        if not place.is_symlink():
            done.append(part)
            continue
        onward = os.readlink(place)
        links += 1
        if onward.startswith("/") or links > _MAX_LINKS:
            return False
        pending.extend(onward.split("/")[::-1])
    return True


@dataclass(frozen=True, slots=True)
class IgnoredFiles:
    """
    The files of a project that are not copied.

    Attributes:
        folders: Folders that can be linked, relative to it.
        files: Files that are left out.
    """

    project: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, project: Path) -> Self:
        """Return what git ignores, if the project is a repository; raise `WorkspaceError` if git fails."""
        real = Path(os.path.realpath(project))
        paths = list_ignored(real)
        folders = tuple(path.rstrip("/") for path in paths if path.endswith("/"))
        return cls(real, folders, tuple(path for path in paths if not path.endswith("/")))

    @property
    def paths(self) -> frozenset[Path]:
        """All of them, as full paths."""
        return frozenset(self.project / path for path in (*self.folders, *self.files))

    def make_links(self, root: Path) -> None:
        """Link to the folders from a copy of the project."""
        for path in self.folders:
            place = root / path
            if place.parent.is_dir() and not os.path.lexists(place):
                place.symlink_to(self.project / path)

    def describe(self, what: str, *, linked: bool) -> str:
        """Return a sentence about them; empty if nothing is ignored."""
        away = self.files if linked else (*self.folders, *self.files)
        parts = [f"linked and not watched: {_named(self.folders)}"] if linked and self.folders else []
        parts += [f"left out: {_named(away)}"] if away else []
        return f"Of what git ignores in the {what}, {'; '.join(parts)}." if parts else ""


def copy_project(source: Path, target: Path) -> IgnoredFiles:
    """Copy a project into an empty folder; return what was not copied, or raise `WorkspaceError`."""
    ignored = IgnoredFiles.of(source)
    copy_folder(source, target, without=ignored.paths)
    return ignored


def _named(paths: tuple[str, ...]) -> str:
    telling = [path for path in paths if not is_cache(path)]
    more = len(telling) - _MAX_NAMED
    named = ", ".join(telling[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    return ", ".join(filter(None, (named, "caches" if len(telling) < len(paths) else "")))
