"""Decoding of a record that crossed the socket from the item supervisor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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

# Programs whose scripts can ask for the size of a file that they write, and what they ask themselves when
# they open a file. Observed with Python 3.11, Perl 5.36 and Node 20. All other programs of the system ask for
# a status because the C library does so before it writes.
_ASKED_AT_OPEN = {
    "python": re.compile(r"(open status )?(end )?(position ){0,2}"),
    "perl": re.compile(r"(end )?(position )?(open status )?"),
    "node": re.compile(r""),
    "ruby": re.compile(r"(open status )?"),
}
_INTERPRETER = re.compile(r"(?:^|/)(python|pypy|perl|node|deno|bun|ruby|php|lua|tclsh|guile)[0-9.]*$")
_SYSTEM = re.compile(r"^/(usr/)?(local/)?s?bin/")
_QUERY_WORDS = frozenset(("tell", "fstat", "st_size"))


def decode_reads(values: tuple[Any, ...]) -> Reads:
    """Decode the record of one hook run."""
    gap, observed, images, writes, mentions = values
    found = tuple(Mention(*mention) for mention in mentions)
    suspicious = any(mention.word in _QUERY_WORDS for mention in found)
    return Reads(
        programs=tuple(_program(*image) for image in images),
        writes=tuple(_write(*write, suspicious=suspicious) for write in writes),
        mentions=found,
        gap=gap,
        observed=observed,
    )


def _program(
    path: str,
    script: str,
    invoked: str,
    looks: Sequence[tuple[str, str, bool, bool]],
    sources: Sequence[tuple[str, str, int]],
) -> ProgramReads:
    return ProgramReads(
        path=path,
        script=script,
        invoked=invoked,
        looks=tuple(PathLook(path, LookKind(kind), existed, own) for path, kind, existed, own in looks),
        sources=tuple(ReadSource(SourceKind(kind), detail, times) for kind, detail, times in sources),
    )


def _write(
    path: str,
    existed: bool,
    read: bool,
    append: bool,
    emptied: bool,
    queries: Sequence[tuple[str, Sequence[str]]],
    *,
    suspicious: bool,
) -> FileWrite:
    queried = any(_asks(program, asked, suspicious=suspicious) for program, asked in queries)
    return FileWrite(path, existed, read, append, emptied, queried)


def _asks(program: str, asked: Sequence[str], *, suspicious: bool) -> bool:
    """Return whether a program asked for more than what programs ask of each file that they write."""
    interpreter = _INTERPRETER.search(program)
    if interpreter is None:
        return not _SYSTEM.match(program)
    usual = _ASKED_AT_OPEN.get(interpreter[1])
    return suspicious or usual is None or not usual.fullmatch("".join(f"{one} " for one in asked))
