"""
Translation between values of the harness and what crosses the socket to an item supervisor.

Only the pytest process and the fake agent load it: the supervisor must start without the model.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from pytest_hookharness.execution.processes.framing import MOST_EXTENDED
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import (
    Activity,
    Cut,
    Ending,
    Exited,
    HeldOpen,
    NotStarted,
    Output,
    Process,
    ProcessResult,
    ProcessSpec,
    Signaled,
    Tier,
    TimedOut,
)
from pytest_hookharness.model.reads import (
    FileWrite,
    LookKind,
    Mention,
    PathLook,
    ProgramReads,
    Reads,
    ReadSource,
    SourceKind,
)

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

    def encode(self) -> tuple[Any, ...]:
        """Encode the request to open a sandbox."""
        private = tuple(self.private.items())
        view = private, self.visible, self.writable, self.outside, self.readonly, self.full
        return "open", self.tier.value if self.tier else None, self.network, view


def notes_of(
    tier: Tier,
    confinement: Confinement,
    reason: str,
    contained: Sequence[str],
    refusals: Sequence[tuple[str, str]],
    evidence: Sequence[str] = (),
) -> Iterator[str]:
    """
    Yield what a tier cannot guarantee, in sentences.

    Args:
        reason: Why namespaces are not available, if the tier is the best one.
        contained: The folders below which no write reaches the machine.
        refusals: Where writes do although they should not, each with the reason.
        evidence: What shows where a process comes from that left its group and its session.
    """
    if reason:
        yield f"namespaces are not available here: {reason}"
    if tier is not Tier.NAMESPACES:
        if not confinement.network:
            yield "the network is not cut off"
        yield f"{_SHARED[0]}, {_SHARED[1]} and {_SHARED[2]} are shared with the machine"
        yield "a hook can read all files of the user, also in the home folder"
        yield (
            "a hook can read the environment of pytest with its tokens, and its memory unless the system "
            "forbids that"
        )
    if tier is Tier.GROUP:
        yield (
            "a process that left its group and its session is only found by what it inherited: "
            + ", ".join(evidence)
        )
        yield "a process that lost all of that may survive and is not reported"
        yield "a process that a service starts for a hook may survive and is not reported"
    if tier is not Tier.NAMESPACES:
        return
    for point in _SHARED:
        if point not in confinement.private:
            yield f"{point} is shared with the machine"
    if not confinement.outside:
        return
    for place, refusal in refusals:
        yield f"what is written below {place} is neither contained nor seen: {refusal}"
    if "/" not in contained and not any(place == "/" for place, _ in refusals):
        where = f"only below {', '.join(contained)}" if contained else "nowhere"
        yield f"what is written outside of the covered folders is contained and seen {where}"


def longest(specs: Sequence[ProcessSpec]) -> float:
    """Return the most seconds that a batch may take: those of its slowest process."""
    times = (
        (
            (each.hook_timeout if each.kill.close_wait is None else min(each.limit, each.hook_timeout))
            + (each.pipe_wait or 0.0)
        )
        * MOST_EXTENDED
        + each.kill.grace * len(each.kill.signals)
        + sum(wait or 0.0 for wait in (each.kill.close_wait, each.linger))
        for each in specs
    )
    return max(times, default=0.0)


_UNCHANGED = (
    *("own_session", "limit", "hook_timeout", "exact", "pipe_wait", "linger", "background", "output_limit"),
    *("observed", "ahead", "since", "shifts", "chosen"),
)
_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def encode(spec: ProcessSpec, terminal: str = "") -> dict[str, Any]:
    """Encode a process spec, and the path of its terminal, as the attributes of a `ProcessRequest`."""
    if not spec.argv:
        raise ValueError("argv is empty; a process needs at least one word")
    stdin, kill = spec.stdin, spec.kill
    # Encoded here, in the pytest process: the item supervisor then only passes bytes to the exec call.
    argv = [os.fsencode(word) for word in spec.argv]
    # Not by ``os.fsencode``: two calls for each variable would take most of the time spent here.
    env = [f"{name}={value}".encode(_ENCODING, _ERRORS) for name, value in spec.env.items()]
    return {
        **{name: getattr(spec, name) for name in _UNCHANGED},
        "argv": argv, "executables": _candidates(argv[0], spec.env.get("PATH", os.defpath)),
        "cwd": os.fsencode(spec.cwd), "env": env,
        "terminal": os.fsencode(terminal), "warm": os.fsencode(spec.warm),
        "data": stdin.data, "close": stdin.close, "chunk": stdin.chunk, "delay": stdin.delay,
        "stdin": (stdin.stdio or spec.stdio).value, "stdio": spec.stdio.value, "detach": spec.detach.value,
        "signals": kill.signals, "scope": kill.scope.value, "grace": kill.grace,
        "close_wait": kill.close_wait,
    }  # fmt: skip


def _candidates(word: bytes, search_path: str) -> list[bytes]:
    """List the files that a command word may mean, in the order in which the system tries them."""
    if b"/" in word:
        return [word]
    return [os.fsencode(folder or ".") + b"/" + word for folder in search_path.split(os.pathsep)]


def decode(values: dict[str, Any], limit: float | None = None) -> ProcessResult:
    """Decode the report of one process; ``limit`` is the time limit that it had."""
    reads = values["reads"]
    encoded: dict[str, Any] = {
        "ending": _ending(values["ending"]),
        "stdout": Output(*values["stdout"]),
        "stderr": Output(*values["stderr"]),
        "leftovers": tuple(Process(*row) for row in values["leftovers"]),
        "unclaimed": tuple(Process(*row) for row in values["unclaimed"]),
        "reads": decode_reads(reads) if reads is not None else None,
    }
    return ProcessResult(limit=limit, **{**values, **encoded})


def _exit(values: tuple[str, int]) -> Exited | Signaled:
    kind, number = values
    return Exited(number) if kind == "exited" else Signaled(number)


def _ending(values: tuple[Any, ...]) -> Ending:
    match values:
        case ("exited" | "signaled", int()):
            return _exit(values)
        case ("cut", after, by, ignored_term, doing, ended):
            seen = tuple(Activity(Process(*row[:3]), *row[3:]) for row in doing)
            return TimedOut(after, Cut(by), ignored_term, seen, _exit(ended) if ended else None)
        case ("held", exit, waited, holders):
            return HeldOpen(_exit(exit), waited, tuple(Process(*row) for row in holders))
        case ("not started", reason):
            return NotStarted(reason)
        case _:
            raise ValueError(f"a report with an unknown ending: {values!r}")


# Programs whose scripts can ask for the size of a file that they write, and what they ask themselves when
# they append to a file that they open or find as their output. Observed with Python 3.11, Perl 5.36, Node 20.
_ASKED_AT_OPEN = {
    "python": re.compile(r"((open status end |output status )(position ){0,2})?"),
    "perl": re.compile(r"(end position open status |position )?"),
    "node": re.compile(r""),
    "ruby": re.compile(r"((open|output) status )?"),
}
# Programs of the system that tell sizes. All others, and these of their output, ask for a status because the
# C library does so before it writes.
_TELLING = re.compile(r"/(stat|find|du|ls|wc|tail|test|\[)$")
_INTERPRETER = re.compile(r"(?:^|/)(python|pypy|perl|node|deno|bun|ruby|php|lua|tclsh|guile)[0-9.]*$")
_SYSTEM = re.compile(r"^/(usr/)?(local/)?s?bin/")
_KINDS = {kind.value: kind for kind in LookKind}
_QUERY_WORDS = frozenset(("tell", "seek", "fstat", "st_size"))


def decode_reads(values: tuple[Any, ...]) -> Reads:
    """Decode the record of one hook run."""
    gap, observed, images, writes, mentions, chosen = values
    found = tuple(Mention(*mention) for mention in mentions)
    suspicious = any(mention.word in _QUERY_WORDS for mention in found)
    return Reads(
        programs=tuple(_program(*image) for image in images),
        # A run knows the content of a file that it has made or emptied.
        writes=tuple(
            FileWrite(path, existed, read, append, emptied, not emptied and _queried(queries, suspicious))
            for path, existed, read, append, emptied, queries in writes
        ),
        mentions=found,
        gap=gap,
        observed=observed,
        chosen=tuple(chosen),
    )


def _program(path: str, script: str, invoked: str, looks: Any, sources: Any) -> ProgramReads:
    return ProgramReads(
        path=path,
        script=script,
        invoked=invoked,
        looks=tuple(PathLook(at, _KINDS[kind], existed, own) for at, kind, existed, own in looks),
        sources=tuple(ReadSource(SourceKind(kind), detail, times) for kind, detail, times in sources),
    )


def _queried(queries: Sequence[tuple[str, Sequence[str]]], suspicious: bool) -> bool:
    return any(_asks(program, asked, suspicious=suspicious) for program, asked in queries)


def _asks(program: str, asked: Sequence[str], *, suspicious: bool) -> bool:
    """Return whether a program asked for more than what programs ask of each file that they write."""
    interpreter = _INTERPRETER.search(program)
    if interpreter is None:
        told = _TELLING.search(program) is not None and {*asked} != {"output status"}
        return told or not _SYSTEM.match(program)
    usual = _ASKED_AT_OPEN.get(interpreter[1])
    return suspicious or usual is None or not usual.fullmatch("".join(f"{one} " for one in asked))
