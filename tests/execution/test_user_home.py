"""The home folder of the user: it is hidden, but for what programs need."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.workspace.user_home import describe_homes, find_homes, find_programs
from pytest_hookharness.model.scenario import Scenario

from .test_overlay import Item

FILES = {
    ".ssh/id": "secret",
    "project/file": "project",
    "bin/tool": "#!/bin/sh\necho ran",
    "bin/secret-of-bin": "shown",
}


def write(home: Path, *programs: str) -> None:
    for name in programs:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("#!/bin/sh\n")
        (home / name).chmod(0o755)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder outside of the folders that are private anyway, with a key, a project and a tool."""
    try:
        made = Path(tempfile.mkdtemp(prefix="hookharness-home-", dir="/var/lib"))
    except PermissionError:
        pytest.skip("only root can make a home folder beside those of the users")
    for name, text in FILES.items():
        write(made, name)
        (made / name).write_text(text)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setenv("PATH", f"{made}/bin{os.pathsep}{os.environ['PATH']}")
    yield made
    shutil.rmtree(made)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as made:
        yield made


@pytest.mark.slow
def test_the_home_of_the_user_is_hidden(
    home: Path, stack: ExitStack, isolating: Supervisor, tmp_path: Path
) -> None:
    """A hook cannot read a key in the user's home; project and tools stay there, and writes are kept."""
    scenario = Scenario(name="one", project=home / "project")
    item = Item(stack, isolating, tmp_path / "base", scenario)
    assert item.say(f"cat {home}/.ssh/id 2>/dev/null || echo hidden") == "hidden"
    assert item.say(f"cat {home}/project/file; {home}/bin/tool").split() == ["projectran"]
    assert sorted(item.say(f"ls -A {home}").split()) == ["bin", "project"]
    item.say(f"echo 1 > {home}/.count")
    assert item.say(f"cat {home}/.count") == "1"
    assert item.outside() == {f"{home}/.count": "file"}
    assert sorted(path.name for path in home.iterdir()) == [".ssh", "bin", "project"]
    (said,) = describe_homes([str(home)], item.workspace.visible)
    assert said == f"Of {home} hooks can read only {home}/bin, {home}/project."


def test_a_home_that_is_the_project_stays_and_that_is_said(
    home: Path, stack: ExitStack, isolating: Supervisor, tmp_path: Path
) -> None:
    """A home folder that must be visible as a whole is not hidden, and the reason is reported."""
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one", reach=(str(home),)))
    assert item.say(f"cat {home}/.ssh/id") == "secret"
    assert [*describe_homes([str(home)], item.workspace.visible)] == [
        f"Hooks can read all of {home}, for {home} must be visible."
    ]


def test_the_interpreter_that_runs_the_tests_works_inside(
    stack: ExitStack, isolating: Supervisor, tmp_path: Path
) -> None:
    """The Python that runs the tests works in a hook, wherever its installation lies."""
    item = Item(stack, isolating, tmp_path / "base", Scenario(name="one"))
    assert item.say(f"{sys.executable} -c 'import json, ssl, ctypes; print(json.dumps(1))'") == "1"


@pytest.mark.parametrize("home", ["", "/", "/dev", "/proc", "/var", "/tmp/somebody", "/nonexistent"])
def test_folders_of_the_system_are_no_homes(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    """A home that every process needs, that is private anyway or that does not exist is never hidden."""
    monkeypatch.setenv("HOME", home)
    assert home not in find_homes(("/tmp", "/var/tmp", "/dev/shm"))


def test_installations_on_the_search_path_are_found(tmp_path: Path) -> None:
    """Installations of version managers and virtual environments, and what links lead to, are found."""
    home = tmp_path / "home"
    write(
        home,
        "node/bin/node",
        "node/lib/npm/cli.js",
        ".cargo/bin/cargo",
        ".pyenv/shims/python",
        ".local/bin/own",
    )
    write(home, ".local/share/venvs/black/bin/black", "python/bin/python3", "python/lib/os.py", "x/y/script")
    write(home, ".local/bin/own", ".local/share/note.sh", ".ssh/id", ".cargo/credentials.toml")
    (home / ".local/share/venvs/black/pyvenv.cfg").write_text(f"home = {home}/python/bin\n")
    for name in ("share/venvs/black/bin/black", "share/note.sh"):
        (home / ".local/bin" / Path(name).name).symlink_to(home / ".local" / name)
    (home / ".local/bin/scripted").write_text(f"#!{home}/x/y/script\n")
    path = tuple(str(home / name) for name in ("node/bin", ".cargo/bin", ".pyenv/shims", ".local/bin"))
    found = {os.path.relpath(each, home) for each in find_programs(str(home), (*path, "/usr/bin"))}
    assert found == {
        *("node", ".cargo/bin", ".pyenv", ".local/bin", ".local/share/venvs/black", "python", "x/y"),
        ".local/share/note.sh",
    }


def test_a_home_behind_a_link_is_found(tmp_path: Path) -> None:
    """A search path that names a home folder by a link names the same programs."""
    write(tmp_path / "real", "tools/bin/tool", "tools/lib/tool")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_programs(str(tmp_path / "real"), (f"{tmp_path}/link/tools/bin",)) == (
        f"{tmp_path}/real/tools",
    )
