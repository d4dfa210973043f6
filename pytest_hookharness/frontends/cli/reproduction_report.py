"""The report of ``hookharness reproduce``. Text from a transcript may be hostile and is escaped."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.campaigns.reproduce.reproduction import Reproduction
from pytest_hookharness.reports.safe_text import plain

_WIDTH = 1000
_MOST = 20


def describe_reproduction(result: Reproduction) -> str:
    """Return a reproduction as text."""
    lines = ((len(line) - len(line.lstrip()), line) for line in _lines(result))
    return "\n".join(f"{depth * chr(32)}{plain(line.strip(), _WIDTH)}" for depth, line in lines)


def _lines(result: Reproduction) -> Iterator[str]:
    yield f"{result.source} ({result.host})"
    if result.without:
        yield f"  no loop to reproduce: {result.without}"
        yield from (f"  left out: {text}" for text in result.left_out)
        return
    yield f"  recorded: {result.loop}"
    for text in result.others:
        yield f"  also recorded, but not reproduced by itself: {text}"
    yield f"  played on {result.played}, {result.project}"
    if result.missing:
        yield f"  not in such a transcript: {result.missing}"
    yield f"  {result.same} of {result.recorded} refusals as recorded"
    if result.more:
        yield f"    {result.more} more here, after the last recorded one"
    if result.difference:
        yield f"    first difference: {result.difference}"
        yield f"    likely cause: {result.cause}"
    yield f"  {'reproduced' if result.reproduced else 'NOT reproduced'}: {result.verdict}"
    if result.shrunk:
        yield f"  shrunk to {result.shrunk} ({result.plays} plays, {result.seconds:.1f} s)"
    for text in result.left_out[:_MOST]:
        yield f"  left out: {text}"
    if len(result.left_out) > _MOST:
        yield f"  left out: {len(result.left_out) - _MOST} more"
    for file in result.files:
        yield f"  wrote {file}"
