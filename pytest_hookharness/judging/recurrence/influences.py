"""
Influences: what the hook runs of one repetition read that changes, or that lies outside of the state.

If they read nothing of the kind, the next repetition reads the same as this one, and so goes the same way,
and so does every later one. This is the whole proof behind the evidence ``closed`` and ``unread``.

An address space, a process number or the order of a folder can also differ from run to run. The record names
the words of scripts that ask for the first two; names in a folder are taken for a set.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.reads import (
    OPEN_FILE_WORDS,
    Influences,
    KernelPaths,
    LookKind,
    Mention,
    PathLook,
    ProgramReads,
    Reads,
    ReadSource,
    SourceKind,
)

_MOST = 6
# Git takes times only for a hint whether to read a file again; its answer follows from the contents.
_GIT = re.compile(r"/git(-[a-z-]+)?$")
# These pass attributes on from one file to another, and show them to nobody.
_COPIES_ATTRIBUTES = re.compile(r"/(cp|mv|sed|install|ls|mkdir|chmod|touch)$")
# These ask for the status of each file that they read, and never for its times.
_READERS = re.compile(
    r"/bin/(cat|head|tail|wc|[efz]?grep|sed|[gmn]?awk|sort|uniq|cut|tr|tee|cmp|jq|dash|bash"
    r"|cksum|md5sum|sha[0-9]+sum|base64|comm|paste|od|ls)$"
)
# Programs that do not decide by the time that a call shows them. A shell asks where it is when it starts, and
# compares times of files only with each other: which of two is newer is the same at every pace.
_MAKERS = r"/bin/(mkdir|rmdir|rm|chmod|ln|tee)$"
_SHELLS = r"/bin/(dash|bash)$"
_NO_TIMES = {
    "realtime": re.compile(r"(?!)"),
    "times of a file": re.compile(f"{_GIT.pattern}|{_MAKERS}|{_SHELLS}"),
    "times of an open file": re.compile(f"{_GIT.pattern}|{_READERS.pattern}|{_MAKERS}"),
    "times of its own folder": re.compile(f"{_GIT.pattern}|{_MAKERS}|{_READERS.pattern}"),
}
# These ask for the status of each file that they open or import. Their scripts must name it to learn a time.
_SCRIPTED = re.compile(r"/(python|pypy|node)[0-9.]*$")
# These never tell anybody the times of a file that a run made: they read it, move it or search for names.
_UNDATED = re.compile(
    rf"{_GIT.pattern}|{_MAKERS}|{_SHELLS}|{_READERS.pattern.replace('|ls', '')}"
    r"|/bin/(sh|zsh|ksh|install|touch|mktemp|test|\[|sqlite3|flock|readlink|realpath|xargs|env|timeout"
    r"|rg|ag|yq|xmllint|shellcheck|curl|openssl|xxd|hexdump|nl|tac|rev|fold|fmt|split|csplit|strings|iconv"
    r"|column|expand|shuf|join|sum|b2sum|dd|sponge|envsubst|patch|less|more|truncate|bc|dc)$"
)
# The arguments of these programs, or the code that they run, show whether they tell times.
_BY_ARGUMENTS = frozenset(("stat", "ls", "cp", "mv", "diff", "find", "gzip", "pr"))
# They walk folders, and ask for the kind of a file system, not for its space.
_WALKERS = re.compile(r"/bin/(find|[ef]?grep|rm|chmod|chown|chgrp|du)$")
_SORT = re.compile(r"/bin/sort$")
_CODED = re.compile(r"/(python|pypy|node|nodejs|deno|bun|perl|ruby|php|lua|luajit)[0-9.]*$")
_PERL_TIMES = ("-M", "-A", "-C")
_INTERFACES = "netlink"
_CONTENT = frozenset((LookKind.OPENED, LookKind.EXECUTED, LookKind.LINK))
_EXISTENCE = frozenset((LookKind.ACCESS, LookKind.NAMED, *_CONTENT))
_TIMES = frozenset((LookKind.STATUS, LookKind.ATTRIBUTE))
_RANDOM_WORDS = frozenset(("RANDOM", "SRANDOM", "rdrand"))
_PROCESS_WORDS = frozenset(("$$", "BASHPID", "PPID", "getpid", "getppid"))
_WORDS = {
    LookKind.LISTED: "the list of",
    LookKind.STATUS: "size, times or existence of",
    LookKind.ATTRIBUTE: "attributes of",
    LookKind.FILE_SYSTEM: "the free space of",
    LookKind.ACCESS: "existence of",
    LookKind.NAMED: "existence of",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPaths:
    """
    What is known of the paths that hook runs looked at. All paths are absolute, as the hook runs saw them.

    Attributes:
        names: State paths of those that are part of the state, whether they exist or not.
        changed: Those whose content is not the same after each repetition.
        moving: Those that come or go from one repetition to the next.
        relisted: Folders whose entries are not the same after each repetition.
        rewritten: Those of the state that were written in the observed repetition, so their times changed.
        foreign: Those outside of the state that changed since the session began.
        own: The harness's own files, and folders around the workspace that only exist in a simulation.
        clocks: The files that show the hooks a moved clock.
        kernel: The paths by which the kernel tells about itself.
    """

    names: Mapping[str, str]
    kernel: KernelPaths
    changed: frozenset[str] = frozenset()
    moving: frozenset[str] = frozenset()
    relisted: frozenset[str] = frozenset()
    rewritten: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    clocks: frozenset[str] = frozenset()


def find_influences(runs: Sequence[Reads | None], around: KnownPaths) -> Influences:
    """
    Return what could make the next repetition go another way than the observed one.

    There is one item for what each process looked at; ``None`` if that was not recorded.
    """
    known = [reads for reads in runs if reads is not None and reads.observed]
    gaps = [reads.gap if reads is not None else "" for reads in runs if reads is None or not reads.complete]
    if gaps:
        why = next(filter(None, gaps), "no record was made")
        return unobserved(why)
    decisive = [each for reads in known for each in _decisive(reads, around)]
    words = dict.fromkeys(word for _, word, _ in decisive)
    # The free space does not follow from the files of the state.
    inside = dict.fromkeys(
        (word, around.names[path], kind)
        for path, word, kind in decisive
        if path in around.names and kind is not LookKind.FILE_SYSTEM
    )
    return Influences(
        matters=_first(
            (*_without_opened(words), *(word for reads in known for word in _of_run(reads, around)))
        ),
        decisive=frozenset(around.names[path] for path, _, _ in decisive if path in around.names),
        clock=any(_asks_clock(reads, around) for reads in known),
        chance=any(draws(reads, around.own) for reads in known),
        places=tuple(inside),
        outside=(
            *(word for word in words if all(word != place for place, _, _ in inside)),
            *dict.fromkeys(word for reads in known for word in _of_outside(reads, around)),
        ),
    )


def with_time(reads: Reads) -> Reads:
    """Return the part of a record with the programs that may decide by a time which they were shown."""
    dated = any(mention.word == "st_mtime" for mention in reads.mentions)
    shown = tuple(
        program
        for program in reads.programs
        if any(
            source.kind is SourceKind.CLOCK
            and not _NO_TIMES[source.detail].search(program.path)
            and (dated or source.detail == "realtime" or _SCRIPTED.search(program.path) is None)
            for source in program.sources
        )
    )
    return replace(reads, programs=shown)


def _without_opened(words: Collection[str]) -> Iterator[str]:
    """Yield the words of what was looked at; a file whose content was read too is named once."""
    status = f"{_WORDS[LookKind.STATUS]} "
    return (word for word in words if not word.startswith(status) or word.removeprefix(status) not in words)


def _first(found: Iterable[str]) -> tuple[str, ...]:
    words = [*dict.fromkeys(found)]
    return (*words[:_MOST], f"{len(words) - _MOST} more") if len(words) > _MOST + 1 else tuple(words)


def _decisive(reads: Reads, around: KnownPaths) -> Iterator[tuple[str, str, LookKind]]:
    """Yield the paths of files and folders that could matter, each in words too, and how it was looked at."""
    for program in reads.programs:
        for look in program.looks:
            status = look.kind is LookKind.STATUS
            if status and _tells(program, reads) is False and _is_equal(look.path, around):
                continue
            # What a test double reads besides the state is the harness's own.
            own = look.own or (program.script in around.own and look.path not in around.names)
            # The free space of a file system changes even if the folder never does.
            fixed = look.kind is not LookKind.FILE_SYSTEM and _is_constant(look.path, around)
            if not own and not fixed and _matters(program.path, look, around):
                yield look.path, _describe(look.path, look.kind, around), look.kind
    for write in reads.writes:
        if write.queried and write.path in around.changed and not _is_constant(write.path, around):
            yield write.path, f"the size of {_name(write.path, around)}", LookKind.OPENED


def _of_run(reads: Reads, around: KnownPaths) -> Iterator[str]:
    """Yield what else could matter, in words."""
    for source in _sources(reads):
        yield from _of_source(source, around)
    if any(_dates_own(program, reads, around) for program in reads.programs):
        yield "the times or the number of a file that it made"
    for mention in reads.mentions:
        yield from _of_mention(mention, around)


def _of_outside(reads: Reads, around: KnownPaths) -> Iterator[str]:
    """Yield what does not differ in every run by itself, in words."""
    for source in _sources(reads):
        # Node lists its network interfaces so, which hardly ever change while hooks run.
        interfaces = source.kind is SourceKind.SOCKET and source.detail == _INTERFACES
        if source.kind is not SourceKind.RANDOM and not interfaces:
            yield from _of_source(source, around)


def _tells(program: ProgramReads, reads: Reads) -> bool | None:
    """Return whether the arguments of a program show that it tells times; ``None`` if they show nothing."""
    name = program.path.rpartition("/")[2]
    if name not in _BY_ARGUMENTS:
        return None
    return any(mention.word == f"st_mtime {name}" for mention in reads.mentions)


def _is_equal(path: str, around: KnownPaths) -> bool:
    """Return whether a path of the state differs in nothing but its times after each repetition."""
    unequal = (around.changed, around.moving, around.relisted)
    return path in around.names and not any(path in paths for paths in unequal)


def _dates_own(program: ProgramReads, reads: Reads, around: KnownPaths) -> bool:
    """Return whether a program may learn when a file was made that this run made; that is a clock."""
    words = {mention.word for mention in reads.mentions}
    kinds = {LookKind.STATUS, LookKind.OPENED}
    told = _tells(program, reads)
    if told is not None:
        # A file may be its standard input.
        kinds.add(LookKind.OPEN_STATUS)
    elif _CODED.search(program.path):
        by_start = "/perl" in program.path and any(word.startswith(_PERL_TIMES) for word in words)
        told = "st_mtime" in words or by_start
        if by_start or words & OPEN_FILE_WORDS:
            kinds.add(LookKind.OPEN_STATUS)
    else:
        told = _UNDATED.search(program.path) is None
    if not told:
        return False
    # The C library asks for the status of the output, and tells nobody.
    unasked = around.kernel.streams[1:] if _tells(program, reads) else ()
    looks = (look for look in program.looks if look.path not in unasked)
    return any(look.own and look.existed and look.kind in kinds for look in looks)


def _is_constant(path: str, around: KnownPaths) -> bool:
    return path in around.own or path in around.clocks or around.kernel.constant.fullmatch(path) is not None


def _matters(program: str, look: PathLook, around: KnownPaths) -> bool:
    path, kind = look.path, look.kind
    if kind is LookKind.FILE_SYSTEM:
        if _WALKERS.search(program):
            return False
        return look.existed and not path.startswith(around.kernel.without_space)
    if kind is LookKind.ATTRIBUTE and _COPIES_ATTRIBUTES.search(program):
        return False
    if path not in around.names:
        if path.startswith("/dev/") and path not in around.foreign:
            return False
        if path.startswith(around.kernel.folders):
            return kind in (LookKind.OPENED, LookKind.LISTED)
        return path in around.foreign
    if kind is LookKind.LISTED:
        return path in around.relisted
    return (
        (kind in _CONTENT and path in around.changed)
        or (kind in _EXISTENCE and path in around.moving)
        or (kind in _TIMES and (path in around.moving or path in around.changed))
        or (kind in _TIMES and path in around.rewritten and _GIT.search(program) is None)
    )


def _describe(path: str, kind: LookKind, around: KnownPaths) -> str:
    return f"{_WORDS.get(kind, '')} {_name(path, around)}".strip()


def _name(path: str, around: KnownPaths) -> str:
    return around.names.get(path, path)


def _sources(reads: Reads) -> Iterator[ReadSource]:
    """Yield what programs asked besides files, apart from the memory by which `sort` chooses its buffer."""
    for program in reads.programs:
        for source in program.sources:
            if source.kind is not SourceKind.MACHINE or _SORT.search(program.path) is None:
                yield source


def _of_source(source: ReadSource, around: KnownPaths) -> Iterator[str]:
    detail = source.detail
    match source.kind:
        case SourceKind.CLOCK:
            return
        case SourceKind.RANDOM:
            yield "random numbers"
        case SourceKind.MACHINE:
            if "uname" not in detail:
                yield f"the state of the machine ({detail})"
        case SourceKind.PROCESS:
            yield "other processes" if detail == "all" else f"process {detail}"
        case SourceKind.DEVICE:
            if not _is_constant(detail, around):
                yield f"the device {detail}"
        case SourceKind.SOCKET:
            yield f"a socket ({detail})"
        case SourceKind.SHARED_MEMORY:
            yield f"shared memory ({detail})"


def _of_mention(mention: Mention, around: KnownPaths) -> Iterator[str]:
    if mention.path in around.own or mention.path in around.clocks:
        return
    where = f" in {_name(mention.path, around)}" if mention.path else ""
    if mention.word in _RANDOM_WORDS:
        yield f"random numbers ({mention.word}{where})"
    elif mention.word in _PROCESS_WORDS:
        yield f"its process number ({mention.word}{where})"


def unobserved(why: str, *, chance: bool = True) -> Influences:
    """Return that it is not known what a repetition reads; ``chance``: it may be random numbers."""
    what = f"something that could not be observed ({why})"
    return Influences(matters=(what,), why=why, chance=chance, outside=(what,))


def draws(reads: Reads, own: frozenset[str] = frozenset()) -> bool:
    """Return whether a hook run read random or process numbers, or a file not in `own` has words for them."""
    words = {mention.word for mention in reads.mentions if mention.path not in own}
    unknown = not reads.complete or reads.asked(SourceKind.RANDOM) or reads.asked(SourceKind.PROCESS)
    return unknown or not words.isdisjoint(_RANDOM_WORDS | _PROCESS_WORDS)


def _asks_clock(reads: Reads, around: KnownPaths) -> bool:
    if reads.asked(SourceKind.CLOCK) or any(mention.word == "rdtsc" for mention in reads.mentions):
        return True
    # The status of an open file shows its times, but programs ask for it with every file that they read.
    times = (LookKind.OPEN_STATUS, LookKind.OPENED, LookKind.STATUS)
    return any(
        (look.kind in times and look.path in around.clocks)
        or (
            look.kind is LookKind.OPEN_STATUS
            and look.path in around.rewritten
            and not look.own
            and _READERS.search(program.path) is None
        )
        for program in reads.programs
        for look in program.looks
    )
