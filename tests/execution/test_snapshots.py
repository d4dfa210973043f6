"""What snapshots restore, what they leave unchanged, and what they report that they cannot do."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_hookharness.execution.paths import remove_tree
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.snapshots import content_store, inventory
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError, Snapshots
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.workspace import Workspace
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario

from .toys import eventually, launch

NOBODY = 65534
STAMP = 1_500_000_000_123_456_789
ODD = os.fsdecode(b"odd \xff\n name")
# Version 2 of an access list: the owner, one more user, the group, the mask and the others.
LIST = bytes.fromhex(
    "0200000001000600ffffffff02000400feff000004000400ffffffff10000400ffffffff20000000ffffffff"
)
CAPABILITY = bytes.fromhex("0000000200200000000000000000000000000000")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only with rights over the machine")


def contents_of(*folders: Path) -> dict[str, tuple[Any, ...]]:
    """Return everything in some folders, found without the code under test."""
    paths = [str(folder) for folder in folders if folder.is_dir()]
    for folder in folders:
        for place, names, others in os.walk(folder):
            paths += [f"{place}/{name}" for name in (*names, *others)]
    names_of: dict[int, list[str]] = {}
    for path in sorted(paths):
        names_of.setdefault(os.lstat(path).st_ino, []).append(path)
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(paths):
        status = os.lstat(path)
        content: str | bytes = b""
        if stat.S_ISLNK(status.st_mode):
            content = str(Path(path).readlink())
        elif stat.S_ISREG(status.st_mode):
            content = read(path, status)
        attributes = {
            name: os.getxattr(path, name, follow_symlinks=False)
            for name in os.listxattr(path, follow_symlinks=False)
        }
        owner = (status.st_uid, status.st_gid)
        known = (status.st_mode, owner, status.st_mtime_ns, status.st_rdev, content, attributes)
        found[path] = (*known, tuple(names_of[status.st_ino]))
    return found


def read(path: str, status: os.stat_result) -> bytes:
    if status.st_size > 1 << 24:
        with Path(path).open("rb") as stream:
            return b"".join((stream.read(100), b"%d" % status.st_size))
    return Path(path).read_bytes()


def inodes(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return number and time of the last change of every inode in a folder."""
    paths = [folder, *folder.rglob("*")]
    return {path: (path.lstat().st_ino, path.lstat().st_ctime_ns) for path in paths}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds one file of each kind."""
    top = tmp_path / "top"
    for name in ("a", "b", "d/a", "d/e/a", "f/triplet", ODD):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"content of {name!r}\n")
    (top / "twin").hardlink_to(top / "a")
    (top / "d" / "triplet").hardlink_to(top / "a")
    (top / "empty").mkdir(mode=0o750)
    (top / "link").symlink_to("a")
    (top / "dangling").symlink_to("/nowhere/at/all")
    os.mkfifo(top / "pipe", 0o640)
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(top)
        server.bind("socket")
    (top / "program").write_text("#!/bin/sh\n")
    (top / "program").chmod(0o6755)
    with (top / "sparse").open("wb") as stream:
        stream.write(b"begin")
        stream.truncate(1 << 30)
    os.setxattr(top / "b", "user.note", b"one")
    os.setxattr(top / "b", "system.posix_acl_access", LIST)
    os.setxattr(top / "d", "system.posix_acl_default", LIST)
    if os.geteuid() == 0:
        # Users without rights over the machine have a test of their own, because they cannot see all entries.
        (top / "secret").write_text("secret\n")
        (top / "secret").chmod(0)
        (top / "closed").mkdir()
        (top / "closed" / "a").write_text("a\n")
        (top / "closed").chmod(0o500)
        os.mknod(top / "whiteout", stat.S_IFCHR, 0)
        os.setxattr(top / "d", "trusted.overlay.opaque", b"y")
        os.setxattr(top / "link", "trusted.overlay.origin", b"\0\1")
        os.setxattr(top / "program", "security.capability", CAPABILITY)
        os.chown(top / "d" / "e" / "a", NOBODY, NOBODY)
        os.chown(top / "dangling", NOBODY, NOBODY, follow_symlinks=False)
    os.utime(top / "a", ns=(STAMP, STAMP))
    os.utime(top / "d" / "e", ns=(STAMP, STAMP))
    os.utime(top / "link", ns=(STAMP, STAMP), follow_symlinks=False)
    return top


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def snapshots(folder: Path, tmp_path: Path) -> Iterator[Snapshots]:
    with Snapshots([folder], tmp_path / "store") as made:
        yield made


def weigh(store: Path) -> int:
    """Return the bytes that the store holds."""
    return sum(path.stat().st_size for path in store.iterdir())


def age() -> None:
    """Wait until the files are old enough to be known by their times, without being read at each scan."""
    start = time.time_ns()
    eventually(lambda: time.time_ns() > start + 50_000_000, "the files are old")


def rewrite_unseen(top: Path) -> None:
    """Write as many other bytes, and reset the times."""
    status = (top / "d/a").stat()
    (top / "d/a").write_bytes((top / "d/a").read_bytes()[::-1])
    os.utime(top / "d/a", ns=(status.st_atime_ns, status.st_mtime_ns))


def add_unseen(top: Path) -> None:
    """Make a file, and reset the times of its folder."""
    status = (top / "d").stat()
    (top / "d/new").write_text("new\n")
    os.utime(top / "d", ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_atomically(top: Path) -> None:
    """Write beside a file with two more names, and rename the new one over it."""
    (top / "new").write_text("new\n")
    (top / "new").rename(top / "a")


def split_and_join(top: Path) -> None:
    """Give names of one inode to other inodes."""
    (top / "twin").unlink()
    (top / "twin").hardlink_to(top / "b")
    (top / "d/a").unlink()
    (top / "d/a").hardlink_to(top / "a")


def swap(top: Path) -> None:
    """Exchange the names of two files, and of a file and a folder."""
    for one, other in (("a", "b"), ("d/a", "d/e")):
        (top / one).rename(top / "between")
        (top / other).rename(top / one)
        (top / "between").rename(top / other)


def swap_folders(top: Path) -> None:
    """Exchange two folders, so that another file is where a name of a linked one was, and the reverse."""
    (top / "d").rename(top / "between")
    (top / "f").rename(top / "d")
    (top / "between").rename(top / "f")


def replace_folder(top: Path) -> None:
    """Put a new file where a name of a linked one was, without touching its inode."""
    (top / "d").rename(top / "moved")
    (top / "d").mkdir()
    (top / "d/triplet").write_text("another\n")


def remove_all(top: Path) -> None:
    """Remove everything."""
    for path in top.iterdir():
        if path.is_dir() and not path.is_symlink():
            assert not remove_tree(path)
        else:
            path.unlink()


def turn_kinds(top: Path) -> None:
    """Put a folder where a file was, a file where a folder was, and links in the place of both."""
    (top / "b").unlink()
    (top / "b/deep/er").mkdir(parents=True)
    (top / "b/deep/er/x").write_text("x")
    shutil.rmtree(top / "d")
    (top / "d").write_text("no folder")
    (top / "empty").rmdir()
    (top / "empty").symlink_to("/tmp")
    (top / "pipe").unlink()
    (top / "pipe").symlink_to("/dev/null")


def nest(top: Path) -> None:
    """Make folders so deep that no path leads to the last."""
    os.chdir(top / "empty")
    for _ in range(60):
        Path("x" * 200).mkdir()
        os.chdir("x" * 200)
    Path("last").write_text("last\n")


def remake(top: Path) -> None:
    """Replace each special file by a slightly different one."""
    for name in ("pipe", "socket", "link", "dangling"):
        (top / name).unlink()
    os.mkfifo(top / "pipe", 0o600)
    os.mkfifo(top / "socket")
    (top / "link").symlink_to("b")
    (top / "dangling").write_text("not dangling")


def take_permissions(top: Path) -> None:
    """Take permissions away."""
    for name in ("a", "d/e/a", "d/e", "d", "empty", "."):
        (top / name).chmod(0)


def set_attributes(top: Path) -> None:
    """Set and remove attributes and access lists."""
    os.setxattr(top / "b", "user.note", b"two")
    os.removexattr(top / "b", "system.posix_acl_access")
    os.removexattr(top / "d", "system.posix_acl_default")
    os.setxattr(top / "a", "system.posix_acl_access", LIST)
    os.setxattr(top / "empty", "system.posix_acl_default", LIST)
    (top / "empty/heir").write_text("")
    os.setxattr(top, "user.top", b"1")


def write_sparse(top: Path) -> None:
    """Write in the middle of an empty gigabyte, and make another sparse file."""
    with (top / "sparse").open("r+b") as stream:
        stream.seek(1 << 29)
        stream.write(b"here")
    with (top / "second").open("wb") as stream:
        stream.truncate(1 << 40)


def set_overlay_marks(top: Path) -> None:
    """Do what an overlay does: set marks, whiteouts and owners."""
    os.setxattr(top / "d", "trusted.overlay.opaque", b"x")
    os.setxattr(top / "empty", "trusted.overlay.opaque", b"y")
    os.removexattr(top / "link", "trusted.overlay.origin")
    (top / "whiteout").unlink()
    (top / "b").unlink()
    os.mknod(top / "b", stat.S_IFCHR, 0)
    os.chown(top / "program", NOBODY, NOBODY)
    os.chown(top / "dangling", 0, 0, follow_symlinks=False)
    os.chown(top / "d/e", NOBODY, 0)


CHANGES = (
    lambda top: (top / "d/a").write_text("changed"),
    lambda top: (top / "twin").write_text("changed by another name"),
    lambda top: (top / ODD).rename(top / os.fsdecode(b"\xfe")),
    lambda top: (top / ODD).write_text("odd"),
    lambda top: (top / "d").rename(top / "e"),
    lambda top: os.utime(top / "a", ns=(1, 1)),
    lambda top: os.utime(top / "link", ns=(1, 1), follow_symlinks=False),
    lambda top: os.truncate(top / "b", 3),
    lambda top: (top / "link").write_text("written through a link"),
    lambda top: (top / "program").write_text("#!/bin/false\n"),
    lambda top: (top / "program").unlink(),
    pytest.param(lambda top: (top / "secret").unlink(), marks=needs_root),
    pytest.param(lambda top: (top / "closed/a").unlink(), marks=needs_root),
    lambda top: (top / "empty").rmdir(),
    *(
        rewrite_unseen,
        add_unseen,
        replace_atomically,
        split_and_join,
        swap,
        swap_folders,
        replace_folder,
        remove_all,
        turn_kinds,
        nest,
        remake,
    ),
    *(take_permissions, set_attributes, write_sparse),
    pytest.param(set_overlay_marks, marks=needs_root),
)


@pytest.mark.nightly
@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_every_kind_of_change_is_put_back(
    folder: Path, snapshots: Snapshots, change: Callable[[Path], object], tmp_path: Path, old: bool
) -> None:
    """
    After any change a restore returns the folders to their content, and a second restore finds no difference.
    """
    before = contents_of(folder)
    if old:
        age()
    snapshot = snapshots.take()
    assert snapshots.restore(snapshot) == ()
    change(folder)
    os.chdir(tmp_path)
    assert snapshots.restore(snapshot) != ()
    assert contents_of(folder) == before
    assert snapshots.restore(snapshot) == ()


@pytest.fixture
def log(folder: Path) -> Iterator[Scanner]:
    """A scanner of a folder in which no file has several names."""
    for name in ("twin", "d/triplet"):
        (folder / name).unlink()
        (folder / name).write_text(name)
    scanner = Scanner({"top": folder})
    if not scanner.watching:
        pytest.skip("needs Linux: the kernel does not report which files were touched")
    scanner.scan()
    yield scanner
    scanner.close()


@pytest.mark.nightly
@pytest.mark.parametrize("change", CHANGES)
def test_what_the_system_reports_suffices(
    folder: Path, log: Scanner, snapshots: Snapshots, change: Callable[[Path], object], tmp_path: Path
) -> None:
    """After any change a restore that looks only at what was touched finds everything."""
    before, snapshot, moment = contents_of(folder), snapshots.take(), log.touches.moment
    change(folder)
    os.chdir(tmp_path)
    log.scan()
    assert snapshots.restore(snapshot, log.touches.since(moment)) != ()
    assert contents_of(folder) == before
    assert snapshots.restore(snapshot) == ()


def test_what_was_not_touched_is_not_looked_at(folder: Path, log: Scanner, snapshots: Snapshots) -> None:
    """A restore costs as much as was touched: other files are left unseen, whatever they are."""
    snapshot, moment = snapshots.take(), log.touches.moment
    (folder / "d/a").write_text("changed")
    log.scan()
    touched = log.touches.since(moment)
    (folder / "b").write_text("changed after the report")
    assert snapshots.restore(snapshot, touched) == (folder / "d/a",)
    assert snapshots.restore(snapshot) == (folder / "b",)


def test_a_name_that_came_and_went_may_have_been_any_file(
    folder: Path, log: Scanner, snapshots: Snapshots
) -> None:
    """A file that was written to by another name, which is gone again, is put back."""
    before, snapshot, moment = contents_of(folder), snapshots.take(), log.touches.moment
    (folder / "d/new").hardlink_to(folder / "b")
    (folder / "d/new").write_text("changed")
    (folder / "d/new").unlink()
    log.scan()
    assert folder / "b" in snapshots.restore(snapshot, log.touches.since(moment))
    assert contents_of(folder) == before


def test_an_old_file_that_was_rewritten_unseen_is_put_back(folder: Path, snapshots: Snapshots) -> None:
    """
    A file that is no longer read at each scan is read again when only the time of its last change is new.
    """
    before = contents_of(folder)
    age()
    snapshot = snapshots.take()
    rewrite_unseen(folder)
    assert snapshots.restore(snapshot) == (folder / "d/a",)
    assert contents_of(folder) == before


def test_taking_and_putting_back_nothing_leaves_all_inodes_alone(folder: Path, snapshots: Snapshots) -> None:
    """Where nothing differs, no inode number, time of change or time of access is new."""

    def seen() -> dict[Path, tuple[int, ...]]:
        statuses = ((path, path.lstat()) for path in [folder, *folder.rglob("*")])
        return {
            path: (s.st_ino, s.st_ctime_ns, s.st_atime_ns if stat.S_ISREG(s.st_mode) else 0)
            for path, s in statuses
        }

    before = seen()
    snapshot = snapshots.take()
    assert snapshots.restore(snapshot) == ()
    assert snapshots.take() == snapshot
    assert seen() == before


@pytest.mark.parametrize("most", [0, 100])
def test_folders_are_moved_aside_until_the_end(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A folder that is to go is moved into the store while little is there, and is gone with the store."""
    monkeypatch.setattr(content_store, "_MOST_FILES_ASIDE", most)
    with Snapshots([folder], tmp_path / "own store") as snapshots:
        snapshot, before = snapshots.take(), contents_of(folder)
        (folder / "d" / "new" / "inner").mkdir(parents=True)
        (folder / "d" / "new" / "inner" / "file").write_text("x")

        snapshots.restore(snapshot)

        assert contents_of(folder) == before
        assert len([*(tmp_path / "own store").rglob("inner")]) == bool(most)
    assert not (tmp_path / "own store").exists()


