"""The layouts by which the process table of macOS is read, compared with those that its headers declare."""

import ctypes
import os
import struct

from pytest_hookharness.execution.platform import darwin, linux

U32, I32, U64 = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64
ONE = 1e-9


class Process(ctypes.Structure):
    """struct proc_bsdinfo, and of struct proc_taskinfo what follows it in struct proc_taskallinfo."""

    _fields_ = (
        *(
            (name, U32)
            for name in ("flags", "status", "xstatus", "pid", "ppid", "uid", "gid", "ruid", "rgid")
        ),
        *((name, U32) for name in ("svuid", "svgid", "reserved")),
        ("comm", ctypes.c_char * 16),
        ("name", ctypes.c_char * 32),
        *((name, U32) for name in ("nfiles", "pgid", "pjobc", "tdev", "tpgid")),
        ("nice", I32),
        *((name, U64) for name in ("start_sec", "start_usec", "virtual", "resident", "user", "system")),
        *((name, U64) for name in ("threads_user", "threads_system")),
        *((name, I32) for name in ("policy", "faults", "pageins", "cow_faults", "sent", "received")),
        *((name, I32) for name in ("mach", "unix", "switches", "threads", "running", "priority")),
    )


class Usage(ctypes.Structure):
    """struct rusage_info_v1."""

    _fields_ = (
        ("uuid", ctypes.c_uint8 * 16),
        *((name, U64) for name in ("user", "system", "idle", "interrupts", "pageins", "wired", "resident")),
        *((name, U64) for name in ("footprint", "started", "ended", "child_user", "child_system")),
        *((name, U64) for name in ("child_idle", "child_interrupts", "child_pageins", "child_elapsed")),
    )


class Status(ctypes.Structure):
    """struct proc_fileinfo and struct vinfo_stat."""

    _fields_ = (
        *((name, U32) for name in ("openflags", "status")),
        ("offset", ctypes.c_int64),
        *((name, U32) for name in ("type", "guardflags", "dev")),
        *((name, ctypes.c_uint16) for name in ("mode", "nlink")),
        ("ino", U64),
        *((name, U32) for name in ("uid", "gid")),
        ("times", ctypes.c_int64 * 8),
        *((name, ctypes.c_int64) for name in ("size", "blocks")),
        *((name, U32) for name in ("blksize", "flags", "gen", "rdev")),
        ("spare", ctypes.c_int64 * 2),
    )


def row(**values: int) -> linux.ProcessRow:
    process = Process(status=values.get("status", 2), ppid=3, pgid=5, running=values.get("running", 0))
    usage = Usage(user=1, system=10, child_user=100, child_system=1000, started=7, ended=99)
    return darwin.read_row(4, bytes(process), bytes(usage), 6, ONE)


def test_a_row_has_what_the_headers_say() -> None:
    """Parent, group, state, CPU time and start are read where the headers put them."""
    seen = row()

    assert (seen.pid, seen.parent, seen.group, seen.session) == (4, 3, 5, 6)
    assert (seen.cpu_time, seen.started) == (1111 * ONE, 7 * ONE)


def test_a_process_runs_if_one_of_its_threads_does() -> None:
    """The state is that of the threads while the process lives; stopped and dead processes are told apart."""
    assert [row(running=2).state, row().state] == ["R", "S"]
    assert [row(status=4).state, row(status=5, running=1).state] == ["T", "Z"]


def pipe_end(flags: int, this_end: int, other_end: int) -> str:
    """Return the name behind one end of a pipe, opened for reading (1) or for writing (2)."""
    return darwin.link_name(
        6, bytes(Status(openflags=flags)) + struct.pack("=QQii", this_end, other_end, 0, 0)
    )


def test_both_ends_of_a_pipe_have_one_name() -> None:
    """A pipe has the address of the end that is read from, whichever end the name is asked of."""
    assert pipe_end(1, 80, 70) == pipe_end(2, 70, 80) == "pipe:[80]"


def test_a_closed_end_changes_no_name_that_is_evidence() -> None:
    """The name stays when nobody writes any more; a pipe that nobody reads has the name of none."""
    assert pipe_end(1, 80, 0) == "pipe:[80]"
    assert pipe_end(2, 70, 0) == "pipe:[0]"


def test_sockets_and_files_have_names() -> None:
    """A socket has the name of its own address, and a file its path."""
    head = bytes(Status())
    assert len(head) == darwin.ADDRESSES

    assert darwin.link_name(2, head + struct.pack("=QQ", 70, 80)) == "socket:[70]"
    assert darwin.link_name(1, head + bytes(16) + os.fsencode("/dev/null") + bytes(1015)) == "/dev/null"


# proc_taskallinfo and rusage_info_v1 of a process, written by hand: bytes at their places in the headers of
# macOS, numbers from the lowest byte up.
TABLE = {4: b"\x02", 12: b"\x2a\x01", 16: b"\x07", 48: b"sleep\0", 100: b"\x2a\x01", 224: b"\x01"}
USED = {16: b"\x10\x27", 24: b"\x20\x4e", 80: b"\x00\xca\x9a\x3b", 88: b"\xff", 96: b"\x01", 104: b"\x02"}


def written(size: int, at: dict[int, bytes]) -> bytes:
    """Return zeros with some bytes in places."""
    data = bytearray(size)
    for place, text in at.items():
        data[place : place + len(text)] = text
    return bytes(data)


def test_bytes_of_the_documentation_are_understood() -> None:
    """What the kernel writes at the places that its headers declare is a row; other bytes do not count."""
    found = darwin.read_row(298, written(232, TABLE), written(144, USED), 298, ONE)

    assert (found.state, found.parent, found.group) == ("R", 7, 298)
    assert (found.cpu_time, found.started) == ((10_000 + 20_000 + 1 + 2) * ONE, 1_000_000_000 * ONE)
    assert [*darwin.DESCRIPTOR.iter_unpack(b"\x03\0\0\0\x01\0\0\0\xc7\0\0\0\x06\0\0\0")] == [(3, 1), (199, 6)]


def test_arguments_and_environment_are_told_apart() -> None:
    """The kernel answers with path, zeros, arguments, environment, and more that is neither."""
    answer = b"\x03\0\0\0/bin/sh\0\0\0\0sh\0-c\0\0A=1\0B=\0\0pfz=1\0"

    assert darwin.split_arguments(answer) == ([b"sh", b"-c", b""], [b"A=1", b"B="])
    assert darwin.split_arguments(b"") == ([], [])


def test_a_program_of_the_system_shows_no_environment() -> None:
    """The kernel cuts its answer after the arguments then: they are known, and the environment is not."""
    assert darwin.split_arguments(b"\x02\0\0\0/bin/sleep\0\0\0\0\0\0sleep\x0060\0") == ([b"sleep", b"60"], [])


def test_only_attributes_of_programs_count() -> None:
    """What the system notes about a file by itself is no attribute that a program has set."""
    names = ("com.apple.provenance", "com.apple.quarantine", "user.count", "org.example.count")
    assert [*filter(darwin.is_of_a_program, names)] == ["user.count", "org.example.count"]
