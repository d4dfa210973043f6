"""How a workspace is made, what its environment is, and that nothing of it is left."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_hookharness.execution.workspace.agent_tools import corrupt
from pytest_hookharness.execution.workspace.visible_machine import search_path
from pytest_hookharness.execution.workspace.workspace import Workspace, WorkspaceError
from pytest_hookharness.model.moves import Corrupt
from pytest_hookharness.model.scenario import Double, Origin, Scenario

NOBODY = 65534


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "base"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("x = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o750)
    return folder


def contents_of(folder: Path) -> dict[str, str]:
    """Return every path below a folder with its kind."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"  # noqa: PTH115 - a Path would tidy it up
        else:
            found[name] = "folder" if path.is_dir() else path.read_text()
    return found


def refused(scenario: Scenario, base: Path) -> str:
    """Return why a workspace could not be made; nothing of it may be left."""
    with pytest.raises(WorkspaceError) as caught:
        Workspace.create(scenario, base)
    assert not base.exists() or list(base.iterdir()) == []
    return str(caught.value)


def test_a_base_behind_a_link_is_named_without_it(tmp_path: Path) -> None:
    """A hook's `pwd -P` names the workspace as the harness does, as in a Mac's temporary folder."""
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    with Workspace.create(Scenario(name="linked"), tmp_path / "link" / "base") as place:
        assert str(place.root) == os.path.realpath(place.root)
        assert place.root.is_relative_to(tmp_path / "base")


def test_everything_lies_below_one_folder_and_is_removed(base: Path) -> None:
    """All folders of a workspace are new ones below its base, and are gone when it is closed."""
    with Workspace.create(Scenario(name="one"), base) as workspace:
        assert workspace.base.parent == base
        folders = [workspace.root, workspace.home, workspace.tmp, workspace.bin, *workspace.private.values()]
        assert all(Path(folder).is_relative_to(workspace.base) for folder in folders)
        assert all(Path(folder).is_dir() for folder in [*folders, *workspace.roots.values()])
        assert list(workspace.root.iterdir()) == list(workspace.home.iterdir()) == []
    assert list(base.iterdir()) == []


def test_two_workspaces_of_one_scenario_do_not_meet(base: Path) -> None:
    """Workspaces that are open at the same time have separate folders with predictable names."""
    scenario = Scenario(name="a scenario/with odd: name")
    with Workspace.create(scenario, base) as one, Workspace.create(scenario, base) as other:
        assert (one.base.name, other.base.name) == (
            "a-scenario-with-odd--name",
            "a-scenario-with-odd--name.2",
        )


def test_a_kept_workspace_stays(base: Path) -> None:
    """A kept workspace is not removed, and its place is returned."""
    with Workspace.create(Scenario(name="one", files={"a": "1"}), base) as workspace:
        kept = workspace.keep()
    assert (kept / "workspace" / "a").read_text() == "1"


def test_a_project_is_copied_as_it_is(project: Path, base: Path) -> None:
    """Files, modes, times, empty folders and links within are copied; the project's own .git is not."""
    (project / ".git").mkdir()
    (project / ".git" / "config").write_text("")
    (project / "empty").mkdir()
    (project / "src" / "link").symlink_to("../run.sh")
    (project / "dangling").symlink_to("./not//there")
    (project / "src" / ".git").write_text("gitdir: /elsewhere\n")
    os.utime(project / "run.sh", (1, 1))
    with Workspace.create(Scenario(name="one", project=project), base) as workspace:
        assert contents_of(workspace.root) == {
            "src": "folder",
            "src/app.py": "x = 1\n",
            "src/link": "-> ../run.sh",
            "run.sh": "#!/bin/sh\n",
            "empty": "folder",
            "dangling": "-> ./not//there",
        }
        status = (workspace.root / "run.sh").stat()
        assert (status.st_mode & 0o777, status.st_mtime) == (0o750, 1)
        (workspace.root / "run.sh").write_text("changed")
    assert (project / "run.sh").read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize("target", ["/etc", "../..", "../project/src", "src/../../x", "up/../../x"])
def test_a_link_that_leaves_the_project_is_refused(project: Path, base: Path, target: str) -> None:
    """A link out of the project, even one that leads back, is refused with its name and what to do."""
    (project / "up").symlink_to("src")
    (project / "out").symlink_to(target)
    said = refused(Scenario(name="one", project=project), base)
    assert f"{project}/out: links to {target}, which leaves the project; make it a relative link" in said