def test_only_what_differed_is_touched_and_returned(folder: Path, snapshots: Snapshots) -> None:
    """Only the changed file is in the result; it keeps its inode, and other files their time of change."""
    before = inodes(folder)
    snapshot = snapshots.take()
    changed = folder / "d/a"
    changed.write_text("changed")
    assert snapshots.restore(snapshot) == (changed,)
    after = inodes(folder)
    assert after[changed][0] == before[changed][0]
    assert after[changed][1] != before[changed][1]
    assert {path for path in after if after[path] != before.get(path)} == {changed}


def test_a_file_that_was_only_read_is_no_change(folder: Path, snapshots: Snapshots) -> None:
    """A new time of access is kept, for restoring it would change the inode that git looks at."""
    snapshot = snapshots.take()
    os.utime(folder / "d/a", ns=(1, (folder / "d/a").stat().st_mtime_ns))
    before = inodes(folder)
    assert snapshots.restore(snapshot) == ()
    assert inodes(folder) == before


def test_the_time_of_access_of_a_changed_file_is_put_back(folder: Path, snapshots: Snapshots) -> None:
    """A file that is restored gets both its times back."""
    os.utime(folder / "b", ns=(STAMP, STAMP + 1))
    snapshot = snapshots.take()
    (folder / "b").write_text("changed")
    (folder / "b").read_text()
    snapshots.restore(snapshot)
    status = (folder / "b").stat()
    assert (status.st_atime_ns, status.st_mtime_ns) == (STAMP, STAMP + 1)


