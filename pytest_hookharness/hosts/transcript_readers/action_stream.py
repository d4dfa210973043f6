"""The stream of actions that a transcript reader builds: calls in their order, results as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.model.actions import Action, ActionResult, Break, StreamItem
from pytest_hookharness.model.protocol import Json, Payload


class ActionStream:
    """
    The actions read from a transcript so far.

    Attributes:
        form: The host whose transcript format it is.
        items: Actions and breaks, in the order of the transcript.
        left_out: How many records were not understood, by reason.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.items: list[StreamItem] = []
        self.left_out: Counter[str] = Counter()
        self._unanswered: dict[str, int] = {}

    def add_call(self, call_id: Json, tool: Json, arguments: Json, place: str, agent: str = "") -> None:
        """Append a call; its result arrives later under the same ``call_id``."""
        if not isinstance(tool, str) or not tool:
            self.leave_out("a call without the name of a tool")
            return
        if isinstance(call_id, str) and call_id:
            self._unanswered[call_id] = len(self.items)
        given = arguments if isinstance(arguments, Mapping) else {"input": arguments}
        self.items.append(Action(tool=tool, arguments=given, place=place, agent=agent))

    def add_result(self, call_id: Json, text: str, outcome: ActionResult) -> None:
        """Put the result of a call into its action."""
        index = self._unanswered.pop(call_id, None) if isinstance(call_id, str) else None
        action = self.items[index] if index is not None else None
        if index is None or not isinstance(action, Action):
            self.leave_out("a result without its call")
            return
        self.items[index] = replace(action, result=text, outcome=outcome)

    def expects_result(self, call_id: str) -> bool:
        """Return whether a call with this identifier has no result yet."""
        return call_id in self._unanswered

    def add_break(self, why: str, agent: str = "") -> None:
        """Append a break: a prompt, a stop, or another end of a series of actions."""
        self.items.append(Break(why=why, agent=agent))

    def leave_out(self, why: str) -> None:
        """Count a record that is not understood."""
        self.left_out[why] += 1


def text_of(content: Json) -> str:
    """Return the text of a message's content: a text, or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(text for block in content if (text := _text_of_block(block)))
    return _text_of_block(content)


def _text_of_block(block: Json) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, Mapping) else None
    return text if isinstance(text, str) else ""


def object_of(value: Json) -> Payload:
    """Return a JSON object as it is; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> Sequence[Json]:
    """Return a JSON list as it is; an empty one for any other value."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
