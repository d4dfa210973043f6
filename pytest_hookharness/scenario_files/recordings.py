"""
The recordings of ``hookharness record``, one JSON file for each hook run, as payloads and as acts.

Payloads of prompts, calls and stops become acts; those of other events come from the host by itself. No call
is carried out: hooks see it with the result that was recorded after it. Paths of the project become relative
to the folder of the session, and those of temporary files get their usual name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_hookharness.model import moves
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.protocol import Payload, map_texts
from pytest_hookharness.scenario_files.json_records import UnreadableRecords

_PROMPTS = ("UserPromptSubmit", "BeforeAgent")
_BEFORE = ("PreToolUse", "BeforeTool")
_AFTER = ("PostToolUse", "PostToolUseFailure", "AfterTool")
_STOPS = ("Stop", "AfterAgent")


def read_recordings(path: Path) -> dict[str, list[dict[str, Any]]]:
    """
    Return the payloads of one recording, or of all in a folder, by event, in the order of time.

    Raises:
        UnreadableRecords: There is none, or one has another form.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for event, payload in _in_order(path):
        found.setdefault(event, []).append(payload)
    return found


def read_acts(path: Path) -> tuple[moves.Act, ...]:
    """Return the recorded prompts, calls and stops as acts; raise ``UnreadableRecords`` if there are none."""
    read = _in_order(path)
    # Several hooks of one event got the same payload.
    once = [pair for n, pair in enumerate(read) if n == 0 or pair != read[n - 1]]
    acts = tuple(_acts(once))
    if not acts:
        raise UnreadableRecords(f"{path}: has no recording of a prompt, a call or a stop")
    return acts


def _acts(read: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[moves.Act]:
    results = {_call(payload): (event, payload) for event, payload in read if event in _AFTER}
    before = {_call(payload) for event, payload in read if event in _BEFORE}
    for event, payload in read:
        if event in _PROMPTS:
            text = payload.get("prompt") or payload.get("message")
            yield moves.Prompt(text=str(text or moves.FIRST_PROMPT.text))
        elif event in _STOPS:
            said = payload.get("last_assistant_message") or payload.get("prompt_response")
            yield moves.Stop(text=str(said or moves.Stop().text))
        elif event in _BEFORE or (event in _AFTER and _call(payload) not in before):
            given = _result(*results.get(_call(payload), ("", {})))
            arguments = payload.get("tool_input")
            folder = payload.get("cwd") or payload.get("working_dir")
            found = within(arguments if isinstance(arguments, Mapping) else {}, str(folder or ""))
            call = moves.ToolCall(name=str(payload.get("tool_name") or ""), input=found, given=given)
            yield moves.Tools(calls=(call,))


def _call(payload: Mapping[str, Any]) -> str:
    return json.dumps(
        [payload.get(key) for key in ("tool_use_id", "tool_name", "tool_input")], sort_keys=True
    )


def _result(event: str, payload: Mapping[str, Any]) -> moves.ToolResult:
    response = payload.get("tool_response", payload.get("error"))
    text = response if isinstance(response, str) else "" if response is None else json.dumps(response)
    return moves.ToolResult(text=text, response=response, failed=event == "PostToolUseFailure")


def _in_order(path: Path) -> list[tuple[str, dict[str, Any]]]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise UnreadableRecords(f"{path}: has no recording (*.json); `hookharness record` writes them")
    read = sorted(((_read(file), file.name) for file in files), key=lambda one: (one[0].get("at", 0), one[1]))
    return [
        (record["event"], dict(with_usual_folder(record["payload"], str(record.get("tmpdir") or ""))))
        for record, _ in read
    ]


def _read(file: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise UnreadableRecords(f"{file}: cannot be read as a recording: {error}") from error
    match record:
        case {"event": str(), "payload": dict()}:
            return record
        case _:
            raise UnreadableRecords(
                f"{file}: is no recording; expected an object with the text `event` and the object "
                "`payload`, as `hookharness record` writes it"
            )


def within(value: Payload, cwd: str, above: int = 0) -> Payload:
    """
    Return arguments in which paths of the recorded project are relative to the folder of the session.

    Args:
        cwd: The folder of the session.
        above: How many folders the top of the project is above it.
    """
    if not cwd or cwd == "/":
        return value
    value = _replaced(value, cwd, lambda found: "" if found["rest"] and _goes_on(found) else ".")
    up, top = "/".join([".."] * above), _top(cwd, above)
    return _replaced(value, top, lambda found: up + found["rest"]) if above and top else value


def below_workspace(value: Payload, cwd: str, above: int = 0) -> Payload:
    """Return the same arguments with absolute paths, for which a script writes ``{{workspace}}``."""
    if not cwd or cwd == "/":
        return value
    value = _replaced(value, cwd, lambda found: WORKSPACE + found["rest"])
    up, top = "/.." * above, _top(cwd, above)
    return _replaced(value, top, lambda found: WORKSPACE + up + found["rest"]) if above and top else value


def _top(cwd: str, above: int) -> str:
    return "/".join(cwd.rstrip("/").split("/")[: -above or None])


def with_usual_folder(value: Payload, temporary: str) -> Payload:
    """Return a payload that names ``/tmp`` instead of another folder for temporary files."""
    if not temporary.startswith("/") or temporary.strip("/") == "":
        return value
    return _replaced(value, temporary, lambda found: f"/tmp{found['rest']}")  # noqa: S108 -- a name only


def _replaced(value: Payload, folder: str, by: Callable[[re.Match[str]], str]) -> Payload:
    place = re.compile(rf"(?<![\w./-]){re.escape(folder.rstrip('/'))}(?P<rest>/|(?![\w.-]))")
    return {key: map_texts(item, lambda text: place.sub(by, text)) for key, item in value.items()}


def _goes_on(found: re.Match[str]) -> bool:
    after = found.string[found.end() : found.end() + 1]
    return bool(after) and not after.isspace() and after not in "'\";&|)"
