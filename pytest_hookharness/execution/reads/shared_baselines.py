"""
Baselines that simulations share: the start of an interpreter is the same in each of them.

To record the empty programs takes longer than to record the hook. Each simulation has a folder of its own,
so a record is kept with a mark in the place of its path. It holds elsewhere only if the start read no file
in that folder, and if what it asked for there exists in both or in neither.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from pytest_hookharness.execution.reads.baseline import Key
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.reads import LookKind, PathLook, Reads

# Stands for the simulation's own folder; no path has it.
_MARK = "\0/"
_MOST = 200
# Looks that tell no more than whether a folder exists.
_PLAIN = (LookKind.STATUS, LookKind.ACCESS)

_known: dict[Key, tuple[Reads, ...]] = {}


class SharedBaselines:
    """What one simulation gives to the others of this process, and takes from them."""

    def __init__(self, own: str) -> None:
        """Prepare to share; ``own`` is the folder with everything that belongs to the simulation."""
        self._own = f"{own}/"

    def find(self, key: Key) -> tuple[Reads, ...]:
        """Return the records of another simulation; none if there are none that hold here."""
        found = tuple(_moved(reads, _MARK, self._own) for reads in _known.get(self._marked(key), ()))
        return found if all(map(_is_plain, self._looks(found))) else ()

    def offer(self, key: Key, records: Sequence[Reads]) -> None:
        """Give records to other simulations, if they hold there."""
        if any(write.path.startswith(self._own) for reads in records for write in reads.writes):
            return
        if all(map(_is_plain, self._looks(records))):
            if len(_known) >= _MOST:
                _known.clear()
            _known[self._marked(key)] = tuple(_moved(reads, self._own, _MARK) for reads in records)

    def _looks(self, records: Sequence[Reads]) -> Iterator[PathLook]:
        """Yield the looks in the simulation's own folder."""
        looks = (look for reads in records for program in reads.programs for look in program.looks)
        return (look for look in looks if look.path.startswith(self._own))

    def _marked(self, key: Key) -> Key:
        program, folder, environment = key
        marked = tuple((name, value.replace(self._own, _MARK)) for name, value in environment)
        return program, folder.replace(self._own, _MARK), marked


def _is_plain(look: PathLook) -> bool:
    """Return whether a look tells only that a folder exists, or that nothing does, and whether that is so."""
    if not look.existed:
        return not look.own and not os.path.lexists(look.path)
    return not look.own and look.kind in _PLAIN and os.path.isdir(look.path)


def _moved(reads: Reads, old: str, new: str) -> Reads:
    """Return a record whose looks are below another folder."""

    def moved(look: PathLook) -> PathLook:
        return replace(look, path=new + look.path[len(old) :]) if look.path.startswith(old) else look

    programs = (replace(program, looks=tuple(map(moved, program.looks))) for program in reads.programs)
    return replace(reads, programs=tuple(programs))
