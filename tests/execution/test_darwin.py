"""The layouts by which the process table of macOS is read, compared with those that its headers declare."""

import ctypes
import os
import struct

from pytest_hookharness.execution.platform import darwin, protocol

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


def row(**values: int) -> darwin.DarwinProcessRow:
    process = Process(status=values.get("status", 2), ppid=3, pgid=5, running=values.get("running", 0))
    usage = Usage(user=1, system=10, child_user=100, child_system=1000, started=7, ended=99)
    return darwin.DarwinProcessRow(4, bytes(process), bytes(usage), 6, ONE)


def test_a_row_has_what_the_headers_say() -> None:
    """Parent, group, state, CPU time and start are read where the headers put them."""
    seen: protocol.ProcessRow = row()

    assert (seen.pid, seen.parent, seen.group, seen.session) == (4, 3, 5, 6)
    assert (seen.cpu_time, seen.started) == (1111 * ONE, 7 * ONE)


def test_a_process_runs_if_one_of_its_threads_does() -> None:
    """The state is that of the threads while the process lives; stopped and dead processes are told apart."""
    assert [row(running=2).state, row().state] == ["R", "S"]
    assert [row(status=4).state, row(status=5, running=1).state] == ["T", "Z"]


def test_both_ends_of_a_pipe_have_one_name() -> None:
    """A pipe has the name of both its addresses, a socket that of its own, and a file its path."""
    head = bytes(Status())
    assert len(head) == darwin.ADDRESSES

    one, other = (darwin.link_name(6, head + struct.pack("=QQ", *ends)) for ends in ((70, 80), (80, 70)))
    assert one == other == "pipe:[80]"
    assert darwin.link_name(2, head + struct.pack("=QQ", 70, 80)) == "socket:[70]"
    assert darwin.link_name(1, head + bytes(16) + os.fsencode("/dev/null") + bytes(1015)) == "/dev/null"


def test_arguments_and_environment_are_told_apart() -> None:
    """The kernel answers with path, zeros, arguments, environment, and more that is neither."""
    answer = struct.pack("=i", 3) + b"/bin/sh\0\0\0\0sh\0-c\0\0A=1\0B=\0\0pfz=1\0"

    assert darwin.split_arguments(answer) == ([b"sh", b"-c", b""], [b"A=1", b"B="])
    assert darwin.split_arguments(b"") == ([], [])
