"""Transcript formats: which host wrote a transcript, by its content, and how its records are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from pytest_hookharness.hosts.transcripts.claude_code_transcript import is_claude_message, read_claude_line
from pytest_hookharness.hosts.transcripts.codex_rollout import CodexReader, is_codex_item
from pytest_hookharness.hosts.transcripts.gemini_chat import GeminiReader, is_gemini_record
from pytest_hookharness.hosts.transcripts.openhands_events import OpenHandsReader, is_openhands_event
from pytest_hookharness.hosts.transcripts.qwen_chat import is_qwen_message, read_qwen_line
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream, seconds_of
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Payload

# A transcript begins with its settings; one of the first records shows which host wrote it.
_MOST_SETTINGS = 200
_Read = Callable[[SessionStream, Payload], None]
_End = Callable[[SessionStream], None]


class UnknownTranscript(ValueError):
    """No known host wrote this text as its transcript."""


@dataclass(frozen=True, slots=True)
class _TranscriptFormat:
    """
    How the transcripts of one host are read.

    Attributes:
        owns: Whether only this host writes such a record.
        start: Returns what adds a record to a stream, and what completes the stream.
    """

    owns: Callable[[Payload], bool]
    start: Callable[[], tuple[_Read, _End]]


def _end(_: SessionStream) -> None:
    """Do nothing."""


def _of(reader: CodexReader | GeminiReader) -> tuple[_Read, _End]:
    return reader.read, reader.end


FORMATS: Mapping[str, _TranscriptFormat] = {
    "claude-code": _TranscriptFormat(is_claude_message, lambda: (read_claude_line, _end)),
    "codex": _TranscriptFormat(is_codex_item, lambda: _of(CodexReader())),
    "openhands": _TranscriptFormat(is_openhands_event, lambda: (OpenHandsReader().read, _end)),
    "gemini-cli": _TranscriptFormat(is_gemini_record, lambda: _of(GeminiReader())),
    "qwen-code": _TranscriptFormat(is_qwen_message, lambda: (read_qwen_line, _end)),
}


def read_transcript(records: Iterable[tuple[str, Json]]) -> SessionStream:
    """
    Return the stream of a transcript of any known host; each record comes with the place where it was read.

    Raises:
        UnknownTranscript: No record shows which host wrote it.
    """
    source, waiting = iter(records), list[tuple[str, Json]]()
    form = None
    for place, value in source:
        waiting.append((place, value))
        form = _form_of(value)
        if form is not None or len(waiting) >= _MOST_SETTINGS:
            break
    if form is None:
        what = f"none of the first {len(waiting)} records" if waiting else "it is empty or no JSON: no record"
        raise UnknownTranscript(
            f"{what} has the form of a known transcript; known are "
            "Claude Code (JSON lines with `type` and `message.content`), Qwen Code (with `message.parts`), "
            "Codex (a rollout: JSON lines with `type: response_item` and `payload`), Gemini CLI (a first "
            "line with `projectHash`) and OpenHands (events with `kind`, or with `action`)"
        )
    stream = SessionStream(form)
    read, end = FORMATS[form].start()
    for place, value in chain(waiting, source):
        if isinstance(value, (dict, Mapping)):
            stream.place, stream.at = place, seconds_of(value.get("timestamp")) or stream.at
            read(stream, value)
        else:
            stream.leave_out("no JSON object")
    end(stream)
    return stream


def _form_of(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return None
    return next((name for name, form in FORMATS.items() if form.owns(value)), None)
