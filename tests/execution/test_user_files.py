"""Claims about files of the user that are replaced or created: nothing in them is lost."""

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.user_files import ChangedMeanwhile, create_file, replace_file

EXCHANGE = system.exchange


@pytest.fixture
def file(tmp_path):
    """A file of the user."""
    path = tmp_path / "file"
    path.write_bytes(b"before")
    return path


@pytest.fixture
def exchanging(monkeypatch):
    """Sets what happens instead of an exchange of two files."""

    def put(instead):
        monkeypatch.setattr(system, "exchange", instead)

    return put


def refuse(*_):
    raise OSError(errno.EINVAL, "the file system cannot exchange files")


def test_owner_mode_and_attributes_stay(file):
    """A replaced file has its owner, group, mode and extended attributes as before."""
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    if os.geteuid() == 0:
        os.chown(file, 1234, 2345)
    file.chmod(0o4751)
    before = file.stat()

    replace_file(file, b"before", b"after")

    now = file.stat()
    assert file.read_bytes() == b"after"
    assert (now.st_uid, now.st_gid, now.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert os.getxattr(file, "user.note") == b"mine"


@pytest.mark.parametrize("after", [b"after, and longer", b"short"])
def test_other_names_stay_names_of_the_file(file, after):
    """All hard links of a replaced file have the new contents."""
    other = file.with_name("other")
    other.hardlink_to(file)

    replace_file(file, b"before", after)

    assert (file.read_bytes(), other.read_bytes()) == (after, after)
    assert file.samefile(other)
    assert sorted(file.parent.iterdir()) == [file, other]


def test_attributes_that_cannot_be_given_are_not_lost(file, monkeypatch):
    """If a new file cannot get the old one's owner, the old one is written in place and keeps it."""
    if os.geteuid():
        pytest.skip("only root can make a file of another group")
    os.chown(file, -1, 2345)
    # Root has no such right in a container without it.
    monkeypatch.setattr(os, "chown", refuse)
    inode = file.stat().st_ino

    replace_file(file, b"before", b"after")

    assert file.read_bytes() == b"after"
    assert (file.stat().st_gid, file.stat().st_ino) == (2345, inode)


KILLED = """
import os, signal, subprocess, sys
from pathlib import Path
from pytest_hookharness.execution.user_files import replace_file

def killed(*arguments, check, **named):
    subprocess.Popen(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)

subprocess.run = killed
replace_file(Path(sys.argv[1]), b"before", b"after", inherited=[int(sys.argv[2])])
"""


@pytest.mark.slow
def test_a_write_in_place_is_completed(file):
    """A file with two names is written completely if the process is killed that began to write it."""
    file.with_name("other").hardlink_to(file)
    ours, theirs = os.pipe()

    done = subprocess.run(
        [sys.executable, "-c", KILLED, file, str(theirs)], pass_fds=[theirs], timeout=20, check=False
    )
    os.close(theirs)
    # The inherited descriptor is closed when everything is written.
    with os.fdopen(ours, "rb") as pipe:
        assert pipe.read() == b""

    assert done.returncode == -signal.SIGKILL
    assert file.read_bytes() == b"after"
    assert len([*file.parent.iterdir()]) == 2


def test_a_link_stays_a_link(tmp_path):
    """A file that is a link has the file behind it written."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"before")
    link.symlink_to(real)

    replace_file(link, b"before", b"after")

    assert link.is_symlink()
    assert real.read_bytes() == b"after"
    assert sorted(tmp_path.iterdir()) == [link, real]


@pytest.mark.parametrize("names", [1, 2])
def test_other_contents_stay(file, names):
    """A file with other contents than expected is not written, whether it has one name or two."""
    if names == 2:
        file.with_name("other").hardlink_to(file)

    with pytest.raises(ChangedMeanwhile, match="was changed by another program"):
        replace_file(file, b"older", b"after")

    assert file.read_bytes() == b"before"
    assert len([*file.parent.iterdir()]) == names


@pytest.mark.parametrize("atomically", [True, False])
def test_an_edit_at_the_last_moment_stays(file, exchanging, atomically):
    """An edit after the comparison stays, and is not overwritten; no other file is left."""

    def edited(one, other):
        exchanging(EXCHANGE)
        if atomically:
            edit = file.with_name("edit")
            edit.write_bytes(b"edited")
            edit.replace(file)
        else:
            file.write_bytes(b"edited")
        EXCHANGE(one, other)

    exchanging(edited)

    with pytest.raises(ChangedMeanwhile):
        replace_file(file, b"before", b"after")

    assert file.read_bytes() == b"edited"
    assert [*file.parent.iterdir()] == [file]


def test_an_edit_while_an_edit_is_given_back_stays(file, exchanging):
    """If a file is saved once more while the first edit is put back, the last one stays."""

    def edited_again(one, other):
        exchanging(EXCHANGE)
        file.write_bytes(b"edited twice")
        EXCHANGE(one, other)

    def edited(one, other):
        exchanging(edited_again)
        edit = file.with_name("edit")
        edit.write_bytes(b"edited")
        edit.replace(file)
        EXCHANGE(one, other)

    exchanging(edited)

    with pytest.raises(ChangedMeanwhile):
        replace_file(file, b"before", b"after")

    assert file.read_bytes() == b"edited twice"


def test_file_systems_without_exchange(file, exchanging):
    """Where files cannot be exchanged, a file is compared once more and then replaced."""
    exchanging(refuse)
    replace_file(file, b"before", b"after")
    assert file.read_bytes() == b"after"

    def edited(*_):
        file.write_bytes(b"edited")
        refuse()

    exchanging(edited)
    with pytest.raises(ChangedMeanwhile):
        replace_file(file, b"after", b"later")
    assert file.read_bytes() == b"edited"


def test_a_new_file_is_never_seen_in_part(tmp_path, monkeypatch):
    """A created file is complete when it gets its name, has the usual mode, and replaces none."""
    link, seen = os.link, []

    def watched(fresh, file):
        seen.append((file.exists(), fresh.read_bytes()))
        link(fresh, file)

    monkeypatch.setattr(os, "link", watched)
    new, usual = tmp_path / "new", tmp_path / "usual"
    usual.write_text("")

    create_file(new, "text")

    assert seen == [(False, b"text")]
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    with pytest.raises(FileExistsError):
        create_file(new, "other")
    assert new.read_text() == "text"
    assert sorted(tmp_path.iterdir()) == [new, usual]


def test_new_files_where_there_are_no_hard_links(tmp_path, monkeypatch):
    """A file is created, and none is replaced, where the file system has no hard links."""
    monkeypatch.setattr(os, "link", refuse)

    create_file(tmp_path / "new", "text")

    assert (tmp_path / "new").read_text() == "text"
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "new", "other")
    assert (tmp_path / "new").read_text() == "text"