def test_a_name_outside_stays_a_name_of_the_same_file(
    folder: Path, snapshots: Snapshots, tmp_path: Path
) -> None:
    """A file with another name outside of the folders is written in place, so that both stay one file."""
    (tmp_path / "outside").hardlink_to(folder / "b")
    snapshot = snapshots.take()
    (folder / "b").write_text("changed")
    snapshots.restore(snapshot)
    assert (tmp_path / "outside").samefile(folder / "b")
    assert (tmp_path / "outside").read_text() == "content of 'b'\n"


def test_a_name_that_was_moved_outside_is_no_name_of_ours(
    folder: Path, snapshots: Snapshots, tmp_path: Path
) -> None:
    """A file that lost a name with a moved folder is made anew, though its inode shows no sign of that."""
    age()
    before = contents_of(folder)
    snapshot = snapshots.take()
    (folder / "d").rename(tmp_path / "outside")
    snapshots.restore(snapshot)
    assert contents_of(folder) == before
    assert not (tmp_path / "outside/triplet").samefile(folder / "a")


@pytest.mark.parametrize("link", ["hardlink_to", "symlink_to"])
def test_a_file_outside_is_never_written(
    folder: Path, snapshots: Snapshots, tmp_path: Path, link: str
) -> None:
    """A hook's link to an outside file or folder is removed, and its target stays unchanged."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "a").write_text("theirs\n")
    before, held = contents_of(folder), contents_of(theirs)
    snapshot = snapshots.take()
    (folder / "d/a").unlink()
    getattr(folder / "d/a", link)(theirs / "a")
    shutil.rmtree(folder / "d/e")
    (folder / "d/e").symlink_to(theirs)
    snapshots.restore(snapshot)
    assert contents_of(folder) == before
    assert contents_of(theirs) == held


@pytest.mark.slow
def test_two_snapshots_are_put_back_in_either_order(folder: Path, snapshots: Snapshots) -> None:
    """Each of several snapshots can be restored at any time, any number of times."""
    known = []
    for change in (remake, turn_kinds, remove_all):
        age()
        known.append((snapshots.take(), contents_of(folder)))
        change(folder)
    for number in (0, 1, 2, 1, 0, 0, 2):
        age()
        snapshot, before = known[number]
        snapshots.restore(snapshot)
        assert contents_of(folder) == before


def test_several_folders_are_put_back_together(tmp_path: Path) -> None:
    """Names of one inode in two folders are one again, and a folder that did not exist is removed."""
    one, two, later = (tmp_path / name for name in ("one", "two", "later"))
    one.mkdir()
    two.mkdir(mode=0o700)
    (one / "a").write_text("a\n")
    (two / "a").hardlink_to(one / "a")
    with Snapshots([one, two, later, one], tmp_path / "store") as snapshots:
        before = contents_of(one, two)
        number = two.stat().st_ino
        snapshot = snapshots.take()
        (two / "a").unlink()
        two.chmod(0o755)
        (two / "a").write_text("another\n")
        later.mkdir()
        (later / "x").write_text("x")
        assert set(snapshots.restore(snapshot)) == {two, two / "a", later, later / "x"}
        assert contents_of(one, two, later) == before
        assert not later.exists()
        assert two.stat().st_ino == number


def test_a_folder_itself_that_is_gone_is_an_error(folder: Path, snapshots: Snapshots) -> None:
    """A missing folder is an error: a new one would not be the one that is mounted elsewhere."""
    snapshot = snapshots.take()
    folder.rename(folder.with_name("moved"))
    with pytest.raises(
        SnapshotError, match="the folder is gone: a new one is not what other programs have open"
    ):
        snapshots.restore(snapshot)
    folder.write_text("a file")
    with pytest.raises(SnapshotError, match="it is not a folder"):
        snapshots.restore(snapshot)


def test_a_folder_within_another_is_one_itself(folder: Path, tmp_path: Path) -> None:
    """A folder below another one is restored with it, and must exist too."""
    with Snapshots([folder / "d/e", folder, folder / "d"], tmp_path / "store") as snapshots:
        before = contents_of(folder)
        snapshot = snapshots.take()
        (folder / "d/e/a").unlink()
        (folder / "b").unlink()
        snapshots.restore(snapshot)
        assert contents_of(folder) == before
        shutil.rmtree(folder / "d/e")
        with pytest.raises(SnapshotError, match="d/e: the folder is gone"):
            snapshots.restore(snapshot)


@pytest.mark.parametrize("place", ["top/store", ".", "top"])
def test_a_store_in_the_folders_is_refused(folder: Path, tmp_path: Path, place: str) -> None:
    """The store must not lie in a folder that is restored."""
    with pytest.raises(SnapshotError, match="choose another store"):
        Snapshots([folder], tmp_path / place)


def test_a_store_that_is_there_already_is_refused(folder: Path, tmp_path: Path) -> None:
    """An existing folder is not used as the store, which is removed in the end."""
    (tmp_path / "store").mkdir()
    with pytest.raises(SnapshotError, match="it cannot be made: File exists"):
        Snapshots([folder], tmp_path / "store")


def test_a_large_file_must_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is too large to keep is left alone; its change is reported before anything is touched."""
    for module in (content_store, inventory):
        monkeypatch.setattr(module, "LARGEST", 1 << 20)
    folder = tmp_path / "top"
    folder.mkdir()
    (folder / "large").write_bytes(os.urandom(2 << 20))
    (folder / "a").write_text("a\n")
    with Snapshots([folder], tmp_path / "store") as snapshots:
        snapshot = snapshots.take()
        (folder / "a").write_text("changed\n")
        assert snapshots.restore(snapshot) == (folder / "a",)
        (folder / "a").write_text("changed again\n")
        with (folder / "large").open("ab") as stream:
            stream.write(b"more")
        with pytest.raises(SnapshotError, match="it is larger than 1 MiB") as caught:
            snapshots.restore(snapshot)
        assert caught.value.path == str(folder / "large")
        assert (folder / "a").read_text() == "changed again\n"
        # A file that did not exist before causes no error.
        later = snapshots.take()
        (folder / "second").write_bytes(os.urandom(2 << 20))
        assert set(snapshots.restore(later)) == {folder, folder / "second"}


