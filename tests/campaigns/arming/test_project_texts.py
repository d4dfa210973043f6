"""Claims about how the files of a project are found."""

import os

from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, walks_kept
from pytest_hookharness.frontends.checkup import checked
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.simulation.testbed.run_settings import Settings


def test_files_of_a_project(tmp_path):
    """Regular files are found in order, without links, pipes, packages and version control."""
    for path in ("b/x.sh", "a.md", "b/c/d.py", ".git/HEAD", "node_modules/m/i.js", "b/venv/p.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "folder").symlink_to("b")
    os.mkfifo(tmp_path / "pipe")
    found = [str(file.relative_to(tmp_path)) for file in project_files(tmp_path)]
    assert found == ["a.md", "b/c/d.py", "b/x.sh"]
    assert not project_files(tmp_path / "nothing")


def test_folders_are_walked_once(tmp_path):
    """A folder is walked once as long as walks are kept, and anew afterwards."""
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    first.write_text("x")
    with walks_kept():
        assert [*project_files(tmp_path)] == [first]
        second.write_text("x")
        assert [*project_files(tmp_path)] == [first]
    assert [*project_files(tmp_path)] == [first, second]


def test_files_that_are_gone_are_not_small(tmp_path):
    """A file that was removed after it was found is left out, as is one that is too large."""
    file = tmp_path / "a.md"
    assert not is_small(file, 3)
    file.write_text("four")
    assert not is_small(file, 3)
    assert is_small(file, 4)


def test_a_check_walks_a_project_once(plugin):
    """The walks of a project are kept for one check, and not longer."""
    hook_set = plugin("true", **{"a.md": "x"})
    seen = []

    def look(*_):
        seen.append({file.name for file in project_files(hook_set.root)})
        (hook_set.root / "later.md").write_text("x")
        seen.append({file.name for file in project_files(hook_set.root)})
        raise KeyboardInterrupt

    with Harness(Settings()) as harness, checked(hook_set, harness, on_step=look) as (_, report):
        assert report.interrupted
    assert seen[0] == seen[1]
    assert "later.md" in {file.name for file in project_files(hook_set.root)}
