"""What hook runs of one repetition read that could make a later one go another way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_hookharness.execution.platform.linux_kernel_paths import LINUX_PATHS
from pytest_hookharness.judging.recurrence.influences import KnownPaths, find_influences
from pytest_hookharness.model.reads import (
    FileWrite,
    Influences,
    LookKind,
    Mention,
    PathLook,
    ProgramReads,
    Reads,
    ReadSource,
    SourceKind,
)

N, LOG, HELD, MARK, FOLDER = "/w/n", "/w/log", "/w/held", "/w/mark", "/w"
AROUND = KnownPaths(
    kernel=LINUX_PATHS,
    names={path: f"workspace/{path[3:]}".rstrip("/") for path in (N, LOG, HELD, MARK, FOLDER)},
    changed=frozenset({N, LOG, MARK}),
    moving=frozenset({MARK}),
    relisted=frozenset({FOLDER}),
    rewritten=frozenset({N, LOG, HELD, FOLDER}),
    foreign=frozenset({"/var/lib/new", "/dev/thing"}),
    own=frozenset({"/base/doubles/calls"}),
    clocks=frozenset({"/base/doubles/clock/seconds"}),
)


def reads(*looks: PathLook, program: str = "/bin/sh", **changes: object) -> Reads:
    sources = changes.pop("sources", ())
    return Reads(programs=(ProgramReads(program, looks=looks, sources=sources),), **changes)  # type: ignore[arg-type]


def find(*looks: PathLook, **changes: object) -> Influences:
    found = find_influences([reads(*looks, **changes)], AROUND)  # type: ignore[arg-type]
    return replace(found, decisive=frozenset(), places=(), outside=())


def test_what_is_read_and_changes_is_known_by_its_state_path() -> None:
    """Files that change and are read, and folders whose changed lists are, are named by state paths."""
    looks = (
        PathLook(N, LookKind.OPENED, existed=True),
        PathLook(FOLDER, LookKind.LISTED, existed=True),
        PathLook(HELD, LookKind.OPENED, existed=True),
        PathLook("/proc/uptime", LookKind.OPENED, existed=True),
    )

    assert find_influences([reads(*looks)], AROUND).decisive == {"workspace/n", "workspace"}


def test_what_matters_is_part_of_the_state_lies_outside_or_differs_by_itself() -> None:
    """Of what matters, what is in the state has its path; random numbers and interfaces are left out."""
    looks = [PathLook(f"/proc/{number}x", LookKind.OPENED, existed=True) for number in range(9)]
    inside = PathLook(N, LookKind.STATUS, existed=True)
    space = PathLook(HELD, LookKind.FILE_SYSTEM, existed=True)
    asked = (ReadSource(SourceKind.RANDOM, "getrandom"), ReadSource(SourceKind.MACHINE, "getrusage"))
    asked = (*asked, ReadSource(SourceKind.SOCKET, "netlink"), ReadSource(SourceKind.SOCKET, "unix"))
    found = find_influences([reads(inside, space, *looks, sources=asked)], AROUND)

    assert found.places == (("size, times or existence of workspace/n", "workspace/n", LookKind.STATUS),)
    assert found.outside == (
        "the free space of workspace/held",
        *(look.path for look in looks),
        "the state of the machine (getrusage)",
        # Network interfaces hardly ever change while hooks run.
        "a socket (unix)",
    )


def test_a_file_that_is_read_is_named_once() -> None:
    """If the status and the content of a file were read, only the content is named."""
    looks = (PathLook(N, LookKind.STATUS, existed=True), PathLook(N, LookKind.OPENED, existed=True))

    assert find(*looks).matters == ("workspace/n",)
    assert len(find_influences([reads(*looks)], AROUND).places) == 2


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (HELD, LookKind.OPENED),
        (HELD, LookKind.ACCESS),
        (N, LookKind.ACCESS),
        (N, LookKind.NAMED),
        ("/w/other", LookKind.OPENED),
        ("/etc/passwd", LookKind.OPENED),
        ("/var/lib/new", LookKind.OPENED),
        ("/base/doubles/calls", LookKind.OPENED),
        ("/proc/self/maps", LookKind.OPENED),
        ("/dev/null", LookKind.OPEN_STATUS),
    ],
)
def test_what_stays_as_it_is_does_not_matter(path: str, kind: LookKind) -> None:
    """Equal parts of the state, constant files and the harness's own files decide nothing."""
    expected = ("/var/lib/new",) if path == "/var/lib/new" else ()
    assert find(PathLook(path, kind, existed=True)).matters == expected


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        (N, LookKind.OPENED, "workspace/n"),
        (N, LookKind.EXECUTED, "workspace/n"),
        (N, LookKind.STATUS, "size, times or existence of workspace/n"),
        (HELD, LookKind.STATUS, "size, times or existence of workspace/held"),
        (HELD, LookKind.ATTRIBUTE, "attributes of workspace/held"),
        (MARK, LookKind.ACCESS, "existence of workspace/mark"),
        (MARK, LookKind.NAMED, "existence of workspace/mark"),
        (FOLDER, LookKind.LISTED, "the list of workspace"),
        (HELD, LookKind.FILE_SYSTEM, "the free space of workspace/held"),
        ("/proc/uptime", LookKind.OPENED, "/proc/uptime"),
        ("/sys/fs/cgroup/memory.current", LookKind.OPENED, "/sys/fs/cgroup/memory.current"),
    ],
)
def test_what_changes_matters_if_it_is_read(path: str, kind: LookKind, words: str) -> None:
    """A content, a status, a list or a name that changes is named, unless the same hook run made it."""
    assert find(PathLook(path, kind, existed=True)) == Influences(matters=(words,))
    assert find(PathLook(path, kind, existed=True, own=True)) == Influences()


