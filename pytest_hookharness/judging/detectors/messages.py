"""
The limits of the loop detectors, and their messages: what was seen, and what to do next.

The detectors find an agent that repeats itself and learns nothing from it. docs/loop-detection.md defines
what is a loop, and what is polling or batch work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from pytest_hookharness.model.actions import DetectedLoop, LoopName
from pytest_hookharness.model.fast_dataclass import dataclass

LONGEST = 8


class Unreachable(ValueError):
    """A limit that no stream of actions can reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLimits:
    """
    When a detector reports a loop.

    Attributes:
        repetitions: How often a sequence must come in a row.
        failures: How many actions in a row must fail with one error text.
        window: How many actions a loop may span.

    Raises:
        Unreachable: A number is too small for a loop, or does not fit into the window.
    """

    repetitions: int = 3
    failures: int = 3
    window: int = 24

    def __post_init__(self) -> None:
        for name, number in (("repetitions", self.repetitions), ("failures", self.failures)):
            if number < 2:
                raise Unreachable(
                    f"{name}: {number} is too small for a loop; give 2 or more (3 is a good number)"
                )
            if number > self.window:
                raise Unreachable(
                    f"{name}: {number} can never be reached, because the window holds {self.window} actions; "
                    f"give a window of at least {number}, or at most {self.window} {name}"
                )

    @property
    def longest(self) -> int:
        """The longest period whose repetitions fit into the window."""
        return min(LONGEST, self.window // self.repetitions)


# The first words of every refusal, by which the detectors recognise their own.
MARK = "Loop guard:"
# What to do next, by the name of a loop.
_STEPS: Mapping[LoopName, str] = {
    "repetition": (
        "the result will be the same. Use it, change what it depends on, or say what is missing and "
        "stop. To wait for something, make the call wait, for example with `sleep 30`."
    ),
    "cycle": (
        "each repetition ended like the one before. Read the current file or output that it depends "
        "on, and remove or change the step that has no effect; or say what is missing and stop."
    ),
    "failures": (
        "the cause lies outside of these calls. Read the file or the log that the error is "
        "about before you try again, or say what is missing and stop."
    ),
    "refusals": "play the session against the hook: `hookharness reproduce FILE --project DIR`.",
}
_PREVIEW_LINES = 10
_PREVIEW_WIDTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal that an agent can act on: what was seen, what to do next, and the beginning of a file."""

    why: str
    step: str
    file: str = ""
    preview: str = ""

    @property
    def text(self) -> str:
        """The whole text for the agent."""
        shown = f"\nThe first lines of {self.file}:\n{self.preview}" if self.preview else ""
        return f"{MARK} {self.why}\nNext: {self.step}{shown}"


def preview(text: str) -> str:
    """Return the first ten lines of a text, shortened, without characters that control a terminal."""
    lines = text.split("\n", _PREVIEW_LINES)[:_PREVIEW_LINES]
    kept = (line[:_PREVIEW_WIDTH].rstrip("\r") for line in lines)
    return "\n".join(
        "".join(letter if letter.isprintable() or letter == "\t" else "?" for letter in line) for line in kept
    )


def with_text(loop: DetectedLoop) -> DetectedLoop:
    """Return a loop with its message and its advice."""
    return replace(loop, text=_seen(loop), advice=_STEPS[loop.name])


def _seen(loop: DetectedLoop) -> str:
    noise = ", apart from numbers, times and temporary names" if loop.drifting else ""
    match loop.name:
        case "repetition":
            return f"The same call was made {loop.count} times in a row{noise}: {loop.repetition[0]}."
        case "cycle":
            calls = ", then ".join(loop.repetition)
            return f"The same {loop.period} calls were made {loop.count} times in a row{noise}: {calls}."
        case "failures":
            calls = "; ".join(loop.repetition)
            return f'{loop.count} calls in a row failed with one error, "{loop.error}": {calls}.'
        case "refusals":
            return _seen_refusals(loop)
        case _:
            assert_never(loop.name)


def _seen_refusals(loop: DetectedLoop) -> str:
    assert loop.refusal is not None  # noqa: S101 - a row of refusals has one
    one = loop.refusal
    text = f': "{" ".join(one.reason.split())}"' if one.reason else ""
    if one.doubt:
        again = "the same text" if one.reason else "no prompt"
        return f"{loop.count} ends of a turn in a row were followed by {again}{text}. {one.doubt}"
    by = f" by {one.hook}" if one.hook else ""
    end = "" if text else "."
    return f"{one.event} refused {loop.count} times in a row{by}{text}{end}"


def refusal_for(loop: DetectedLoop) -> Refusal:
    """Return the refusal of a call that would close a loop."""
    would = "this call would close a loop. " if loop.name in ("repetition", "cycle") else ""
    return Refusal(why=f"{would}{loop.text}", step=loop.advice)