def test_zeros_are_not_kept(folder: Path, snapshots: Snapshots, tmp_path: Path) -> None:
    """
    A gigabyte with five bytes in it costs the store next to nothing, and is restored with the same bytes.
    """
    snapshot = snapshots.take()
    assert sum(path.stat().st_blocks for path in (tmp_path / "store").iterdir()) * 512 < 1 << 20
    os.truncate(folder / "sparse", 10)
    snapshots.restore(snapshot)
    with (folder / "sparse").open("rb") as stream:
        assert stream.read(8) == b"begin\0\0\0"
    assert (folder / "sparse").stat().st_size == 1 << 30
    assert (folder / "sparse").stat().st_blocks * 512 < 1 << 20


def test_data_between_holes_is_put_back(tmp_path: Path) -> None:
    """Data between long runs of zeros is restored in place, whether the zeros were written or not."""
    folder = tmp_path / "top"
    folder.mkdir()
    places = (0, 262_143, 1 << 20, (3 << 20) + 5, (5 << 20) - 3)
    with (folder / "a").open("wb") as stream:
        for place in places:
            stream.seek(place)
            stream.write(b"%d" % place)
        stream.truncate((6 << 20) + 1)
    (folder / "written").write_bytes((folder / "a").read_bytes())
    for name, place in (("early", 1 << 20), ("late", 2 << 20)):
        with (folder / name).open("wb") as stream:
            stream.seek(place)
            stream.write(b"the same")
            stream.truncate(3 << 20)
    before = contents_of(folder)
    with Snapshots([folder], tmp_path / "store") as snapshots:
        snapshot = snapshots.take()
        # One copy for the two equal ones.
        assert len(list((tmp_path / "store").iterdir())) == 3
        for name in ("a", "early", "late"):
            (folder / name).write_bytes(b"x" * (7 << 20))
        (folder / "written").unlink()
        snapshots.restore(snapshot)
    assert contents_of(folder) == before


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537])
def test_contents_of_all_sizes_are_kept_once(tmp_path: Path, size: int) -> None:
    """Files of data and of zeros are restored, and the store holds one copy of each small content."""
    folder, store = tmp_path / "top", tmp_path / "store"
    folder.mkdir()
    for name, content in (("a", b"x" * size), ("b", b"x" * size), ("zeros", bytes(size))):
        (folder / name).write_bytes(content)
    before = contents_of(folder)
    with Snapshots([folder], store) as snapshots:
        snapshot = snapshots.take()
        if size <= 65_536:
            assert weigh(store) == size
            assert len(list(store.iterdir())) == 1
        else:
            assert weigh(store) == size * 2
        (folder / "a").write_bytes(b"y" * 100_000)
        (folder / "b").unlink()
        (folder / "zeros").write_bytes(b"z" * 10)
        snapshots.restore(snapshot)
        assert contents_of(folder) == before


