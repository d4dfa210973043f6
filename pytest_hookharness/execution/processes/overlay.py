"""
The view of files that a hook has, and where its writes go.

It is set up inside an item's namespaces; loaded by the supervisor too.

Some places are covered: folders of the item stand there. Everywhere else the machine shows through an
overlay: writes are kept in the item's folder ``outside/upper``, under the same path, and the machine's own
files stay unchanged. One overlay of the root holds all of that, with one more for each further file system
and for each of the developer's folders that a covered place would hide. Users without rights over the machine
may not put an overlay over a folder that has mounts in it, nor copy a folder of another user; for them, their
own folders are shown through overlays, in place.

Two limits: the sockets and pipes of an overlay are not those of the machine, so no process listens behind
them; and what other programs change on the machine while an item runs may stay invisible.
"""

from __future__ import annotations

import os
import stat

from pytest_hookharness.execution.platform import linux_namespaces as mounts
from pytest_hookharness.execution.real_paths import real_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

# What is mounted at a place: a folder of the item; a folder of the item that takes writes at its own path; a
# folder of the developer that one of these would hide; an overlay; or a device of the machine.
_PRIVATE, _WRITABLE, _DEVELOPERS, _LAYERED, _DEVICE = "private", "writable", "theirs", "layered", "device"
_DEVICES = "/dev"


