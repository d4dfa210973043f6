"""Claims about Stop hooks that ask git what changed, with real gates in sessions."""

import json
import subprocess

import pytest

from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets

GATE = """#!/bin/bash
[ "$(jq -r .stop_hook_active)" = true ] && exit 0
{changed} | grep -q 'apps/game/.*\\.ts' || exit 0
echo 'Run the checks of apps/game.' >&2
exit 2
"""


@pytest.fixture
def found(tmp_path, harness):
    """The texts of the problems about changes, for the gate of a project with sources."""

    def find(changed):
        files = {
            ".claude/settings.json": json.dumps(
                {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bash ./gate.sh"}]}]}}
            ),
            "gate.sh": GATE.format(changed=changed),
            "apps/game/src/main.ts": "export {};\n",
            "apps/other/notes.md": "Notes\n",
        }
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        (hook_set,) = [one for one in find_hook_sets(tmp_path, "") if one.host == "claude-code"]
        report = CheckRun(hook_set, harness.settings, harness.resources).run()
        return [one.symptom.text for one in report.problems if one.symptom.topic == "changes"]

    return find


@pytest.mark.nightly
def test_a_gate_of_changed_sources(found):
    """The check changes the sources that a gate names, and reports which changes the gate misses."""
    (text,) = found("git diff --name-only")
    assert text == (
        "The stop is refused after an edit of apps/game/src/main.ts, but allowed if the file is new."
    )


@pytest.mark.nightly
def test_a_gate_that_sees_all_changes(found):
    """A gate that sees new files, files in new folders and commits has no problem about changes."""
    base = "git rev-list --max-parents=0 HEAD"
    assert found(f"{{ git diff --name-only -z $({base}); git ls-files -zo; }} | tr '\\0' '\\n'") == []
