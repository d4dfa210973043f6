"""Claims about the settings files that ``hookharness record`` changes: nothing in them is lost."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from pytest_hookharness.frontends.cli import guardian, main
from pytest_hookharness.frontends.cli import record as recording
from pytest_hookharness.frontends.cli.guardian import Guarded
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

MODEL = ('{\n  "hooks"', '{\n  "model": 1,\n  "hooks"')


@pytest.fixture
def crashed(recorded):
    """A recording after a crash of the machine: neither the command nor its guardian restored anything."""
    files = recording.plan(recorded.path, "", recorded.path / "hook-recordings")
    guarded = Guarded(files)
    journal = guarded.journal.read_bytes()
    guarded.end()
    guarded.journal.write_bytes(journal)
    for wrapped in files:
        wrapped.file.write_bytes(wrapped.meanwhile)
    return recorded


@pytest.mark.slow
def test_settings_are_restored_after_a_crash(recorded):
    """Settings are restored byte for byte if the recording process is killed."""
    process = recorded.begin()
    meanwhile = recorded.settings.read_text()
    process.kill()
    process.communicate(timeout=20)

    assert meanwhile != recorded.original
    assert recorded.restored()


@pytest.mark.slow
def test_a_project_cannot_replace_modules_of_the_guardian(recorded):
    """Settings are restored also if the project has modules named like Python's own."""
    (recorded.path / "shlex.py").write_text("open('said', 'w').close()\nraise SystemExit\n")
    process = recorded.begin()
    process.kill()
    process.communicate(timeout=20)

    assert recorded.restored()
    assert not (recorded.path / "said").exists()


@pytest.mark.nightly
@pytest.mark.parametrize("killed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_project_that_is_cleaned_meanwhile(recorded, killed):
    """Settings are restored if the recordings folder is removed, by the command and by its guardian."""
    subprocess.run(["git", "init", "-q", recorded.path], check=True)
    subprocess.run(["git", "-C", recorded.path, "add", ".claude", "hook.sh"], check=True)
    process = recorded.begin()
    recorded.run_hook()
    subprocess.run(["git", "-C", recorded.path, "clean", "-fdxq"], check=True)
    assert not (recorded.path / "hook-recordings").exists()
    if killed:
        process.kill()
        process.communicate(timeout=20)
    else:
        recorded.run_hook()
        status, said = recorded.end(process)
        assert status == 0
        assert "hook-recordings: was removed meanwhile, with the payloads" in said
        assert "1 payload in" in said
        assert (recorded.path / "hook-recordings" / ".gitignore").read_text() == "*\n"

    assert recorded.restored()


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_journal_that_is_removed_meanwhile(recorded, killed):
    """Settings are restored from memory if all files of the recording are removed."""
    process = recorded.begin()
    shutil.rmtree(recorded.path / "hook-recordings")
    shutil.rmtree(recorded.journals)
    if killed:
        process.kill()
        process.communicate(timeout=20)
    else:
        assert recorded.end(process)[0] == 0

    assert recorded.restored()


def test_settings_that_cannot_be_saved_are_not_changed(recorded, monkeypatch, capsys):
    """If the original contents cannot be saved, nothing is changed, and the message says what to do."""
    recorded.journals.parent.write_text("a file, and no folder")

    assert main.main(["record", str(recorded.path)]) == 2

    assert "set XDG_STATE_HOME to a folder that can be written" in capsys.readouterr().err
    assert recorded.settings.read_text() == recorded.original


@pytest.mark.slow
def test_settings_that_cannot_be_restored(recorded):
    """If settings cannot be restored, the command fails, names the original contents, and restores later."""
    process = recorded.begin()
    wrapped = recorded.settings.read_bytes()
    recorded.settings.write_bytes(b"\xff" + wrapped)
    status, said = recorded.end(process)

    assert status == 2
    assert "settings.json: was not restored: " in said
    assert "call `hookharness record --restore`" in said
    assert "the settings are restored" not in said
    assert str(recorded.journals) in said
    recorded.settings.write_bytes(wrapped)
    assert main.main(["record", str(recorded.path), "--restore"]) == 0
    assert recorded.settings.read_text() == recorded.original


@pytest.mark.slow
def test_a_hook_that_still_runs_the_recorder_is_not_called_restored(recorded):
    """If somebody edited a wrapped command, so that its original is unknown, the command fails."""
    process = recorded.begin()
    text = recorded.settings.read_text().replace("payload_recorder.py", "payload_recorder.py  ")
    recorded.settings.write_text(text)
    status, said = recorded.end(process)

    assert status == 2
    assert "still runs payload_recorder.py" in said


EDITED = """
import sys
from pathlib import Path
from pytest_hookharness.frontends.cli import main, record

plan, settings, times = record.plan, Path(sys.argv[1]), iter(sys.argv[2])

def edited(*arguments):
    files = plan(*arguments)
    if next(times, ""):
        settings.write_text(settings.read_text().replace("{", "{ ", 1))
    return files

record.plan = edited
sys.exit(main.main(["record", str(settings.parents[1])]))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("times", [2, 4])
def test_an_edit_between_reading_and_wrapping_stays(recorded, times):
    """Edits between reading and wrapping are read again, recorded, and still there at the end."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", EDITED, recorded.settings, "x" * times],
        stdout=subprocess.PIPE,
        text=True,
    )
    while "start the agent" not in process.stdout.readline():
        assert process.poll() is None
    assert recorded.run_hook().returncode == 2
    status, said = recorded.end(process)

    assert (status, len(recorded.records())) == (0, 1)
    assert recorded.settings.read_text() == recorded.original.replace("{", "{" + " " * times, 1)
    assert "the settings are restored" in said


