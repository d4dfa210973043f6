"""
This module is concerned with the context of a hook thread: all that it is told, and nothing of the history.

Middle floor. Pure. What a process printed is somebody else's text: it is bounded, stripped of whatever acts
on a terminal, and each line of it is marked, so that none can pass for a line of the section.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass

TAIL = 50
LONGEST_LINE = 500
_USUAL = {
    0: "success",
    1: "failure",
    2: "failure, often wrong usage",
    126: "the command was found and could not be executed",
    127: "the command was not found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """
    What a thread is told of the process behind it.

    Attributes:
        command: The command line.
        pid: The process number.
        because: What pulled the trigger, in words.
        ran: Seconds that the process has run.
        purpose: Why it exists.
        instructions: What to do.
        related: Files that belong to it.
        summary: What the thread was about that detached it.
        depth: Depth of the thread.
        tail: The last lines of output.
    """

    command: str
    pid: int
    because: str
    ran: float
    purpose: str
    instructions: str
    related: tuple[str, ...]
    summary: str
    depth: int
    tail: tuple[str, ...]


def exit_meaning(code: int) -> str:
    """
    What an exit code commonly means.
    """
    if code in _USUAL:
        return _USUAL[code]
    if 128 < code <= 128 + max(signal.valid_signals()):
        number = code - 128
        names = {int(known): known.name for known in signal.Signals}
        return f"killed by {names.get(number, f'signal {number}')}"
    return "failure"


def section(context: Context) -> str:
    """
    The section of a thread's prompt.
    """
    told = [
        ("Purpose", context.purpose),
        ("Instructions", context.instructions),
        ("Related files", ", ".join(context.related)),
        ("Summary of the thread that detached it", context.summary),
    ]
    lines = [
        "A process hook has fired.",
        "",
        f"Process: {_plain(context.command)} (PID {context.pid})",
        f"Trigger: {_plain(context.because)}",
        f"Run time: {_duration(context.ran)}",
        f"Depth: {context.depth}",
        *(f"{name}: {text}" for name, text in told if text),
        "",
        f"Last lines of output ({len(context.tail)}, the process's own words, each behind a bar):",
        *(f"  | {line}" for line in context.tail),
    ]
    return "\n".join(lines)


def tidy(text: str) -> str:
    """
    A line of output as it may be kept and shown.
    """
    return _plain(text[:LONGEST_LINE]) + ("..." if len(text) > LONGEST_LINE else "")


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() or character == "\t" else "?" for character in text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
