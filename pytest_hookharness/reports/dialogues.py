"""
This module is concerned with dialogues: what a fire asked on its terminal, in the story.

Middle floor: reports. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.processes import Run, TimedOut
from pytest_hookharness.reports.plain import quoted

_LONGEST = 100
_MOST = 5


def dialogue_words(run: Run | None) -> Iterator[str]:
    """
    What passed over the terminal of a fire, but for a question that held it up: that is told of its process.
    """
    dialogue = None if run is None else run.dialogue
    if run is None or dialogue is None:
        return
    for asked in dialogue.asked[:_MOST]:
        question, answer = quoted(asked.question, _LONGEST), quoted(asked.answer, _LONGEST)
        yield f"asks {question} on the terminal, and is told {answer}"
    held_up = isinstance(run.ending, TimedOut) and any(activity.asks for activity in run.ending.doing)
    if dialogue.unanswered and not held_up:
        yield f"writes {quoted(dialogue.unanswered, _LONGEST)} on the terminal, and nobody answers"