@pytest.mark.parametrize("times", [1, 100_000])
def test_contents_are_freed_when_nobody_needs_them(
    folder: Path, snapshots: Snapshots, tmp_path: Path, times: int
) -> None:
    """Only what the named snapshots need stays in the store; restoring another one is an error."""
    store = tmp_path / "store"
    first = snapshots.take()
    little = weigh(store)
    last = first
    for number in range(5):
        (folder / "b").write_text(f"{number}\n" * times)
        last = snapshots.take()
    assert weigh(store) == little + 5 * 2 * times
    snapshots.keep(last)
    little += 2 * times - len("content of 'b'\n")
    assert weigh(store) == little
    with pytest.raises(SnapshotError, match=r"b: it differs from what it was: that was freed"):
        snapshots.restore(first)
    before = contents_of(folder)
    (folder / "b").write_text("once more\n")
    snapshots.take()
    assert weigh(store) == little + len("once more\n")
    remove_all(folder)
    snapshots.restore(last)
    assert contents_of(folder) == before
    snapshots.keep()
    assert list(store.iterdir()) == []
    again = snapshots.take()
    (folder / "a").write_text("changed")
    snapshots.restore(again)
    assert (folder / "a").read_text() == "content of 'a'\n"


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted as Linux shows them")
def test_nothing_stays_of_a_closed_store(folder: Path, tmp_path: Path) -> None:
    """After closing neither the store nor an open file of it is left."""
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    with Snapshots([folder], tmp_path / "store") as snapshots:
        snapshots.take()
        assert len(list(descriptors.iterdir())) == before + 1
    assert len(list(descriptors.iterdir())) == before
    assert not (tmp_path / "store").exists()