TELLS = ("the times or the number of a file that it made",)


@pytest.mark.parametrize(
    ("program", "word", "matters"),
    [
        ("/usr/bin/stat", "st_mtime stat", True),
        ("/usr/bin/stat", "st_mtime ls", False),
        ("/usr/bin/ls", "st_mtime ls", True),
        ("/usr/bin/ls", "fstat", False),
        ("/usr/bin/find", "st_mtime find", True),
        ("/usr/bin/find", "st_mtime", False),
        ("/usr/bin/tar", "fstat", True),
        ("/usr/bin/make", "fstat", True),
        ("/usr/bin/python3", "st_mtime", True),
        ("/usr/bin/python3", "fstat", False),
        ("/usr/bin/perl", "fstat", False),
        ("/usr/bin/perl", "-M ", True),
        ("/usr/bin/ruby", "fstat", False),
        ("/usr/bin/bash", "st_mtime", False),
        ("/usr/bin/cat", "st_mtime", False),
        ("/usr/bin/git", "st_mtime", False),
    ],
)
@pytest.mark.parametrize("kind", [LookKind.STATUS, LookKind.OPENED])
def test_the_times_of_a_new_file_are_a_clock(program: str, word: str, matters: bool, kind: LookKind) -> None:
    """A program that may tell when a file of the same hook run was made learns the time by that."""
    look = PathLook(N, kind, existed=True, own=True)
    found = find(look, program=program, mentions=(Mention("/w/check", word),))
    assert found.matters == (TELLS if matters else ())


@pytest.mark.parametrize(
    ("program", "words", "matters"),
    [
        ("/usr/bin/gzip", ("st_mtime gzip",), True),
        ("/usr/bin/gzip", (), False),
        ("/usr/bin/python3", ("st_mtime", "fstat"), True),
        ("/usr/bin/python3", ("st_mtime",), False),
        ("/usr/bin/python3", ("fstat",), False),
        ("/usr/bin/tar", (), False),
    ],
)
def test_the_times_of_a_new_file_that_is_open(program: str, words: tuple[str, ...], matters: bool) -> None:
    """Most programs ask for the status of each open file, and only few of them tell its times."""
    look = PathLook(N, LookKind.OPEN_STATUS, existed=True, own=True)
    found = find(look, program=program, mentions=tuple(Mention("", word) for word in words))
    assert found.matters == (TELLS if matters else ())


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("/proc/sys/kernel/ns_last_pid", True),
        ("/proc/sys/kernel/ostype", False),
        ("/sys/devices/system/node/node0/meminfo", True),
        ("/sys/devices/system/node/node0/numastat", True),
        ("/sys/devices/system/cpu/online", False),
    ],
)
def test_what_the_kernel_counts_changes(path: str, changes: bool) -> None:
    """Most of what the kernel tells about the machine is constant, but for what it counts."""
    assert bool(find(PathLook(path, LookKind.OPENED, existed=True)).matters) == changes


@pytest.mark.parametrize("program", ["stat", "ls", "cp", "mv", "find"])
def test_programs_that_tell_no_times_decide_by_contents(program: str) -> None:
    """A program whose arguments ask for no times sees the same of a file that was written again as it was."""
    held = PathLook(HELD, LookKind.STATUS, existed=True)
    path = f"/usr/bin/{program}"

    assert find(held, program=path) == Influences()
    assert find(held, program=path, mentions=(Mention("", f"st_mtime {program}"),)).matters
    assert find(PathLook(N, LookKind.STATUS, existed=True), program=path).matters
    assert find(PathLook(FOLDER, LookKind.STATUS, existed=True), program=path).matters