@pytest.mark.nightly
def test_settings_that_change_all_the_time(recorded):
    """If each attempt to wrap the settings meets a new edit, the command fails and keeps the edits."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", EDITED, recorded.settings, "x" * 100],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "another program changes its settings again and again" in done.stderr
    assert "payload_recorder" not in recorded.settings.read_text()
    assert not [*recorded.journals.iterdir()]


def test_one_edited_file_of_two(recorded):
    """If the second of two files was edited since it was read, the first one is restored at once."""
    local = recorded.settings.with_name("settings.local.json")
    local.write_text(recorded.original)
    files = recording.plan(recorded.path, "", recorded.path / "hook-recordings")
    files[1].file.write_text(recorded.original + "\n")

    with pytest.raises(OSError, match="was changed by another program"):
        Guarded(files)

    assert files[0].file.read_text() == recorded.original
    assert files[1].file.read_text() == recorded.original + "\n"


@pytest.mark.nightly
@pytest.mark.parametrize("stale", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("killed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_changes_made_meanwhile_stay(recorded, killed, stale):
    """Other changes of the settings during the recording stay, and the commands are restored."""
    process = recorded.begin()
    # An editor may have loaded them before.
    text = recorded.original if stale else recorded.settings.read_text()
    recorded.settings.write_text(text.replace(*MODEL))
    recorded.original = recorded.original.replace(*MODEL)
    if killed:
        process.kill()
        process.communicate(timeout=20)
    else:
        assert "was changed meanwhile" in recorded.end(process)[1]

    assert recorded.restored()


def test_an_edit_while_the_settings_are_restored_stays(recorded, monkeypatch):
    """An edit between reading and restoring stays, and the commands are restored in it."""
    replace_file, edits = guardian.replace_file, []
    guarded = Guarded(recording.plan(recorded.path, "", recorded.path / "hook-recordings"))

    def edited(file, *arguments, **named):
        if not edits:
            edits.append(file)
            file.write_text(file.read_text().replace(*MODEL))
        replace_file(file, *arguments, **named)

    monkeypatch.setattr(guardian, "replace_file", edited)
    restored = guarded.end()

    assert recorded.settings.read_text() == recorded.original.replace(*MODEL)
    assert not restored.left
    assert ["was changed meanwhile" in line for line in restored.lines] == [True]


@pytest.mark.slow
def test_hard_links_and_attributes_stay(recorded):
    """Other names of a settings file run the recorder too; mode, owner and attributes stay all the time."""
    other = recorded.path / "other.json"
    other.hardlink_to(recorded.settings)
    os.setxattr(other, "user.note", b"mine")
    other.chmod(0o640)
    before = other.stat()

    process = recorded.begin()
    during, text = other.stat(), other.read_text()
    recorded.end(process)

    assert "payload_recorder" in text
    for status in (during, recorded.settings.stat()):
        assert (status.st_ino, status.st_mode, status.st_uid, status.st_nlink) == (
            before.st_ino,
            before.st_mode,
            before.st_uid,
            2,
        )
    assert other.read_text() == recorded.original
    assert os.getxattr(other, "user.note") == b"mine"


@pytest.mark.nightly
@pytest.mark.parametrize("path", [".", pytest.param(".claude/settings.json", marks=pytest.mark.slow)])
def test_settings_that_are_a_link_in_the_project(recorded, path):
    """A settings file that is a link stays one, and its target is recorded and restored."""
    target = recorded.path / "shared.json"
    recorded.settings.rename(target)
    recorded.settings.symlink_to(target)
    process = recorded.begin(path, "--output", "hook-recordings")
    recorded.run_hook()
    status, _ = recorded.end(process)

    assert (status, len(recorded.records())) == (0, 1)
    assert recorded.settings.is_symlink()
    assert target.read_text() == recorded.original


@pytest.mark.parametrize("path", [".", ".claude/settings.json"])
def test_settings_that_are_a_link_out_of_the_project(recorded, tmp_path, monkeypatch, capsys, path):
    """A settings file that is a link out of the project is named with its target, and nothing is changed."""
    target = tmp_path / "dotfiles.json"
    target.write_text(recorded.original)
    recorded.settings.unlink()
    recorded.settings.symlink_to(target)
    monkeypatch.chdir(recorded.path)

    assert main.main(["record", path]) == 2

    said = capsys.readouterr().err
    assert f"{recorded.settings}: is a link to {target}, out of the project" in said
    assert target.read_text() == recorded.original


@pytest.mark.slow
def test_a_link_out_of_the_project_beside_other_settings(recorded, tmp_path):
    """If only some settings files are links out of the project, they are named and the others recorded."""
    target = tmp_path / "dotfiles.json"
    target.write_text(recorded.original)
    local = recorded.settings.with_name("settings.local.json")
    local.symlink_to(target)

    recorded.end(recorded.begin())

    assert f"not recorded: {local}: is a link to {target}, out of the project" in recorded.said
    assert f"recording: {recorded.settings}, 1 hooks" in recorded.said
    assert target.read_text() == recorded.original


@pytest.mark.nightly
@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_two_names_of_one_settings_file(recorded, link):
    """A settings file that another one links to is wrapped and restored once."""
    getattr(recorded.settings.with_name("settings.local.json"), link)(recorded.settings)
    process = recorded.begin()
    recorded.run_hook()
    status, said = recorded.end(process)

    assert (status, len(recorded.records())) == (0, 1)
    assert "the settings are restored" in said
    assert recorded.settings.read_text() == recorded.original


@pytest.mark.slow
def test_hooks_are_not_recorded_twice(crashed):
    """Hooks that are recorded already are refused, for the second recording would put the first one back."""
    with pytest.raises(SimulationError, match="its hooks are being recorded already"):
        recording.plan(crashed.path, "", crashed.path / "kept")


def test_one_file_that_cannot_be_restored_does_not_stop_the_others(crashed, capsys):
    """Restorable files are restored; all other files are reported, and restored as soon as possible."""
    (journal,) = crashed.journals.iterdir()
    (entry,) = json.loads(journal.read_text())
    other = crashed.settings.with_name("other.json")
    journal.write_text(json.dumps([{**entry, "file": str(other)}, entry]))
    other.write_bytes(b"\xff")
    command = ["record", str(crashed.path), "--restore"]

    assert main.main(command) == 2
    assert crashed.settings.read_text() == crashed.original
    assert "other.json: was not restored" in capsys.readouterr().out
    other.write_bytes(entry["meanwhile"].encode())
    assert main.main(command) == 0
    assert other.read_text() == crashed.original
    assert not [*crashed.journals.iterdir()]


def test_a_journal_of_another_project_stays(crashed, tmp_path, capsys):
    """Only files of the project that is named are restored."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(crashed.original)

    assert main.main(["record", str(tmp_path), "--restore"]) == 0

    assert "nothing has to be restored" in capsys.readouterr().out
    assert crashed.settings.read_text() != crashed.original
    assert [*crashed.journals.iterdir()]


