"""What a sandbox separates from the machine, and what its tier cannot guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Tier

_SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # the places where programs leave files for each other


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """
    How an item is separated from the machine.

    Attributes:
        tier: ``None`` for the best available; a tier that is asked for and missing is an error.
        network: Whether the machine's network stays reachable.
        private: Mount points, each with the folder that is mounted over it.
        visible: Absolute paths that stay at their own place although they lie below such a mount point.
        writable: Those of them in which writes go to the path itself.
        outside: Folder that takes all other writes, below ``upper`` and the path. Where it is empty, or the
            tier cannot do that, such writes go to the machine.
        readonly: Paths that cannot be written to, where the tier can do that.
        full: Empty folders without room for one byte, where the tier can do that.
    """

    tier: Tier | None = None
    network: bool = False
    private: Mapping[str, str] = field(default_factory=dict)
    visible: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    outside: str = ""
    readonly: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


def notes_of(tier: Tier, confinement: Confinement, reason: str) -> tuple[str, ...]:
    """Return what a tier cannot guarantee, in sentences."""
    notes = [f"namespaces are not available here: {reason}"] if reason else []
    if tier is not Tier.NAMESPACES:
        if not confinement.network:
            notes.append("the network is not cut off")
        notes.append(f"{_SHARED[0]}, {_SHARED[1]} and {_SHARED[2]} are shared with the machine")
    else:
        open_points = [point for point in _SHARED if point not in confinement.private]
        notes += [f"{point} is shared with the machine" for point in open_points]
    if tier is Tier.GROUP:
        notes += [
            "a child in a session of its own may survive",
            "a daemon that was forked twice may survive if it left its process group",
            "a process that left the group cannot be found by its environment either",
        ]
    return tuple(notes)


def notes_on_writes(
    tier: Tier, confinement: Confinement, contained: Sequence[str], refusals: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield where writes outside of the covered folders reach the machine although they should not."""
    if tier is not Tier.NAMESPACES or not confinement.outside:
        return
    for place, reason in refusals:
        yield f"what is written below {place} is neither contained nor seen: {reason}"
    if "/" not in contained and not any(place == "/" for place, _ in refusals):
        where = f"only below {', '.join(contained)}" if contained else "nowhere"
        yield f"what is written outside of the covered folders is contained and seen {where}"
