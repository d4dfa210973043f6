"""Copies of projects that one session after the other uses, and that each of them finds as if it were new."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace import project_copies
from pytest_hookharness.execution.workspace.project_copies import ProjectCopies
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.model.moves import FIRST_PROMPT, Script, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded, limited_to
from pytest_hookharness.simulation.simulate import simulate


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("x = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o750)
    (folder / "link").symlink_to("src/app.py")
    for path in (folder / "src" / "app.py", folder / "run.sh"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return folder


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[ProjectCopies]:
    with ProjectCopies(tmp_path / "base" / ".copies", 60.0) as found:
        yield found
    assert not (tmp_path / "base" / ".copies").exists()


def listing(top: Path) -> dict[str, tuple[object, ...]]:
    """Return everything below a folder but git's own records, with modes, contents, and times."""
    found: dict[str, tuple[object, ...]] = {}
    for path in top.rglob("*"):
        status = path.lstat()
        name = str(path.relative_to(top))
        if name.startswith(".git"):
            continue
        content = b"" if path.is_dir() else path.read_bytes()
        # What is made with each copy, and not copied, has the time of that.
        own = path.is_symlink() or name == "more"
        found[name] = status.st_mode, 0 if own else status.st_mtime_ns, path.is_symlink(), content
    return found


