"""The recordings of ``hookharness record``, one JSON file for each hook run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_hookharness.scenario_files.json_records import UnreadableRecords


def read_recordings(path: Path) -> dict[str, list[dict[str, Any]]]:
    """
    Return the payloads of one recording, or of all in a folder, by event, in the order of time.

    Raises:
        UnreadableRecords: There is none, or one has another form.
    """
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise UnreadableRecords(f"{path}: has no recording (*.json); `hookharness record` writes them")
    read = sorted(((_read(file), file.name) for file in files), key=lambda one: (one[0].get("at", 0), one[1]))
    found: dict[str, list[dict[str, Any]]] = {}
    for record, _ in read:
        found.setdefault(record["event"], []).append(record["payload"])
    return found


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
