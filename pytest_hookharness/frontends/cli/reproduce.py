"""``hookharness reproduce``: from the transcript of a stuck session to a small scenario of its loop."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_hookharness.campaigns.reproduce.reproduction import Reproduction
from pytest_hookharness.campaigns.reproduce.reproduction_run import ReproductionRun
from pytest_hookharness.frontends.cli.play import add_settings, settings_of
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.screen import shell_line
from pytest_hookharness.reports.safe_text import plain

REPRODUCED, DIFFERENT, UNKNOWN = 0, 1, 2
_WIDTH = 1000
_MOST = 20
_COPY = ", a copy of the project: the scenarios play its hooks, so correct them there as well"
_DESCRIPTION = (
    "Reads the transcript of a real session, and names the hook that refused again and again. Plays the "
    "agent's moves against the real hooks in a copy of the project, at the commit that the transcript names, "
    "and compares refusal by refusal. Writes, for each loop, a scenario that fails now and passes once its "
    "copy of the hook is fixed, and a small one. Exit status: 0 reproduced, or the transcript has no loop, "
    "1 a loop was not reproduced, 2 unreadable or interrupted."
)


def declare_reproduce(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness reproduce``."""
    parser.description = _DESCRIPTION
    parser.add_argument("transcript", metavar="TRANSCRIPT", type=Path, help="a file, or a folder of events")
    parser.add_argument(
        "--project",
        type=Path,
        metavar="DIR",
        help="the project, or the folder in it where the session ran (the recorded folder)",
    )
    parser.add_argument("--at", default="", metavar="COMMIT", help="commit of the project (the recorded one)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("reproduced"),
        metavar="DIR",
        help="folder (reproduced)",
    )
    parser.add_argument("--no-shrink", action="store_true", help="write only the whole session")
    add_settings(parser)
    parser.set_defaults(call=_reproduce)


def _reproduce(arguments: argparse.Namespace) -> int:
    """
    Reproduce the loop, print what was seen, and return the exit status.

    Raises:
        ValueError: The transcript cannot be read.
        SimulationError: The project or the commit does not exist.
    """
    with Harness(settings_of(arguments), line=shell_line(sys.stderr)) as harness:
        run = ReproductionRun(
            source=arguments.transcript,
            settings=harness.settings,
            resources=harness.resources,
            project=arguments.project,
            at=arguments.at,
            output=arguments.output,
            shrinks=not arguments.no_shrink,
        )
        there = _files(arguments.output)
        try:
            result = run.run()
        except KeyboardInterrupt:
            # Each loop is written when it was played to its end.
            new = sorted(_files(arguments.output) - there)
            wrote = f"wrote {', '.join(new)}" if new else "nothing was written"
            print(f"hookharness: interrupted: {wrote}", file=sys.stderr)
            return UNKNOWN
    print(describe_reproduction(result))
    return REPRODUCED if result.complete else DIFFERENT


def _files(folder: Path) -> set[str]:
    """Return the files and folders in a folder; nothing if it does not exist."""
    return {str(path) for path in folder.iterdir()} if folder.is_dir() else set()


def describe_reproduction(result: Reproduction) -> str:
    """Return a reproduction as text. Text from a transcript may be hostile and is escaped."""
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
    for one in (result, *result.further):
        yield from (f"  wrote {file}{_COPY if file.endswith('/') else ''}" for file in one.files)
        if one.files and not any(file.endswith("/") for file in one.files):
            yield _HOLDS
        if one.doubt:
            yield f"    {one.doubt}"


# If the project is copied as a whole, its line says so.
_HOLDS = "    Their hooks are copies, so correct them there as well."


def _comparison(result: Reproduction) -> Iterator[str]:
    compared = result.compared
    yield f"  {compared.same} of {compared.recorded} refusals as recorded"
    if compared.more:
        yield f"    {compared.more} more here, after the last recorded one"
    if compared.difference:
        yield f"    first difference: {compared.difference}"
        yield f"    likely cause: {compared.cause}"
    yield f"  {'reproduced' if result.reproduced else 'NOT reproduced'}: {result.verdict}"
    if result.shrunk:
        yield f"  shrunk to {result.shrunk} ({result.plays} plays, {result.seconds:.1f} s)"
