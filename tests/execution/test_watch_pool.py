"""Watches that are used one after the other."""

import sys
from pathlib import Path

import pytest

from pytest_hookharness.execution.platform.linux_inotify import InotifyPool
from pytest_hookharness.execution.state.scan import Scanner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports what was touched")


@pytest.fixture
def watches():
    kept = InotifyPool()
    yield kept
    kept.close()


def descriptors():
    return {link.name for link in Path("/proc/self/fd").iterdir() if "inotify" in _name(link)}


def _name(link):
    try:
        return str(link.readlink())
    except OSError:
        return ""


def test_second_user_sees_its_own_folder_only(tmp_path, watches):
    """A watch that was used before reports changes in the new folder and none in the old one."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "file").write_text("before")
    first = Scanner({"workspace": old}, watches=watches)
    first.scan()
    (old / "file").write_text("not looked at any more")
    first.close()
    before = descriptors()

    second = Scanner({"workspace": new}, watches=watches)
    entries = second.scan()
    (old / "file").write_text("nobody's business")
    same = second.scan()
    (new / "file").write_text("after")
    changed = second.scan()
    second.close()

    assert descriptors() == before
    assert same is entries
    assert changed["workspace/file"] != entries["workspace/file"]


def test_two_users_at_once(tmp_path, watches):
    """Two scanners that are open at the same time have a watch each."""
    scanners = [Scanner({"workspace": tmp_path}, watches=watches) for _ in range(2)]
    firsts = [scanner.scan() for scanner in scanners]
    (tmp_path / "made").write_text("x")

    seen = [scanner.scan() for scanner in scanners]
    for scanner in scanners:
        scanner.close()

    assert all("workspace/made" in entries for entries in seen)
    assert all("workspace/made" not in entries for entries in firsts)


def test_nothing_stays_open(tmp_path, watches):
    """When the pool is closed, no descriptor of it is left."""
    before = descriptors()
    Scanner({"workspace": tmp_path}, watches=watches).close()
    kept = descriptors()

    watches.close()

    assert len(kept - before) == 1
    assert descriptors() == before
