"""The disposal of workspaces, on real folders."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace import disposal
from pytest_hookharness.execution.workspace.disposal import Disposal


def test_the_name_is_free_at_once(tmp_path: Path) -> None:
    """A folder that was disposed of is away at once, and a new one may stand in its place."""
    folder = tmp_path / "base" / "item"
    with Disposal(tmp_path / "base" / ".removed") as disposal:
        for _ in range(40):
            (folder / "workspace").mkdir(parents=True)
            disposal.remove(folder)

    assert list((tmp_path / "base").iterdir()) == []


def test_folders_wait_for_the_end(tmp_path: Path) -> None:
    """Folders that take little space are only put aside; closing removes them."""
    aside = tmp_path / ".removed"
    with Disposal(aside) as disposal:
        for name in ("one", "other"):
            (tmp_path / name / "workspace").mkdir(parents=True)
            disposal.remove(tmp_path / name)
        assert sorted(path.name for path in aside.iterdir()) == ["1", "2"]

    assert list(tmp_path.iterdir()) == []


def test_many_folders_are_removed_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing removes many folders several at a time, for each may have to wait for the disk."""
    pairs, remove = threading.Barrier(2, timeout=60), disposal.remove_folder

    def remove_beside_another(folder: Path) -> None:
        pairs.wait()
        remove(folder)

    monkeypatch.setattr(disposal, "remove_folder", remove_beside_another)
    with Disposal(tmp_path / ".removed") as found:
        for name in range(40):
            (tmp_path / str(name) / "workspace").mkdir(parents=True)
            found.remove(tmp_path / str(name))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("many", [True, False])
def test_a_large_folder_is_removed_in_parts(tmp_path: Path, many: bool) -> None:
    """Of a folder with many others each is removed by itself, and all that is left with it."""
    folder, outside = tmp_path / "copy", tmp_path / "outside"
    outside.mkdir()
    for name in range(100 if many else 0):
        (folder / "source" / str(name) / "deep").mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    (folder / "file").touch()
    (folder / "link").symlink_to(outside)
    with Disposal(tmp_path / ".removed") as found:
        found.remove_large(folder)
        assert len([*(tmp_path / ".removed").iterdir()]) == (101 if many else 1)

    assert list(tmp_path.iterdir()) == [outside]


@pytest.mark.parametrize("most", [0, 1])
def test_folders_are_removed_without_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Many folders are removed, and what stays of one is reported, also where no further thread can start."""
    start, started, seen = threading.Thread.start, [], []
    remove = disposal.remove_folder

    def start_few(thread: threading.Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    def remove_all_but_one(folder: Path) -> None:
        remove(folder)
        seen.append(folder.name)
        if folder.name == "30":
            raise WorkspaceError(folder, "busy")

    monkeypatch.setattr(threading.Thread, "start", start_few)
    monkeypatch.setattr(disposal, "remove_folder", remove_all_but_one)
    found = Disposal(tmp_path / ".removed")
    for name in range(40):
        (tmp_path / str(name) / "workspace").mkdir(parents=True)
        found.remove(tmp_path / str(name))
    with pytest.raises(WorkspaceError, match="busy"):
        found.close()

    assert list(tmp_path.iterdir()) == []
    assert {*seen} == {str(name) for name in range(1, 41)}


@pytest.mark.slow
@pytest.mark.parametrize("seconds_for_a_removal", [0, 0.02])
def test_a_disk_that_fills_up_is_freed_at_once(tmp_path: Path, seconds_for_a_removal: float) -> None:
    """As soon as folders put aside take a tenth of what was free they are removed, also by a slow disk."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from pytest_hookharness.execution.workspace import disposal\n"
        "remove = disposal.remove_folder\n"
        "def remove_slowly(folder): time.sleep(float(sys.argv[2])); remove(folder)\n"
        "disposal.remove_folder = remove_slowly\n"
        "base = Path(sys.argv[1])\n"
        "with disposal.Disposal(base / '.removed') as found:\n"
        "    for number in range(40):\n"
        "        item = base / 'item'\n"
        "        item.mkdir()\n"
        "        (item / 'large').write_bytes(bytes(1 << 20))\n"
        "        found.remove(item)\n"
        "print('done')\n"
    )
    command = f'mount -t tmpfs -o size=24m none "{tmp_path}" && exec "$@"'
    words = [sys.executable, "-c", code, str(tmp_path), str(seconds_for_a_removal)]
    run = subprocess.run(
        ["unshare", "-rm", "sh", "-c", command, "sh", *words], capture_output=True, text=True, check=False
    )
    if "unshare" in run.stderr or "mount:" in run.stderr:
        pytest.skip("no namespaces here")

    assert (run.stdout, run.stderr) == ("done\n", "")


def test_a_folder_that_cannot_be_moved_is_removed(tmp_path: Path) -> None:
    """Where no folder for what is removed can be made, removal takes place at once."""
    (tmp_path / "file").touch()
    (tmp_path / "item" / "workspace").mkdir(parents=True)
    with Disposal(tmp_path / "file" / ".removed") as disposal:
        disposal.remove(tmp_path / "item")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_stays_is_reported(tmp_path: Path) -> None:
    """What could not be removed is named when the disposal is closed, and all the rest is removed."""
    mounted, other = tmp_path / "mounted", tmp_path / "other"
    (mounted / "busy").mkdir(parents=True)
    other.mkdir()
    code = (
        "import sys; from pathlib import Path\n"
        "from pytest_hookharness.execution.workspace import disposal\n"
        "with disposal.Disposal(Path(sys.argv[1])) as found:\n"
        "    for name in sys.argv[2:]: found.remove(Path(name))\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / ".removed"), str(mounted), str(other)]
    mount = f'mount -t tmpfs none "{mounted}/busy" && exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", mount, "sh", *words]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare" in run.stderr or "mount:" in run.stderr:
        pytest.skip("no namespaces here")

    assert "WorkspaceError" in run.stderr
    assert f"{tmp_path}/.removed/1/busy: Device or resource busy" in run.stderr
    assert [path.name for path in (tmp_path / ".removed").iterdir()] == ["1"]
