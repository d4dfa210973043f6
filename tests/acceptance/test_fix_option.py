"""Claims about the files that ``hookharness check --fix`` writes."""

import os

import pytest

from pytest_hookharness.frontends.cli.check_command import _write_fixes
from pytest_hookharness.frontends.cli.fix_files import FixNotWritten, write_changes
from pytest_hookharness.model.checkup import CheckReport, Fix, HookSet, Problem, Symptom
from pytest_hookharness.model.file_change import FileChange
from pytest_hookharness.model.scenario import Scenario

SETTINGS = FileChange(file="settings.json", before=b"old", after=b"new", mode_before=0o640, mode=0o640)
LIMITER = FileChange(file="limit.py", before=None, after=b"#!\n", mode_before=0, mode=0o755)
SCRIPT = FileChange(file="hook.sh", before=b"x", after=b"x", mode_before=0o644, mode=0o755)


@pytest.fixture
def folder(tmp_path):
    """A folder with the files before the fix."""
    for change in (SETTINGS, SCRIPT):
        (tmp_path / change.file).write_bytes(change.before)
        (tmp_path / change.file).chmod(change.mode_before)
    return tmp_path


def state(folder):
    """Contents and modes of all files of a folder."""
    return {path.name: (path.read_bytes(), path.stat().st_mode & 0o777) for path in folder.iterdir()}


def test_all_files_are_written(folder):
    """Contents and modes are those of the fix; the mode of a file that only gets new contents stays."""
    write_changes(folder, [SETTINGS, LIMITER, SCRIPT])
    assert state(folder) == {
        "settings.json": (b"new", 0o640),
        "limit.py": (b"#!\n", 0o755),
        "hook.sh": (b"x", 0o755),
    }


def test_the_files_of_each_problem(folder):
    """A fixed problem names the files of its own fix as written, and a problem without a fix names none."""
    symptom, scenario = Symptom(kind="NOT-RUN", text="It is."), Scenario(name="check")
    fixes = [
        Fix(text="Do it.", evidence="Seen.", files=files) for files in (("hook.sh",), ("settings.json",))
    ]
    problems = [Problem(id="x", symptom=symptom, scenario=scenario, fix=fix) for fix in (*fixes, None)]
    place = HookSet(host="claude-code", root=folder, files=())
    found = _write_fixes(CheckReport(place=place, problems=tuple(problems), changes=(SETTINGS, SCRIPT)))
    written = [one.fix.written if one.fix is not None else () for one in found.problems]
    assert written == [("hook.sh",), ("settings.json",), ()]
    assert [one.is_fixed for one in found.problems] == [True, True, False]


@pytest.mark.parametrize("name", ["settings.json", "hook.sh"])
def test_a_file_that_was_edited_meanwhile(folder, name):
    """If a file was edited since it was read, the edit stays, and no other file is changed."""
    (folder / name).write_bytes(b"edited")
    before = state(folder)
    with pytest.raises(FixNotWritten, match=rf"{name} was changed by another program.*no file is changed"):
        write_changes(
            folder, [SCRIPT, SETTINGS, LIMITER] if name == "settings.json" else [SETTINGS, LIMITER, SCRIPT]
        )
    assert state(folder) == before


def test_a_new_file_that_exists(folder):
    """A file of the name of a new one stays as it is."""
    (folder / "limit.py").write_bytes(b"mine")
    before = state(folder)
    with pytest.raises(FixNotWritten, match="no file is changed"):
        write_changes(folder, [SETTINGS, LIMITER])
    assert state(folder) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(folder):
    """If the folder cannot be written, no file is changed."""
    before = state(folder)
    folder.chmod(0o555)
    with pytest.raises(FixNotWritten):
        write_changes(folder, [SETTINGS, LIMITER])
    folder.chmod(0o755)
    assert state(folder) == before
