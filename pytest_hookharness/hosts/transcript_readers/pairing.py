"""
Gathering: calls in their order, and their results whenever they come.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.model.actions import Action, ActionResult, Break, StreamItem
from pytest_hookharness.model.protocol import Json, Payload

Record: TypeAlias = "tuple[str, Json]"


class Gathering:
    """
    A stream of actions on its way.

    Attributes:
        form: The host whose form the transcript has.
        moments: The stream so far.
        left_out: What was not understood, by the reason, with how often.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.moments: list[StreamItem] = []
        self.left_out: Counter[str] = Counter()
        self._asked: dict[str, int] = {}

    def call(self, name: Json, tool: Json, arguments: Json, place: str, agent: str = "") -> None:
        """
        A call, whose result will come under its name.
        """
        if not isinstance(tool, str) or not tool:
            self.leave_out("a call without the name of a tool")
            return
        if isinstance(name, str) and name:
            self._asked[name] = len(self.moments)
        given = arguments if isinstance(arguments, Mapping) else {"input": arguments}
        self.moments.append(Action(tool=tool, arguments=given, place=place, agent=agent))

    def result(self, name: Json, text: str, outcome: ActionResult) -> None:
        """
        The result of a call.
        """
        index = self._asked.pop(name, None) if isinstance(name, str) else None
        action = self.moments[index] if index is not None else None
        if index is None or not isinstance(action, Action):
            self.leave_out("a result without its call")
            return
        self.moments[index] = replace(action, result=text, outcome=outcome)

    def awaits(self, name: str) -> bool:
        """
        Whether a call of that name has no result yet.
        """
        return name in self._asked

    def part(self, why: str, agent: str = "") -> None:
        """
        Somebody else spoke.
        """
        self.moments.append(Break(why=why, agent=agent))

    def leave_out(self, why: str) -> None:
        """
        Count what is not understood.
        """
        self.left_out[why] += 1


def text_of(content: Json) -> str:
    """
    The text in a content, which is a text or a list of blocks.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(text for block in content if (text := _block(block)))
    return _block(content)


def _block(block: Json) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, Mapping) else None
    return text if isinstance(text, str) else ""


def mapping(value: Json) -> Payload:
    """
    A JSON object; an empty one for anything else.
    """
    return value if isinstance(value, Mapping) else {}


def items(value: Json) -> Sequence[Json]:
    """
    A JSON list; an empty one for anything else.
    """
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
