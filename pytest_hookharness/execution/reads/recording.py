"""
The record of one hook run, while it is made.

Loaded by the supervisor too, so the record is made of plain values; ``baseline`` makes a `Reads` of it.
"""

from __future__ import annotations

import os
import stat

from pytest_hookharness.execution.platform import linux_clock_calls as clock_calls
from pytest_hookharness.execution.platform import linux_read_calls as read_calls
from pytest_hookharness.execution.platform.linux_paths import PathResolver
from pytest_hookharness.execution.reads.file_times import (
    BY_ARGUMENTS,
    FILE_TIMES,
    is_environment,
    names_script,
    names_times,
    script_of_system,
    tells_times,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pytest_hookharness.execution.platform.linux_observing import Seen

MOST_ENTRIES = 20_000
_LARGEST_SCRIPT = 1 << 20
# Bytes. A shell refuses to run a file that has a zero byte among these.
_FIRST_LINE = 80
CLOCK_WORDS = (
    *("monotonic", "MONOTONIC", "clock_gettime", "perf_counter", "process_time", "thread_time", ".time()"),
    *("default_timer", "os.times", "performance", "hrtime", "uptime"),
)
# By these a script in Perl gets the time that Perl asked for at its start.
START_WORDS = ("$^T", "BASETIME", *(f"-{test}{after}" for test in "MAC" for after in " \t\"'$(_"))
_WORDS = (
    *("RANDOM", "BASHPID", "PPID", "$$", "getpid", "getppid", "rdrand", "rdtsc", "tell", "seek", "fstat"),
    *("st_size", "fileno", "stat(0", "stat(1", "stat(2", *CLOCK_WORDS, *START_WORDS),
)
_LIBRARY = b"\x7fELF"
# These ask for the status of each file that they open. Only scripts with one of these names learn its times.
_SCRIPTED = ("python", "pypy", "node")
# Modules of ours with one of these names: they execute only constructors that they wrote, and name a tool.
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_TIMELESS = tuple(f"{_OWN}/{name}" for name in ("model/fast_dataclass.py", "judging/detectors/signatures.py"))


def is_always_timing(path: str) -> bool:
    """
    Return whether a program reads the monotonic clock all the time, whatever its script is.

    Python does for each lock, and Node for its event loop. Their scripts do so by functions that they name.
    """
    return os.path.basename(path).rstrip("0123456789.") in _SCRIPTED


class Image:
    """One program from its start to its end, with its forked copies."""

    __slots__ = ("invoked", "is_scripted", "looks", "path", "script", "sources")

    def __init__(self, path: str, script: str, invoked: str) -> None:
        self.path = path
        self.script = script
        self.invoked = invoked
        self.is_scripted = os.path.basename(path).startswith(_SCRIPTED)
        self.looks: dict[tuple[str, str, bool, bool], None] = {}
        self.sources: dict[tuple[str, str], int] = {}


class Recording:
    """
    What one hook run has looked at so far.

    Attributes:
        gap: Why the record is not complete; empty if it is.
        observed: Whether there is a record at all.
        pids: All tasks that ever belonged to the hook run.
        shifts: Since when its clock is by how many seconds ahead; empty if it is not moved.
        times_only: Whether only its programs and what shows a time are recorded.
        unseen: Whether a path may lead elsewhere for the processes than for the tracer.
        since: The times of a file count as a time if it was changed at this time or later.
    """

    def __init__(self, since: int = 0, *, times_only: bool = False) -> None:
        self.since, self.times_only, self.unseen = since, times_only, False
        self.shifts, self.chosen = tuple[tuple[int, float], ...](), dict[int, None]()
        self.gap, self.observed = "", True
        self.pids: set[int] = set()
        self._images: list[Image] = []
        # For each file: existed, read, append, emptied, and the queries by process and program.
        self._writes: dict[str, list[Any]] = {}
        self._mentions: dict[tuple[str, str], None] = {}
        self._own: set[str] = set()
        self._own_folders: tuple[str, ...] = ()
        self._seen, self._asked = set[str](), set[str]()
        self._here_documents = False
        self._entries = 0
        self._resolver = PathResolver()
        # For each task the program that it is about to become, without links and as it was named.
        self._targets: dict[int, tuple[str, str]] = {}

    def lets(self, path: str) -> bool:
        """Return whether a program may read the monotonic clock without a wait."""
        return not self.times_only and is_always_timing(path)

    def miss(self, gap: str) -> None:
        """Note why the record is not complete; the first reason counts."""
        self.gap = self.gap or gap

    def refuse(self, gap: str) -> None:
        """Note why there is no record."""
        self.gap, self.observed = gap, False

    def begin(self, task: int, path: str, arguments: bytes) -> Image:
        """Note that a task has become another program."""
        named, invoked = self._targets.pop(task, (path, path))
        if named != path:
            # The kernel hands an interpreter its own name, as it stands in the first line of the script.
            invoked = os.fsdecode(arguments.partition(b"\0")[0])
        image = Image(path, "" if named == path else named, invoked if invoked.startswith("/") else path)
        self._images.append(image)
        self._count()
        if not self.times_only or image.is_scripted:
            self._scan("", arguments)
        if self.lets(path) and (script := script_of_system(named, path, arguments)):
            self._mentions[script, "monotonic"] = None
        if image.is_scripted and not self._has_source(task, arguments):
            self._mentions["", FILE_TIMES] = None
        if (name := os.path.basename(path)) in BY_ARGUMENTS and tells_times(path, arguments):
            self._mentions["", f"{FILE_TIMES} {name}"] = None
        return image

    def look(self, task: int, pid: int, image: Image, seen: Seen) -> tuple[str, ...]:
        """
        Note what a call looks at; return how it changes a name if it succeeds, and the name; or nothing.
        """
        what, how, text, last = seen
        if what == "trouble":
            self.miss(how)
        elif what == "source":
            self.note_source(image, how, text)
        elif what == "file":
            self._file(pid, image, how, text, is_output=not last)
        else:
            return self._path(task, pid, image, seen)
        return ()

    def _path(self, task: int, pid: int, image: Image, seen: Seen) -> tuple[str, ...]:
        what, how, text, follow = seen
        path, links, status = self._resolver.resolve(text, pid, follow=follow)
        for link in links:
            self._add(image, link, "link", existed=True)
        existed = status is not None
        if what == "path":
            self._add(image, path, how, existed=existed)
            if how == "executed":
                self._targets[task] = path, text
        elif what == "open":
            return self._open(image, path, how, status)
        elif what == "name":
            if how != "moved":
                self._add(image, path, "named", existed=existed)
            if how == "moved":
                self._write(path, existed=existed, flags="wt")
            return how, path
        elif what == "socket":
            self._add(image, path, "access", existed=existed)
            if existed:
                self.note_source(image, "socket", f"unix {path}")
        return ()

    def _open(self, image: Image, path: str, flags: str, status: os.stat_result | None) -> tuple[str, ...]:
        existed = status is not None
        if status is not None and stat.S_ISDIR(status.st_mode):
            self._add(image, path, "access", existed=True)
            return ()
        if "w" not in flags:
            self._add(image, path, "opened", existed=existed)
            if existed:
                self._read_script(path)
        elif not read_calls.is_constant(path):
            if "r" in flags:
                self._add(image, path, "opened", existed=existed)
            elif "x" in flags or "c" not in flags:
                self._add(image, path, "named", existed=existed)
            source = read_calls.source_of(path)
            if source is not None:
                self.note_source(image, *source)
            self._write(path, existed=existed, flags=flags)
        makes = ("c" in flags and not existed) or ("t" in flags and "w" in flags)
        return ("made", path) if makes else ()

    def _write(self, path: str, *, existed: bool, flags: str) -> None:
        emptied = "t" in flags or not existed or self._is_own(path)
        known = self._writes.get(path)
        if known is None:
            self._writes[path] = [existed, "r" in flags, "a" in flags, emptied, {}]
            self._count()
        else:
            known[1] |= "r" in flags
            known[2] &= "a" in flags
            known[3] &= emptied

    def _file(self, pid: int, image: Image, how: str, path: str, *, is_output: bool) -> None:
        """Note a look at an open file."""
        path = self._resolver.own_entry(path, pid)
        known = self._writes.get(path)
        if known is not None and how in ("end", "position", "open status"):
            asked = known[4].setdefault((pid, image.path), [])
            asked.append("output status" if is_output and how == "open status" else how)
        if how in ("end", "position"):
            return
        if known is not None and how == "open status" and not known[1]:
            # To write a file the C library asks for its status; others tell it.
            tells = image.is_scripted or os.path.basename(image.path) in BY_ARGUMENTS
            if is_output or not (tells and self._is_own(path)):
                return
        self._add(image, path.removesuffix(" (deleted)"), how, existed=True)

    def _add(self, image: Image, path: str, kind: str, *, existed: bool) -> None:
        if read_calls.is_constant(path):
            return
        is_new = kind in ("status", "open status") and path.startswith(read_calls.NEW_IN_EACH_RUN)
        key = path, kind, existed, is_new or self._is_own(path)
        if key in image.looks:
            return
        image.looks[key] = None
        self._count()
        source = read_calls.source_of(path) if existed and kind != "link" else None
        # To look at the folder of all processes is no question yet.
        if source is not None and (source[1] != "all" or kind == "listed"):
            self.note_source(image, *source)

    def note_source(self, image: Image, kind: str, detail: str) -> None:
        """Note that something else than a file was asked."""
        if kind == "process" and detail != "all" and int(detail) in self.pids:
            return
        key = kind, detail
        if key not in image.sources:
            self._count()
        image.sources[key] = image.sources.get(key, 0) + 1

    def _count(self) -> None:
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            self.miss(f"it has more than {MOST_ENTRIES} entries")

    @property
    def full(self) -> bool:
        """Whether nothing more is recorded."""
        return self._entries > MOST_ENTRIES

    def _is_own(self, path: str) -> bool:
        return path in self._own or (bool(self._own_folders) and any(map(path.startswith, self._own_folders)))

    def changed(self, names: tuple[str, ...]) -> None:
        """Note that a call has changed names, as `look` returned them."""
        self._resolver.forget()
        pairs = list(zip(names[::2], names[1::2], strict=True))
        gone = [path for what, path in pairs if what == "gone"]
        was_own = bool(gone) and self._is_own(gone[0])
        for what, path in pairs:
            if what == "linked" or (what == "moved" and not was_own):
                self._own.discard(path)
                continue
            self._own.add(path)
            if os.path.isdir(path) and what in ("made", "moved"):
                self._own_folders = (*self._own_folders, f"{path}/")

    def _read_script(self, path: str) -> None:
        """Look for words that stand for what no call shows, in a file that was opened."""
        if path in self._seen or read_calls.is_of_system(path) or self._is_of_interpreter(path):
            return
        self._seen.add(path)
        try:
            # Not if it is a pipe, which would be emptied by this.
            if not stat.S_ISREG(os.stat(path).st_mode):
                return
            with open(path, "rb") as file:
                text = file.read(_LARGEST_SCRIPT)
            # A library is no script, and those of an interpreter name every call.
            if not text.startswith(_LIBRARY):
                self._scan(path, text)
        except OSError:
            return

    def read_module(self, image: Image, path: str) -> None:
        """Look for names that stand for the times of files, if the file may be a script of the program."""
        if not image.is_scripted or path in self._asked:
            return
        # Most files are looked up several times.
        path = clock_calls.path_of(path)
        if path in self._asked:
            return
        self._asked.add(path)
        # What is compiled has a source, and what adds folders for modules belongs to the environment.
        if "/__pycache__/" not in path and not path.endswith(".pth") and path not in _TIMELESS:
            self._read_script(path)

    def _has_source(self, task: int, arguments: bytes) -> bool:
        """Return whether the code that an interpreter runs was searched, or is in the arguments."""
        # A here-document stands in a script that was searched.
        return names_script(task, arguments) or (not self.times_only and self._here_documents)

    def _is_of_interpreter(self, path: str) -> bool:
        """Return whether a path belongs to the library of a program that was installed by itself."""
        prefixes = (image.path.rpartition("/bin/")[0] for image in self._images)
        return any(path.startswith(f"{prefix}/lib/") for prefix in prefixes if prefix)

    def _scan(self, path: str, text: bytes) -> None:
        moved = self.times_only
        self._here_documents |= b"<<" in text
        if moved or not is_environment(path):
            compiled = bool(path) and b"\0" in text
            if names_times(text, moved=moved, compiled=compiled):
                self._mentions[path, FILE_TIMES] = None
        if moved:
            return
        # Such as the index of git, in which any two bytes may follow each other.
        binary = bool(path) and b"\0" in text[:_FIRST_LINE]
        for word in _WORDS:
            if word.encode() in text and not (binary and word == "$$"):
                self._mentions[path, word] = None

    def report(self) -> tuple[Any, ...]:
        """Return the record as plain values."""
        images = [
            (
                image.path,
                image.script,
                image.invoked,
                [*image.looks],
                [(*each, n) for each, n in image.sources.items()],
            )
            for image in self._images
        ]
        writes = [
            (path, *flags, [(program, how) for (_, program), how in queries.items()])
            for path, (*flags, queries) in self._writes.items()
        ]
        if not self.observed:
            return self.gap, False, [], [], [], []
        return self.gap, True, images, writes, list(self._mentions), list(self.chosen)[-MOST_ENTRIES:]
