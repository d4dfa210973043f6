"""Claims about the stand-in for ``uv run``: which calls it takes for plain, and what it runs."""

import subprocess
import sys

import pytest

from pytest_hookharness.execution.workspace import uv_stand_in
from pytest_hookharness.execution.workspace.uv_stand_in import find_script, needs_only_python

HEAD = '# /// script\n# requires-python = ">=3.{}"\n# dependencies = []\n# ///\n'


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["run", "hook.py"], 1),
        (["run", "-q", "--script", "hook.py", "--chat"], 3),
        (["run", "--python", "3.11", "hooks/hook.py"], 3),
        (["run", "--no-project", "python", "hook.py"], 3),
        (["run", "--with", "rich", "hook.py"], None),
        (["run", "--directory", "tools", "hook.py"], None),
        (["run", "pytest"], None),
        (["run", "python", "-m", "mine"], None),
        (["sync"], None),
        ([], None),
    ],
)
def test_which_calls_are_plain(words, place):
    """A call is plain if it runs one script, with no option that brings a package or another folder."""
    assert find_script(words) == place


@pytest.mark.parametrize(
    ("text", "only"),
    [
        (f"{HEAD.format(8)}import json, os.path\nfrom pathlib import Path\nimport own\n", True),
        ("try:\n    import dotenv\nexcept ImportError:\n    dotenv = None\n", True),
        ("from . import x\n", True),
        ("def run():\n    import no_such_sdk\n", False),
        ("import yaml\n", True),
        ("import no_such_module.part\n", False),
        ("import json.nothing\nif True:\n    import no_such_ui\n", False),
        (f"{HEAD.format(99)}import json\n", False),
        ("def broken(:\n", False),
        ("", False),
    ],
)
def test_which_scripts_need_only_python(tmp_path, text, only):
    """A script needs no uv if this Python has all that it imports, or if it catches the failure."""
    (tmp_path / "own.py").write_text("")
    (tmp_path / "hook.py").write_text(text)
    assert needs_only_python(tmp_path / "hook.py") is only


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("import sys; sys.exit(len(sys.argv) + len(sys.stdin.read()))", 6, ""),
        ("import no_such_ui", 127, "uv: not found\n"),
    ],
)
def test_what_it_runs(tmp_path, text, status, said):
    """A script gets its arguments and its standard input; what needs more ends as where uv is missing."""
    (tmp_path / "hook.py").write_text(text)
    words = [sys.executable, "-m", uv_stand_in.__name__, "run", str(tmp_path / "hook.py"), "--chat"]
    run = subprocess.run(words, input="data", capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (status, said)


def test_a_folder_of_the_project_is_no_package(tmp_path, monkeypatch):
    """A folder that has the name of a package, where the check is started, does not stand for it."""
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "__init__.py").write_text("")
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "hook.py").write_text("import docker\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not needs_only_python(tmp_path / "hooks" / "hook.py")
