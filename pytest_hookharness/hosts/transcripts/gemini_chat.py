"""
Chats of Gemini CLI, as version 0.61.0 writes them: a line with ``projectHash``, then messages and patches.

A message of the model stands there twice under one ``id``: the second time with its calls and their results.
The reason of an AfterAgent hook has the form of a prompt, so only its repetition gives it away.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_hookharness.hosts.transcripts.session_stream import (
    SessionStream,
    list_of,
    object_of,
    string_of,
    text_of,
)
from pytest_hookharness.model.actions import ActionResult, Break, HookRefusal
from pytest_hookharness.model.protocol import Payload

_DOUBT = "Gemini CLI records the reason of an AfterAgent hook like a prompt, so a person may have written it."
# How often a text must follow the end of a turn before it is taken for a hook's reason.
_OFTEN = 3
_PROCESS = re.compile(r"^(?:Process Group PGID|Background PIDs): .*\n?", re.MULTILINE)
_ABOUT = re.compile(r"^(?:Command|Directory|Signal): .*\n?", re.MULTILINE)
_EMPTY = re.compile(r"^(?:Output|Error): \((?:empty|none)\)\n?", re.MULTILINE)
_EXIT = re.compile(r"^Exit Code: (?P<code>-?\d+)\n?", re.MULTILINE)
# In the context that the model gets before the first prompt.
_FOLDER = re.compile(r"Workspace Directories:\**\n\s*- (?P<path>/[^\n]*)")
_TAGS = re.compile(r"</?untrusted_context>\n?")


def is_gemini_record(record: Payload) -> bool:
    """Return whether only Gemini CLI writes such a record."""
    return "projectHash" in record and "startTime" in record


class GeminiReader:
    """
    Reads one chat.

    ``open`` is the last message of the model without calls, which is a stop if another message follows;
    ``done``
    has the identifiers of messages that are in the stream.
    """

    def __init__(self) -> None:
        self.open: tuple[str, Payload] | None = None
        self.done: set[str] = set()

    def read(self, stream: SessionStream, record: Payload) -> None:
        """Add a record to a stream."""
        if "projectHash" in record:
            stream.note(session=record.get("sessionId"))
        for first in list_of(object_of(record.get("$set")).get("messages"))[:1]:
            folder = _FOLDER.search(text_of(object_of(first).get("content")))
            stream.note(cwd=folder["path"] if folder else "")
        name = string_of(record.get("id"))
        match record.get("type"):
            case "gemini":
                stream.messages += 1
                calls = list_of(record.get("toolCalls"))
                if calls and name not in self.done:
                    self.open = None
                    self.done.add(name)
                    self._read_calls(stream, record, name)
                elif not calls:
                    self.finish(stream)
                    self.open = (name, record)
            case "user":
                stream.messages += 1
                self._read_user(stream, text_of(record.get("content")))
            case _:
                return

    def _read_calls(self, stream: SessionStream, record: Payload, name: str) -> None:
        say = text_of(record.get("content"))
        for position, call in enumerate(map(object_of, list_of(record.get("toolCalls")))):
            given = call.get("id"), call.get("name"), call.get("args")
            stream.add_call(*given, message=name, say="" if position else say)
            results = [
                object_of(object_of(one).get("functionResponse")) for one in list_of(call.get("result"))
            ]
            if results:
                answer = object_of(results[0].get("response"))
                failed = call.get("status") == "error"
                stream.add_result(call.get("id"), *read_response(answer, failed=failed))

    def _read_user(self, stream: SessionStream, text: str) -> None:
        self.finish(stream)
        if text.startswith("System: "):
            stream.add_break("host", text=text)
        elif text and not text.startswith("<session_context>"):
            stream.add_break("prompt", text=text)

    def finish(self, stream: SessionStream) -> None:
        """Add the stop that the last message is, and find the prompts that are a hook's reason."""
        if self.open is not None:
            stream.add_break("stop", text=text_of(self.open[1].get("content")))
            self.open = None

    def end(self, stream: SessionStream) -> None:
        """Turn a text that follows stop after stop into refusals of these stops."""
        self.finish(stream)
        stops = [n for n, item in enumerate(stream.items) if isinstance(item, Break) and item.why == "stop"]
        answers = [(stop, self._answer(stream, stop)) for stop in stops]
        row: list[int] = []
        text = ""
        for stop, said in [*answers, (-1, "")]:
            if row and said != text:
                self._refuse(stream, row, text)
                row = []
            text = said
            row = [*row, stop] if said else []
        stream.items = [
            item for item in stream.items if not (isinstance(item, Break) and item.why == "feedback")
        ]

    def _answer(self, stream: SessionStream, stop: int) -> str:
        after = stream.items[stop + 1] if stop + 1 < len(stream.items) else None
        return after.text if isinstance(after, Break) and after.why == "prompt" else ""

    def _refuse(self, stream: SessionStream, stops: list[int], text: str) -> None:
        if len(stops) < _OFTEN:
            return
        refusal = HookRefusal(event="AfterAgent", reason=text.strip(), doubt=_DOUBT)
        for stop in stops:
            stream.items[stop] = replace(stream.items[stop], refusals=(refusal,))
            stream.items[stop + 1] = Break(why="feedback")


def read_response(answer: Payload, *, failed: bool) -> tuple[str, ActionResult]:
    """Return text and outcome of a call; Gemini CLI and Qwen Code write both in the same form."""
    error = string_of(answer.get("error"))
    text = _TAGS.sub("", error or string_of(answer.get("output")))
    code = _EXIT.search(text)
    if code is not None:
        # What remains are the streams: names of processes differ each time.
        text = _EMPTY.sub("", _ABOUT.sub("", _PROCESS.sub("", _EXIT.sub("", text))))
        if code["code"] != "0":
            return f"Exit code {code['code']}\n{text}".strip(), ActionResult.FAILED
    text = _PROCESS.sub("", text).strip()
    return text, ActionResult.FAILED if failed or error else ActionResult.DONE