def test_what_programs_ask_of_the_machine_for_themselves() -> None:
    """`find` and `grep` ask for the kind of a file system and `sort` for the memory, and neither shows it."""
    space = PathLook(HELD, LookKind.FILE_SYSTEM, existed=True)
    asked = (ReadSource(SourceKind.MACHINE, "sysinfo"),)

    assert find(space, program="/usr/bin/find") == find(space, program="/usr/bin/grep") == Influences()
    assert find(space, program="/usr/bin/df").matters
    assert find(program="/usr/bin/sort", sources=asked) == Influences()
    assert find(program="/usr/bin/free", sources=asked).matters


def test_the_space_of_a_fixed_folder() -> None:
    """The free space of a file system may decide, even if its folder never changes."""
    around = replace(AROUND, own=frozenset({"/"}))
    found = {
        kind: find_influences([reads(PathLook("/", kind, existed=True))], around).matters
        for kind in (LookKind.FILE_SYSTEM, LookKind.STATUS)
    }
    assert found == {LookKind.FILE_SYSTEM: ("the free space of /",), LookKind.STATUS: ()}


def test_git_decides_by_contents() -> None:
    """Git asks for times only to spare itself the reading, so a file written again as it was is fine."""
    look = PathLook(HELD, LookKind.STATUS, existed=True)
    assert find(look, program="/usr/bin/git") == Influences()
    assert find(PathLook(N, LookKind.STATUS, existed=True), program="/usr/bin/git").matters


@pytest.mark.parametrize(
    ("write", "matters"),
    [
        (FileWrite(LOG, existed=True, append=True), ()),
        (FileWrite(LOG, existed=True, append=True, queried=True), ("the size of workspace/log",)),
        (FileWrite(HELD, existed=True, queried=True), ()),
    ],
)
def test_a_file_that_is_only_written(write: FileWrite, matters: tuple[str, ...]) -> None:
    """A log decides nothing, unless its size is asked for."""
    assert find(writes=(write,)).matters == matters


@pytest.mark.parametrize(
    ("source", "matters"),
    [
        (ReadSource(SourceKind.RANDOM, "getrandom"), True),
        (ReadSource(SourceKind.SHARED_MEMORY, "shmget"), True),
        (ReadSource(SourceKind.PROCESS, "all"), True),
        (ReadSource(SourceKind.PROCESS, "17"), True),
        (ReadSource(SourceKind.DEVICE, "/dev/tty"), True),
        (ReadSource(SourceKind.DEVICE, "/dev/null"), False),
        (ReadSource(SourceKind.SOCKET, "inet 127.0.0.1"), True),
        (ReadSource(SourceKind.MACHINE, "sysinfo"), True),
        (ReadSource(SourceKind.MACHINE, "uname"), False),
        (ReadSource(SourceKind.CLOCK, "realtime"), False),
    ],
)
def test_sources_besides_files(source: ReadSource, matters: bool) -> None:
    """Chance, the network, processes and devices matter; the clock is noted by itself."""
    found = find(sources=(source,))
    assert bool(found.matters) == matters
    assert found.clock == (source.kind is SourceKind.CLOCK)


@pytest.mark.parametrize("word", ["RANDOM", "rdrand", "$$", "BASHPID", "getpid"])
def test_words_for_what_no_call_shows(word: str) -> None:
    """Random and process numbers in a script matter, but not in the harness's own scripts."""
    assert word in find(mentions=(Mention("/w/hook.sh", word),)).matters[0]
    assert find(mentions=(Mention("/base/doubles/calls", word),)) == Influences()


@pytest.mark.parametrize(
    "look",
    [
        PathLook(HELD, LookKind.OPEN_STATUS, existed=True),
        PathLook("/base/doubles/clock/seconds", LookKind.OPENED, existed=True),
    ],
)
def test_times_that_come_along_count_as_the_clock(look: PathLook) -> None:
    """The status of an open file shows when it was written, and a moved clock is shown by a file."""
    assert find(look) == Influences(clock=True)


@pytest.mark.parametrize("run", [None, Reads(observed=False, gap="no ptrace"), Reads(gap="a mount")])
def test_an_incomplete_record_shows_nothing(run: Reads | None) -> None:
    """One run with a gap is enough that nothing is known."""
    found = find_influences([reads(), run], AROUND)
    assert not found.observed
    assert len(found.matters) == 1


def test_only_the_first_are_named() -> None:
    """A long list is cut, and the number of the rest is given."""
    looks = [PathLook(f"/proc/{number}x", LookKind.OPENED, existed=True) for number in range(20)]
    found = find(*looks)
    assert len(found.matters) == 7
    assert found.matters[-1] == "14 more"


@pytest.mark.parametrize("program", ["/usr/bin/sed", "/usr/bin/mv"])
def test_programs_that_only_pass_attributes_on(program: str) -> None:
    """A copy keeps attributes without showing them, and looks whether the system has security labels."""
    attributes = PathLook(HELD, LookKind.ATTRIBUTE, existed=True)
    labels = PathLook("/sys/fs/selinux", LookKind.FILE_SYSTEM, existed=True)
    assert find(attributes, labels, program=program) == Influences()
