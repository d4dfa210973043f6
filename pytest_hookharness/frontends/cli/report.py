"""
``hookharness report``: trace files that are read back and told.

Trace files may come from anywhere, an archive of somebody else's run for one.

Analysis: a real transcript, and the loops of its agent.

It joins those who read files, know the hosts' forms and detect loops.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.frontends.output.incident_files import require_new, write_new
from pytest_hookharness.frontends.output.trace_files import SUFFIX, read_file
from pytest_hookharness.hosts.transcript_readers.transcript_formats import UnknownTranscript, read_transcript
from pytest_hookharness.judging.detectors.messages import Limits
from pytest_hookharness.judging.detectors.offline import detect
from pytest_hookharness.judging.detectors.window import is_guard_refusal
from pytest_hookharness.model.actions import Action, ActionResult, Analysis
from pytest_hookharness.reports.html.page import page
from pytest_hookharness.reports.markdown.incident import unfinished
from pytest_hookharness.reports.safe_text import plain, plain_lines
from pytest_hookharness.reports.terminal.table import render_table
from pytest_hookharness.reports.trace.read import TraceRun, row
from pytest_hookharness.scenario_files.json_records import Records, UnreadableRecords


def analyze(path: Path, limits: Limits | None = None) -> Analysis:
    """
    What the detectors say of a transcript.

    Raises:
        Unreadable: It cannot be read, is empty, or is a transcript of no host that is known.
    """
    records = Records(path)
    try:
        stream = read_transcript(records.read())
    except UnknownTranscript as error:
        malformed = ", ".join(f"{count} x {why}" for why, count in records.malformed.items())
        left_out = f"; left out: {malformed}" if malformed else ""
        raise UnreadableRecords(f"{path}: {error}{left_out}") from error
    actions = [item for item in stream.items if isinstance(item, Action)]
    return Analysis(
        source=str(path),
        form=stream.form,
        actions=len(actions),
        unanswered=sum(action.outcome is ActionResult.UNKNOWN for action in actions),
        unread={**records.malformed, **stream.left_out},
        own=sum(map(is_guard_refusal, actions)),
        loops=detect(stream.items, limits),
    )


AS_PROMISED, OTHERWISE, UNKNOWN = 0, 1, 2
_WIDTH = 200
DESCRIPTION = (
    "Reads the trace files that --hook-trace-dir or --trace-dir left, and prints a table of the runs, or a "
    "debugging entry in Markdown for each that was not as promised, or writes a page of them for a browser. "
    "docs/traces.md tells what is in them. "
    "Exit status: 0 all runs were as promised, 1 some was not, 2 some came to no end or cannot be read."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    Declare what the command takes.
    """
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder with trace files, or one of them")
    parser.add_argument("--format", choices=tuple(_FORMATS), default="table", help="what is made (table)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="a new file (standard output)")


def tell(arguments: argparse.Namespace) -> str:
    """
    What is to be printed; the exit status is left in the arguments.

    Raises:
        ValueError: There is no trace file, or one cannot be read.
        pytest.UsageError: The output cannot be written.
    """
    if arguments.output is not None:
        require_new(arguments.output)
    paths = _files(arguments.folder)
    read = [(path, read_file(path)) for path in paths]
    runs = sorted(
        (run for _, run in read if run is not None), key=lambda run: (str(run.begin["began"]), run.name)
    )
    if arguments.format == "page" and arguments.output is None:
        raise ValueError("report: a page is a file for a browser; name it, such as `-o page.html`")
    text = _FORMATS[arguments.format](runs)
    notes = [f"{_name(path)}: holds no whole line and was left out" for path, run in read if run is None]
    notes += [f"{_name(run.name)}: a last line that is not whole was left out" for run in runs if run.torn]
    arguments.status = judge([run for _, run in read])
    if arguments.output is None:
        return "\n".join(filter(None, (text, *notes)))
    write_new(arguments.output, f"{text}\n")
    return "\n".join((f"wrote {arguments.output}", *notes))


def _name(path: object) -> str:
    return plain(str(path), _WIDTH)


def judge(runs: Sequence[TraceRun | None]) -> int:
    """
    The exit status that some runs come to; of ``None`` not even the beginning was written.
    """
    passed = [None if run is None or run.end is None else run.end["passed"] for run in runs]
    return OTHERWISE if False in passed else UNKNOWN if None in passed or not runs else AS_PROMISED


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        if folder.exists():
            raise ValueError(
                f"report: {folder} is neither a file nor a folder; name the folder of --hook-trace-dir"
            )
        raise ValueError(f"report: there is no {folder}; name the folder that --hook-trace-dir named")
    found = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file())
    if not found:
        raise ValueError(
            f"report: {folder} holds no trace file (*{SUFFIX}); name the folder of --hook-trace-dir"
        )
    return found


def _table(runs: Sequence[TraceRun]) -> str:
    return render_table([row(run) for run in runs], width=_WIDTH)


def _entries(runs: Sequence[TraceRun]) -> str:
    return "\n".join(_each_entry(runs))


def _each_entry(runs: Sequence[TraceRun]) -> Iterator[str]:
    """
    An entry for each run that was not as promised, or came to no end.
    """
    for run in runs:
        if run.end is None:
            yield unfinished(run)
        elif not run.end["passed"]:
            entry = run.end["incident"]
            yield "\n".join(plain_lines(str(entry["text"] if isinstance(entry, dict) else entry))) + "\n"


_FORMATS: Mapping[str, Callable[[Sequence[TraceRun]], str]] = {
    "table": _table,
    "entry": _entries,
    "page": page,
}
