"""What the package needs of an operating system to confine an item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

Renewal: TypeAlias = Callable[[list[str], Callable[[], None]], bool]


class Isolation(Protocol):
    """Namespaces and mounts. What the kernel refuses is an ``OSError``."""

    def enter(self, network: bool) -> bool:
        """
        Leave the machine's namespaces; the next child is the first process of the new ones.

        Args:
            network: Whether the machine's network stays reachable.

        Returns:
            Whether a user namespace was needed, which gives no rights over the machine.
        """
        ...

    def set_up(self, network: bool) -> None:
        """Prepare the new namespaces from their first process: process table, mounts, loopback device."""

    def hold_names(self) -> int:
        """Open the namespace with the name of the machine that this process is in."""
        ...

    def make_renewable(self, network: bool, names: int) -> Renewal:
        """
        Return a function by which the first process makes everything but the view of the files new.

        It is called after all other processes have ended: with the places of overlays, which then forget
        which names did not exist, and with what it calls once all is new. It returns whether that is so; it
        cannot be after a hook has changed mounts, or the first process itself.

        Args:
            network: Whether the machine's network stays reachable.
            names: The namespace with the machine's own name.
        """
        ...

    def hold(self, path: str) -> int:
        """Open a path, so that it can be mounted even when something else covers it."""
        ...

    def bind(self, held: int, target: str) -> None:
        """Show a held path at another place, with everything that is mounted below it."""

    def forbid_writing(self, target: str) -> None:
        """Make a mount read-only."""

    def mount_full(self, target: str) -> None:
        """Mount a file system without a free byte over an empty folder."""

    def overlay(self, lower: int, upper: int, work: int, target: str, *, own_users: bool) -> None:
        """
        Show a folder so that every write in it goes to another one.

        Args:
            lower: The folder that is shown; it is never written to.
            upper: The folder that takes the writes.
            work: An empty folder beside ``upper``, for the kernel's own use.
            target: Where it is mounted.
            own_users: Whether this happens in a user namespace.
        """

    def add_device_links(self, folder: str) -> list[str]:
        """Add to a folder of devices the links and the folder that programs expect there; return these."""
        ...

    def mount_terminals(self, folder: str) -> None:
        """Mount terminals of their own below a folder of devices."""

    def detach(self, target: str) -> None:
        """Remove a mount with everything below it."""

    def become_root(self, folder: str) -> None:
        """Make a mount the root of all paths, with everything that is mounted below it."""

    def mount_table(self) -> bytes:
        """Return the system's own list of all mounts."""
        ...

    def mounted(self) -> Iterator[tuple[str, bool]]:
        """Yield what is mounted below the root: each place once, and whether files can be written there."""
        ...


class ControlGroups(Protocol):
    """Groups of processes that descendants cannot leave by themselves."""

    def enter(self) -> str:
        """
        Put this process, and all that it starts, into a new group; return the folder of the group.

        Raises:
            OSError: The system has no such groups, or does not let this user make one.
        """
        ...

    def processes(self, folder: str) -> list[int]:
        """List the processes in a group."""
        ...

    def leave(self, folder: str) -> None:
        """Leave a group and remove it."""
