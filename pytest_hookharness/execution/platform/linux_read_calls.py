"""
Linux: the system calls by which a program looks at the world, and what each of them says.

Each of these calls of an observed process waits for an answer, by a seccomp filter that the process installs
before it becomes a command; those that make or remove a name stop, because their result is needed too.
`decode` then says what a call looks at, in words that name no system call.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
import struct

from pytest_hookharness.execution.platform import (
    linux,
    linux_listener,
    linux_memory,
    linux_ptrace,
    linux_vdso,
)
from pytest_hookharness.execution.platform.linux_ptrace import AT_CWD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_hookharness.execution.platform.linux_observing import Seen

    # A description of a call: the task, its name, and its arguments.
    Decoder = Callable[[int, str, Sequence[int]], list[Seen]]

# Calls that take a path: number on x86_64 and on aarch64, how it looks, then the places of the folder, the
# path and the flags among the arguments, and whether a link at the end of the path is followed.
_PATHS: dict[str, tuple[int, int, str, int, int, int, bool]] = {
    "stat": (4, -1, "status", -1, 0, -1, True), "lstat": (6, -1, "status", -1, 0, -1, False),
    "newfstatat": (262, 79, "status", 0, 1, 3, True), "statx": (332, 291, "status", 0, 1, 2, True),
    "name_to_handle_at": (303, 264, "status", 0, 1, -1, False),
    "access": (21, -1, "access", -1, 0, -1, True), "faccessat": (269, 48, "access", 0, 1, -1, True),
    "faccessat2": (439, 439, "access", 0, 1, 3, True), "chdir": (80, 49, "access", -1, 0, -1, True),
    "inotify_add_watch": (254, 27, "access", -1, 1, -1, True),
    "readlink": (89, -1, "link", -1, 0, -1, False), "readlinkat": (267, 78, "link", 0, 1, -1, False),
    "getxattr": (191, 8, "attribute", -1, 0, -1, True), "lgetxattr": (192, 9, "attribute", -1, 0, -1, False),
    "listxattr": (194, 11, "attribute", -1, 0, -1, True),
    "llistxattr": (195, 12, "attribute", -1, 0, -1, False),
    "getxattrat": (464, 464, "attribute", 0, 1, 2, True),
    "listxattrat": (465, 465, "attribute", 0, 1, 2, True),
    "statfs": (137, 43, "file system", -1, 0, -1, True),
    "execve": (59, 221, "executed", -1, 0, -1, True), "execveat": (322, 281, "executed", 0, 1, 4, True),
    "chmod": (90, -1, "named", -1, 0, -1, True), "fchmodat": (268, 53, "named", 0, 1, -1, True),
    "fchmodat2": (452, 452, "named", 0, 1, 3, True), "chown": (92, -1, "named", -1, 0, -1, True),
    "lchown": (94, -1, "named", -1, 0, -1, False), "fchownat": (260, 54, "named", 0, 1, 4, True),
    "truncate": (76, 45, "named", -1, 0, -1, True), "utimensat": (280, 88, "named", 0, 1, 3, True),
    "utime": (132, -1, "named", -1, 0, -1, True), "utimes": (235, -1, "named", -1, 0, -1, True),
    "futimesat": (261, -1, "named", 0, 1, -1, True), "setxattr": (188, 5, "named", -1, 0, -1, True),
    "lsetxattr": (189, 6, "named", -1, 0, -1, False), "removexattr": (197, 14, "named", -1, 0, -1, True),
    "lremovexattr": (198, 15, "named", -1, 0, -1, False),
}  # fmt: skip
# Calls that take a descriptor first.
_DESCRIPTORS: dict[str, tuple[int, int, str]] = {
    "fstat": (5, 80, "open status"), "getdents": (78, -1, "listed"), "getdents64": (217, 61, "listed"),
    "fgetxattr": (193, 10, "attribute"), "flistxattr": (196, 13, "attribute"),
    "fstatfs": (138, 44, "file system"),
}  # fmt: skip
# Calls that make, move or remove a name: for each path its change, and the arguments with folder and path.
_NAMES: dict[str, tuple[int, int, tuple[tuple[str, int, int], ...]]] = {
    "mkdir": (83, -1, (("made", -1, 0),)), "mkdirat": (258, 34, (("made", 0, 1),)),
    "mknod": (133, -1, (("made", -1, 0),)), "mknodat": (259, 33, (("made", 0, 1),)),
    "symlink": (88, -1, (("made", -1, 1),)), "symlinkat": (266, 36, (("made", 1, 2),)),
    "unlink": (87, -1, (("gone", -1, 0),)), "unlinkat": (263, 35, (("gone", 0, 1),)),
    "rmdir": (84, -1, (("gone", -1, 0),)),
    "rename": (82, -1, (("gone", -1, 0), ("moved", -1, 1))),
    "renameat": (264, 38, (("gone", 0, 1), ("moved", 2, 3))),
    "renameat2": (316, 276, (("gone", 0, 1), ("moved", 2, 3))),
    "link": (86, -1, (("linked", -1, 0), ("named", -1, 1))),
    "linkat": (265, 37, (("linked", 0, 1), ("named", 2, 3))),
}  # fmt: skip
_OPENS = {"open": (2, -1), "creat": (85, -1), "openat": (257, 56), "openat2": (437, 437)}
# Calls that ask something else than files.
_SOURCES: dict[str, tuple[int, int, str]] = {
    "getrandom": (318, 278, "random"),
    "clock_gettime": (228, 113, "clock"), "gettimeofday": (96, 169, "clock"), "time": (201, -1, "clock"),
    "adjtimex": (159, 171, "clock"), "clock_adjtime": (305, 266, "clock"),
    "shmget": (29, 194, "shared memory"), "shmat": (30, 196, "shared memory"),
    "shmctl": (31, 195, "shared memory"), "semget": (64, 190, "shared memory"),
    "msgget": (68, 186, "shared memory"), "mq_open": (240, 180, "shared memory"),
    "add_key": (248, 217, "shared memory"), "request_key": (249, 218, "shared memory"),
    "keyctl": (250, 219, "shared memory"),
    "socket": (41, 198, "socket"), "connect": (42, 203, "socket"), "bind": (49, 200, "socket"),
    "sendto": (44, 206, "socket"), "sendmsg": (46, 211, "socket"),
    "kill": (62, 129, "process"), "rt_sigqueueinfo": (129, 138, "process"),
    "getpgid": (121, 155, "process"), "getsid": (124, 156, "process"),
    "pidfd_open": (434, 434, "process"), "process_vm_readv": (310, 270, "process"),
    "sysinfo": (99, 179, "machine"), "getrusage": (98, 165, "machine"), "times": (100, 153, "machine"),
}  # fmt: skip
# Calls after which the record would not be complete; some only with certain flags.
_TROUBLE: dict[str, tuple[int, int, str]] = {
    "ptrace": (101, 117, "a process traces another one itself"),
    "open_by_handle_at": (304, 265, "a file is opened by its handle"),
    "chroot": (161, 51, "a process changes its root folder"),
    "pivot_root": (155, 41, "a process changes its root folder"),
    "mount": (165, 40, "a process mounts file systems"),
    "move_mount": (429, 429, "a process mounts file systems"),
    "umount2": (166, 39, "a process unmounts file systems"),
    "setns": (308, 268, "a process enters other namespaces"),
    "unshare": (272, 97, "a process enters other namespaces"),
    "clone": (56, 220, "a process starts another one in other namespaces"),
    "clone3": (435, 435, "a process starts another one in other namespaces"),
    "seccomp": (317, 277, "a process hands its system calls to another one"),
    "prlimit64": (302, 261, "a process limits the size of files"),  # a write that fails tells it
}  # fmt: skip
_SEEKS = {"lseek": (8, 62)}
_SLOW = (("socket",), ("random",))  # kinds of sources
_IO_URING, _OUTPUTS = 425, (1, 2)  # a call that has the same number on both machines
_NEW_SPACES = 0x7E020000 | 0x00800000  # new namespaces, or a child that asks not to be traced
_NEW_LISTENER = 8
_NO_FOLLOW, _EMPTY = 0x100, 0x1000
# The clocks that show the time; those of the processor's use are left out.
_CLOCKS = {
    0: "realtime", 5: "realtime", 8: "realtime", 11: "realtime",
    1: "monotonic", 4: "monotonic", 6: "monotonic", 7: "boottime", 9: "boottime",
}  # fmt: skip
_SIGNS = (("a", os.O_APPEND), ("c", os.O_CREAT), ("t", os.O_TRUNC), ("x", os.O_EXCL))
_SYSTEM = ("/usr/", "/lib", "/etc/", "/bin/", "/sbin/", "/proc/", "/sys/", "/dev/", "/nix/", "/opt/")
# Entries of the process itself, and files in memory: they are new in each run, and so are their times.
NEW_IN_EACH_RUN = ("/proc/self", "/memfd:")
# Devices that say the same at any time.
_CONSTANT = frozenset(("/dev/null", "/dev/zero", "/dev/full"))


_NAMES_OF = linux_ptrace.names_by_number(_PATHS, _DESCRIPTORS, _NAMES, _OPENS, _SOURCES, _TROUBLE, _SEEKS)
_MAKING = os.O_CREAT | os.O_TRUNC
_STOP, _WAIT = ([(linux_ptrace.ANSWER, 0, 0, how)] for how in (linux_ptrace.TRACE, linux_ptrace.WAIT))
# Calls that pass, wait or stop by their arguments, and calls that always stop.
_CASES_BY_NAME = {
    # Only a seek from the end or from the present position says something about a file.
    "lseek": linux_ptrace.wait_unless(2, os.SEEK_SET),
    "clone": linux_ptrace.by_bits(0, _NEW_SPACES, linux_ptrace.WAIT, linux_ptrace.ALLOW),
    "clock_gettime": [*linux_ptrace.pass_if_marked(0, linux_vdso.MARK), *linux_ptrace.wait_if(0, _CLOCKS)],
    "sendmsg": [*linux_ptrace.pass_if_marked(2, linux_vdso.MARK), *_WAIT],
    "prlimit64": linux_ptrace.wait_if(1, (resource.RLIMIT_FSIZE,)),
    "open": linux_ptrace.by_bits(1, _MAKING, linux_ptrace.TRACE, linux_ptrace.WAIT),
    "openat": linux_ptrace.by_bits(2, _MAKING, linux_ptrace.TRACE, linux_ptrace.WAIT),
    **dict.fromkeys(("creat", "openat2", *_NAMES), _STOP),
}
_CASES = {
    # Reads by io_uring would bypass the filter. Programs work without it if it is missing.
    _IO_URING: [(linux_ptrace.ANSWER, 0, 0, linux_ptrace.REFUSE | errno.ENOSYS)],
    **{number: _CASES_BY_NAME[name] for number, name in _NAMES_OF.items() if name in _CASES_BY_NAME},
}
WAITING = frozenset(_NAMES_OF)  # the numbers of the calls that may wait for an answer
# The numbers of calls that may also wait in the kernel, such as to open a named pipe.
BLOCKING = frozenset(
    number for number, name in _NAMES_OF.items() if name in _OPENS or _SOURCES.get(name, ())[2:] in _SLOW
)
# Made here, before the process that installs it is forked, to save time there.
_FILTER = linux_ptrace.prepare_filter(linux_ptrace.stops_before(_NAMES_OF.keys(), _CASES, linux_ptrace.WAIT))


def listen_for_reads() -> int:
    """
    Have the calls that look at something wait or stop, in this process and in all that it becomes and starts.

    Returns the descriptor of the listener that answers them; raises `OSError` if the system refuses.
    """
    return linux_listener.listen(_FILTER)


def decode(task: int, number: int, arguments: Sequence[int]) -> list[Seen]:
    """Return what a call of a task looks at; raise `PermissionError` if that is unreadable."""
    if number == linux_listener.FOREIGN:
        return [("trouble", linux_listener.ANOTHER_ARCHITECTURE, "", True)]
    return _DECODER_OF.get(name := _NAMES_OF.get(number, ""), _decode_seek)(task, name, arguments)


def source_of(path: str) -> tuple[str, str] | None:
    """Return the kind of source that a path stands for, and its name; nothing for a common file."""
    if not path.startswith(("/dev/", "/proc")) or path.startswith("/proc/self/"):
        return None
    if path in ("/dev/urandom", "/dev/random") or path.startswith("/proc/sys/kernel/random/"):
        return "random", path
    if path.startswith(("/dev/shm/", "/dev/mqueue/", "/proc/sysvipc/")):
        return "shared memory", path
    if path.startswith("/proc"):
        pid = path[6:].partition("/")[0]
        return ("process", pid) if pid.isdecimal() else ("process", "all") if path == "/proc" else None
    return (
        None if path in _CONSTANT or path.startswith("/dev/fd/") or os.path.isdir(path) else ("device", path)
    )


def is_of_system(path: str) -> bool:
    """Return whether a path belongs to the system, so that it is no script of a hook."""
    return path.startswith(_SYSTEM)


def is_constant(path: str) -> bool:
    """Return whether nothing can be learnt from looking at a path."""
    return path in _CONSTANT


def _absolute(task: int, folder: int, address: int) -> str:
    """Return the path that a call names, absolute but not resolved; empty if it names none."""
    written = linux_memory.read_text(task, address) if address else b""
    if not written:
        return ""
    path = os.fsdecode(written)
    if path[0] == "/":
        return path
    base = linux.read_link(f"/proc/{task}/cwd" if folder == AT_CWD else f"/proc/{task}/fd/{folder}")
    return f"{base}/{path}" if base else ""


def _folder(arguments: Sequence[int], place: int) -> int:
    return arguments[place] & 0xFFFFFFFF if place >= 0 else AT_CWD


def _decode_path(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    _, _, how, folder, path, flagged, follow = _PATHS[name]
    flags = arguments[flagged] if flagged >= 0 else 0
    found = _absolute(task, _folder(arguments, folder), arguments[path])
    if found:
        return [("path", how, found, follow and not flags & _NO_FOLLOW)]
    if flags & _EMPTY and folder >= 0:
        return _descriptor(task, "open status" if how == "status" else how, _folder(arguments, folder))
    return []


def _decode_descriptor(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    return _descriptor(task, _DESCRIPTORS[name][2], arguments[0] & 0xFFFFFFFF)


def _descriptor(task: int, how: str, number: int) -> list[Seen]:
    path = linux.read_link(f"/proc/{task}/{'cwd' if number == AT_CWD else f'fd/{number}'}")
    if path.startswith("pipe:") and how == "open status":
        # A pipe is new in each run, and so are its times; a socket has none.
        path = f"/proc/self/fd/{number}"
    return [("file", how, path, number not in _OUTPUTS)] if path.startswith("/") else []


def _decode_seek(task: int, _name: str, arguments: Sequence[int]) -> list[Seen]:
    if arguments[2] != os.SEEK_CUR or arguments[1] == 0:
        return _descriptor(
            task, "end" if arguments[2] == os.SEEK_END else "position", arguments[0] & 0xFFFFFFFF
        )
    return []


def _decode_name(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    found = [
        (what, _absolute(task, _folder(arguments, folder), arguments[path]))
        for what, folder, path in _NAMES[name][2]
    ]
    return [("name", what, path, False) for what, path in found if path]


def _decode_open(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    folder, rest = (
        (AT_CWD, arguments) if name in ("open", "creat") else (_folder(arguments, 0), arguments[1:])
    )
    flags = rest[1]
    if name == "creat":
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
    elif name == "openat2":
        flags = int.from_bytes(linux_memory.read_bytes(task, flags, 8), "little")
    path = _absolute(task, folder, rest[0])
    if not path or flags & os.O_TMPFILE == os.O_TMPFILE:
        return []  # an unnamed file is new, so nothing is learnt from it
    # A new file is not made where a link leads to if the call demands that it is new.
    follow = not (flags & os.O_NOFOLLOW or (flags & os.O_CREAT and flags & os.O_EXCL))
    if flags & os.O_PATH:
        return [("path", "access", path, follow)]
    how = ("r", "w", "rw", "")[flags & os.O_ACCMODE]
    return [("open", how + "".join(sign for sign, flag in _SIGNS if flags & flag), path, follow)]


def _decode_source(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    kind, detail = _SOURCES[name][2], name
    if name == "getrandom":
        # The size belongs to it: the start of a program asks for other sizes than the program.
        detail = f"getrandom {arguments[1]} {arguments[2]}"
    elif kind == "clock":
        detail = _CLOCKS.get(arguments[0] & 0xFFFFFFFF, "") if name == "clock_gettime" else "realtime"
    elif kind == "socket":
        return _decode_socket(task, name, arguments)
    elif kind == "process":
        pid = arguments[0] & 0xFFFFFFFF
        detail = "" if pid == 0 else str(pid if pid < 1 << 31 else (1 << 32) - pid)
    return [("source", kind, detail, True)] if detail else []


def _decode_socket(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    if name == "socket":
        family = arguments[0] & 0xFFFFFFFF
        # A socket of the machine says nothing before it is connected.
        return [] if family == socket.AF_UNIX else [("source", "socket", _family(family), True)]
    address, size = arguments[1], arguments[2]
    if name == "sendto":
        address, size = arguments[4], arguments[5]
    elif name == "sendmsg":
        address, size = struct.unpack("=QI4x", linux_memory.read_bytes(task, address, 16) or bytes(16))
    data = linux_memory.read_bytes(task, address, min(size & 0xFFFFFFFF, 128)) if address else b""
    if len(data) < 2:
        return []
    (family,) = struct.unpack_from("=H", data)
    if family == socket.AF_UNIX:
        name_, path = data[2:3], os.fsdecode(data[2:].partition(b"\0")[0])
        if name_ in (b"", b"\0"):
            return [("source", "socket", f"unix @{os.fsdecode(data[3:])}", True)]
        base = linux.read_link(f"/proc/{task}/cwd")
        return [("socket", name, path if path.startswith("/") else f"{base}/{path}", True)]
    first, end = {int(socket.AF_INET): (4, 8), int(socket.AF_INET6): (8, 24)}.get(family, (0, 0))
    if not end or len(data) < end:
        return [("source", "socket", _family(family), True)]
    host = socket.inet_ntop(family, data[first:end])
    return [("source", "socket", f"{_family(family)} {host} port {int.from_bytes(data[2:4], 'big')}", True)]


def _family(number: int) -> str:
    try:
        return socket.AddressFamily(number).name.removeprefix("AF_").lower()
    except ValueError:
        return f"family {number}"


def _decode_trouble(task: int, name: str, arguments: Sequence[int]) -> list[Seen]:
    flags = arguments[0]
    if name == "clone3":
        flags = int.from_bytes(linux_memory.read_bytes(task, arguments[0], 8), "little")
    if name in ("clone", "clone3", "unshare") and not flags & _NEW_SPACES:
        return []
    if name == "seccomp" and not (arguments[0] == 1 and arguments[1] & _NEW_LISTENER):
        return []
    return [("trouble", _TROUBLE[name][2], "", True)]


_DECODER_OF: dict[str, Decoder] = {
    **dict.fromkeys(_PATHS, _decode_path), **dict.fromkeys(_OPENS, _decode_open),
    **dict.fromkeys(_DESCRIPTORS, _decode_descriptor), **dict.fromkeys(_SOURCES, _decode_source),
    **dict.fromkeys(_NAMES, _decode_name), **dict.fromkeys(_TROUBLE, _decode_trouble),
}  # fmt: skip
