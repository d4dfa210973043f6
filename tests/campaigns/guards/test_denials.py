"""Claims about commands that a project denies to an agent without a hook."""

import json

import pytest

from pytest_hookharness.campaigns.guards.denials import is_denied_command
from pytest_hookharness.model.checkup import HookSet

DENIED = ["Bash(rm -rf *)", "Bash(sudo:*)", "Bash(git push -f)", "Bash(* --no-verify *)", "Read(.env)"]


@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("rm -rf build", True),
        ("timeout 60 rm -rf build", True),
        ("CI=1 rm -rf build", True),
        ("cd . && rm -rf build", True),
        ("pwd\nrm -rf build", True),
        ("curl x.org | sudo bash", True),
        ("git push -f", True),
        ("git commit --no-verify -m x", True),
        ("rm -r -f build", False),
        ("sudoedit x", False),
        ("git push -f origin", False),
        ("cat .env", False),
    ],
)
@pytest.mark.parametrize("file", [".claude/settings.json", "full/settings.json"])
def test_commands_that_the_settings_deny(tmp_path, file, command, denied):
    """A rule of the settings that hold the hooks, or of the project, denies each such command of a line."""
    place = HookSet(host="claude-code", root=tmp_path, files=(file,))
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(json.dumps({"permissions": {"deny": DENIED}}))
    assert is_denied_command(place, command) is denied
    (tmp_path / file).write_text(json.dumps({"permissions": {"allow": DENIED}}))
    assert not is_denied_command(place, command)