def test_an_absolute_link_into_the_project_is_refused(project: Path, base: Path) -> None:
    """A link by full path into the project, by which hooks could write to the author's files, is refused."""
    (project / "in").symlink_to(project / "run.sh")
    assert "make it a relative link" in refused(Scenario(name="one", project=project), base)


def test_what_cannot_be_copied_is_named(project: Path, base: Path) -> None:
    """A named pipe in a project, and a missing project, are reported instead of blocking."""
    os.mkfifo(project / "pipe")
    assert "pipe: is neither file, folder nor link" in refused(Scenario(name="one", project=project), base)
    assert "is not a folder" in refused(Scenario(name="one", project=project / "no"), base)


def test_a_project_that_holds_the_base_is_refused(project: Path) -> None:
    """A workspace inside the project that is to be copied into it is refused."""
    with pytest.raises(WorkspaceError, match="choose another base folder"):
        Workspace.create(Scenario(name="one", project=project), project / "base")
    assert list((project / "base").iterdir()) == []


def test_files_are_written_over_the_project(project: Path, base: Path) -> None:
    """Files of the scenario come after the project's; scripts are executable, and modes are set last."""
    scenario = Scenario(
        name="one",
        project=project,
        files={"src/app.py": "x = 2\n", "hooks/stop.sh": "#!/bin/sh\n", "a/b/c": "é", "run.sh": "echo\n"},
        modes={"a": 0o500, "a/b/c": 0o600},
    )
    with Workspace.create(scenario, base) as workspace:
        assert (workspace.root / "src" / "app.py").read_text() == "x = 2\n"
        modes = {
            path: (workspace.root / path).stat().st_mode & 0o777
            for path in ("src/app.py", "hooks/stop.sh", "a", "a/b", "a/b/c", "run.sh")
        }
        assert modes == {
            "src/app.py": 0o644,
            "hooks/stop.sh": 0o755,
            "a": 0o500,
            "a/b": 0o755,
            "a/b/c": 0o600,
            "run.sh": 0o750,
        }
    assert list(base.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", "a\0b"])
def test_a_file_outside_of_the_workspace_is_refused(base: Path, path: str) -> None:
    """A path of the scenario that leaves the workspace is refused, in files and in modes."""
    assert "is not a path below the workspace" in refused(Scenario(name="one", files={path: "x"}), base)
    assert "is not a path below the workspace" in refused(Scenario(name="one", modes={path: 0}), base)


def test_a_file_in_the_place_of_a_folder_is_reported(base: Path) -> None:
    """A file cannot be below another file, and a folder cannot be written."""
    assert "cannot be written" in refused(Scenario(name="one", files={"a": "1", "a/b": "2"}), base)
    assert "cannot be written" in refused(Scenario(name="one", files={"a/b": "1", "a": "2"}), base)


def test_a_mode_of_a_missing_file_is_reported(base: Path) -> None:
    """A mode for a file that does not exist is an error that says what to do."""
    assert "write it under `files`" in refused(Scenario(name="one", modes={"a": 0o600}), base)


def test_a_relative_cover_is_refused(base: Path, tmp_path: Path) -> None:
    """Only absolute folders can be covered, and they get state paths under their own name."""
    assert "use an absolute path" in refused(Scenario(name="one", cover=("a",)), base)
    state = tmp_path / "state"
    with Workspace.create(Scenario(name="one", cover=(str(state),)), base) as workspace:
        assert workspace.roots[str(state)] == state


@pytest.mark.parametrize("folder", ["/", "//", "/.", "/proc", "/proc/self", "/sys", "/etc/../sys/kernel"])
def test_a_folder_that_never_rests_cannot_be_covered(base: Path, folder: str) -> None:
    """Covering the whole machine, or files that the kernel changes, is an error before anything is read."""
    assert "cover the folder that hooks use" in refused(Scenario(name="one", cover=(folder,)), base)


def test_a_folder_that_holds_the_workspace_cannot_be_covered(base: Path) -> None:
    """Covering a folder below which the harness writes is an error that names both."""
    assert f"below it ({base})" in refused(Scenario(name="one", cover=(str(base.parent),)), base)


def test_a_plugin_is_copied_beside_the_workspace(project: Path, base: Path) -> None:
    """A plugin is copied, covered and writable, so that nothing is written into the author's."""
    with Workspace.create(Scenario(name="one", plugin=project), base) as workspace:
        assert workspace.plugin == workspace.base / "plugin" == workspace.roots["plugin"]
        assert (workspace.plugin / "src" / "app.py").read_text() == "x = 1\n"
        assert str(workspace.plugin) in workspace.writable
        assert list(workspace.root.iterdir()) == []


def test_what_must_be_seen_is_visible(project: Path, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The workspace's folders, interpreter, project, scenario and replaced folders of PATH are all visible.
    """
    monkeypatch.setenv("PATH", f"{project}:/usr/bin:relative:/tmp/not-there")
    scenario = Scenario(name="one", project=project, origin=Origin(file=project / "src" / "one.yaml"))
    with Workspace.create(scenario, base) as workspace:
        own = {str(path) for path in (workspace.root, workspace.home, workspace.tmp, workspace.bin)}
        assert own <= set(workspace.writable) <= set(workspace.visible)
        others = {sys.prefix, sys.base_prefix, str(project), str(project / "src")}
        assert others <= set(workspace.visible) - set(workspace.writable)
        assert not {"/usr/bin", "relative", "/tmp/not-there"} & set(workspace.visible)


def test_nothing_of_the_developers_environment_is_inherited(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process started with the environment sees PATH from the developer and nothing else."""
    for name in (
        "GIT_DIR",
        "CI",
        "API_TOKEN",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "BASH_ENV",
        "ENV",
        "HOME",
        "USER",
    ):
        monkeypatch.setenv(name, "poison")
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:.::poison/bin")
    with Workspace.create(Scenario(name="one", env={"GIVEN": "yes", "TERM": "xterm"}), base) as workspace:
        seen = subprocess.run(
            ["/usr/bin/env", "-0"], env=workspace.environment, capture_output=True, check=True, text=True
        ).stdout
        found = dict(line.split("=", 1) for line in seen.split("\0") if line)
        path = found.pop("PATH").split(":")
        assert found == {
            "HOME": str(workspace.home),
            "TMPDIR": str(workspace.tmp),
            "PWD": str(workspace.root),
            "SHELL": "/bin/sh",
            "USER": "agent",
            "LOGNAME": "agent",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "TZ": "UTC",
            "npm_config_logs_max": "0",
            "npm_config_update_notifier": "false",
            "npm_config_offline": "true",
            "UV_OFFLINE": "true",
            "PIP_RETRIES": "0",
            "GIVEN": "yes",
        }
        assert path[0] == str(workspace.bin)
        assert all(folder.startswith("/") for folder in path)


def test_a_scenario_with_a_network_tells_no_program_that_it_is_offline(base: Path) -> None:
    """Only where no network is there, package managers are told so, for they would wait for it."""
    offline = {"npm_config_offline", "UV_OFFLINE", "PIP_RETRIES"}
    with Workspace.create(Scenario(name="one", network=True), base) as workspace:
        assert offline.isdisjoint(workspace.environment)


def test_a_given_path_keeps_the_doubles_first(base: Path) -> None:
    """A search path of the scenario replaces the developer's, and test doubles are still found first."""
    with Workspace.create(Scenario(name="one", env={"PATH": "/nowhere"}), base) as workspace:
        assert workspace.environment["PATH"] == f"{workspace.bin}:/nowhere"


def test_a_search_path_loses_relative_folders_and_repetitions() -> None:
    """Relative and empty folders of a search path are dropped, and each folder is kept once."""
    assert search_path("/a:.::b:/c:/a:../d") == ("/a", "/c")


def test_covered_files_are_read_by_state_path(base: Path) -> None:
    """Text is read by state path, and a missing file is None."""
    scenario = Scenario(name="one", files={".claude/settings.json": "{}"})
    with Workspace.create(scenario, base) as workspace:
        (workspace.home / "notes").write_text("é")
        assert workspace.read("workspace/.claude/settings.json") == "{}"
        assert workspace.read("home/notes") == "é"
        assert workspace.read("workspace/absent") is None
        assert workspace.read("workspace/.claude/settings.json/below") is None


def test_what_is_there_and_cannot_be_read_is_never_taken_as_absent(base: Path) -> None:
    """A folder, a pipe, a link out, bytes that are not text and a wrong root are errors, not absence."""
    with Workspace.create(Scenario(name="one", files={"dir/a": "1"}), base) as workspace:
        (workspace.root / "binary").write_bytes(b"\xff")
        (workspace.root / "out").symlink_to("/etc/passwd")
        (workspace.root / "loop").symlink_to("loop")
        os.mkfifo(workspace.root / "pipe")
        for path in ("dir", "binary", "out", "loop", "pipe", "../x"):
            with pytest.raises(WorkspaceError):
                workspace.read(f"workspace/{path}")
        with pytest.raises(
            WorkspaceError, match="is not a state path; it begins with one of workspace, home"
        ):
            workspace.read("elsewhere/x")


def test_a_transcript_grows_line_by_line(base: Path) -> None:
    """Lines of compact JSON are appended, folders are made, and any text survives."""
    with Workspace.create(Scenario(name="one"), base) as workspace:
        place = workspace.home / ".claude" / "projects" / "t.jsonl"
        workspace.write_transcript(place, [{"a": 1, "b": "é\n"}])
        workspace.write_transcript(str(place), [{"c": "\udc80"}, {}])
        assert place.read_text() == '{"a":1,"b":"é\\n"}\n{"c":"\\udc80"}\n{}\n'
        assert [json.loads(line) for line in place.read_text().splitlines()][1] == {"c": "\udc80"}
        with pytest.raises(WorkspaceError, match="outside of"):
            workspace.write_transcript("/etc/transcript", [{}])


@pytest.mark.parametrize(
    ("how", "text", "expected"),
    [
        ("empty", "", b""),
        ("truncate", "", b"one\nt"),
        ("crlf", "", b"one\r\ntwo\r\n\r\n"),
        ("bom", "", b"\xef\xbb\xbfone\ntwo\r\n\n"),
        ("replace", "new", b"new"),
    ],
)
def test_a_file_is_damaged_as_asked(base: Path, how: str, text: str, expected: bytes) -> None:
    """Each kind of damage does what its name says, in place."""
    with Workspace.create(Scenario(name="one", files={"f": "one\ntwo\r\n\n"}), base) as workspace:
        corrupt(workspace.root, Corrupt(file="f", how=how, text=text))
        assert (workspace.root / "f").read_bytes() == expected


def test_garbage_is_no_text_and_always_the_same(base: Path) -> None:
    """Garbage is as long as the file was, is not UTF-8, and is the same each time."""
    with Workspace.create(Scenario(name="one", files={"f": "x" * 100}), base) as workspace:
        corrupt(workspace.root, Corrupt(file="f", how="garbage"))
        first = (workspace.root / "f").read_bytes()
        assert len(first) == 100
        with pytest.raises(UnicodeDecodeError):
            first.decode()
        corrupt(workspace.root, Corrupt(file="f", how="garbage"))
        assert (workspace.root / "f").read_bytes() == first


def test_modes_and_whole_folders_can_be_damaged(base: Path) -> None:
    """
    A mode is changed, by default to none at all; files, folders and links are deleted, also missing ones.
    """
    with Workspace.create(Scenario(name="one", files={"d/f": "1", "e": "1"}), base) as workspace:
        corrupt(workspace.root, Corrupt(file="e", how="chmod"))
        assert (workspace.root / "e").stat().st_mode & 0o777 == 0
        corrupt(workspace.root, Corrupt(file="e", how="chmod", text="0640"))
        assert (workspace.root / "e").stat().st_mode & 0o777 == 0o640
        (workspace.root / "link").symlink_to("e")
        for file in ("d", "link", "absent", "e/below"):
            corrupt(workspace.root, Corrupt(file=file, how="delete"))
        assert contents_of(workspace.root) == {"e": "1"}


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Corrupt(file="absent", how="empty"), "there is no such file"),
        (Corrupt(file="../home/x", how="replace"), "outside of"),
        (Corrupt(file="out/x", how="delete"), "outside of"),
        (Corrupt(file=".", how="delete"), "is the workspace itself"),
        (Corrupt(file="f", how="chmod", text="rwx"), "is not an octal mode"),
        (Corrupt(file="f", how="burn"), "unknown kind of damage 'burn'; allowed: delete, empty"),
    ],
)
def test_impossible_damage_is_an_error(base: Path, event: Corrupt, said: str) -> None:
    """Damage to a missing or outside file, or of an unknown kind, is an error and never skipped."""
    with Workspace.create(Scenario(name="one", files={"f": "1"}), base) as workspace:
        (workspace.root / "out").symlink_to(base.parent)
        with pytest.raises(WorkspaceError, match=said):
            corrupt(workspace.root, event)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_repository_is_the_same_commit_every_time(
    base: Path, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same files give the same commit on main with any configuration of git, and no hook runs."""
    (tmp_path / ".gitconfig").write_text(
        f"[user]\nname = Somebody\n[core]\nhooksPath = {tmp_path}\n[init]\ndefaultBranch = trunk\n"
    )
    (tmp_path / "pre-commit").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    (tmp_path / "pre-commit").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    scenario = Scenario(
        name="one", project=project, git=True, files={".git/hooks/pre-commit": "#!/bin/sh\nexit 1\n"}
    )
    commits = []
    for _ in range(2):
        with Workspace.create(scenario, base) as workspace:
            asked = [
                subprocess.run(
                    ["git", *words],
                    cwd=workspace.root,
                    env=workspace.environment,
                    capture_output=True,
                    check=True,
                ).stdout.decode()
                for words in (("rev-parse", "main"), ("status", "--porcelain"), ("log", "--format=%an %aI"))
            ]
            assert asked[1:] == ["", "Agent 2024-01-01T00:00:00+00:00\n"]
            commits.append(asked[0])
    assert len(set(commits)) == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("text", ["", "*.log\n"])
def test_a_repository_has_what_hooks_write_to(base: Path, text: str) -> None:
    """Hooks can write to the folder of git hooks and the list of excluded files, as in every repository."""
    scenario = Scenario(name="one", git=True, files={".git/info/exclude": text} if text else {})
    with Workspace.create(scenario, base) as workspace:
        git = workspace.root / ".git"
        assert (git / "hooks").is_dir()
        assert (git / "info" / "exclude").read_text() == text


def test_git_that_is_not_installed_is_reported(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository without git on the machine is an error that says so."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert "needs git, which is not on PATH" in refused(Scenario(name="one", git=True), base)


def test_an_empty_repository_has_a_commit(base: Path) -> None:
    """A workspace without any file can be a repository too."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    with Workspace.create(Scenario(name="one", git=True), base) as workspace:
        subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", "HEAD"],
            cwd=workspace.root, env=workspace.environment, check=True, capture_output=True,
        )  # fmt: skip