def overwrite_in_secret(path: Path, text: bytes) -> None:
    """Give a file another content of the same size, and its old times."""
    before = path.stat()
    path.write_bytes(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


def overwrite_in_memory(path: Path) -> None:
    """Change a file by writing to memory, which watches of the system do not report."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = b"y"


def commit(top: Path, text: str) -> None:
    """Commit a change, and set an option of the repository."""
    (top / "src" / "app.py").write_text(text)
    for words in (["commit", "-qam", "x"], ["config", "core.bare", "true"]):
        subprocess.run(["git", *words], cwd=top, check=True)


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "a new file": lambda top: (top / "new").write_text("1"),
    "a secret change": lambda top: overwrite_in_secret(top / "src" / "app.py", b"x = 2\n"),
    "a change in memory": lambda top: overwrite_in_memory(top / "src" / "app.py"),
    "a mode": lambda top: (top / "run.sh").chmod(0o600),
    "a removed folder": lambda top: shutil.rmtree(top / "src"),
    "another file of that name": lambda top: (top / "run.sh").replace(top / "src" / "app.py"),
    "a link elsewhere": lambda top: ((top / "link").unlink(), (top / "link").symlink_to("run.sh")),
    "a commit": lambda top: commit(top, "x = 2\n"),
    "no repository": lambda top: shutil.rmtree(top / ".git"),
    "nothing at all": shutil.rmtree,
}


@pytest.mark.nightly
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_session_finds_the_project_as_if_it_were_new(
    project: Path, copies: ProjectCopies, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    """Whatever a session changes, the next one finds the same files, and git finds no difference."""
    scenario = Scenario(name="one", project=project, git=True, files={"more": "1"})
    with Workspace.create(scenario, tmp_path / "base", copies=copies) as first:
        new = listing(first.top)
        change(first.top)
    with Workspace.create(scenario, tmp_path / "base", copies=copies) as second:
        assert listing(second.top) == new
        for words in (["diff-index", "HEAD"], ["status", "--porcelain"], ["log", "--format=%s", "-1"]):
            said = subprocess.run(["git", *words], cwd=second.top, capture_output=True, text=True, check=True)
            assert said.stdout == ("Start\n" if words[0] == "log" else "")


LATER: dict[str, Callable[[Path], object]] = {
    **CHANGES,
    "a modification time": lambda top: os.utime(top / "run.sh", (1, 1)),
    "a second name": lambda top: os.link(top / "run.sh", top / "src" / "second"),
    "a write by a name that is gone": lambda top: write_by_second_name(
        top / "run.sh", top / "src" / "second"
    ),
    "a folder with another name": lambda top: (top / "src").rename(top / "lib"),
    "a folder in its place": lambda top: (shutil.rmtree(top / "src"), (top / "src").mkdir()),
    "a folder that was away": lambda top: ((top / "src").rename(top / "a"), (top / "a").rename(top / "src")),
    "many files": lambda top: [(top / "src" / str(number)).touch() for number in range(30)],
}
# What a scan does not see: what is no part of the state, and what was written by a name that is gone.
UNSEEN = {"nothing", "a modification time", "a write by a name that is gone", "a folder that was away"}


def write_by_second_name(path: Path, second: Path) -> None:
    """Change a file by another name that it has for a moment; the watch is told of that name alone."""
    os.link(path, second)
    second.write_bytes(b"#!/bin/ls\n")
    second.unlink()


@pytest.mark.nightly
@pytest.mark.parametrize("change", LATER)
def test_only_touched_paths_are_looked_at_and_nothing_is_overlooked(
    project: Path, copies: ProjectCopies, tmp_path: Path, change: str
) -> None:
    """Each scan sees the session's changes, and the next session finds none, whatever was touched."""
    scenario = Scenario(name="one", project=project, git=True)
    found: list[dict[str, tuple[object, ...]]] = []
    for number in range(5):
        with Workspace.create(scenario, tmp_path / "base", copies=copies) as workspace:
            found.append(listing(workspace.top))
            assert found[-1] == found[0]
            # As the settings of a host are.
            (workspace.top / "src" / "set_up").write_text("1")
            watches = workspace.copied.watches
            workspace.copied.enter(contained=True)
            scanner = Scanner({"workspace": workspace.top}, standing=watches)
            before = scanner.scan()
            scanner.note_known()
            assert before == scanner.verify()
            changed = number in (0, 1, 3)
            if changed:
                LATER[change](workspace.top)
            after = scanner.scan()
            assert (after == before) == (not changed or change in UNSEEN)
            assert after == scanner.verify() or change in UNSEEN
            scanner.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports what was touched")
def test_the_second_session_looks_only_at_what_was_touched(
    project: Path, copies: ProjectCopies, tmp_path: Path
) -> None:
    """A scanner begins with the paths that were touched since the last one; without containment, with all."""
    scenario = Scenario(name="one", project=project, git=True)
    looked_at: list[set[str] | None] = []
    for contained in (True, True, False, True):
        with Workspace.create(scenario, tmp_path / "base", copies=copies) as workspace:
            (workspace.top / "set_up").touch()
            watch = workspace.copied.watches["workspace"]
            workspace.copied.enter(contained=contained)
            paths = {os.path.relpath(path, watch.folder) for path in watch.since_known().paths}
            looked_at.append(paths if watch.is_complete else None)
            scanner = Scanner({"workspace": workspace.top}, standing={"workspace": watch})
            scanner.scan()
            scanner.note_known()
            (workspace.top / "new").touch()
            scanner.close()
    assert looked_at == [None, {".", "new", "set_up"}, None, None]


def test_a_copy_is_used_again(project: Path, copies: ProjectCopies, tmp_path: Path) -> None:
    """The second session gets the very files of the first one; sessions side by side get their own."""
    scenario = Scenario(name="one", project=project)

    def number(workspace: Workspace) -> int:
        return (workspace.top / "run.sh").stat().st_ino

    with Workspace.create(scenario, tmp_path / "base", copies=copies) as first:
        used = number(first)
        with Workspace.create(scenario, tmp_path / "base", copies=copies) as beside:
            other = number(beside)
            assert other != used
    with Workspace.create(scenario, tmp_path / "base", copies=copies) as again:
        assert number(again) in {used, other}
        (again.top / "left").write_text("1")
    with Workspace.create(
        replace(scenario, files={"more": "1"}), tmp_path / "base", copies=copies
    ) as different:
        assert {path.name for path in different.top.iterdir()} == {"src", "run.sh", "link", "more"}


def test_a_copy_outlives_a_session_without_time(project: Path, copies: ProjectCopies, tmp_path: Path) -> None:
    """The first copy is made and kept even if its session has no time left; the second one is not made."""
    scenario = Scenario(name="one", project=project)
    with limited_to(0.0), Workspace.create(scenario, tmp_path / "base", copies=copies) as first:
        used = (first.top / "run.sh").stat().st_ino
        (first.top / "left").write_text("1")
        with pytest.raises(BudgetEnded):
            Workspace.create(scenario, tmp_path / "base", copies=copies)
    with Workspace.create(scenario, tmp_path / "base", copies=copies) as again:
        assert (again.top / "run.sh").stat().st_ino == used
        assert not (again.top / "left").exists()


def test_an_old_copy_is_not_used_again(
    project: Path, copies: ProjectCopies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No session gets a copy that is much older than a new one would be."""
    scenario = Scenario(name="one", project=project)
    with Workspace.create(scenario, tmp_path / "base", copies=copies):
        pass
    (project / "run.sh").write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setattr(project_copies, "_MAX_AGE", 0.0)
    with Workspace.create(scenario, tmp_path / "base", copies=copies) as again:
        assert (again.top / "run.sh").read_text() == "#!/bin/sh\nexit 1\n"


@pytest.mark.slow
def test_a_hook_cannot_leave_a_message_for_the_next_session(
    harness: Harness, tmp_path: Path, project: Path
) -> None:
    """A hook that hides its change by the old size and time sees the same file in the next session."""
    (project / "flag").write_text("one\n")
    command = "cat flag >&2; touch -r flag saved; echo two >flag; touch -r saved flag; rm saved; exit 2"
    scenario = Scenario(
        name="one",
        project=project,
        git=True,
        hooks={"Stop": command},
        script=Script(acts=(FIRST_PROMPT, Stop())),
        turns=1,
    )

    def said(outcome: Outcome) -> list[str]:
        return [run.run.stderr.text for _, run in outcome.trace.hook_runs() if run.run is not None]

    with ProjectCopies(harness.base / ".copies", 60.0) as copies:
        resources = replace(harness.resources, copies=copies)
        outcomes = [simulate(scenario, harness.settings, resources) for _ in range(3)]
    fresh = simulate(scenario, harness.settings, harness.resources)
    assert [said(outcome) for outcome in outcomes] == [said(fresh)] * 3
    assert said(fresh) == ["one\n"]
