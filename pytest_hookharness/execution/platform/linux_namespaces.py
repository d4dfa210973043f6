"""
Linux: namespaces and mounts, for a process table, a network and a view of the files of an item's own.

Loaded by the supervisor too. What the kernel refuses is an ``OSError``.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct

from pytest_hookharness.execution.platform.linux import allow_dumps, check, give_up_privileges, libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Renewal = Callable[[list[str], Callable[[], None]], bool]

_NEWUTS = 0x4000000  # or a hook could rename the machine
_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_MS_BIND, _MS_MOVE, _MS_REC, _MS_PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 1, 2, 4, 8, 32
_MNT_DETACH = 2
_MOUNTS = "/proc/self/mountinfo"
# What descendants inherit from the first process, or find in its process table. Each mount has a number, so
# one that was replaced by an equal one shows too.
_OF_THE_FIRST = (
    *(_MOUNTS, "/proc/self/limits", "/proc/self/oom_score_adj", "/proc/self/cgroup"),
    *("/proc/self/coredump_filter", "/proc/self/timerslack_ns"),
    *("/proc/sys/kernel/pid_max", "/proc/sys/vm/memfd_noexec"),
)
# The number of the call; the system shows the priority of input and output nowhere else.
_IOPRIO_GET, _OF_PROCESS = {"x86_64": 252, "aarch64": 31}.get(os.uname().machine), 1
# File systems through which no files are written, or that cannot be a layer of an overlay.
_NO_FILES = frozenset(
    (
        *("autofs", "bdev", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts"),
        *("devtmpfs", "efivarfs", "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs"),
        *("securityfs", "selinuxfs", "sysfs", "tracefs"),
    )
)
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    **{name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))},
    "ptmx": "pts/ptmx",
}
_TERMINALS, _TERMINAL_OPTIONS = "pts", "newinstance,ptmxmode=0666,mode=0620"
# Off: features that keep a part of a file or folder where only this kernel finds it. Volatile: without it,
# unmounting an overlay writes back the whole file system below it.
_OVERLAY = "redirect_dir=nofollow,metacopy=off,index=off,volatile"


def enter(network: bool) -> bool:
    """Make new namespaces, which the next child enters; return whether that needed a user namespace."""
    if not hasattr(libc, "unshare"):
        raise OSError("this system has no namespaces")
    flags = _NEWNS | _NEWPID | _NEWIPC | _NEWUTS | (0 if network else _NEWNET)
    if os.geteuid() == 0 and libc.unshare(flags) == 0:
        return False
    # Without the right to do so directly (another user than root, or root inside a container) a user
    # namespace grants it. User numbers are mapped to themselves, so a hook sees the user that it would see
    # otherwise.
    uid, gid = os.geteuid(), os.getegid()
    # The files of a process that nobody may look into belong to root, also that of its user numbers.
    allow_dumps(True)
    check(libc.unshare(flags | _NEWUSER), "unshare")
    # The kernel demands this before an unprivileged process may map groups.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "wb", buffering=0) as file:
            file.write(text.encode())
    allow_dumps(False)
    # With one user in the namespace, a set-uid program cannot become another one anyway.
    give_up_privileges()
    return True


def set_up(network: bool) -> None:
    """Prepare the new namespaces from their first process: process table, mounts, loopback device."""
    # Later mounts stay inside this namespace, and only its processes show.
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE, "making mounts private")
    # Not only in /proc: each other process table, such as that of a changed root, shows all processes.
    for place in ("/proc", *_other_process_tables()):
        _mount_process_table(place)
    if not network:
        _start_loopback()


def hold_names() -> int:
    """Open the namespace with the name of the machine that this process is in."""
    return os.open("/proc/self/ns/uts", os.O_RDONLY | os.O_CLOEXEC)


def make_renewable(network: bool, names: int) -> Renewal:
    """
    Return a function by which the first process makes all namespaces new, except the mounts.

    It is called after all other processes have ended. Its arguments are the places of overlays, which then
    forget which names did not exist, and a function to call at the end. It returns false if this is
    impossible, because a hook has changed the mounts or the first process. ``names`` is the open namespace
    that has the machine's own name.
    """
    # Opened now: a hook may mount something over these files.
    try:
        files = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in _OF_THE_FIRST if os.path.exists(path)]
        last_pid = os.open("/proc/sys/kernel/ns_last_pid", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return lambda *_: False

    def look() -> list[object]:
        own = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)
        disk = libc.syscall(_IOPRIO_GET, _OF_PROCESS, 0) if _IOPRIO_GET else 0
        return [*own, disk, *map(_read_again, files)]

    before = look()

    def renew(overlays: list[str], tell: Callable[[], None]) -> bool:
        nonlocal before
        # A hook with rights over the machine can change these of the process that it descends from.
        if look() != before:
            return False
        # From the machine's name, or the new one would be a copy of the one that a hook has set.
        check(libc.setns(names, 0), "setns")
        check(libc.unshare(_NEWIPC | _NEWUTS | (0 if network else _NEWNET)), "unshare")
        for place in overlays:
            _mount("none", place, None, _MS_REMOUNT, f"mounting the overlay over {place} again")
        detach(f"/dev/{_TERMINALS}")
        mount_terminals("/dev")
        if not network:
            _start_loopback()
        os.pwrite(last_pid, b"1", 0)
        tell()
        # While pytest looks at the files; no hook runs before this function returns.
        before = look()
        return True

    return renew


def _read_again(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return b"".join(iter(lambda: os.read(descriptor, 1 << 16), b""))


def _mount_process_table(place: str) -> None:
    _mount("proc", place, "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, f"mounting {place}")


def _start_loopback() -> None:
    # Programs expect the loopback device of a new network to be up.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _mount(source: str, target: str, kind: str | None, flags: int, what: str, data: str = "") -> None:
    name = None if kind is None else kind.encode()
    options = os.fsencode(data) if data else None
    result = libc.mount(os.fsencode(source), os.fsencode(target), name, ctypes.c_ulong(flags), options)
    check(result, what)


def hold(path: str) -> int:
    """Open a path, so that it can be mounted even when something else covers it."""
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _held(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def bind(held: int, target: str) -> None:
    """Show a held path at another place, with everything that is mounted below it."""
    _mount(_held(held), target, None, _MS_BIND | _MS_REC, f"binding over {target}")


def forbid_writing(target: str) -> None:
    """Make a mount read-only."""
    # Inherited flags must be repeated, or an unprivileged user is refused.
    flags = os.statvfs(target).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount("none", target, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | flags, f"forbidding to write {target}")


def mount_full(target: str) -> None:
    """Mount a file system without a free byte over an empty folder."""
    _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, f"a full disk over {target}", "size=4k")
    descriptor = os.open(f"{target}/.full", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    try:
        # The size is rounded up to a page, which is larger on some machines, so the rest is filled.
        while os.write(descriptor, bytes(4096)):
            continue
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
    finally:
        os.close(descriptor)


def overlay(lower: int, upper: int, work: int, target: str, *, own_users: bool) -> None:
    """
    Show a folder so that every write in it goes to another one.

    Args:
        lower: The folder that is shown; it is never written to.
        upper: The folder that takes the writes.
        work: An empty folder beside ``upper``, for the kernel's own use.
        target: Where it is mounted.
        own_users: Whether this happens in a user namespace.
    """
    # By descriptor, also because a path may hold the characters that separate options. In a user namespace
    # the kernel may keep its notes only in attributes that any user may write.
    layers = f"lowerdir={_held(lower)},upperdir={_held(upper)},workdir={_held(work)}"
    options = f"{layers},{_OVERLAY}{',userxattr' if own_users else ''}"
    _mount("overlay", target, "overlay", 0, f"an overlay over {target}", options)


def add_device_links(folder: str) -> list[str]:
    """Add to a folder of devices the links and the folder that programs expect there; return these."""
    for name, target in _DEVICE_LINKS.items():
        if not os.path.lexists(f"{folder}/{name}"):
            os.symlink(target, f"{folder}/{name}")
    os.makedirs(f"{folder}/{_TERMINALS}", exist_ok=True)
    return [f"{folder}/{name}" for name in (*_DEVICE_LINKS, _TERMINALS)]


def mount_terminals(folder: str) -> None:
    """Mount terminals of their own below a folder of devices."""
    flags = _MS_NOSUID | _MS_NOEXEC
    _mount("devpts", f"{folder}/{_TERMINALS}", "devpts", flags, "mounting terminals", _TERMINAL_OPTIONS)


def detach(target: str) -> None:
    """Remove a mount with everything below it."""
    check(libc.umount2(os.fsencode(target), _MNT_DETACH), f"unmounting {target}")


def become_root(folder: str) -> None:
    """Make a mount the root of all paths, with everything that is mounted below it."""
    os.chdir(folder)
    # Moved onto the old root and not only entered: where the root is not the topmost mount, the kernel
    # refuses new namespaces to the programs inside.
    _mount(".", "/", None, _MS_MOVE, "moving the root")
    os.chroot(".")
    os.chdir("/")


def mounted() -> Iterator[tuple[str, bool]]:
    """Yield what is mounted below the root: each place once, and whether files can be written there."""
    found = {place: not closed and kind not in _NO_FILES for place, kind, closed in _table()}
    found.pop("/", None)
    yield from sorted(found.items())


def mount_table() -> bytes:
    """Return the system's own list of all mounts."""
    with open(_MOUNTS, "rb", buffering=0) as table:
        return table.read()


def _other_process_tables() -> list[str]:
    """List where else than in /proc a process table is mounted."""
    places = {place for place, kind, _ in _table() if kind == "proc"}
    return sorted(place for place in places if not f"{place}/".startswith("/proc/") and os.path.isdir(place))


def _table() -> Iterator[tuple[str, str, bool]]:
    """Yield place and kind of each mount, and whether it is read-only."""
    for line in mount_table().splitlines():
        before, _, after = line.partition(b" - ")
        place, options = before.split(b" ")[4:6]
        kind, _, rest = after.partition(b" ")
        closed = b"ro" in options.split(b",") or b"ro" in rest.rpartition(b" ")[2].split(b",")
        yield _plain(place), kind.decode(), closed


def _plain(place: bytes) -> str:
    """Return a path of the table of mounts, where white space and backslashes are octal numbers."""
    if b"\\" in place:
        for octal in (b"040", b"011", b"012", b"134"):
            place = place.replace(b"\\" + octal, bytes([int(octal, 8)]))
    return os.fsdecode(place)
