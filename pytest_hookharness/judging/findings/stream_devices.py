"""
Streams that a hook opens by name, such as ``/dev/stdin``, where its host gives sockets: Linux opens none.

What counts is the error that a program of the hook printed (``ENXIO``, see open(2)). macOS opens these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.judging.findings import codes, finding_catalogue
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding

_REFUSED = re.compile(
    r"/dev/std(?P<name>in|out|err)[\"']?: No such device or address"
    r"|(?:ENXIO|\[Errno 6\])[^\n]{0,100}[\"']/dev/std(?P<quoted>in|out|err)[\"']"
)
_READ = "Read standard input itself, as with `$(cat)`, `sys.stdin` or descriptor 0."
_WRITE = "Write to the descriptor itself: `>&2` or `>&1`, and no redirection at all to print the answer."


def find_refused_streams(trace: Trace) -> Iterator[Finding]:
    """Find hooks that opened a stream by its name and were refused, so that they lost input or output."""
    for step, hook_run in trace.hook_runs():
        run = hook_run.run
        found = _REFUSED.search(run.stderr.text) if run is not None else None
        if run is None or found is None:
            continue
        name = found["name"] or found["quoted"]
        # A hook that got its input in another way, or printed something else, may have known.
        if run.stdin_read if name == "in" else (run.stdout.text.strip() or _others(run.stderr.text)):
            continue
        lost, code, advice = (
            ("it gets no input from there", codes.MISSING_INPUT, _READ)
            if name == "in"
            else ("what it prints there is lost", finding_catalogue.MANGLED, _WRITE)
        )
        event = hook_run.hook.event
        text = f"{event}: it opens /dev/std{name}, a socket, and Linux opens no socket by name: {lost}."
        yield replace(code.found(text, turn=step.turn, hook=hook_run.hook.command), advice=advice)


def _others(text: str) -> bool:
    """Return whether a line is none that says that a stream was refused."""
    return any(line.strip() and not _REFUSED.search(line) for line in text.splitlines())