def test_a_journal_that_came_with_a_project_is_not_read(crashed, tmp_path):
    """A journal in a project changes nothing: only those of this user are read."""
    outside = tmp_path / "outside.json"
    outside.write_text("meanwhile")
    (crashed.path / "hook-recordings").mkdir()
    entry = {"named": str(outside), "file": str(outside), "before": "before", "meanwhile": "meanwhile"}
    text = json.dumps([{**entry, "keys": [], "commands": {}}])
    (crashed.path / "hook-recordings" / "restore.json").write_text(text)

    assert main.main(["record", str(crashed.path), "--restore"]) == 0

    assert outside.read_text() == "meanwhile"
    assert crashed.settings.read_text() == crashed.original


@pytest.mark.slow
def test_a_project_that_was_moved(recorded):
    """If the project is moved while hooks are recorded, the command says how to restore them."""
    process = recorded.begin()
    moved = recorded.path.with_name("moved")
    recorded.path.rename(moved)
    _, said = recorded.end(process)
    text = (moved / ".claude" / "settings.json").read_text()

    assert "If you moved it, call `hookharness record --restore` with its new PATH" in said
    assert "the settings are restored" not in said
    assert "payload_recorder" in text
    assert main.main(["record", str(moved), "--restore"]) == 0
    restored = (moved / ".claude" / "settings.json").read_text()
    assert json.loads(restored) == json.loads(recorded.original)


