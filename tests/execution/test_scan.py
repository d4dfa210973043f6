"""What the scan of the covered files sees, with and without reports of the system about touched paths."""

from __future__ import annotations

import os
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import time_ns

import pytest

from pytest_hookharness.execution.platform.linux_inotify import InotifyWatch
from pytest_hookharness.execution.state import survey
from pytest_hookharness.execution.state.masking import Hidden, Masking
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.state.survey import Survey
from pytest_hookharness.model.scenario import Mask
from pytest_hookharness.model.trace import StateEntry

from .toys import watches

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("x = 1\n")
    (folder / "notes").write_text("one")
    return folder


@pytest.fixture(params=[True, False], ids=["watched", "unwatched"])
def scanner(root: Path, request: pytest.FixtureRequest) -> Iterator[Scanner]:
    opened = Scanner({"workspace": root}, watches=watches(request.param))
    if request.param and not opened.watching:
        pytest.skip("needs Linux: the kernel does not report which files were touched")
    assert opened.watching is request.param
    opened.scan()
    yield opened
    opened.close()


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs: the superuser may read everything."""
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


def differing(scanner: Scanner, before: dict[str, StateEntry] | None = None) -> set[str]:
    """Return the paths that differ since the last scan, which must be what a full reading finds as well."""
    old = dict(scanner._published[1]) if before is None else before
    new = dict(scanner.scan())
    assert new == dict(scanner.verify())
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def test_entries_say_kind_mode_and_content(root: Path) -> None:
    """A scan lists the root itself, folders, files, links and other kinds."""
    (root / "link").symlink_to("nowhere")
    os.mkfifo(root / "pipe", 0o600)
    root.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        entries = Scanner({"workspace": root}).scan()
    assert {path: entry.kind for path, entry in entries.items()} == {
        "workspace": "folder",
        "workspace/src": "folder",
        "workspace/src/app.py": "file",
        "workspace/notes": "file",
        "workspace/link": "link",
        "workspace/pipe": "other",
        "workspace/socket": "other",
    }
    assert entries["workspace"] == StateEntry("folder", 0o755, "")
    assert entries["workspace/link"].content == "nowhere"
    assert entries["workspace/pipe"] == StateEntry("other", 0o600, "pipe")


def test_nothing_touched_gives_the_same_mapping(scanner: Scanner) -> None:
    """As long as nothing differs, every scan returns the same mapping object."""
    assert scanner.scan() is scanner.scan()


def test_the_mapping_cannot_be_changed(scanner: Scanner) -> None:
    """Entries that were returned never change."""
    entries = scanner.scan()
    with pytest.raises(TypeError):
        entries["workspace"] = StateEntry("file", 0, "")  # type: ignore[index]


def test_writing_the_same_content_again_is_no_difference(scanner: Scanner, root: Path) -> None:
    """A file that is written with the content it had gives the same mapping object."""
    before = scanner.scan()
    (root / "notes").write_text("two")
    (root / "notes").write_text("one")
    os.utime(root / "notes", (1, 1))
    assert differing(scanner) == set()
    assert dict(before) == dict(scanner.scan())


def test_every_rewrite_of_the_same_size_is_seen(scanner: Scanner, root: Path) -> None:
    """Two hundred rewrites of equal size, one directly after the other, are all seen."""
    seen = set()
    for number in range(200):
        (root / "notes").write_text(f"{number:03}")
        seen.add(scanner.scan()["workspace/notes"].content)
    assert len(seen) == 200


def test_a_recent_file_is_read_again_although_its_times_are_equal(root: Path) -> None:
    """Where the clock of the file system is coarse, a file written twice within one tick is still seen."""
    known = Survey(Masking(()), Hidden(), {})
    place = root / "notes"
    place.write_text("aaa")
    status = os.lstat(place)
    known.note(str(place), "workspace/notes", status)
    before = known.entries["workspace/notes"]
    place.write_text("bbb")
    known.note(str(place), "workspace/notes", status)
    assert known.entries["workspace/notes"] != before


def test_an_old_file_is_not_read_again(root: Path) -> None:
    """A file with equal times that are older than the last reading is not read a second time."""
    known = Survey(Masking(()), Hidden(), {})
    place = root / "notes"
    real = os.lstat(place)
    old = os.stat_result(tuple(real)[:10], {"st_ctime_ns": 1, "st_mtime_ns": 1})
    known.note(str(place), "workspace/notes", old)
    before = known.entries["workspace/notes"]
    place.write_text("two")
    known.note(str(place), "workspace/notes", old)
    assert known.entries["workspace/notes"] is before


def test_a_time_that_is_set_back_hides_nothing(scanner: Scanner, root: Path) -> None:
    """A rewrite whose time of modification is set back is seen."""
    before = (root / "notes").stat()
    (root / "notes").write_text("two")
    os.utime(root / "notes", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert differing(scanner) == {"workspace/notes"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reads files without a trace")
def test_a_scan_leaves_the_times_of_access(root: Path) -> None:
    """A file that a scan reads keeps its time of access, also where that is long before its last change."""
    (root / "a").write_text("text")
    os.utime(root / "a", ns=(0, time_ns()))
    with closing(Scanner({"workspace": root})) as opened:
        opened.verify()
    assert (root / "a").stat().st_atime_ns == 0


def test_new_nested_folders_are_seen(scanner: Scanner, root: Path) -> None:
    """A file in a new folder in a new folder is seen, and so is its next change."""
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "deep").write_text("1")
    assert differing(scanner) == {"workspace/a", "workspace/a/b", "workspace/a/b/deep"}
    (root / "a" / "b" / "deep").write_text("2")
    assert differing(scanner) == {"workspace/a/b/deep"}


def test_a_renamed_folder_is_seen(scanner: Scanner, root: Path) -> None:
    """A renamed folder is gone under its old name and there under its new one, and watched there."""
    (root / "src").rename(root / "lib")
    assert differing(scanner) == {
        "workspace/src", "workspace/src/app.py", "workspace/lib", "workspace/lib/app.py"
    }  # fmt: skip
    (root / "lib" / "app.py").write_text("x = 2\n")
    assert differing(scanner) == {"workspace/lib/app.py"}


def test_folders_that_change_places_are_seen(scanner: Scanner, root: Path) -> None:
    """Two folders that swap their names are both listed again."""
    (root / "other").mkdir()
    (root / "other" / "new.py").write_text("y = 1\n")
    scanner.scan()
    for old, new in (("src", "aside"), ("other", "src"), ("aside", "other")):
        (root / old).rename(root / new)
    assert differing(scanner) == {
        f"workspace/{path}" for path in ("src/app.py", "src/new.py", "other/app.py", "other/new.py")
    }
    (root / "src" / "new.py").write_text("y = 2\n")
    assert differing(scanner) == {"workspace/src/new.py"}


def test_a_folder_moved_out_is_watched_no_more(scanner: Scanner, root: Path, tmp_path: Path) -> None:
    """Changes in a folder after it left the root are no difference."""
    (root / "src").rename(tmp_path / "away")
    assert differing(scanner) == {"workspace/src", "workspace/src/app.py"}
    assert scanner._watch is None or set(scanner._watch.own._folders.values()) == {str(root)}
    (tmp_path / "away" / "app.py").write_text("x = 3\n")
    assert differing(scanner) == set()


def test_a_folder_made_anew_is_seen(scanner: Scanner, root: Path) -> None:
    """A folder that is removed and made again under the same name is listed again."""
    (root / "src" / "app.py").unlink()
    (root / "src").rmdir()
    (root / "src").mkdir()
    (root / "src" / "main.py").write_text("")
    assert differing(scanner) == {"workspace/src/app.py", "workspace/src/main.py"}


def test_a_root_that_goes_and_comes_back_is_seen(scanner: Scanner, root: Path, tmp_path: Path) -> None:
    """A root that is removed has no entries, and is covered again when it is back."""
    root.rename(tmp_path / "away")
    assert scanner.scan() == {}
    root.mkdir()
    (root / "fresh").write_text("1")
    assert set(scanner.scan()) == {"workspace", "workspace/fresh"}
    (root / "fresh").write_text("2")
    assert differing(scanner) == {"workspace/fresh"}


def test_a_root_that_is_made_anew_is_seen(scanner: Scanner, root: Path, tmp_path: Path) -> None:
    """A root that is removed and made again between two scans is listed again."""
    root.rename(tmp_path / "away")
    root.mkdir()
    (root / "fresh").write_text("1")
    assert set(scanner.scan()) == {"workspace", "workspace/fresh"}
    (root / "fresh").write_text("2")
    assert differing(scanner) == {"workspace/fresh"}


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "notes").chmod(0o640),
        lambda root: (root / "notes").unlink(),
        lambda root: os.truncate(root / "notes", 1),
        lambda root: (root / "src" / "app.py").replace(root / "notes"),
        lambda root: (root / "src").chmod(0o700),
        lambda root: root.chmod(0o700),
        lambda root: (root / "new").touch(),
    ],
    ids=["mode", "removal", "truncation", "replacement", "mode-of-folder", "mode-of-root", "empty-file"],
)
def test_every_kind_of_change_is_seen(scanner: Scanner, root: Path, change: object) -> None:
    """Modes, removals, truncations, replacements and empty files are seen."""
    change(root)
    assert differing(scanner)


def test_a_retargeted_link_is_seen(scanner: Scanner, root: Path) -> None:
    """A link with another target differs, and the target is not followed."""
    (root / "link").symlink_to("src")
    assert differing(scanner) == {"workspace/link"}
    (root / "link").unlink()
    (root / "link").symlink_to("notes")
    assert differing(scanner) == {"workspace/link"}


def test_a_folder_that_becomes_a_file_loses_its_content(scanner: Scanner, root: Path) -> None:
    """When a file replaces a folder, everything below it is dropped."""
    (root / "src" / "app.py").unlink()
    (root / "src").rmdir()
    (root / "src").write_text("now a file")
    assert differing(scanner) == {"workspace/src", "workspace/src/app.py"}
    assert scanner.scan()["workspace/src"].kind == "file"


def test_a_write_through_another_name_in_a_root_is_seen(scanner: Scanner, root: Path) -> None:
    """A file with two names differs under both when it is written under one, whichever was first."""
    os.link(root / "notes", root / "src" / "alias")
    assert differing(scanner) == {"workspace/src/alias"}
    (root / "src" / "alias").write_text("two")
    assert differing(scanner) == {"workspace/src/alias", "workspace/notes"}
    (root / "notes").write_text("three")
    assert differing(scanner) == {"workspace/src/alias", "workspace/notes"}


def test_a_write_through_a_name_outside_is_seen_where_the_other_name_was_known(
    root: Path, tmp_path: Path
) -> None:
    """A file that had a second name outside of the root when it was read is looked at in every scan."""
    os.link(root / "notes", tmp_path / "alias")
    scanner = Scanner({"workspace": root})
    scanner.scan()
    (tmp_path / "alias").write_text("two")
    assert differing(scanner) == {"workspace/notes"}
    scanner.close()


def test_a_write_through_an_unknown_name_outside_is_seen_by_the_full_reading(
    root: Path, tmp_path: Path
) -> None:
    """The full reading finds a write through a second name outside of the root, which no report shows."""
    scanner = Scanner({"workspace": root})
    before = scanner.scan()
    os.link(root / "notes", tmp_path / "alias")
    (tmp_path / "alias").write_text("two")
    assert scanner.verify() != before
    scanner.close()


def test_a_write_into_mapped_memory_is_seen_once_its_process_ended(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A write through a memory mapping is seen after its process ended, although the file's times are equal.
    """
    # As if each scan came an hour later, when all files are old.
    monkeypatch.setattr(survey.time, "time_ns", lambda: time_ns() + 3_600_000_000_000)
    scanner = Scanner({"workspace": root})
    scanner.scan()
    program = (
        "import mmap,sys\nf=open(sys.argv[1],'r+b')\nm=mmap.mmap(f.fileno(),3)\nf.close()\n"
        "m[0:3]=b'abc'\nprint(flush=True)\nsys.stdin.readline()\nm[0:3]=b'xyz'\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(root / "notes")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        scanner._since.paths.add(str(root / "notes"))
        scanner.scan()
        process.communicate(b"\n")
    assert (root / "notes").read_text() == "xyz"
    assert differing(scanner) == {"workspace/notes"}
    scanner.close()


def test_names_may_be_anything(scanner: Scanner, root: Path) -> None:
    """Names with line ends, and with bytes that are not text, are entries like any other."""
    (root / "a\nb").write_text("1")
    (root / os.fsdecode(b"\xff")).touch()
    assert differing(scanner) == {"workspace/a\nb", "workspace/\udcff"}


def test_a_named_pipe_is_never_opened(scanner: Scanner, root: Path) -> None:
    """A named pipe without a writer does not block the scan."""
    os.mkfifo(root / "pipe")
    assert differing(scanner) == {"workspace/pipe"}


def test_the_end_of_a_large_file_counts(scanner: Scanner, root: Path) -> None:
    """In a file of several megabytes the last byte counts."""
    content = bytearray(3 << 20)
    (root / "large").write_bytes(content)
    scanner.scan()
    content[-1] = 1
    (root / "large").write_bytes(content)
    assert differing(scanner) == {"workspace/large"}


@pytest.mark.slow
def test_more_changes_than_the_system_keeps_are_found(root: Path) -> None:
    """When there were more changes than the system keeps, every file is looked at again."""
    limit = Path("/proc/sys/fs/inotify/max_queued_events")
    if not limit.exists() or int(limit.read_text()) > 50_000:
        pytest.skip("the system keeps too many events for this")
    (root / "many").mkdir()
    for folder in ("src", "many"):
        (root / folder).chmod(0o700)
    scanner = Scanner({"workspace": root})
    scanner.scan()
    for number in range(int(limit.read_text()) + 10):
        # Alternating, because the system merges equal events.
        (root / "src" if number % 2 else root / "many").chmod(0o700)
    (root / "notes").write_text("two")
    scanner._read_events()
    assert scanner._since.lost
    assert differing(scanner) == {"workspace/notes"}
    scanner.close()


def test_without_more_watches_everything_is_looked_at(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the system has no more watches, the scan continues without them and misses nothing."""

    def refuse(self: InotifyWatch, path: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(InotifyWatch, "add_folder", refuse)
    scanner = Scanner({"workspace": root})
    scanner.scan()
    assert not scanner.watching
    (root / "notes").write_text("two")
    assert differing(scanner) == {"workspace/notes"}


def test_roots_inside_others_are_listed_once(root: Path) -> None:
    """A root below another one, or the same one twice, is covered under the outer name alone."""
    scanner = Scanner({"workspace": root, "inner": root / "src", "again": root})
    assert {path.partition("/")[0] for path in scanner.scan()} == {"workspace"}
    (root / "src" / "app.py").write_text("x = 2\n")
    assert differing(scanner) == {"workspace/src/app.py"}
    scanner.close()


def test_a_path_that_two_roots_may_have_is_forgotten_once_neither_has_it(tmp_path: Path) -> None:
    """What is removed below the state path of another root is forgotten, and what is there is kept."""
    roots = {"outside": tmp_path / "upper", "outside/root": tmp_path / "private"}
    for place in ("upper/root/cache", "private/cache"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / place.partition("/")[0]).write_text("1")
    with closing(Scanner(roots, walked=("outside",))) as made:
        assert {"outside/root/cache/upper", "outside/root/cache/private"} <= made.scan().keys()
        (tmp_path / "upper/root/cache/upper").unlink()
        found = made.scan()
        assert "outside/root/cache/upper" not in found
        assert found == made.verify()
        assert "outside/root/cache/private" in found


def test_stubs_do_not_count_but_what_is_below_them_does(root: Path) -> None:
    """A path that is skipped is never an entry itself; its content is."""
    stub = root / "stub"
    scanner = Scanner({"workspace": root})
    scanner.skip([str(stub)])
    scanner.scan()
    stub.mkdir()
    assert differing(scanner) == set()
    (stub / "file").write_text("1")
    assert differing(scanner) == {"workspace/stub/file"}
    (stub / "file").unlink()
    stub.rmdir()
    assert differing(scanner) == {"workspace/stub/file"}
    scanner.close()


def test_what_cannot_be_read_makes_the_state_opaque(plain_user: Path) -> None:
    """An unreadable file or folder is an entry that shows it, and the scan gives the reason meanwhile."""
    (plain_user / "folder").mkdir()
    (plain_user / "secret").write_text("1")
    (plain_user / "secret").chmod(0)
    (plain_user / "folder").chmod(0)
    scanner = Scanner({"workspace": plain_user})
    entries = scanner.scan()
    assert entries["workspace/secret"].content == "unreadable:EACCES"
    assert entries["workspace/folder"].content == "unreadable:EACCES"
    assert scanner.opaque == "; ".join(
        f"workspace/{name} cannot be read: Permission denied" for name in ("folder", "secret")
    )
    (plain_user / "secret").chmod(0o600)
    (plain_user / "folder").chmod(0o700)
    (plain_user / "folder" / "inside").write_text("1")
    assert "workspace/folder/inside" in scanner.scan()
    assert not scanner.opaque
    (plain_user / "folder" / "inside").write_text("2")
    assert differing(scanner) == {"workspace/folder/inside"}
    scanner.close()


def test_modes_of_links_and_set_bits_count(scanner: Scanner, root: Path) -> None:
    """All permission bits count, also those beyond read, write and execute."""
    (root / "notes").chmod(0o1644)
    assert stat.S_IMODE((root / "notes").stat().st_mode) == 0o1644
    assert differing(scanner) == {"workspace/notes"}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    place = tmp_path / "root" / "transcript.jsonl"
    place.parent.mkdir()
    place.write_text("{}\n")
    return place


@pytest.fixture
def reader(transcript: Path) -> Iterator[Scanner]:
    opened = Scanner({"home": transcript.parent}, transcripts=[transcript])
    if not opened.watching:
        pytest.skip("this system does not report who opens a file")
    opened.scan()
    yield opened
    opened.close()


def test_a_reader_of_the_transcript_is_seen(reader: Scanner, transcript: Path) -> None:
    """A process that opens the transcript, under any name, is seen once."""
    assert reader.opened(transcript) is False
    subprocess.run(["cat", transcript], check=True, stdout=subprocess.DEVNULL)
    assert reader.opened(transcript) is True
    assert reader.opened(transcript) is False
    (transcript.parent / "link").symlink_to(transcript)
    subprocess.run(["cat", transcript.parent / "link"], check=True, stdout=subprocess.DEVNULL)
    assert reader.opened(transcript) is True


def test_our_own_write_and_scan_do_not_count_as_reading(reader: Scanner, transcript: Path) -> None:
    """
    Neither an append that was declared as the harness's own nor a scan counts as opening the transcript.
    """
    with transcript.open("a") as stream:
        stream.write("{}\n")
    reader.settle()
    reader.scan()
    reader.verify()
    assert reader.opened(transcript) is False


def test_a_reader_before_a_scan_is_not_forgotten(reader: Scanner, transcript: Path) -> None:
    """An opening of the transcript is still known after the next scan."""
    transcript.read_text()
    reader.scan()
    reader.verify()
    assert reader.opened(transcript) is True


def test_looking_at_the_name_alone_is_not_opening(reader: Scanner, transcript: Path) -> None:
    """Asking for the size of the transcript does not count as opening."""
    subprocess.run(["test", "-s", transcript], check=True)
    assert reader.opened(transcript) is False


def test_a_replaced_transcript_counts_as_opened(reader: Scanner, transcript: Path) -> None:
    """A transcript that is replaced was touched, and the new one is watched."""
    (transcript.parent / "new").write_text("")
    (transcript.parent / "new").replace(transcript)
    assert reader.opened(transcript) is True
    assert reader.opened(transcript) is False
    transcript.read_text()
    assert reader.opened(transcript) is True


def test_a_transcript_that_comes_later_is_watched_from_then_on(tmp_path: Path) -> None:
    """No process opens a transcript before it exists; one that the harness writes is watched from then on."""
    scanner = Scanner({"home": tmp_path}, transcripts=[tmp_path / "later"])
    assert scanner.opened(tmp_path / "later") is False
    (tmp_path / "later").write_text("{}")
    scanner.settle()
    assert scanner.opened(tmp_path / "later") is False
    (tmp_path / "later").read_text()
    assert scanner.opened(tmp_path / "later") is True
    scanner.close()


def test_what_cannot_be_seen_is_unknown(root: Path) -> None:
    """Without reports of the system, and for a file that was not watched, the answer is unknown."""
    unwatched = Scanner({"workspace": root}, watches=watches(False), transcripts=[root / "notes"])
    assert unwatched.opened(root / "notes") is None
    scanner = Scanner({"workspace": root})
    assert scanner.opened(root / "notes") is None
    scanner.close()


def test_what_is_left_out_is_not_read_until_it_is_asked_for(root: Path) -> None:
    """A path that is left out is no entry, and its changes show when it is no longer left out."""
    for watch in (True, False):
        scanner = Scanner({"workspace": root}, watches=watches(watch))
        scanner.scan(without={"workspace/notes"})
        assert "workspace/notes" not in scanner._survey.entries
        before = dict(scanner.scan())
        (root / "notes").write_text(f"two {watch}")
        assert "workspace/notes" not in scanner.scan(without={"workspace/notes"})
        assert "workspace/notes" not in scanner.verify(without={"workspace/notes"})
        assert differing(scanner, before) == {"workspace/notes"}
        scanner.close()


def test_masks_reach_the_scan(root: Path) -> None:
    """A masked difference is none, and the scan reports for the rest of the run where one was hidden."""
    masks = [Mask(file="workspace/*.json", keys=("time",)), Mask(file="transcript"), Mask(file="absent")]
    scanner = Scanner({"workspace": root}, masks=masks, transcripts=[root / "src" / "app.py"])
    (root / "state.json").write_text('{"time": 1, "n": 1}')
    scanner.scan()
    assert scanner.masked == frozenset()
    (root / "state.json").write_text('{"time": 2, "n": 1}')
    (root / "src" / "app.py").write_text("anything")
    assert differing(scanner) == set()
    assert scanner.masked == {"workspace/state.json", "workspace/src/app.py"}
    (root / "state.json").write_text('{"time": 2, "n": 2}')
    assert differing(scanner) == {"workspace/state.json"}
    (root / "state.json").write_text("{no json")
    scanner.scan()
    assert "workspace/state.json is not JSON" in scanner.unapplied[0]
    (root / "state.json").unlink()
    scanner.scan()
    assert scanner.masked == {"workspace/state.json", "workspace/src/app.py"}
    assert scanner.unapplied == ()
    scanner.close()


def test_a_mask_hides_between_any_two_looks(scanner: Scanner, root: Path) -> None:
    """
    A hidden difference is reported also if the file was away, or something unmasked differed, in between.
    """
    scanner.close()
    masks = [Mask(file="workspace/*.json", keys=("time",))]
    masked = Scanner({"workspace": root}, masks=masks, watches=watches(scanner.watching))
    away, other, same = (root / f"{name}.json" for name in ("away", "other", "same"))
    for time in (1, 2, 3):
        away.unlink(missing_ok=True)
        other.write_text(f'{{"time": {time}, "n": {time % 2}}}')
        same.write_text(f'{{"time": 1, "n": {time}}}')
        masked.scan()
        away.write_text(f'{{"time": {time}}}')
        masked.scan()
    assert masked.masked == {"workspace/away.json", "workspace/other.json"}
    masked.close()


def test_what_cannot_be_named_makes_the_state_opaque(
    scanner: Scanner, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path longer than the system accepts is an entry that shows it."""
    monkeypatch.chdir(root)
    for _ in range(25):
        Path("d" * 200).mkdir()
        monkeypatch.chdir("d" * 200)
    scanner.scan()
    assert "File name too long" in scanner.opaque
    assert any(entry.content == "unreadable:ENAMETOOLONG" for entry in scanner.verify().values())


def test_names_that_can_be_read_but_not_looked_at_make_the_state_opaque(plain_user: Path) -> None:
    """In a folder that may be listed and not entered, every name is an entry that shows it."""
    (plain_user / "folder").mkdir()
    (plain_user / "folder" / "file").write_text("1")
    (plain_user / "folder").chmod(0o400)
    scanner = Scanner({"workspace": plain_user})
    assert scanner.scan()["workspace/folder/file"].content == "unreadable:EACCES"
    assert scanner.opaque == "workspace/folder/file cannot be read: Permission denied"
    (plain_user / "folder").chmod(0o700)
    assert scanner.scan()["workspace/folder/file"].kind == "file"
    assert not scanner.opaque
    scanner.close()


@pytest.mark.parametrize("masks", [(), (Mask(file="workspace/large", keys=("a",)),)], ids=["whole", "masked"])
def test_a_file_that_is_too_large_is_not_read(root: Path, masks: tuple[Mask, ...]) -> None:
    """A file of any size is handled within a moment, and the state is unknown while it exists."""
    (root / "large").touch()
    os.truncate(root / "large", 1 << 40)
    scanner = Scanner({"workspace": root}, masks=masks)
    assert scanner.scan()["workspace/large"].content == "unreadable:EFBIG"
    assert scanner.opaque == "workspace/large cannot be read: it is larger than 256 MiB"
    os.truncate(root / "large", 1 << 10)
    scanner.scan()
    assert not scanner.opaque
    scanner.close()


def test_extended_attributes_count(scanner: Scanner, root: Path) -> None:
    """An attribute that is set, changed or removed on a file or folder differs."""
    before = dict(scanner.scan())
    for place, path in ((root / "notes", "workspace/notes"), (root / "src", "workspace/src")):
        for value in (b"1", b"2"):
            try:
                os.setxattr(place, "user.count", value)
            except OSError as error:
                pytest.skip(f"no extended attributes here: {error.strerror}")
            assert differing(scanner) == {path}
        os.removexattr(place, "user.count")
        assert differing(scanner) == {path}
    assert before == dict(scanner.scan())


def test_marks_of_an_overlay_do_not_count(scanner: Scanner, root: Path) -> None:
    """The attributes that an overlay sets for itself are no difference."""
    try:
        os.setxattr(root / "notes", "user.overlay.origin", b"1")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error.strerror}")
    assert differing(scanner) == set()


def test_access_lists_count(scanner: Scanner, root: Path) -> None:
    """A changed access list differs although the mode does not."""
    entries = [(0x01, 6, -1), (0x02, 0, NOBODY), (0x04, 4, -1), (0x10, 4, -1), (0x20, 4, -1)]
    (root / "notes").chmod(0o644)
    scanner.scan()
    lists = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(root / "notes", "system.posix_acl_access", lists)
    except OSError as error:
        pytest.skip(f"no access lists here: {error.strerror}")
    assert stat.S_IMODE((root / "notes").stat().st_mode) == 0o644
    assert differing(scanner) == {"workspace/notes"}


def test_owners_count(scanner: Scanner, root: Path) -> None:
    """A file or a folder of another user differs from one of ours, and so does a new group."""
    if os.geteuid() != 0:
        pytest.skip("only the superuser may give a file away")
    for name in ("notes", "src"):
        for owner in ((NOBODY, 0), (0, NOBODY), (0, 0)):
            os.chown(root / name, *owner)
            assert differing(scanner) == {f"workspace/{name}"}


def test_an_empty_folder_that_nobody_watches_is_listed_once_something_is_in_it(tmp_path: Path) -> None:
    """A folder that was empty for long is listed again as soon as something is made in it."""
    root = tmp_path / "root"
    root.mkdir()
    scanner = Scanner({"outside": root}, walked=("outside",))
    begun = time_ns()
    while time_ns() < begun + 50_000_000:
        assert [*scanner.scan()] == ["outside"]
    (root / "src").mkdir()
    assert differing(scanner) == {"outside/src"}
    (root / "src/file").write_text("one")
    assert differing(scanner) == {"outside/src/file"}
    scanner.close()
