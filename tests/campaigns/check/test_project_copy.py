"""Claims about projects that hold what cannot be copied."""

import os
import subprocess

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.project_copy import copyable
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


def test_links_that_leave_the_project_are_left_out(tmp_path):
    """A link out of the project and a pipe are left out and reported; everything else is in the copy."""
    root = tmp_path / "project"
    (root / "venv" / "bin").mkdir(parents=True)
    (root / "hook.sh").write_text("exit 0\n")
    (root / "own").symlink_to("hook.sh")
    (root / "venv" / "bin" / "python").symlink_to("/usr/bin/env")
    os.mkfifo(root / "pipe")
    with copyable(HookSet(host="claude-code", root=root, files=()), tmp_path) as (place, note):
        names = sorted(str(path.relative_to(place.root)) for path in place.root.rglob("*"))
        assert names == ["hook.sh", "own", "venv", "venv/bin"]
    assert note.endswith("pipe, venv/bin/python.")
    assert not place.root.exists()


def test_links_to_scripts_of_hooks_are_copied(tmp_path):
    """Where a hook's command names a link out of the project, or a file in it, its target is in the copy."""
    root, shared = tmp_path / "project", tmp_path / "shared"
    for folder in (root, shared):
        folder.mkdir()
        (folder / "x.sh").write_text("exit 0\n")
    (root / "one.sh").symlink_to(shared / "x.sh")
    (root / "all").symlink_to(shared)
    (root / "other.sh").symlink_to(shared / "x.sh")
    hooks = (Hook(event="Stop", command="./one.sh"), Hook(event="Stop", command="sh all/x.sh"))
    with copyable(HookSet(host="claude-code", root=root, files=(), hooks=hooks), tmp_path) as (place, note):
        for path in ("one.sh", "all/x.sh"):
            assert (place.root / path).read_text() == "exit 0\n"
        assert not (place.root / "one.sh").is_symlink()
    assert note.endswith("the project: other.sh.")


def test_other_projects_are_their_own_copy(tmp_path):
    """Where everything can be copied, the project itself is taken."""
    (tmp_path / "hook.sh").write_text("exit 0\n")
    made = HookSet(host="claude-code", root=tmp_path, files=())
    with copyable(made, tmp_path) as (place, note):
        assert (place, note) == (made, "")


def test_what_git_ignores_is_no_trouble(tmp_path):
    """A virtual environment that git ignores keeps no repository from being taken as it is."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("venv/\n")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "python").symlink_to("/usr/bin/env")
    made = HookSet(host="claude-code", root=tmp_path, files=())
    with copyable(made, tmp_path) as (place, note):
        assert (place, note) == (made, "")


@pytest.mark.parametrize("ignored", [".claude/settings.local.json\n.claude/hooks/own.sh\n", ".claude/\n", ""])
def test_personal_settings_that_git_ignores(tmp_path, ignored):
    """Settings and scripts that git ignores are given to the sessions, and those of a clone come with it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    files = {
        ".gitignore": ignored,
        ".claude/settings.local.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": '
        '"sh .claude/hooks/own.sh"}]}]}}',
        ".claude/hooks/own.sh": "exit 0\n",
        ".claude/notes.md": "mine",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = find_hook_sets(tmp_path, "claude-code")
    with copyable(found, tmp_path) as (place, _):
        given = {".claude/settings.local.json", ".claude/hooks/own.sh"} if ignored else set()
        assert place.texts == {name: files[name] for name in given}
