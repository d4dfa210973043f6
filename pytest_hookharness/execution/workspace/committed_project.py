"""A project as it was at one commit, written into a folder; the repository itself is only read."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace.project_files import run_git


def find_commit(project: Path, commit: str) -> str:
    """
    Return the full identifier of a commit of the repository that contains a folder; empty if it has none.
    """
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    try:
        return os.fsdecode(run_git(words, project)).strip()
    except WorkspaceError:
        return ""


def find_top(project: Path) -> Path:
    """
    Return the top of the repository that a folder belongs to; the folder itself if it belongs to none.

    A repository around a folder that has nothing in the newest commit is not that of the folder.
    """
    try:
        top = _top(project)
        listed = run_git(("ls-tree", "--name-only", "HEAD", "./"), project)
    except WorkspaceError:
        return project
    return top if listed and top != Path.home() else project


def _top(project: Path) -> Path:
    return Path(os.fsdecode(run_git(("rev-parse", "--show-toplevel"), project)).rstrip("\n"))


def write_commit(project: Path, commit: str, target: Path) -> Path:
    """
    Write all files of a commit into an empty folder; return the folder of the project in it.

    Raises:
        WorkspaceError: Git fails, or the commit does not have the folder.
    """
    top = _top(project)
    with TemporaryDirectory(prefix="hookharness-git-") as scratch:
        # An index of its own: that of the repository stays as it is.
        index = {"GIT_INDEX_FILE": f"{scratch}/index"}
        run_git(("read-tree", "--end-of-options", commit), top, index)
        run_git(("checkout-index", "--all", f"--prefix={target}/"), top, index)
    inside = target / os.path.relpath(os.path.realpath(project), os.path.realpath(top))
    if not inside.is_dir():
        raise WorkspaceError(project, f"is not in commit {commit[:12]}; give another --at or --project")
    return inside
