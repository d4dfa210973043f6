"""
Mounts: what the kernel is asked for when a view of the files is put together.

Linux only; loaded by the supervisor too. What the kernel refuses is an ``OSError``.
"""

from __future__ import annotations

import ctypes
import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MS_BIND, _MS_MOVE, _MS_REC, _MS_PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 1, 2, 4, 8, 32
_MNT_DETACH = 2
# What is written through these has nothing to do with files, or cannot be a layer.
_NO_FILES = frozenset(
    (
        *("autofs", "bdev", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts"),
        *("devtmpfs", "efivarfs", "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs"),
        *("securityfs", "selinuxfs", "sysfs", "tracefs"),
    )
)
# Off: what keeps a part of a file or folder where nobody else reads it. Volatile: without it, the end of an
# overlay writes back all of the file system below it.
_OVERLAY = "redirect_dir=nofollow,metacopy=off,index=off,volatile"

_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """
    Raise what the kernel said about a call.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str | None, flags: int, what: str, data: str = "") -> None:
    name = None if kind is None else kind.encode()
    options = os.fsencode(data) if data else None
    result = _libc.mount(os.fsencode(source), os.fsencode(target), name, ctypes.c_ulong(flags), options)
    check(result, what)


def make_all_private() -> None:
    """
    Keep what is mounted from now on in this namespace.
    """
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE, "making mounts private")


def mount_proc() -> None:
    """
    Show the processes of this namespace, and no others.
    """
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, "mounting /proc")


def hold(path: str) -> int:
    """
    Take hold of a path, so that it can be mounted when something else covers it.
    """
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _held(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def bind(held: int, target: str) -> None:
    """
    Show what is held at another place, with everything that is mounted below it.
    """
    _mount(_held(held), target, None, _MS_BIND | _MS_REC, f"binding over {target}")


def forbid_writing(target: str) -> None:
    """
    Let nobody write through a mount.
    """
    # Flags that were inherited must be said again, or an unprivileged user is refused.
    flags = os.statvfs(target).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount("none", target, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | flags, f"forbidding to write {target}")


def mount_full(target: str) -> None:
    """
    Show an empty folder on a file system of its own that has no room for one byte.
    """
    _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, f"a full disk over {target}", "size=4k")
    descriptor = os.open(f"{target}/.full", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    try:
        # The size is rounded up to a page, which is larger on some machines.
        while os.write(descriptor, bytes(4096)):
            continue
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
    finally:
        os.close(descriptor)


def overlay(lower: int, upper: int, work: int, target: str, *, own_users: bool) -> None:
    """
    Show a folder so that whatever is written in it goes to another one.

    Args:
        lower: The folder that is shown; it is never written to.
        upper: The folder that takes what is written.
        work: An empty folder beside that one, for the kernel's own use.
        target: Where it is mounted.
        own_users: Whether this is done in a namespace of users, where the kernel may keep its notes only in
            attributes that any user may write.
    """
    # By descriptor also because a path may hold what separates options.
    layers = f"lowerdir={_held(lower)},upperdir={_held(upper)},workdir={_held(work)}"
    options = f"{layers},{_OVERLAY}{',userxattr' if own_users else ''}"
    _mount("overlay", target, "overlay", 0, f"an overlay over {target}", options)


def detach(target: str) -> None:
    """
    Take a mount away with all below it.
    """
    check(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"unmounting {target}")


def become_root(folder: str) -> None:
    """
    Make a mount the root of all paths, with all that is mounted below it.
    """
    os.chdir(folder)
    # Moved onto the old one and not merely entered: programs that make namespaces of their own are refused
    # that where the root is not the topmost mount.
    _mount(".", "/", None, _MS_MOVE, "moving the root")
    os.chroot(".")
    os.chdir("/")


def mounted() -> Iterator[tuple[str, bool]]:
    """
    What is mounted below the root: each place once, and whether files can be written there.
    """
    with open("/proc/self/mountinfo", "rb") as table:
        lines = table.read().splitlines()
    found: dict[str, bool] = {}
    for line in lines:
        before, _, after = line.partition(b" - ")
        place, options = before.split(b" ")[4:6]
        kind, _, rest = after.partition(b" ")
        closed = b"ro" in options.split(b",") or b"ro" in rest.rpartition(b" ")[2].split(b",")
        found[_plain(place)] = not closed and kind.decode() not in _NO_FILES
    found.pop("/", None)
    yield from sorted(found.items())


def _plain(place: bytes) -> str:
    """
    A path of the table of mounts, where white space and backslashes are written as octal numbers.
    """
    if b"\\" in place:
        for octal in (b"040", b"011", b"012", b"134"):
            place = place.replace(b"\\" + octal, bytes([int(octal, 8)]))
    return os.fsdecode(place)