def overwrite(path: Path) -> None:
    """Write other bytes over a kept content."""
    with path.open("r+b") as stream:
        stream.write(b"x" * min(path.stat().st_size, 65_536))


@pytest.mark.parametrize("change", [overwrite, lambda path: os.truncate(path, 1)])
@pytest.mark.parametrize("times", [1, 100_000])
def test_a_kept_content_that_was_changed_is_not_written(
    folder: Path, snapshots: Snapshots, tmp_path: Path, times: int, change: Callable[[Path], object]
) -> None:
    """Bytes that another program writes into the store never reach the folders."""
    (folder / "b").write_text("b\n" * times)
    snapshot = snapshots.take()
    for path in (tmp_path / "store").iterdir():
        change(path)
    (folder / "b").write_text("changed")
    with pytest.raises(SnapshotError, match=r"b: it cannot be put back: its copy, .*, was changed"):
        snapshots.restore(snapshot)
    assert (folder / "b").read_text() == "changed"


COUNTING = """
import os, sys
from pathlib import Path
from pytest_hookharness.execution.snapshots.snapshot import Snapshots
top, store = map(Path, sys.argv[1:])
opened = []

def kept():
    return sum(path.stat().st_size for path in store.iterdir())

sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
snapshots = Snapshots([top], store)
snapshots.take()
# Now the last of them is old enough to be known by its times.
snapshot = snapshots.take()
(top / "500").write_text("changed")
opened.clear()
differed = snapshots.restore(snapshot)
print(len(differed), len(opened), kept())
(top / "500").write_text("changed")
opened.clear()
snapshots.take()
print(len(opened), kept(), len(os.listdir(store)))
"""


@pytest.mark.slow
def test_the_cost_follows_from_what_changed(tmp_path: Path) -> None:
    """If one of a thousand files changed, only that one is opened, and one more content is kept."""
    top = tmp_path / "top"
    top.mkdir()
    for number in range(1000):
        (top / str(number)).write_text(f"{number:2000}\n")
        os.utime(top / str(number), ns=(STAMP, STAMP))
    command = [sys.executable, "-c", COUNTING, str(top), str(tmp_path / "store")]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    back, again = (list(map(int, line.split())) for line in run.stdout.splitlines())
    # The folder and the file, both times; all copies are in one file, which stays open.
    assert back == [1, 2, 1000 * 2001]
    assert again == [2, 1000 * 2001 + len("changed"), 1]


