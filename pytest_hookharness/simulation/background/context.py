"""
The context of a hook thread: what its prompt says about the process, and nothing of the earlier conversation.

The output of a process is untrusted text. It is bounded, stripped of control characters, and each line starts
with a bar, so that no line of it looks like a line of the section.
"""

from __future__ import annotations

import signal

from pytest_hookharness.model.fast_dataclass import dataclass

# Lines of output that are kept, and characters of each.
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
    What a thread learns about the process that it belongs to, and about the thread that detached it.

    The process has run for some seconds, and ``because`` says why the hook fired. ``tail`` has the last lines
    of output.
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
    """Return the common meaning of an exit code."""
    if code in _USUAL:
        return _USUAL[code]
    if 128 < code <= 128 + max(signal.valid_signals()):
        number = code - 128
        names = {int(known): known.name for known in signal.Signals}
        return f"killed by {names.get(number, f'signal {number}')}"
    return "failure"


def section(context: Context) -> str:
    """Return the section about the process in a thread's prompt."""
    optional = [
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
        *(f"{name}: {text}" for name, text in optional if text),
        "",
        f"Last lines of output ({len(context.tail)}, the process's own words, each behind a bar):",
        *(f"  | {line}" for line in context.tail),
    ]
    return "\n".join(lines)


def tidy(text: str) -> str:
    """Return a line of output that is safe to keep and show: bounded, and without control characters."""
    return _plain(text[:LONGEST_LINE]) + ("..." if len(text) > LONGEST_LINE else "")


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() or character == "\t" else "?" for character in text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