def test_links_are_removed_and_not_followed(base: Path, tmp_path: Path) -> None:
    """Removing a workspace does not touch the targets of its links."""
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("1")
    with Workspace.create(Scenario(name="one"), base) as workspace:
        (workspace.root / "link").symlink_to(tmp_path / "precious")
        (workspace.root / "file").symlink_to(tmp_path / "precious" / "file")
    assert (tmp_path / "precious" / "file").read_text() == "1"
    assert list(base.iterdir()) == []


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs: the superuser may write everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


def test_folders_that_cannot_be_written_are_removed(plain_user: Path) -> None:
    """Folders without any permission, as a hook may leave them, are removed with the workspace."""
    base = plain_user / "base"
    with Workspace.create(Scenario(name="one", files={"a/b/c": "1", "d/e": "1"}), base) as workspace:
        (workspace.root / "a" / "b").chmod(0)
        (workspace.root / "a").chmod(0o500)
        (workspace.root / "d").chmod(0o400)
        workspace.root.chmod(0o100)
    assert list(base.iterdir()) == []


def test_what_cannot_be_removed_is_reported(plain_user: Path) -> None:
    """A workspace that cannot be removed reports what is left and why."""
    workspace = Workspace.create(Scenario(name="one", files={"a": "1"}), plain_user / "base")
    (plain_user / "base").chmod(0o500)
    with pytest.raises(WorkspaceError, match=r"1 paths could not be removed: .*Permission denied"):
        workspace.close()
    (plain_user / "base").chmod(0o700)
    workspace.close()
    assert list((plain_user / "base").iterdir()) == []


@pytest.mark.slow
def test_folders_nested_beyond_all_names_are_removed(base: Path) -> None:
    """A chain of folders too long for any path is removed too."""
    with Workspace.create(Scenario(name="one"), base) as workspace:
        here = Path.cwd()
        try:
            os.chdir(workspace.root)
            for _ in range(1200):
                Path("nested").mkdir()
                os.chdir("nested")
        finally:
            os.chdir(here)
    assert list(base.iterdir()) == []


def test_an_unusable_base_is_reported(tmp_path: Path) -> None:
    """A base folder that is a file is an error that names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="file: cannot hold a workspace"):
        Workspace.create(Scenario(name="one"), tmp_path / "file")


def test_a_failure_in_the_middle_leaves_nothing(base: Path, project: Path) -> None:
    """When the last step of making a workspace fails, what was made before is removed."""
    scenario = Scenario(name="one", project=project, commands={"a/b": Double()})
    assert "cannot be the name of a test double" in refused(scenario, base)


def test_text_that_cannot_be_written_is_reported(base: Path) -> None:
    """A text that cannot be encoded is an error of the workspace, not a crash."""
    assert "cannot be written as UTF-8" in refused(Scenario(name="one", files={"a": "\ud800"}), base)
