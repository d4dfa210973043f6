"""
``hookharness report``: summarise trace files. ``hookharness analyze``: find loops in a real transcript.

Trace files may come from elsewhere, such as a CI archive, so nothing in them is trusted.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_hookharness.campaigns.reproduce.session_files import read_session
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.frontends.option_types import require_new, whole_number
from pytest_hookharness.frontends.output.simulation_files import SUFFIX, read_file
from pytest_hookharness.judging.detectors.messages import LoopLimits
from pytest_hookharness.judging.detectors.refusal_rows import detect_all
from pytest_hookharness.judging.detectors.streams import is_guard_refusal
from pytest_hookharness.model.actions import Action, ActionResult, Analysis
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.reports.html.page import page
from pytest_hookharness.reports.markdown.incident import unfinished
from pytest_hookharness.reports.safe_text import plain, plain_lines
from pytest_hookharness.reports.terminal.table import render_table
from pytest_hookharness.reports.trace.hook_runs import attributes
from pytest_hookharness.reports.trace.read import TraceRun, row


def analyze(path: Path, limits: LoopLimits | None = None) -> Analysis:
    """
    Return the loops that the detectors find in a transcript.

    Raises:
        UnreadableRecords: It cannot be read, is empty, or has an unknown form.
    """
    session = read_session(path)
    stream = session.stream
    actions = [event for event in stream.items if isinstance(event, Action)]
    return Analysis(
        source=str(path),
        form=stream.form,
        actions=len(actions),
        unanswered=sum(action.outcome is ActionResult.UNKNOWN for action in actions),
        unread=session.unread,
        own=sum(map(is_guard_refusal, actions)),
        loops=detect_all(stream.items, limits),
    )


PASSED, FAILED, UNKNOWN = 0, 1, 2
_WIDTH = 200
_LONGEST = 1000
_DESCRIPTION = (
    "Reads trace files of --hook-trace-dir or --trace-dir, and prints a table of the runs, or an incident "
    "report in Markdown for each that failed, or writes an HTML page of all. "
    "Exit status: 0 all runs passed, 1 a run failed, 2 a run has no end or a file cannot be read."
)
_ANALYZE = (
    "Reads a transcript of Claude Code, Codex, OpenHands, Gemini CLI or Qwen Code, recognised by its "
    "content, and the files of its subagents. Reports loops of the agent's own moves, and hooks that refuse "
    "again and again with the same text. "
    "Exit status: 0 no loops, 1 loops, 2 unreadable."
)


def declare_report(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness report``."""
    parser.description = _DESCRIPTION
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder with trace files, or one of them")
    parser.add_argument(
        "--format", choices=tuple(_FORMATS), default="table", help="form of the report (table)"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="a new file (standard output)")
    parser.set_defaults(call=_report)


def _report(arguments: argparse.Namespace) -> int:
    """Print or write the report."""
    if arguments.output is not None:
        require_new(arguments.output, "--output")
    paths = _files(arguments.folder)
    read = [(path, read_file(path)) for path in paths]
    runs = sorted(
        (run for _, run in read if run is not None), key=lambda run: (str(run.begin["began"]), run.name)
    )
    if arguments.format == "page" and arguments.output is None:
        raise ValueError("report: a page needs a file; name it, such as `-o page.html`")
    text = _FORMATS[arguments.format](runs)
    empty = [f"{_name(path)}: has no complete line and was skipped" for path, run in read if run is None]
    torn = [f"{_name(run.name)}: its last line is incomplete and was skipped" for run in runs if run.torn]
    _write(arguments.output, text, [*empty, *torn])
    return judge([run for _, run in read])


def _write(output: Path | None, text: str, notes: Sequence[str]) -> None:
    if output is None:
        print(*filter(None, (text, *notes)), sep="\n")
    else:
        create_file(output, f"{text}\n")
        print(f"wrote {output}", *notes, sep="\n")


def _name(path: object) -> str:
    return plain(str(path), _WIDTH)


def judge(runs: Sequence[TraceRun | None]) -> int:
    """Return the exit status of some runs; ``None`` stands for a file without a complete line."""
    passed = [None if run is None or run.end is None else run.end["passed"] for run in runs]
    return FAILED if False in passed else UNKNOWN if None in passed or not runs else PASSED


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    found: list[Path] = []
    if not folder.is_dir():
        problem = "is neither a file nor a folder" if folder.exists() else "does not exist"
    else:
        problem = f"has no trace file (*{SUFFIX})"
        found = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and path.is_file())
    if not found:
        raise ValueError(f"report: {folder} {problem}; name the folder of --hook-trace-dir")
    return found


def _incidents(runs: Sequence[TraceRun]) -> Iterator[str]:
    """Yield an incident report for each run that failed or has no end."""
    for run in runs:
        if run.end is None:
            yield unfinished(run)
        elif not run.end["passed"]:
            incident = run.end["incident"]
            text = incident["text"] if isinstance(incident, dict) else incident
            yield "\n".join(plain_lines(str(text))) + "\n"


_FORMATS: Mapping[str, Callable[[Sequence[TraceRun]], str]] = {
    "table": lambda runs: render_table([row(run) for run in runs], width=_WIDTH),
    "incident": lambda runs: "\n".join(_incidents(runs)),
    "page": page,
}


def declare_analyze(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness analyze``."""
    parser.description = _ANALYZE
    parser.add_argument("file", metavar="FILE", type=Path, help="a transcript, or a folder of events")
    parser.add_argument("--json", action="store_true", help="print JSON")
    for option, text, default, least in (
        ("--repetitions", "least number of repetitions of a sequence", 3, 2),
        ("--failures", "least number of equal failures", 3, 2),
        ("--window", "most actions that a loop may span", 24, 1),
    ):
        parser.add_argument(
            option, type=whole_number(option, least), default=default, metavar="N", help=f"{text} ({default})"
        )
    parser.set_defaults(call=_analyze)


def _analyze(arguments: argparse.Namespace) -> int:
    limits = LoopLimits(
        repetitions=arguments.repetitions, failures=arguments.failures, window=arguments.window
    )
    # A long transcript makes millions of values and no circles of them, and looking for circles takes long.
    gc.disable()
    try:
        analysis = analyze(arguments.file, limits)
    finally:
        gc.enable()
    print(json.dumps(_as_json(analysis), indent=2) if arguments.json else "\n".join(_describe(analysis)))
    return FAILED if analysis.loops else PASSED


def _describe(analysis: Analysis) -> Iterator[str]:
    seen = counted(len(analysis.loops) or "no", "loop")
    calls = counted(analysis.actions, "tool call")
    yield f"{seen}; {calls} in the session: {plain(analysis.source, 200)} ({analysis.form})"
    for loop in analysis.loops:
        who = f", agent {plain(loop.agent, 40)}" if loop.agent else ""
        since = f"{plain(loop.first, 80)} to" if loop.first else "until"
        yield f"  {loop.title}, {since} {plain(loop.last, 80)}{who}"
        yield f"    {plain(loop.text, _LONGEST)}"
        yield f"    Next: {plain(loop.advice, _LONGEST)}"
    for why, count in analysis.unread.items():
        yield f"  left out: {count} x {plain(why, 80)}"
    if analysis.unanswered:
        yield f"  without a result: {analysis.unanswered}"
    if analysis.own:
        yield f"  refused by the loop guard itself, not counted: {analysis.own}"


def _as_json(analysis: Analysis) -> Payload:
    known = attributes(analysis, "source", "form", "actions", "unanswered", "unread", "loops")
    return {**known, "own_refusals": analysis.own}
