"""
The repository: the workspace as one commit, always the same one.

Git runs without the developer's configuration, templates and hooks, and with fixed people and times, so that
equal files give equal commits.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pytest_hookharness.execution.paths import WorkspaceError

_DATE = "2024-01-01T00:00:00+0000"
_PERSON = ("Agent", "agent@example.invalid")
_HARDENED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    # Git refuses a repository of another user, whose settings may name programs; those are off above.
    "safe.directory=*",
)
_TIMEOUT = 120.0
# Special characters of a git pattern, by "gitignore" in its manual.
_SPECIAL = re.compile(r"[\\*?\[]| (?= *$)")


def commit_all(root: Path, home: Path, excluded: Sequence[str] = ()) -> None:
    """
    Make a folder a repository with one commit on the branch ``main``.

    Args:
        root: The folder.
        home: A folder without any git configuration.
        excluded: Paths that are never part of it.

    Raises:
        WorkspaceError: Git is not installed, or refuses.
    """
    git = shutil.which("git")
    if git is None:
        raise WorkspaceError(root, "`git: true` needs git, which is not on PATH; install it or drop the key")
    environment = _environment(home)
    for words in (
        ("init", "--quiet", "--template="),
        ("symbolic-ref", "HEAD", "refs/heads/main"),
        # The agent and its hooks may want to commit as well, and have no configuration of their own.
        ("config", "user.name", _PERSON[0]),
        ("config", "user.email", _PERSON[1]),
        ("add", "--all"),
        ("commit", "--quiet", "--no-verify", "--allow-empty", "--message", "Start"),
    ):
        _run_git(git, words, root, environment)
    if excluded:
        info = root / ".git" / "info"
        info.mkdir(exist_ok=True)
        patterns = (_SPECIAL.sub(r"\\\g<0>", path) for path in excluded)
        (info / "exclude").write_bytes(os.fsencode("".join(f"/{pattern}\n" for pattern in patterns)))


def list_ignored(root: Path, home: Path) -> tuple[str, ...]:
    """
    Return the relative paths that git ignores in a repository.

    A folder that is ignored as a whole ends with a slash.

    Raises:
        WorkspaceError: Git refuses.
    """
    git = shutil.which("git")
    mark = root / ".git"
    if git is None or not (mark.is_file() or (mark / "HEAD").is_file()):
        return ()
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return tuple(
        path for path in os.fsdecode(_run_git(git, words, root, _environment(home))).split("\0") if path
    )


def _environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        # Missing objects are not fetched, for the repository itself names the program that would do it.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CEILING_DIRECTORIES": str(home),
        **{f"GIT_{role}_NAME": _PERSON[0] for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": _PERSON[1] for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_DATE": _DATE for role in ("AUTHOR", "COMMITTER")},
    }


def _run_git(git: str, words: tuple[str, ...], root: Path, environment: dict[str, str]) -> bytes:
    settings = [word for setting in _HARDENED for word in ("-c", setting)]
    try:
        done = subprocess.run(
            [git, *settings, *words],
            cwd=root,
            env=environment,
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
