"""
The baseline of an interpreter: what it looks at when it runs an empty program.

Its own start asks for random numbers and for the time, and reads many files. What an empty program does too
says nothing about a hook.

To record the empty programs takes longer than to record the hook, so simulations share the records. Each
simulation has a folder of its own, so a record is kept with a mark in the place of its path. It holds
elsewhere only if the start read no file in that folder, and if what it asked for there exists in both or in
neither.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.execution.platform.linux_kernel_paths import LINUX_PATHS
from pytest_hookharness.execution.reads.recording import CLOCK_WORDS, START_WORDS, is_always_timing
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import ProcessSpec, Stdin
from pytest_hookharness.model.reads import (
    OPEN_FILE_WORDS,
    LookKind,
    PathLook,
    ProgramReads,
    Reads,
    ReadSource,
    SourceKind,
)

_EMPTY_PROGRAMS = (
    (re.compile(r"/(sh|dash|bash|ash|zsh|ksh|mksh|yash|fish)[0-9.]*$"), ("-c", ":")),
    (re.compile(r"/(python|pypy)[0-9.]*$"), ("-c", "pass")),
    (re.compile(r"/(node|nodejs|perl|ruby)[0-9.]*$"), ("-e", "0")),
    (re.compile(r"/php[0-9.]*$"), ("-r", "")),
    # It is no interpreter, but its start asks for the time, whatever it is to do.
    (re.compile(r"/git$"), ("--version",)),
)
# Variables that decide what an interpreter does when it starts.
_RELEVANT = (
    *("PYTHON", "NODE_", "GIT_", "PERL", "RUBY", "LD_", "LC_", "LANG"),
    *("BASH_ENV", "ENV", "HOME", "PATH", "TZ", "PWD"),
)
# The C library seeds the checks of its memory with this call, once for each program.
_OF_LIBRARY = ReadSource(SourceKind.RANDOM, "getrandom 8 1")
# In about one of twenty runs the same call gives the name of the file that `sed -i` writes. It renames that
# file, and no script of sed can ask for a random number.
_NAMING = re.compile(r"/g?sed$")
_PERL = re.compile(r"/perl[0-9.]*$")
_LIMIT = 10.0

Key = tuple[str, str, tuple[tuple[str, str], ...]]


def empty_program(program: ProgramReads, hook: ProcessSpec) -> ProcessSpec | None:
    """Return the spec of an empty program of the same interpreter; ``None`` for what is no interpreter."""
    words = next((words for pattern, words in _EMPTY_PROGRAMS if pattern.search(program.path)), ())
    if not words and not program.script:
        return None
    return replace(
        hook,
        argv=(program.invoked or program.path, *(words or ("/dev/null",))),
        stdin=Stdin(),
        limit=_LIMIT,
        hook_timeout=_LIMIT,
        terminal=None,
        observed=True,
    )


def key_of(spec: ProcessSpec) -> Key:
    """Return what a baseline depends on."""
    env = tuple(sorted(pair for pair in spec.env.items() if pair[0].startswith(_RELEVANT)))
    return spec.argv[0], spec.cwd, env


def without_startup(reads: Reads, baselines: Mapping[str, Sequence[Reads]]) -> Reads:
    """
    Return a record without what the interpreters' own start looks at.

    ``baselines`` are, for each interpreter as it was invoked, the records of empty programs.
    """
    words = {mention.word for mention in reads.mentions}
    programs = tuple(
        _subtract(program, baselines.get(program.invoked, ()), words) for program in reads.programs
    )
    usual = frozenset(
        write for records in baselines.values() for write in (records[0].writes if records else ())
    )
    return replace(
        reads, programs=programs, writes=tuple(write for write in reads.writes if write not in usual)
    )


def _subtract(program: ProgramReads, baseline: Sequence[Reads], words: set[str]) -> ProgramReads:
    started = [run for reads in baseline for run in reads.programs if run.path == program.path]
    looks = frozenset[PathLook]()
    sources: Counter[tuple[SourceKind, str]] = Counter()
    if started:
        # What differs between two starts is not subtracted: it may be the hook's.
        looks = frozenset.intersection(*(frozenset(run.looks) for run in started))
        if words & OPEN_FILE_WORDS:
            # The script may ask for the status of its input once more.
            looks = frozenset(look for look in looks if look.path not in LINUX_PATHS.streams)
        counts = [Counter({(one.kind, one.detail): one.times for one in run.sources}) for run in started]
        for key in counts[0]:
            sources[key] = min(count[key] for count in counts)
    elif any("/libc.so" in look.path or "/libc-" in look.path for look in program.looks):
        sources[_OF_LIBRARY.kind, _OF_LIBRARY.detail] = 1
    if _NAMING.search(program.path):
        sources[_OF_LIBRARY.kind, _OF_LIBRARY.detail] = sys.maxsize
    if is_always_timing(program.path):
        # Not all of its readings are counted.
        sources[SourceKind.CLOCK, "monotonic"] = sys.maxsize if words.isdisjoint(CLOCK_WORDS) else 0
    if _PERL.search(program.path) and not words.isdisjoint(START_WORDS):
        sources[SourceKind.CLOCK, "realtime"] = 0
    own: list[PathLook] = []
    startup: list[PathLook] = []
    for look in program.looks:
        (startup if look in looks else own).append(look)
    return replace(
        program,
        looks=tuple(own),
        startup=tuple(startup),
        sources=_remaining(program.sources, sources),
    )


def _remaining(asked: Sequence[ReadSource], usual: Counter[tuple[SourceKind, str]]) -> tuple[ReadSource, ...]:
    left: Counter[tuple[SourceKind, str]] = Counter()
    for one in asked:
        times = one.times - usual[one.kind, one.detail]
        if times > 0:
            # The sizes were needed only to separate the calls of the start from those of the program.
            detail = "getrandom" if one.detail.startswith("getrandom ") else one.detail
            left[one.kind, detail] += times
    return tuple(ReadSource(kind, detail, times) for (kind, detail), times in left.items())


# Stands for the simulation's own folder; no path has it.
_MARK = "\0/"
_MOST = 200
# Looks that tell no more than whether a folder exists.
_PLAIN = (LookKind.STATUS, LookKind.ACCESS)

_known: dict[Key, tuple[Reads, ...]] = {}


class SharedBaselines:
    """Baselines that the simulations of this process share."""

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
