"""Claims about scripts that are hooks by their words, in projects whose settings an installer writes."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.unnamed_scripts import settings_for, unnamed_scripts
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.reports.terminal.check_report import announcement
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

EVENTS = hosts.find("claude-code").events
READS = "import json, sys\ngiven = json.load(sys.stdin)\n"


def found(root, **files):
    """The scripts that are taken for hooks, of files whose names have ``__`` for a folder."""
    for name, text in files.items():
        *folders, last = name.split("__")
        place = root.joinpath(*folders)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{last}.py").write_text(text)
    return unnamed_scripts(root, EVENTS)


@pytest.mark.parametrize(
    ("name", "text", "events"),
    [
        ("hooks__post_tool_use", f"# A PreToolUse hook\n{READS}given['tool_input']\n", ("PostToolUse",)),
        (
            "hooks__guard",
            f"# Runs on PreToolUse and PermissionRequest\n{READS}given['tool_input']\n",
            ("PreToolUse", "PermissionRequest"),
        ),
        ("check_hook", f'"""The stop hook of x."""\n{READS}given["transcript_path"]\n', ("Stop",)),
        (
            "hooks__a",
            f'{READS}x = {{"hookSpecificOutput": {{"hookEventName": "SessionStart"}}}}\n',
            ("SessionStart",),
        ),
        ("hooks__b", f"# Setup: none. Stop here.\n{READS}given['tool_input']\n", ("PreToolUse",)),
        ("hooks__c", f"{READS}given['stop_hook_active'], given['tool_input']\n", ("Stop",)),
    ],
)
def test_the_events_of_a_script(tmp_path, name, text, events):
    """A script runs on the event of its name, of its first lines, of its answer or of its input."""
    assert [*found(tmp_path, **{name: text}).values()] == [events]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("hooks__lib", "def read(given):\n    return given['tool_input']\n", id="reads nothing"),
        pytest.param("hooks__tool", f"# PreToolUse hook\n{READS}", id="knows no key of a host"),
        pytest.param("src__guard", f"# PreToolUse\n{READS}given['tool_input']\n", id="no folder of hooks"),
        pytest.param("hooks__test_guard", f"# PreToolUse\n{READS}given['tool_input']\n", id="a test"),
        pytest.param("docs__hooks__guard", f"# PreToolUse\n{READS}given['tool_input']\n", id="an example"),
        pytest.param("hooks__any", f"{READS}given['transcript_path']\n", id="tells no event"),
    ],
)
def test_what_is_no_hook(tmp_path, name, text):
    """A script that does not read an input of a host, is for show, or tells no event is left alone."""
    assert found(tmp_path, **{name: text}) == {}


def test_parts_and_copies_of_scripts(tmp_path):
    """What another script starts, and a second equal script, are no further hooks."""
    text = f"# PreToolUse\n{READS}given['tool_input']\n"
    scripts = found(
        tmp_path,
        hooks__guard=f"{text}run('worker.py')  # see also other.py\n# other.py is another one\n",
        hooks__worker=f"{text}1\n",
        hooks__z_copy=f"{text}run('worker.py')  # see also other.py\n# other.py is another one\n",
    )
    assert [*scripts] == ["hooks/guard.py"]


def test_settings_run_each_script_on_its_events():
    """Each script has an entry for each of its events, with a path that has no second meaning."""
    settings = settings_for({"hooks/a b.py": ("Stop", "SubagentStop")}, "PLACE")
    hook = {"type": "command", "command": "python3 \"$PLACE\"/'hooks/a b.py'"}
    assert settings == {"hooks": {"Stop": [{"hooks": [hook]}], "SubagentStop": [{"hooks": [hook]}]}}


def test_scripts_are_tried_only_without_settings(tmp_path):
    """Scripts that no settings name are tried where there are no settings, and the announcement says so."""
    found(tmp_path, hooks__guard=f"# PreToolUse\n{READS}given['tool_input']\n")
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert [(hook.event, hook.source) for hook in place.hooks] == [("PreToolUse", "hooks/guard.py")]
    assert (place.files, place.unnamed) == (("hooks/guard.py",), True)
    assert "1 hook in hooks/guard.py, which no settings name; tried on the events" in announcement(
        [place], ""
    )
    with pytest.raises(SimulationError):
        find_hook_sets(tmp_path)
    with pytest.raises(SimulationError):
        find_hook_sets(tmp_path, "codex", copies=True)

    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    (place,) = find_hook_sets(tmp_path, copies=True)
    assert ([hook.event for hook in place.hooks], place.unnamed) == (["Stop"], False)