@pytest.mark.slow
def test_an_editor_that_brings_the_recorder_back(recorded):
    """Wrapped settings that an editor saves after the recording are restored on demand."""
    process = recorded.begin()
    text = recorded.settings.read_text()
    recorded.end(process)
    recorded.settings.write_text(text)

    assert main.main(["record", str(recorded.path), "--restore"]) == 0

    assert json.loads(recorded.settings.read_text()) == json.loads(recorded.original)


@pytest.mark.slow
@pytest.mark.parametrize("text", [pytest.param(None, marks=pytest.mark.slow), "build/\n"])
def test_recordings_in_a_folder_with_other_files(recorded, text):
    """A folder with files of the user keeps its list of ignored files, or still has none."""
    ignored = recorded.path / ".gitignore"
    if text is not None:
        ignored.write_text(text)

    recorded.end(recorded.begin("--output", "."))

    assert (ignored.read_text() if ignored.exists() else None) == text
    assert ("do not commit the recordings" in recorded.said) == (text is None)


@pytest.mark.nightly
def test_a_terminal_that_is_closed(recorded):
    """The settings are restored if the terminal is closed or the system ends the command."""
    for number in (signal.SIGHUP, signal.SIGTERM):
        process = recorded.begin()
        process.send_signal(number)
        assert "the settings are restored" in process.communicate(timeout=20)[0]
        assert recorded.settings.read_text() == recorded.original
