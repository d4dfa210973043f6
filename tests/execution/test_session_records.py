"""The records of sessions that fake agents play: who started which, and how forged ones are handled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.workspace.session_records import SessionRecords
from pytest_hookharness.model.agent_sessions import ChildHookRun, ChildSession, Nesting


@pytest.fixture
def session_records(tmp_path: Path) -> SessionRecords:
    made = SessionRecords(tmp_path / "sessions")
    made.prepare()
    made.begin()
    return made


def start(session_records: SessionRecords, number: int, *, parent: int = 0, **values: object) -> Path:
    folder = session_records.folder / str(number)
    folder.mkdir()
    said = {"parent": parent, "depth": 1, "host": "h", "argv": ["claude"], "size": 1, "ancestors": []}
    line = {**said, "environment": {}, "folder": "/", "refused": "", **values}
    (folder / "record").write_text(json.dumps({"start": line}) + "\n")
    return folder / "record"


def test_a_session_within_a_session_is_its_child(session_records: SessionRecords) -> None:
    """A session that is started below the process of another session is its child."""
    first = session_records.enter(Nesting())
    parent = os.getppid()
    living = session_records.folder / "living"
    (living / str(os.getpid())).rename(living / str(parent))
    known = json.loads((living / str(parent)).read_text())

    # Another process with the same number and another start time is not the recorded one.
    (living / str(parent)).write_text(json.dumps({**known, "born": -1.0}))
    assert session_records.enter(Nesting()).session.parent == 0
    born = float(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19])
    known["born"] = born / os.sysconf("SC_CLK_TCK")
    (living / str(parent)).write_text(json.dumps(known))
    second = session_records.enter(Nesting()).session

    assert (first.session.parent, first.session.depth) == (0, 1)
    assert (second.parent, second.depth) == (1, 2)


def test_the_limits_are_counted_from_the_last_event(session_records: SessionRecords) -> None:
    """Beyond the number of sessions of one event the next is refused, and another event starts at zero."""
    refused = [session_records.enter(Nesting(sessions=2)).session.refused for _ in range(3)]
    assert refused == ["", "", "2 sessions of one event"]
    assert session_records.begin() == 3
    assert session_records.enter(Nesting(sessions=2)).session.refused == ""


def test_what_was_appended_is_read(session_records: SessionRecords) -> None:
    """Hook runs recorded as running are replaced by their results, and a line that was cut off is ignored."""
    record = start(session_records, 1)
    under_way = {"event": "Stop", "command": "./a.sh", "done": False}
    with record.open("a") as file:
        file.write(json.dumps({"hook_runs": [under_way]}) + "\n")
        file.write(json.dumps({"hook_runs": [{**under_way, "code": 0, "pid": 5, "done": True}]}) + "\n")
        file.write(json.dumps({"hook_runs": [under_way]}) + '\n{"ended": "sto')
    (session,) = session_records.read(0)

    assert [(hook_run.code, hook_run.done) for hook_run in session.hook_runs] == [(0, True), (None, False)]
    assert session.ended == ""


def test_the_hook_that_started_a_session_is_found_by_its_process(session_records: SessionRecords) -> None:
    """If two hooks ran, the one above the session's own process is its starter."""
    record = start(session_records, 1)
    hook_runs = [
        {"event": "Stop", "command": f"./{name}.sh", "pid": pid} for name, pid in (("a", 5), ("b", 6))
    ]
    with record.open("a") as file:
        file.write(json.dumps({"hook_runs": hook_runs}) + "\n")
    start(session_records, 2, parent=1, ancestors=[9, 6, 1])
    start(session_records, 3, parent=1, ancestors=[1])

    starters = [session.starter for session in session_records.read(1)]
    assert starters == ["", ""]
    assert [session.starter for session in session_records.read(0)] == [
        "",
        "Stop ./b.sh",
        "Stop one of several hooks",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"start": {"parent": 0}}\n',
        "no json\n",
        "[]\n",
        '{"hook_runs": [{"strange": 1}]}\n',
        '{"call": 1}\n',
        "\xff\n",
        "[" * 100_000 + "\n",
    ],
)
def test_records_that_hooks_wrote_are_refused(session_records: SessionRecords, text: str) -> None:
    """An invalid record is an error of the harness, and never a session."""
    start(session_records, 1).write_bytes(text.encode("latin-1"))
    with pytest.raises(WorkspaceError, match="is not a record of a session"):
        session_records.read(0)


def test_a_record_that_leads_elsewhere_is_refused(session_records: SessionRecords, tmp_path: Path) -> None:
    """Neither a link in the place of a session nor one in the place of its record is followed."""
    record = start(session_records, 1)
    other = tmp_path / "other"
    record.rename(other)
    record.symlink_to(other)
    with pytest.raises(WorkspaceError, match="cannot be read"):
        session_records.read(0)
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    record.parent.rename(elsewhere)
    record.parent.symlink_to(elsewhere)
    with pytest.raises(WorkspaceError, match="leads to"):
        session_records.read(0)


def test_nothing_is_written_through_a_link(session_records: SessionRecords, tmp_path: Path) -> None:
    """A link in the place of the folder of all records is not written through."""
    other = tmp_path.parent / f"{tmp_path.name}-other"
    session_records.folder.rename(other)
    session_records.folder.symlink_to(other)
    (other / "before").unlink()
    with pytest.raises(WorkspaceError, match="leads to"):
        session_records.begin()
    assert not (other / "before").exists()


def test_sessions_beyond_counting_are_cut_short(session_records: SessionRecords) -> None:
    """Only a bounded number of records is read, however many there are."""
    for number in range(1, 302):
        (session_records.folder / str(number)).mkdir()
    assert len(session_records.read(0)) == 200


def test_a_starter_needs_a_hook_run() -> None:
    """A session with an unknown parent has no starter, and one below a session's only hook run has that."""
    child = ChildSession(number=1, ancestors=(4,))
    hook_run = ChildHookRun(event="Stop", command="./a.sh")
    assert child.find_starter([]) == ""
    assert child.find_starter([(hook_run.event, hook_run.command, 7)]) == "Stop ./a.sh"
