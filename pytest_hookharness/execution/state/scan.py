"""
The scan: the entries of all covered files after each step.

Where the system reports touched paths, only those are looked at; elsewhere the status of every file is.
:meth:`Scanner.verify` trusts neither and reads everything.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from pytest_hookharness.execution.platform.linux_inotify import InotifyPool, TouchedPaths
from pytest_hookharness.execution.real_paths import real_paths
from pytest_hookharness.execution.state.masking import Hidden, Masking, glob_pattern
from pytest_hookharness.execution.state.standing_watch import RoutedWatch, StandingWatch, assume_known
from pytest_hookharness.execution.state.survey import Survey
from pytest_hookharness.execution.state.touches import TouchLog
from pytest_hookharness.model.scenario import Mask
from pytest_hookharness.model.trace import StateEntry


class Scanner:
    """
    Observes the covered folders of one simulation. It is right only while no process of a hook run lives.

    A state path is the name of its root and the path below it. A root inside another one is not listed twice;
    its files have state paths below the outer one. `touches` tells restores what they must look at.
    """

    def __init__(
        self,
        roots: Mapping[str, Path],
        *,
        masks: Sequence[Mask] = (),
        transcripts: Sequence[Path] = (),
        watches: InotifyPool | None = None,
        walked: Collection[str] = (),
        standing: Mapping[str, StandingWatch] | None = None,
    ) -> None:
        """
        Watch folders from now on.

        Args:
            roots: The covered folders by name.
            masks: What the author declared irrelevant.
            transcripts: Files for which it matters whether a hook opened them.
            watches: Where a watch is taken from and given back to; ``None`` for one of its own.
            walked: Names of folders that are walked every time, because the system may not report them:
                kernels differ in whether a write through an overlay is one to the folder behind it.
            standing: Watches that stay on folders, by their names; only what was touched there is looked at.
        """
        self._roots = _outermost(roots)
        self._names_of = {root: name for name, root in self._roots.items()}
        self._walked = {name: root for name, root in self._roots.items() if name in walked}
        self.touches = TouchLog([root for name, root in self._roots.items() if name not in walked])
        self._places = dict(zip(transcripts, _places(transcripts), strict=True))
        self._masking = Masking(masks, self._names(self._places.values()))
        self._hidden = Hidden()
        self._survey = Survey(self._masking, self._hidden, self._roots)
        self._standing = {name: one for name, one in (standing or {}).items() if not masks}
        self._unreadable: tuple[str, ...] = ()
        self._watches = watches or InotifyPool()
        self._shares_watches = watches is not None
        self._watch = RoutedWatch.take(self._watches, self._standing.values())
        # The roots that have to be looked at as a whole, and what was touched in the others.
        self._unknown, self._since = assume_known(self._survey, self._roots, self._standing)
        self._postponed: set[str] = set()
        self._readable: dict[str, bool] = {}
        self._written: Mapping[str, int] | None = None
        self._published: tuple[frozenset[str], Mapping[str, StateEntry]] | None = None
        # Paths that masks leave out, as of the last scan; unknown before the first.
        self._left_out: Mapping[str, StateEntry] | None = None
        self.settle()

    def skip(self, paths: Collection[str]) -> None:
        """Count these real paths themselves no more, though what is below them counts."""
        self._survey.skip(self._names(paths))

    def note_known(self) -> None:
        """Tell the standing watches what the last scan found, for later scanners."""
        for name, one in self._standing.items():
            one.note(self._survey.known(name) if self._watch is not None else None)

    @property
    def watching(self) -> bool:
        """Whether the system reports which paths were touched."""
        return self._watch is not None

    @property
    def opaque(self) -> str:
        """Why the covered files are not known completely; empty if they are."""
        return "; ".join(dict.fromkeys([*self._unreadable_of(self._survey), *self._unreadable]))

    @property
    def masked(self) -> frozenset[str]:
        """State paths whose content once differed where what a mask left of it did not."""
        return frozenset(self._hidden.paths)

    @property
    def unapplied(self) -> tuple[str, ...]:
        """Which masks could not be applied to a file that they name, and why."""
        return tuple(self._survey.unapplied[name] for name in sorted(self._survey.unapplied))

    @property
    def unmatched(self) -> Mapping[int, str]:
        """The masks that left nothing out so far, by position, with what is there instead, in words."""
        known = [*self._survey.entries]
        found: dict[int, str] = {}
        for place, mask in self._masking.unused.items():
            files = glob_pattern(mask.file)
            named = min(filter(files.fullmatch, known), default="")
            similar = [] if "*" in mask.file else get_close_matches(mask.file, known, n=1)
            if named:
                found[place] = f"{named} has no such {'key' if mask.keys else 'text'}"
            else:
                found[place] = f"no such path{f'; did you mean {similar[0]}?' if similar else ''}"
        return found

    def is_masked(self, path: str) -> bool:
        """Return whether a mask leaves a state path out altogether."""
        return bool(self._masking) and self._masking.hides(path)

    def unmasked(self, path: str, data: bytes) -> bytes | None:
        """Return what the masks leave of the content of a covered file; ``None`` for nothing."""
        return self._masking.apply(path, data).data

    @property
    def written(self) -> Mapping[str, int] | None:
        """How often each file was written between the last two scans, by state path; ``None`` if unknown."""
        return self._written

    def scan(self, without: Collection[str] = ()) -> Mapping[str, StateEntry]:
        """
        Return the entries as they are now; the same mapping object as before if nothing differs.

        State paths in ``without`` are left out, and not even read.
        """
        left_out = frozenset(without)
        self._read_events()
        touched, self._since = self._since, TouchedPaths(opened=self._since.opened)
        whole = self._watch is None or touched.lost
        unknown, self._unknown = {*self._roots} if whole else self._unknown, set()
        self.touches.note(None if unknown else touched)
        self._written = None
        if unknown:
            self._look_at_roots(unknown, left_out)
        else:
            self._written = {self._name(path) or path: times for path, times in touched.written.items()}
            for name, root in self._walked.items():
                self._survey.walk_unwatched(root, name, left_out)
        if unknown != {*self._roots}:
            self._look_at(touched, left_out)
        self._ignore_own_reading()
        return self._publish(left_out)

    def verify(self, without: Collection[str] = ()) -> Mapping[str, StateEntry]:
        """Return the entries as they are now, with everything read again."""
        self._read_events()
        survey = Survey(self._masking, self._hidden, self._roots)
        survey.skip(self._survey.skipped)
        for name, root in self._roots.items():
            survey.walk(root, name, _do_not_watch, without)
        self._unreadable = tuple(self._unreadable_of(survey))
        self._ignore_own_reading()
        left_out = set(without)
        return MappingProxyType(
            {
                name: entry
                for name, entry in survey.entries.items()
                if name not in left_out and not self.is_masked(name)
            }
        )

    def opened(self, path: Path) -> bool | None:
        """Return whether a transcript was opened, moved or removed since this was last asked, if known."""
        self._read_events()
        file = self._places.get(path) or _places([path])[0]
        before = self._readable.get(file)
        now = self._observe(file)
        seen = file in self._since.opened
        self._since.opened.discard(file)
        if seen:
            return True
        if before is None or now is None:
            return None
        # It did not exist before, so no process could read it; a process has made it since.
        return now and not before

    def settle(self) -> None:
        """Take all files opened until now for opened by the harness, which writes to transcripts."""
        self._read_events()
        self._since.opened.clear()
        for file in self._places.values():
            self._observe(file)

    def close(self) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watches.give_back(self._watch.own)
            self._watch = None
        if not self._shares_watches:
            self._watches.close()

    def _observe(self, file: str) -> bool | None:
        """Begin to watch a transcript; return whether it exists, or ``None`` if it cannot be watched."""
        self._readable.pop(file, None)
        if self._watch is None:
            return None
        try:
            self._readable[file] = self._watch.add_file(file)
        except OSError:
            return None
        return self._readable[file]

    def _read_events(self) -> None:
        if self._watch is not None:
            self._since.add(self._watch.look())

    def _ignore_own_reading(self) -> None:
        """Forget that this very scan opened a transcript; keep the other events for the next scan."""
        if self._watch is not None:
            opened = set(self._since.opened)
            self._since.add(self._watch.look())
            self._since.opened = opened

    def _look_at_roots(self, names: Collection[str], left_out: frozenset[str]) -> None:
        for name, root in self._roots.items():
            if name in names:
                entering = _do_not_watch if name in self._walked else self._enter_folder
                self._survey.walk(root, name, entering, left_out)
        self._postponed = set(left_out)
        self._survey.inodes.clear()

    def _look_at(self, touched: TouchedPaths, left_out: frozenset[str]) -> None:
        # No watch covers a root that was away.
        missing = {root for name, root in self._roots.items() if name not in self._survey.entries}
        postponed = {path for name in self._postponed - left_out if (path := self._path(name)) is not None}
        self._postponed &= left_out
        relisted = touched.folders | missing
        # The watches of a folder that is listed anew are made anew too, since another folder may have its
        # name.
        for path in relisted:
            if self._watch is not None:
                self._watch.forget_below(path)
        for path in sorted(touched.paths | relisted | postponed):
            self._look_at_one(path, path in relisted, left_out)
        self._look_at_linked(left_out)

    def _look_at_linked(self, left_out: frozenset[str]) -> None:
        # A write to a file is reported only under the name that was used for it.
        shared = {name: path for name in self._survey.find_linked() if (path := self._path(name)) is not None}
        for name, path in {**self._survey.linked, **shared}.items():
            if name not in left_out:
                self._survey.look(path, name, force=False)
        self._survey.inodes.clear()

    def _look_at_one(self, path: str, relisted: bool, left_out: frozenset[str]) -> None:
        name = self._name(path)
        if name is None:
            return
        if name in left_out:
            self._postponed.add(name)
            return
        inside_differs = self._survey.look(path, name) or relisted
        if inside_differs and os.path.isdir(path) and not os.path.islink(path):
            self._survey.walk(path, name, self._enter_folder, left_out)
            self._postponed |= left_out

    def _enter_folder(self, path: str) -> None:
        if self._watch is None:
            return
        try:
            self._watch.add_folder(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
                # The system has no more watches, and watching only a part is worse than watching nothing.
                self.close()

    def _publish(self, left_out: frozenset[str]) -> Mapping[str, StateEntry]:
        if self._published is None or self._survey.changed or self._published[0] != left_out:
            entries = dict(self._survey.entries)
            for name in left_out:
                entries.pop(name, None)
            if self._masking:
                self._leave_out(entries)
            self._published = (left_out, MappingProxyType(entries))
            self._survey.changed = False
        return self._published[1]

    def _leave_out(self, entries: dict[str, StateEntry]) -> None:
        """Remove what masks leave out altogether, and record what of it differs from the last time."""
        hidden = {name: entries.pop(name) for name in [*entries] if self._masking.hides(name)}
        if self._left_out is not None:
            self._hidden.compare(self._left_out, hidden)
        self._left_out = hidden

    def _unreadable_of(self, survey: Survey) -> list[str]:
        return [why for name, why in sorted(survey.unreadable.items()) if not self.is_masked(name)]

    def _name(self, path: str) -> str | None:
        above = path
        while above:
            if (name := self._names_of.get(above)) is not None:
                return name + path[len(above) :]
            above = above.rpartition("/")[0]
        return None

    def _names(self, paths: Iterable[str]) -> frozenset[str]:
        return frozenset(name for name in map(self._name, paths) if name is not None)

    def _path(self, state_path: str) -> str | None:
        for name, root in self._roots.items():
            if state_path == name or state_path.startswith(name + "/"):
                return root + state_path[len(name) :]
        return None


def _do_not_watch(_: str) -> None:
    """Do nothing: the folder is not watched."""


def _outermost(roots: Mapping[str, Path]) -> dict[str, str]:
    known = real_paths(roots.values())
    real = {name: known[str(root)] for name, root in roots.items()}
    return {
        name: root
        for number, (name, root) in enumerate(real.items())
        if not any(root.startswith(other + "/") for other in real.values())
        and root not in list(real.values())[:number]
    }


def _places(paths: Collection[str | Path]) -> list[str]:
    # Not resolved to their ends: the target of a transcript that is a link does not matter here.
    parts = [os.path.split(path) for path in paths]
    real = real_paths(folder for folder, _ in parts)
    return [os.path.join(real[folder], name) for folder, name in parts]
