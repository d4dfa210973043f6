"""JSON records from untrusted files."""

import json
import os

import pytest

from pytest_hookharness.scenario_files import json_records
from pytest_hookharness.scenario_files.json_records import Records, UnreadableRecords


def test_lines_a_list_and_a_folder(tmp_path):
    """JSON lines, a JSON list and a folder of JSON files give the same values."""
    values = [{"a": 1}, {"b": [2]}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(value) + "\n" for value in values))
    (tmp_path / "list").write_text("\ufeff " + json.dumps(values, indent=1))
    events = tmp_path / "events"
    events.mkdir()
    for number, value in enumerate(values):
        (events / f"event-{number:05}.json").write_text(json.dumps(value))
    read = [list(Records(tmp_path / name).read()) for name in ("lines.jsonl", "list", "events")]

    assert [[value for _, value in found] for found in read] == [values] * 3
    assert [found[1][0] for found in read] == ["line 2", "event 2", "event-00001.json"]


def test_unreadable_values_are_counted(tmp_path, monkeypatch):
    """Lines that are not JSON, too long or too deep are counted by reason, and all other lines are read."""
    monkeypatch.setattr(json_records, "MAX_LINE", 300_000)
    file = tmp_path / "a.jsonl"
    deep = "[" * 200 + "]" * 200
    lines = [
        "{broken",
        f'"{"x" * 400_000}"',
        f'{{"d": {deep}}}',
        "[" * 100_000 + "]" * 100_000,
        "7" * 4900,
        '{"a": 1}',
    ]
    file.write_text("\n".join(lines))
    found = Records(file)

    assert list(found.read()) == [("line 6", {"a": 1})]
    assert found.malformed == {"not JSON": 2, "a line that is too long": 1, "JSON that is too deep": 2}


def test_invalid_utf_8_is_replaced(tmp_path):
    """Bytes that are not UTF-8 are replaced."""
    (tmp_path / "a.jsonl").write_bytes(b'{"a": "\xff"}\n')

    assert list(Records(tmp_path / "a.jsonl").read()) == [("line 1", {"a": "\ufffd"})]


def test_other_kinds_of_files_are_refused(tmp_path, monkeypatch):
    """A missing or too large file, a pipe, a device and an empty folder are errors with a reason."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    (tmp_path / "large").write_text("{}\n" * 50)
    monkeypatch.setattr(json_records._open, "__kwdefaults__", {"follow": True, "most": 100})
    cases = {
        "missing": "No such file",
        "pipe": "is not a regular file",
        "empty": "contains no .json files",
        "large": "at most 0 MB",
        "/dev/zero": "is not a regular file",
    }

    for name, reason in cases.items():
        with pytest.raises(UnreadableRecords, match=reason):
            list(Records(tmp_path / name).read())


def test_links_in_a_folder_are_not_followed(tmp_path):
    """A link among the events of a folder is counted and not read."""
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").symlink_to("/etc/passwd")
    found = Records(tmp_path)

    assert list(found.read()) == [("a.json", {})]
    assert found.malformed == {"a file that cannot be read": 1}