NAMES = ("a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a", ODD)
# Without rights over the machine the test must still be able to look everywhere.
MODES = (0, 0o444, 0o600, 0o755, 0o4755) if os.geteuid() == 0 else (0o500, 0o555, 0o755, 0o4755)
names = st.sampled_from(NAMES)
operations = st.one_of(
    st.tuples(st.just("write"), names, st.sampled_from([b"one", b"two", b"three" * 30, b"four" * 20_000])),
    st.tuples(st.just("append"), names, st.sampled_from([b"1", b"2"])),
    st.tuples(st.just("chmod"), names, st.sampled_from(MODES)),
    st.tuples(st.sampled_from(["link", "rename", "symlink"]), names, names),
    st.tuples(st.sampled_from(["remove", "mkdir", "fifo", "stamp"]), names, st.none()),
    st.tuples(st.just("attribute"), names, st.sampled_from([b"", b"1"])),
)


def operate(top: Path, operation: tuple[str, str, Any]) -> None:
    """Do one thing to a folder, if it is possible."""
    kind, name, value = operation
    path = top / name
    is_link = path.is_symlink()
    with suppress(OSError):
        match kind:
            case "write" | "append" if not path.is_fifo():
                with path.open("wb" if kind == "write" else "ab") as stream:
                    stream.write(value)
                # As if nothing had happened, as far as times show.
                os.utime(path, ns=(STAMP, STAMP))
            case "chmod" if not is_link:
                path.chmod(value)
            case "link":
                os.link(path, top / value, follow_symlinks=False)
            case "rename":
                path.rename(top / value)
            case "symlink":
                (top / value).symlink_to(name)
            case "remove" if path.is_dir() and not is_link:
                shutil.rmtree(path)
            case "remove":
                path.unlink()
            case "mkdir":
                path.mkdir()
            case "fifo":
                os.mkfifo(path)
            case "stamp":
                os.utime(path, ns=(STAMP, STAMP), follow_symlinks=False)
            case "attribute":
                os.setxattr(path, "user.note", value)


some = st.lists(operations, max_size=12)


@pytest.mark.nightly
@settings(max_examples=150)
@given(some, some, some, st.permutations([0, 1]))
def test_whatever_is_done_is_put_back(
    first: list[Any], second: list[Any], third: list[Any], order: list[int]
) -> None:
    """
    After any operations each of two snapshots can be restored, and no path was touched that is not returned.
    """
    with tempfile.TemporaryDirectory() as base:
        top = Path(base, "top")
        top.mkdir()
        scanner = Scanner({"top": top})
        with closing(scanner), Snapshots([top], Path(base, "store")) as snapshots:
            known = []
            for steps in (first, second, third):
                for operation in steps:
                    operate(top, operation)
                scanner.scan()
                known.append((snapshots.take(), contents_of(top), scanner.touches.moment))
            for number in (*order, *order):
                snapshot, wanted, moment = known[number]
                scanner.scan()
                was, numbers = contents_of(top), inodes(top)
                returned = set(map(str, snapshots.restore(snapshot, scanner.touches.since(moment))))
                now, later = contents_of(top), inodes(top)
                assert now == wanted
                for path, entry in now.items():
                    # Except the names of its inode, which may be new although the path is not.
                    if path in returned:
                        assert path not in was or was[path] != entry
                        continue
                    assert was[path][:-1] == entry[:-1]
                    if was[path][-1] == entry[-1] and not stat.S_ISDIR(entry[0]):
                        assert later[Path(path)] == numbers[Path(path)]


@pytest.fixture
def plain_folder() -> Iterator[Path]:
    """A folder of a user without rights over the machine, as whom the test runs."""
    with tempfile.TemporaryDirectory(dir="/tmp") as base:
        if os.geteuid() != 0:
            yield Path(base)
            return
        os.chown(base, NOBODY, NOBODY)
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(base)
        finally:
            os.seteuid(0)
            os.setegid(0)


