"""
The files of one real session: its transcript, and those of its subagents, which some hosts write beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pytest_hookharness.hosts.transcripts.codex_rollout import parent_thread
from pytest_hookharness.hosts.transcripts.session_stream import SessionStream
from pytest_hookharness.hosts.transcripts.transcript_formats import UnknownTranscript, read_transcript
from pytest_hookharness.model.actions import Action
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.scenario_files.json_records import Records, UnreadableRecords

# More files of subagents than this are counted and left out.
_MOST_SUBAGENTS = 200


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """A session as read: the main agent, each subagent, and how many parts were not read, by reason."""

    stream: SessionStream
    unread: Counter[str]
    subagents: int = 0


def read_session(path: Path) -> SessionFiles:
    """
    Return a session with its subagents.

    Raises:
        UnreadableRecords: The transcript cannot be read, is empty, has an unknown form, or nothing in it was
            understood.
    """
    stream, unread = _read(path)
    if stream.messages and not any(isinstance(item, Action) or item.why == "stop" for item in stream.items):
        raise UnreadableRecords(
            f"{path}: has the form of {stream.form} and {stream.messages} messages, but no call and no end "
            "of a turn was understood; the session may have ended before the agent did anything, or this "
            "version of the host may write another form"
        )
    read = 0
    for file in _subagents(path, stream):
        if read == _MOST_SUBAGENTS:
            unread["more files of subagents"] += 1
            continue
        try:
            below, malformed = _read(file, f"{file.name} ")
        except UnreadableRecords:
            unread["a file of a subagent"] += 1
            continue
        read += 1
        unread += malformed
        stream.items += below.items
    return SessionFiles(stream, unread, read)


def texts_of(stream: SessionStream) -> Iterator[str]:
    """Yield all texts of a session."""
    for item in stream.items:
        if isinstance(item, Action):
            yield from (item.result, item.say)
            yield from (value for value in item.arguments.values() if isinstance(value, str))
        else:
            yield item.text


def _parent(rollout: Path) -> str:
    try:
        return parent_thread(next((value for _, value in Records(rollout).read()), None))
    except UnreadableRecords:
        return ""


def _read(path: Path, prefix: str = "") -> tuple[SessionStream, Counter[str]]:
    records = Records(path)
    placed: Iterator[tuple[str, Json]] = records.read()
    if prefix:
        placed = ((f"{prefix}{place}", value) for place, value in placed)
    try:
        stream = read_transcript(placed)
    except UnknownTranscript as error:
        malformed = ", ".join(f"{count} x {why}" for why, count in records.malformed.items())
        left_out = f"; left out: {malformed}" if malformed else ""
        raise UnreadableRecords(f"{path}: {error}{left_out}") from error
    return stream, records.malformed + stream.left_out


def _subagents(path: Path, stream: SessionStream) -> Iterator[Path]:
    """
    Yield the files of subagents.

    Claude Code and Qwen Code name their folder after the session; rollouts of Codex stand side by side, and
    begin with the session that started them.
    """
    if not path.is_file():
        return
    if stream.form == "codex" and stream.session:
        beside = (file for file in sorted(path.parent.glob("rollout-*.jsonl")) if file.name != path.name)
        yield from (file for file in beside if _parent(file) == stream.session)
    for folder in (path.with_suffix("") / "subagents", path.parent.parent / "subagents" / path.stem):
        yield from sorted(folder.glob("agent-*.jsonl"))
