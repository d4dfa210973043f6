"""
The session that a transcript tells: the agent's calls and stops, what hooks refused, and where it ran.

A transcript can come from any source, so no value in it is trusted: a record that has not the expected
form is counted and left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pytest_hookharness.model.actions import Action, ActionResult, Break, HookRefusal, StreamItem
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.protocol import Json, Payload


class SessionStream:
    """
    The moves read from a transcript so far.

    Attributes:
        form: The host whose transcript format it is.
        items: Actions and breaks, in the order of the transcript.
        left_out: How many records were not understood, by reason.
        messages: How many records had the form of a message.
        version: Version of the host; empty if unknown.
        cwd: Folder of the session; empty if unknown.
        commit: Commit of the project at the start, whole or abbreviated; empty if unknown.
        session: Identifier of the session; empty if unknown.
        overridden: What the host wrote when it let the agent stop against its hooks; empty if it did not.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.items: list[StreamItem] = []
        self.left_out: Counter[str] = Counter()
        self.messages = 0
        self.version = self.cwd = self.commit = self.session = self.overridden = ""
        self.place = ""
        self.at = 0.0
        self._unanswered: dict[str, int] = {}
        self._calls: dict[str, int] = {}

    def note(self, **facts: Json) -> None:
        """Store facts about the session, such as ``cwd``; the first text for each wins."""
        for name, value in facts.items():
            if value and isinstance(value, str) and not getattr(self, name):
                setattr(self, name, value)

    def add_call(
        self, call_id: Json, tool: Json, arguments: Json, agent: str = "", message: Json = "", say: str = ""
    ) -> None:
        """Append a call; its result arrives later under the same ``call_id``."""
        if not isinstance(tool, str) or not tool:
            self.leave_out("a call without the name of a tool")
            return
        if isinstance(call_id, str) and call_id:
            self._unanswered[call_id] = self._calls[call_id] = len(self.items)
        given = arguments if isinstance(arguments, (dict, Mapping)) else {"input": arguments}
        batch = message if isinstance(message, str) else ""
        self.items.append(
            Action(
                tool=tool,
                arguments=given,
                place=self.place,
                agent=agent,
                message=batch,
                say=say,
                at=self.at,
            )
        )

    def add_result(self, call_id: Json, text: str, outcome: ActionResult) -> None:
        """Put the result of a call into its action."""
        index = self._unanswered.pop(call_id, None) if isinstance(call_id, str) else None
        action = self.items[index] if index is not None else None
        if index is None or not isinstance(action, Action):
            self.leave_out("a result without its call")
            return
        self.items[index] = replace(action, result=text, outcome=outcome)

    def expects_result(self, call_id: Json) -> bool:
        """Return whether a call with this identifier has no result yet."""
        return call_id in self._unanswered

    @property
    def waiting(self) -> bool:
        """Whether any call has no result yet."""
        return bool(self._unanswered)

    def add_prompt(self, text: str, agent: str = "") -> None:
        """Append a prompt of a person; some hosts write it twice."""
        last = self.items[-1] if self.items else None
        if not (
            isinstance(last, Break) and last.why == "prompt" and (last.text, last.agent) == (text, agent)
        ):
            self.add_break("prompt", agent, text)

    def add_break(self, why: str, agent: str = "", text: str = "") -> None:
        """Append a break: a prompt, a stop, or another end of a series of actions."""
        self.items.append(Break(why=why, agent=agent, text=text, place=self.place, at=self.at))

    def refuse_call(self, call_id: Json, refusal: HookRefusal) -> None:
        """Note that a hook refused a call, or its result."""
        index = self._calls.get(call_id) if isinstance(call_id, str) else None
        if index is None:
            self.leave_out("a refusal without its call")
        else:
            self._add_refusals(index, (refusal,))

    def refuse_stop(self, refusals: Sequence[HookRefusal], agent: str = "") -> None:
        """Note that hooks refused the agent's last stop; of two records about one stop the later counts."""
        last = self.last_of(agent)
        if last is None or not self._is_stop(last):
            # The agent's last words are not in the transcript.
            self.add_break("stop", agent)
            last = len(self.items) - 1
        # The earlier record may be the one that names the hook.
        named = {one.reason: one.hook for one in self.items[last].refusals}
        self.items[last] = replace(self.items[last], refusals=())
        self._add_refusals(
            last, [one if one.hook else replace(one, hook=named.get(one.reason, "")) for one in refusals]
        )

    def last_of(self, agent: str) -> int | None:
        """Return the index of an agent's last item; ``None`` if there is none."""
        return next((n for n in reversed(range(len(self.items))) if self.items[n].agent == agent), None)

    def _is_stop(self, index: int) -> bool:
        item = self.items[index]
        return isinstance(item, Break) and item.why == "stop"

    def _add_refusals(self, index: int, refusals: Sequence[HookRefusal]) -> None:
        item = self.items[index]
        new = [refusal for refusal in refusals if refusal not in item.refusals]
        self.items[index] = replace(item, refusals=(*item.refusals, *new))

    def leave_out(self, why: str) -> None:
        """Count a record that is not understood."""
        self.left_out[why] += 1


def text_of(content: Json) -> str:
    """Return the text of a message's content: a text, or a list of blocks."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in list_of(content) or (content,):
        # The quick test comes first: most blocks of a large transcript are calls and results.
        if isinstance(block, dict) and "text" not in block:
            continue
        text = block if isinstance(block, str) else object_of(block).get("text")
        if text and isinstance(text, str):
            texts.append(text)
    return "\n".join(texts) if texts else ""


def string_of(value: Json) -> str:
    """Return a JSON string as it is; an empty one for any other value."""
    return value if isinstance(value, str) else ""


def object_of(value: Json) -> Payload:
    """Return a JSON object as it is; an empty one for any other value."""
    # The quick tests come first: a large transcript has millions of objects, and most keys are missing.
    if isinstance(value, dict):
        return value
    return value if value is not None and isinstance(value, Mapping) else {}


def list_of(value: Json) -> Sequence[Json]:
    """Return a JSON list as it is; an empty one for any other value."""
    if isinstance(value, list):
        return value
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def value_of(text: Json) -> Json:
    """Return the value of a JSON text; anything else as it is."""
    try:
        value: Json = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
    return value


def seconds_of(timestamp: Json) -> float:
    """Return an ISO time, of UTC if it names no zone, in seconds since 1970; 0 if it is none."""
    if not timestamp:
        return 0.0
    try:
        read = datetime.fromisoformat(string_of(timestamp))
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def bare_reason(text: str) -> tuple[str, str]:
    """Return the command that some hosts put in brackets before a reason, and the reason."""
    if text.startswith("[") and "]: " in text:
        hook, _, reason = text[1:].partition("]: ")
        return hook, reason.strip()
    return "", text.strip()
