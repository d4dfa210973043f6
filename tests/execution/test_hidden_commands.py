"""A search path on which one command is missing, and nothing else."""

import shutil
from pathlib import Path

import pytest

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace.visible_machine import HiddenCommands


def found(name, path):
    return Path(shutil.which(name, path=path))


@pytest.fixture
def folders(tmp_path):
    """Two folders of commands; both have a `tool`, and each something else."""
    for folder, names in {"one": ("tool", "sed"), "two": ("tool", "awk", "sed")}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text(f"#!/bin/sh\necho {folder}\n")
            (tmp_path / folder / name).chmod(0o755)
    return tmp_path


def test_one_command_is_hidden_and_no_other(folders):
    """Everything that was found before is found at the same place, except the hidden command."""
    path = f"{folders}/one:{folders}/two"
    hiding = HiddenCommands.plan(["tool"], path, folders / "hidden")
    hiding.make()

    assert shutil.which("tool", path=path) is not None
    assert shutil.which("tool", path=hiding.path) is None
    for name in ("sed", "awk"):
        assert found(name, path).samefile(found(name, hiding.path))


def test_a_folder_without_the_command_stays(folders):
    """Only folders that hold the command are replaced."""
    hiding = HiddenCommands.plan(["awk"], f"{folders}/one:{folders}/two", folders / "hidden")

    assert hiding.folders == (f"{folders}/one", f"{folders}/hidden/0")
    assert not (folders / "hidden").exists()


def test_a_command_that_is_still_there_is_an_error(folders):
    """A path on which the hidden command is still found is refused."""
    path = f"{folders}/one:{folders}/two"
    hiding = HiddenCommands.plan(["tool"], path, folders / "hidden")
    leaking = HiddenCommands(
        ("tool",), (hiding.folders[0], f"{folders}/two"), {hiding.folders[0]: f"{folders}/one"}
    )

    with pytest.raises(WorkspaceError, match="hidden tool"):
        leaking.make()


def test_a_folder_that_is_there_twice_is_replaced_once(folders):
    """A link to a folder of the path shares its replacement."""
    (folders / "link").symlink_to(folders / "one")
    hiding = HiddenCommands.plan(["tool"], f"{folders}/link:{folders}/one", folders / "hidden")

    assert len(hiding.replaced) == 1
    assert hiding.folders[0] == hiding.folders[1]