class OverlayView:
    """
    The mounts that the first process of an item sets up for all others.

    Attributes:
        stubs: What was made as mount points, in private folders and above the folder for the writes.
        contained: Folders below which writes are contained.
        refusals: Where they are not although they should be, and why.
    """

    def __init__(
        self,
        private: Iterable[tuple[str, str]],
        visible: Iterable[str],
        writable: Iterable[str],
        outside: str,
        readonly: Iterable[str] = (),
        full: Iterable[str] = (),
    ) -> None:
        """Plan the mounts of a `translation.Confinement`; the arguments are its attributes."""
        self._readonly, self._full = tuple(readonly), tuple(full)
        self._points = {os.path.realpath(point): folder for point, folder in private if os.path.isdir(point)}
        names = [os.path.normpath(path) for path in visible]
        real = real_paths(names)
        # Both the given and the real path must be visible: either may lead through a place that is covered.
        self._aliases = {name: path for name, path in real.items() if path != name}
        self._visible = sorted(set(real.values()))
        self._writable = {real[name] for path in writable if (name := os.path.normpath(path)) in real}
        self._outside = outside
        # Found now: in a user namespace the files of all other users seem to belong to nobody.
        self._own_roots = self._own_folders() if outside and os.geteuid() != 0 else []
        self._works = 0
        self.stubs: list[str] = []
        self.contained: list[str] = []
        self.refusals: list[tuple[str, str]] = []

    def mount(self, *, own_users: bool) -> None:
        """Mount everything; ``own_users`` means a user namespace, without rights over the machine."""
        if not self._try_whole_machine(own_users):
            self._overlay_in_place(own_users)
        for path in self._full:
            mounts.mount_full(path)
        for path in self._readonly:
            self._bind(mounts.hold(path), path)
            mounts.forbid_writing(path)

    def _try_whole_machine(self, own_users: bool) -> bool:
        """Show all of the machine through overlays; return false if that is refused."""
        if not self._outside or own_users:
            return False
        try:
            self._overlay_whole_machine(f"{self._outside}/root")
        except OSError as problem:
            self.contained.clear()
            self.refusals = [("/", str(problem))]
            return False
        return True

    def _overlay_whole_machine(self, root: str) -> None:
        """Build the view beside the root, then make it the root; nothing is left of it if that fails."""
        os.mkdir(root)
        self._layer("/", mounts.hold("/"), self._make_layers("/"), root, own_users=False)
        try:
            self._add_file_systems(root)
            # Planned with the root as an overlay: what is not covered is then seen through it.
            kinds = self._plan(["/"])
            held = {
                place: mounts.hold((root if kind == _DEVELOPERS else "") + self._points.get(place, place))
                for place, kind in kinds.items()
                if kind != _LAYERED
            }
            aliases = self._make_all_stubs(kinds)
            for place in sorted(held):
                self._bind(held[place], root + place)
            for name, real in aliases.items():
                self._bind(mounts.hold(root + real), root + name)
            if _DEVICES in self._points:
                mounts.mount_terminals(root + _DEVICES)
            mounts.become_root(root)
        except OSError:
            # Detached as a whole, so that a failed attempt leaves no mount behind for the other one.
            mounts.detach(root)
            raise

    def _add_file_systems(self, root: str) -> None:
        """Show the machine's other file systems: an overlay shows only that of its lower folder."""
        as_it_is: list[str] = []
        for place, for_files in mounts.mounted():
            above = (*as_it_is, *self._points)
            if any(place == other or _below(place, other) for other in above) and not (
                for_files and any(path == place or _below(path, place) for path in self._visible)
            ):
                continue
            if for_files and os.path.isdir(place):
                layers = self._make_layers(place)
                self._layer_or_bind(place, mounts.hold(place), layers, root + place, own_users=False)
                continue
            self._bind(mounts.hold(place), root + place)
            as_it_is.append(place)
            if for_files:
                mounts.forbid_writing(root + place)

    def _overlay_in_place(self, own_users: bool) -> None:
        """Mount over the places themselves, with overlays only over the developer's own folders."""
        kinds = self._plan(self._own_roots)
        # Everything is held before the first mount, for mounts cover each other's sources: folders and
        # visible paths commonly lie below /tmp themselves.
        held = {place: mounts.hold(self._points.get(place, place)) for place in sorted(kinds)}
        developers = {place for place, kind in kinds.items() if kind in (_DEVELOPERS, _LAYERED)}
        closed = developers if self._outside else set()
        layers = {place: self._make_layers(place) for place in sorted(closed) if os.path.isdir(place)}
        aliases = self._make_all_stubs(kinds)
        for place, descriptor in held.items():
            if place in layers:
                self._layer_or_bind(place, descriptor, layers[place], place, own_users=own_users)
                continue
            self._bind(descriptor, place)
            if place in closed:
                mounts.forbid_writing(place)
        for name, real in aliases.items():
            self._bind(mounts.hold(real), name)
        if _DEVICES in self._points:
            mounts.mount_terminals(_DEVICES)

    def _own_folders(self) -> list[str]:
        """List the topmost folders of this user on the way to what must be visible."""
        uid, places = os.geteuid(), [place for place, _ in mounts.mounted()]
        found = set()
        for path in self._visible:
            folder = path if os.path.isdir(path) else os.path.dirname(path)
            own = ""
            while (
                folder != "/"
                and os.path.isdir(folder)
                and os.stat(folder).st_uid == uid
                # The kernel refuses an overlay over these, because files below a mount may be hidden on
                # purpose.
                and not any(_below(place, folder) for place in places)
            ):
                own, folder = folder, os.path.dirname(folder)
            if own and not any(_below(own, point) for point in self._points):
                found.add(own)
        return sorted(found)

    def _plan(self, layered: Iterable[str]) -> dict[str, str]:
        """Decide what is mounted where; everything else is seen through the mount above it."""
        kinds = {**dict.fromkeys(layered, _LAYERED), **dict.fromkeys(self._points, _PRIVATE)}
        for path in self._visible:
            above = kinds.get(_nearest(path, kinds))
            if path in self._points:
                continue
            if above == _PRIVATE and stat.S_ISCHR(os.stat(path).st_mode):
                kinds[path] = _DEVICE
                continue
            if path in self._writable:
                if above not in (None, _WRITABLE) or kinds.get(path) == _LAYERED:
                    kinds[path] = _WRITABLE
            elif path not in kinds and above == _PRIVATE:
                kinds[path] = _DEVELOPERS
        return kinds

    def _make_all_stubs(self, kinds: dict[str, str]) -> dict[str, str]:
        """Make the mount points; return the other names that need one, with what they stand for."""
        done, aliases = dict(kinds), {}
        if _DEVICES in self._points:
            self.stubs += mounts.add_device_links(self._points[_DEVICES])
        for place in sorted(kinds):
            self._make_stubs(place, kinds)
        for name, real in sorted(self._aliases.items()):
            if done.get(_nearest(name, done)) == _PRIVATE:
                self._make_stubs(name, done)
                done[name], aliases[name] = _DEVELOPERS, real
        return aliases

    def _bind(self, held: int, target: str) -> None:
        try:
            mounts.bind(held, target)
        finally:
            os.close(held)

    def _layer_or_bind(
        self, place: str, held: int, layers: tuple[int, int], target: str, *, own_users: bool
    ) -> None:
        """Mount an overlay over a place, or show the place unchanged if the kernel refuses."""
        copy = os.dup(held)
        try:
            self._layer(place, held, layers, target, own_users=own_users)
        except OSError as problem:
            self.refusals.append((place, str(problem)))
            mounts.bind(copy, target)
        finally:
            os.close(copy)

    def _layer(
        self, place: str, lower: int, layers: tuple[int, int], target: str, *, own_users: bool
    ) -> None:
        try:
            mounts.overlay(lower, *layers, target, own_users=own_users)
        finally:
            for descriptor in (lower, *layers):
                os.close(descriptor)
        self.contained.append(place)

    def _make_layers(self, place: str) -> tuple[int, int]:
        """Make the folder for the writes below a place, with the folders above it as on the machine."""
        upper, path = f"{self._outside}/upper", ""
        for part in ["", *place.strip("/").split("/")]:
            path = f"{path}/{part}" if part else path
            folder = upper + path
            if not os.path.isdir(folder):
                status = os.stat(path or "/")
                os.mkdir(folder)
                if os.geteuid() == 0:
                    os.chown(folder, status.st_uid, status.st_gid)
                os.chmod(folder, stat.S_IMODE(status.st_mode))
                self.stubs.append(folder)
        self._works += 1
        work = f"{self._outside}/work/{self._works}"
        os.makedirs(work)
        return mounts.hold(upper + path), mounts.hold(work)

    def _make_stubs(self, place: str, kinds: dict[str, str]) -> None:
        """Make the mount point for a path inside the private folder that hides it."""
        point = _nearest(place, kinds)
        if kinds.get(point) != _PRIVATE:
            return
        parts = place[len(point) + 1 :].split("/")
        stub = self._points[point]
        for index, part in enumerate(parts):
            stub = f"{stub}/{part}"
            if os.path.lexists(stub):
                continue
            if index == len(parts) - 1 and not os.path.isdir(place):
                os.close(os.open(stub, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
            else:
                os.mkdir(stub, 0o755)
            self.stubs.append(stub)


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/") and path != folder


def _nearest(path: str, places: Container[str]) -> str:
    """Return the deepest of the places that lie above a path; empty if there is none."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        if path in places:
            return path
    return ""
