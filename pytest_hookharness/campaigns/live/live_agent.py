"""The scripted agent behind a model server: a request of the real program becomes the agent's next move."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.live.live_scenario import NoLiveEquivalent
from pytest_hookharness.campaigns.live.session_record import SeenText
from pytest_hookharness.execution.real_program.model_server import HttpAnswer
from pytest_hookharness.hosts.wire.model_exchange import ModelReply, ModelRequest, WireCall, WireFormat
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.moves import (
    Act,
    Edit,
    Message,
    Observation,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.reports.terminal.phrases import describe_move

_JSON = "application/json"
# Seconds for hooks of a stop to start, before a subagent in the background ends as in the simulation.
_HEAD_START = 0.5


class LiveAgent:
    """
    One scripted agent that plays the model of a real program.

    Attributes:
        told: What was new in each request for a move.
        moves: The answers to these requests, in words.
        asked: When these requests came.
        cut: Whether the program asked for more moves than the limit allows.
        other: Paths of requests that were not understood.
    """

    def __init__(
        self,
        agent: agents.Agent,
        profile: hosts.Profile,
        wire: WireFormat,
        *,
        workspace: str,
        limit: int,
        known: Mapping[str, str],
        unwrapped: Mapping[str, str],
    ) -> None:
        """
        Start before the first prompt.

        Args:
            limit: The number of requests for a move that are answered.
            known: The events of what hooks said in the simulation, by text.
            unwrapped: The command of the scenario for each command line as the program knows it.
        """
        self._agent = agent
        self._profile = profile
        self._wire = wire
        self._workspace = workspace
        self._limit = limit
        self._known = known
        self._unwrapped = unwrapped
        self._calls: tuple[str, ...] = ()
        self._begun = False
        self._subagents: dict[str, Subagent] = {}
        self._stopped = threading.Event()
        self.told: list[tuple[SeenText, ...]] = []
        self.moves: list[str] = []
        self.asked: list[float] = []
        self.other: list[str] = []
        self.cut = False

    def next_prompt(self) -> tuple[Prompt, bool] | None:
        """Return the prompt of the next process and whether it resumes the session; ``None`` at the end."""
        begun, self._begun = self._begun, True
        resumed = False
        while True:
            act, self._agent = self._agent.act(Observation(), turn_over=begun)
            if act is None or isinstance(act, Prompt):
                return None if act is None else (act, resumed)
            resumed = True

    def answer(self, path: str, body: bytes) -> HttpAnswer | None:
        """Answer a request; ``None`` if the limit of turns is reached."""
        place = path.partition("?")[0]
        if not place.endswith(self._wire.path):
            known = next((one for end, one in self._wire.others.items() if place.endswith(end)), None)
            if known is None:
                self.other.append(place)
            return HttpAnswer(_JSON, json.dumps(known or {}).encode(), 404 if known is None else 200)
        request = self._wire.read(json.loads(body))
        if not request.main:
            return self._write(ModelReply(number=0, text=self._wire.side))
        if (said := self._text_of_subagent(request)) is not None:
            background = bool(self._profile.tools.notice)
            return replace(
                self._write(ModelReply(number=0, text=said)), after=self._stopped if background else None
            )
        if len(self.told) >= self._limit:
            self.cut = True
            return None
        told = tuple(self._told(text) for text in request.texts_since(self._calls))
        self.asked.append(time.monotonic())
        self.told.append(told)
        messages = tuple(Message("feedback" if one.event else "result", one.text, one.event) for one in told)
        act, self._agent = self._agent.act(Observation(messages))
        reply = self._reply(act)
        self._calls = tuple(call.id for call in reply.calls)
        return self._write(reply)

    def _write(self, reply: ModelReply) -> HttpAnswer:
        return HttpAnswer(self._wire.kind, self._wire.write(reply))

    def _text_of_subagent(self, request: ModelRequest) -> str | None:
        """Return the next text of the subagent that sends a request; ``None`` if the agent itself does."""
        made = {entry.call for entry in request.entries if entry.call}
        if made & self._subagents.keys() or not self._subagents:
            return None
        running = [*self._subagents.values()]
        asked = (one for one in running if any(one.prompt in entry.text for entry in request.entries))
        started = next(asked, running[0])
        said = sum(entry.own for entry in request.entries)
        return started.texts[min(said, len(started.texts) - 1)]

    def _told(self, text: str) -> SeenText:
        for wrapped, command in self._unwrapped.items():
            text = text.replace(wrapped, command)
        return SeenText(text=text, event=find_event(text, self._known, tuple(self._profile.events)))

    def _reply(self, act: Act | None) -> ModelReply:
        number = len(self.told) - 1
        if isinstance(act, Stop | Tools | RunCommand | Edit | Read | Subagent):
            self.moves.append(describe_move(act))
        match act:
            case Stop(text=text):
                if self._subagents:
                    threading.Timer(_HEAD_START, self._stopped.set).start()
                return ModelReply(number=number, text=text)
            case Tools(calls=calls, say=say):
                made = calls
            case RunCommand(say=say) | Edit(say=say) | Read(say=say):
                made = (self._profile.tools.call(act, self._workspace),)
            case Subagent(say=say):
                tools = self._profile.tools
                made = (ToolCall(name=tools.subagent, input=tools.launch(act)),)
            case _:
                kind = type(act).__name__.lower()
                raise NoLiveEquivalent(f"the agent's act {kind!r} within a turn has no live equivalent")
        wired = tuple(self._wire_call(call, number, index) for index, call in enumerate(made))
        for call in wired:
            if call.name == self._profile.tools.subagent:
                given = Subagent(prompt=str(call.input.get("prompt", "")))
                self._subagents[call.id] = act if isinstance(act, Subagent) else given
        return ModelReply(number=number, text=say, calls=wired)

    def _wire_call(self, call: ToolCall, number: int, index: int) -> WireCall:
        # Both sides name calls by the same pattern, and the comparison knows them by it.
        return WireCall(id=f"toolu_{number:06d}{index:016d}", name=call.name, input=self._absolute(call))

    def _absolute(self, call: ToolCall) -> Mapping[str, Any]:
        given: dict[str, Any] = dict(call.input)
        for key in self._profile.tools.paths:
            path = given.get(key)
            if isinstance(path, str) and not path.startswith("/"):
                given[key] = f"{self._workspace}/{path}"
        return given


def find_event(text: str, known: Mapping[str, str], events: Sequence[str]) -> str:
    """
    Return the event whose hooks caused a text for the model; empty if none did, as far as is known.

    Args:
        text: The text, perhaps with words of the host around those of the hook.
        known: The events of what hooks said in the simulation, by text.
        events: The names of the host's events: most hosts name the event beside the words of a hook.
    """
    for words, event in known.items():
        # Words of a hook stand alone, in a line or an element; the same words may be in a text of the host.
        if re.search(rf"(?:^|[\s>:\"]){re.escape(words)}\s*(?:$|</|\")", text, re.MULTILINE):
            return event
    named = (
        event for event in events if re.search(rf"(?:^|\bby ){event}(?::\S+)? hook\b", text, re.MULTILINE)
    )
    return next(named, "")