def test_missing_permissions_are_no_obstacle_to_their_owner(plain_folder: Path) -> None:
    """Without rights over the machine our own unreadable and read-only files are restored too."""
    top = plain_folder / "top"
    (top / "closed/inner").mkdir(parents=True)
    for name, mode in (("closed/inner/a", 0), ("closed/b", 0o400), ("c", 0o200)):
        (top / name).write_text(name)
        os.setxattr(top / name, "user.note", b"one")
        (top / name).chmod(mode)

    def close(mode: int) -> None:
        folders = (".", "closed", "closed/inner")
        for name in folders if mode else folders[::-1]:
            (top / name).chmod(mode)

    def seen() -> dict[str, tuple[Any, ...]]:
        close(0o700)
        os.utime(top, ns=(STAMP, STAMP))
        modes = {path: path.lstat().st_mode for path in top.rglob("*") if path.is_file()}
        for path in modes:
            path.chmod(0o600)
        found = contents_of(top)
        for path, mode in modes.items():
            path.chmod(mode)
        return found | {str(path): mode for path, mode in modes.items()}

    before = seen()
    close(0)
    with Snapshots([top], plain_folder / "store") as snapshots:
        snapshot = snapshots.take()
        assert stat.S_IMODE(top.stat().st_mode) == 0
        assert snapshots.restore(snapshot) == ()
        close(0o700)
        (top / "closed/inner/a").chmod(0o600)
        (top / "closed/inner/a").write_text("changed")
        (top / "closed/b").unlink()
        (top / "c").rename(top / "closed/inner/c")
        close(0o500)
        snapshots.restore(snapshot)
        assert stat.S_IMODE(top.stat().st_mode) == 0
        close(0o700)
        assert {stat.S_IMODE(path.stat().st_mode) for path in top.rglob("*")} == {0o700, 0, 0o400, 0o200}
    assert seen() == before
    close(0o700)


def test_a_list_that_shuts_out_its_owner_is_no_obstacle(plain_folder: Path) -> None:
    """A folder whose inherited access list locks its owner out is made again with everything in it."""
    top = plain_folder / "top"
    (top / "d/e").mkdir(parents=True)
    (top / "d/e/a").write_text("a\n")
    os.setxattr(top / "d", "system.posix_acl_default", LIST)
    before = contents_of(top)
    with Snapshots([top], plain_folder / "store") as snapshots:
        snapshot = snapshots.take()
        shutil.rmtree(top / "d/e")
        snapshots.restore(snapshot)
    assert contents_of(top) == before


@needs_root
def test_what_another_user_forbids_is_reported(plain_folder: Path) -> None:
    """An unreadable file of another user is left alone; once it changed, it is reported as not kept."""
    top = plain_folder / "top"
    top.mkdir()
    (top / "theirs").write_text("theirs\n")
    (top / "theirs").chmod(0o600)
    os.seteuid(0)
    os.chown(top / "theirs", 0, 0)
    os.seteuid(NOBODY)
    with Snapshots([top], plain_folder / "store") as snapshots:
        snapshot = snapshots.take()
        assert snapshots.restore(snapshot) == ()
        (top / "theirs").unlink()
        with pytest.raises(SnapshotError, match="that was not kept: it cannot be read: Permission denied"):
            snapshots.restore(snapshot)


@pytest.mark.slow
def test_a_new_sandbox_sees_what_was_put_back(isolating: Supervisor, tmp_path: Path) -> None:
    """For the next process no write of an earlier one exists, in covered or contained folders."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in ("kept", "gone"):
        (theirs / name).write_text(f"{name}\n")
    (theirs / "folder").mkdir()
    (theirs / "folder/x").write_text("x\n")
    with Workspace.create(Scenario(name="one", reach=(str(theirs),)), tmp_path / "base") as place:
        confinement = Confinement(
            tier=Tier.NAMESPACES,
            private=place.private,
            visible=place.visible,
            writable=place.writable,
            outside=str(place.outside),
        )

        def say(script: str) -> tuple[str, ...]:
            for used in ("root", "work"):
                if (place.outside / used).exists():
                    assert not remove_tree(place.outside / used)
            with isolating.open(confinement) as sandbox:
                if any("neither contained" in note for note in sandbox.notes):
                    pytest.skip(f"no overlays here: {sandbox.notes}")
                (run,) = sandbox.run([launch("sh", "-c", script, cwd="/")])
            return tuple((run.stdout.text + run.stderr.text).split())

        look = (
            f"cd {theirs}; cat kept gone folder/x new 2>/dev/null; ls -A . folder; cat {place.home}/a /tmp/a"
        )
        say(f"echo first > {theirs}/new; echo home > {place.home}/a; echo tmp > /tmp/a; mkdir {theirs}/b")
        folders = list(place.roots.values())
        with Snapshots(folders, tmp_path / "store") as snapshots:
            snapshot, seen = snapshots.take(), say(look)
            before = contents_of(*folders)
            say(
                f"cd {theirs}; rm gone; echo more >> kept; rm -r folder; mkdir folder; echo 2 > folder/y;"
                f"echo second > new; rmdir b; rm {place.home}/a; echo other > /tmp/a"
            )
            gone = Path(f"{place.roots['outside']}{theirs}/gone")
            assert stat.S_ISCHR(gone.lstat().st_mode)
            marks = os.listxattr(gone.with_name("folder"))
            assert any(mark.endswith(".overlay.opaque") for mark in marks)
            assert say(look) != seen
            assert snapshots.restore(snapshot)
            assert contents_of(*folders) == before
            assert say(look) == seen
            assert snapshots.restore(snapshot) == ()
        assert (theirs / "kept").read_text() == "kept\n"
