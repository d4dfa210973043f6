"""What the agent's own tools do to files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_hookharness.execution.paths import write_bytes
from pytest_hookharness.execution.workspace.agent_tools import perform
from pytest_hookharness.model.moves import Edit, Performance, Read


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"one\r\ntwo\n")
    return folder


def test_a_file_is_read_as_it_stands(root: Path) -> None:
    """Reading returns the text with its line ends, by relative and by full path."""
    expected = Performance(original="one\r\ntwo\n", content="one\r\ntwo\n")
    assert perform(root, Read(file="a.txt")) == expected
    assert perform(root, Read(file=str(root / "a.txt"))) == expected


def test_a_file_is_written_with_its_folders(root: Path) -> None:
    """Writing makes a new file with the folders above it, and returns the earlier content."""
    assert perform(root, Edit(file="b/c/d.txt", text="é\n")) == Performance(content="é\n")
    assert perform(root, Edit(file="b/c/d.txt", text="2")) == Performance(original="é\n", content="2")
    assert (root / "b" / "c" / "d.txt").read_text() == "2"


def test_half_a_character_is_no_crash(root: Path) -> None:
    """Text that UTF-8 cannot encode is written with a question mark in its place."""
    perform(root, Edit(file="a.txt", text="a\ud800b"))
    assert (root / "a.txt").read_text() == "a?b"
    perform(root, Edit(file="a.txt", old="b", text="\udcff"))
    assert (root / "a.txt").read_text() == "a??"


def test_writing_keeps_the_mode(root: Path) -> None:
    """A script stays executable when it is written."""
    (root / "a.txt").chmod(0o755)
    perform(root, Edit(file="a.txt", text="x"))
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o755


def test_one_passage_is_replaced(root: Path) -> None:
    """Replacing changes one passage and nothing around it."""
    done = perform(root, Edit(file="a.txt", old="two", text="2"))
    assert done == Performance(original="one\r\ntwo\n", content="one\r\n2\n")
    assert (root / "a.txt").read_bytes() == b"one\r\n2\n"


@pytest.mark.parametrize(
    ("old", "said"),
    [("absent", "is there 0 times"), ("o", "is there 2 times"), ("", "is empty")],
)
def test_a_passage_must_be_there_once(root: Path, old: str, said: str) -> None:
    """A passage that is missing, repeated or empty is an error for the agent, and nothing is written."""
    done = perform(root, Edit(file="a.txt", old=old, text="x"))
    assert said in done.error
    assert done.content is None
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\n"


def test_what_is_not_there_is_an_error_for_the_agent(root: Path) -> None:
    """Reading or replacing in a missing file is an error that the agent sees."""
    for operation in (Read(file="b.txt"), Edit(file="b.txt", old="a", text="b"), Read(file="a.txt/b")):
        assert "there is no such file" in perform(root, operation).error


def test_bytes_that_are_no_text_are_not_destroyed(root: Path) -> None:
    """A file that is not text can be read in part, and nothing is replaced in it."""
    (root / "a.txt").write_bytes(b"\xffone")
    assert perform(root, Read(file="a.txt")).content == "\ufffdone"
    assert "is not UTF-8 text" in perform(root, Edit(file="a.txt", old="one", text="1")).error
    assert (root / "a.txt").read_bytes() == b"\xffone"


@pytest.mark.parametrize(
    "file", ["../secret", "link/secret", "file", "/etc/passwd", "", "a\0b", "ok/../../secret"]
)
def test_no_path_leads_out(root: Path, file: str) -> None:
    """Neither dots nor links nor full paths lead out of the workspace, for reading or for writing."""
    (root.parent / "secret").write_text("1")
    (root / "link").symlink_to("..")
    (root / "file").symlink_to(root.parent / "secret")
    for operation in (Read(file=file), Edit(file=file, text="2"), Edit(file=file, old="1", text="2")):
        done = perform(root, operation)
        assert done.error
        assert done.content is None
    assert (root.parent / "secret").read_text() == "1"


def test_links_within_are_followed(root: Path) -> None:
    """A link to a file of the workspace, relative or by full path, is followed."""
    (root / "relative").symlink_to("a.txt")
    (root / "full").symlink_to(root / "a.txt")
    for file in ("relative", "full"):
        assert perform(root, Edit(file=file, text=file)).content == file
        assert (root / "a.txt").read_text() == file
        assert (root / file).is_symlink()


def test_further_folders_are_reached_by_full_path(root: Path, tmp_path: Path) -> None:
    """The home folder can be reached where it is allowed, and /tmp means the folder that hooks see there."""
    home, behind = tmp_path / "home", tmp_path / "behind"
    home.mkdir()
    behind.mkdir()
    folders, private = (home,), {"/tmp": str(behind)}
    perform(root, Edit(file=str(home / "a"), text="1"), folders=folders)
    assert (home / "a").read_text() == "1"
    perform(root, Edit(file="/tmp/hookharness-test/b", text="2"), folders=folders, private=private)
    assert (behind / "hookharness-test" / "b").read_text() == "2"
    assert not Path("/tmp/hookharness-test").exists()
    (behind / "out").symlink_to(root.parent)
    assert "outside of" in perform(root, Read(file="/tmp/out/root/a.txt"), private=private).error


def test_what_is_no_file_is_an_error_for_the_agent(root: Path) -> None:
    """Folders and named pipes are refused without waiting."""
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    for file in ("pipe", "folder"):
        assert perform(root, Read(file=file)).error
        assert perform(root, Edit(file=file, text="x")).error


def test_a_shorter_content_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    """A file that is written anew, in place, holds the new content alone."""
    place = tmp_path / "file"
    for data in (b"a long content", b"short", b"", b"longer again"):
        write_bytes(place, data)
        assert place.read_bytes() == data
