"""
Records: JSON objects from files that come from anywhere.

A file holds one JSON list or one JSON value on each line; a folder holds one in each
of its files. Size, length of a line, depth and number are bounded. What cannot be read is counted and
left out; it is never guessed.

Writing: a scenario that was made by a program as the text of a scenario file.

Values are written as JSON, which YAML holds, so that no text is ever read as something else.
Only what such scenarios have is written; anything else is refused rather than left out.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pytest_hookharness.model.moves import (
    Act,
    Compact,
    Edit,
    End,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    Tools,
)
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.scenario_files.json_schema import SCHEMA_LINE

_BEYOND = re.compile(r"[^\x20-\x7e]")


class Unwritable(ValueError):
    """
    A scenario has something that is not written here.
    """


def write(scenario: Scenario, *, name: str, why: str, folder: str) -> str:
    """
    The text of a scenario file.

    Args:
        scenario: The scenario; nothing is written of its promise, so that the usual one holds.
        name: Its name in the file.
        why: What it shows.
        folder: Its project or plugin, relative to the file.

    Raises:
        Unwritable: It cannot be written.
    """
    keys: dict[str, Any] = {"name": name, "why": why, "host": scenario.host}
    keys["plugin" if scenario.plugin is not None else "project"] = folder
    if scenario.hooks is not None:
        keys["hooks"] = scenario.hooks
    if scenario.git:
        keys["git"] = True
    if scenario.options:
        keys["options"] = dict(scenario.options)
    if scenario.order:
        keys["order"] = {event: [*places] for event, places in scenario.order.items()}
    if scenario.commands:
        keys["commands"] = {word: _double(double) for word, double in scenario.commands.items()}
    if scenario.answers:
        keys["answers"] = [
            {"event": answer.event, "type": answer.type, "reply": dict(answer.reply)}
            for answer in scenario.answers
        ]
    if scenario.vary:
        keys["vary"] = [request.family for request in scenario.vary]
    if scenario.parallel is not None:
        keys["parallel"] = _parallel(scenario.parallel)
    lines = [f"{key}: {_json(value)}" for key, value in keys.items()]
    acts = [*map(_act, scenario.script.acts), *_then(scenario)]
    lines += ["agent:", *(f"  - {_json(act)}" for act in acts)]
    return "\n".join([SCHEMA_LINE, *lines, ""])


def _parallel(parallel: Parallel) -> dict[str, Any]:
    event = {"event": parallel.event} if parallel.event else {}
    if parallel != Parallel(event=parallel.event, width=parallel.width):
        raise Unwritable(f"{parallel} with counters cannot be written")
    return {**event, "width": parallel.width}


def _json(value: object) -> str:
    # JSON writes letters beyond 16 bits as two halves, which YAML does not join again.
    return _BEYOND.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _then(scenario: Scenario) -> Iterator[dict[str, Any]]:
    then = scenario.script.then
    yield {"then": {then.name: dict(then.options)} if then.options else then.name}


def _double(double: Double) -> dict[str, Any]:
    if double != Double(agent=double.agent, stdout=double.stdout):
        raise Unwritable(f"the command {double} cannot be written")
    return {"agent": double.agent, "stdout": double.stdout}


def _act(act: Act) -> dict[str, Any]:
    match act:
        case Prompt(text=text):
            return {"prompt": {"text": text}}
        case RunCommand(command=command):
            return {"run": command, **_besides(act)}
        case Edit(file=file, text=text, old=old):
            passage = {} if old is None else {"old": old}
            return {"edit": {"file": file, "text": text, **passage}, **_besides(act)}
        case Read(file=file):
            return {"read": {"file": file}, **_besides(act)}
        case Tools(calls=(ToolCall(name=name, input=data) as call,)):
            return {"tool": {"name": name, "input": data}, **_besides(call)}
        case Stop(text=text):
            return {"stop": text}
        case Subagent(kind=kind, prompt=prompt, text=text):
            return {"subagent": {"kind": kind, "prompt": prompt, "text": text}}
        case Compact(trigger=trigger):
            return {"compact": trigger}
        case End(reason=reason):
            return {"end": reason}
        case _:
            raise Unwritable(f"the act {act} cannot be written")


def _besides(call: RunCommand | Edit | Read | ToolCall) -> dict[str, Any]:
    result = {} if call.given is None else {"result": call.given.text}
    return result if call.expect is None else {**result, "expect": call.expect}


_MEGA = 1 << 20
MOST_BYTES = 512 * _MEGA
MOST_OF_LINE = 32 * _MEGA
MOST_FILES = 100_000
MOST_DEPTH = 100
_SCANNED_AT_ONCE = 64 * 1024


class UnreadableRecords(ValueError):
    """
    A file or folder that cannot be read at all.
    """


@dataclass(slots=True)
class Records:
    """
    The records of one file or folder.

    Attributes:
        path: Where they are.
        malformed: What was left out, by the reason, with how often. It is complete once all was read.
    """

    path: Path
    malformed: Counter[str] = field(default_factory=Counter)

    def read(self) -> Iterator[tuple[str, Json]]:
        """
        Each record with its place in words.

        Raises:
            Unreadable: There is no such file, it is of another kind, or it is too large.
        """
        try:
            if self.path.is_dir():
                yield from self._folder()
                return
            with _open(self.path) as file:
                yield from self._listed(file) if _begins_a_list(file) else self._lines(file)
        except OSError as error:
            raise UnreadableRecords(f"{self.path}: {error.strerror or error}") from error

    def _folder(self) -> Iterator[tuple[str, Json]]:
        names = sorted(entry.name for entry in os.scandir(self.path) if entry.name.endswith(".json"))
        if not names:
            raise UnreadableRecords(
                f"{self.path}: the folder holds no .json files; name a transcript, or its events"
            )
        if len(names) > MOST_FILES:
            raise UnreadableRecords(
                f"{self.path}: the folder holds {len(names)} files; at most {MOST_FILES} are read"
            )
        for name in names:
            try:
                with _open(self.path / name, follow=False, most=MOST_OF_LINE) as file:
                    text = file.read(MOST_OF_LINE + 1)
            except (OSError, UnreadableRecords):
                self.malformed["a file that cannot be read"] += 1
                continue
            yield from self._parsed(text, name)

    def _lines(self, file: BinaryIO) -> Iterator[tuple[str, Json]]:
        number = 0
        while line := file.readline(MOST_OF_LINE + 1):
            number += 1
            if len(line) > MOST_OF_LINE:
                self.malformed["a line that is too long"] += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(_SCANNED_AT_ONCE)
            elif line.strip():
                yield from self._parsed(line, f"line {number}")

    def _listed(self, file: BinaryIO) -> Iterator[tuple[str, Json]]:
        text = file.read(4 * MOST_OF_LINE + 1)
        if len(text) > 4 * MOST_OF_LINE:
            raise UnreadableRecords(
                f"{self.path}: a JSON list of more than {4 * MOST_OF_LINE >> 20} MB is not read"
            )
        for _, value in self._parsed(text, ""):
            for number, item in enumerate(value if isinstance(value, list) else [value], 1):
                yield f"event {number}", item

    def _parsed(self, text: bytes, place: str) -> Iterator[tuple[str, Json]]:
        try:
            value: Json = json.loads(text.decode("utf-8-sig", "replace"))
        except RecursionError:
            self.malformed["JSON that is too deep"] += 1
        except ValueError:
            self.malformed["no JSON"] += 1
        else:
            if _depth_is_above(value, MOST_DEPTH):
                self.malformed["JSON that is too deep"] += 1
            else:
                yield place, value


def _open(path: Path, *, follow: bool = True, most: int = MOST_BYTES) -> BinaryIO:
    # A pipe without a writer would never open, and a device never end.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    file = os.fdopen(os.open(path, flags), "rb")
    found = os.fstat(file.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size <= most:
        return file
    file.close()
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableRecords(f"{path}: is no ordinary file; name a transcript, or a folder of events")
    raise UnreadableRecords(f"{path}: has {found.st_size >> 20} MB; at most {most >> 20} MB are read")


def _begins_a_list(file: BinaryIO) -> bool:
    beginning = file.read(_SCANNED_AT_ONCE).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(0)
    return beginning.startswith(b"[")


def _depth_is_above(value: Json, most: int) -> bool:
    level: list[Json] = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
