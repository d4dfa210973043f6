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
    yield from _comparison(result)
    left_out = [*result.left_out]
    for further in result.further:
        yield f"  also recorded: {further.loop}"
        yield from _comparison(further)
        left_out += [text for text in further.left_out if text not in left_out]
    for text in left_out[:_MOST]:
        yield f"  left out: {text}"
    if len(left_out) > _MOST:
        yield f"  left out: {len(left_out) - _MOST} more"
    for file in (file for one in (result, *result.further) for file in one.files):
        yield f"  wrote {file}"


def _comparison(result: Reproduction) -> Iterator[str]:
    yield f"  {result.same} of {result.recorded} refusals as recorded"
    if result.more:
        yield f"    {result.more} more here, after the last recorded one"
    if result.difference:
        yield f"    first difference: {result.difference}"
        yield f"    likely cause: {result.cause}"
    yield f"  {'reproduced' if result.reproduced else 'NOT reproduced'}: {result.verdict}"
    if result.shrunk:
        yield f"  shrunk to {result.shrunk} ({result.plays} plays, {result.seconds:.1f} s)"
