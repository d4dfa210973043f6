"""Claims about what guards are tried with: files of rules, and variables that make them refuse."""

import json
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.guard_switches import GuardRules, guard_switches
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.hook_set_files import read_hook_set
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario

GUARD = """#!/bin/sh
command=$(jq -r .tool_input.command)
case "$command" in 'rm -rf '*) ;; *) exit 0 ;; esac
if [ "${CLEANUP_BLOCK:-0}" = 1 ]; then echo "Remove the folder build by make clean." >&2; exit 2; fi
exit 0
"""
SETTINGS = """{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
  {"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/guard.sh"}]}]}}
"""


@pytest.mark.parametrize(
    ("text", "switches"),
    [
        ('[ "${MY_GUARD_BLOCK:-0}" = "1" ] && exit 2', {"MY_GUARD_BLOCK": "1"}),
        ("if os.environ.get('TDD_STRICT', '') == 'true':", {"TDD_STRICT": "true"}),
        ("if (process.env.HOOK_ENFORCE === '1') {", {"HOOK_ENFORCE": "1"}),
        ('# [ "$MY_GUARD_BLOCK" = 1 ]', {}),
        ('[ "$SKIP_GUARD_BLOCK" = 1 ] && exit 0', {}),
        ('[ "$BYPASS_GUARD_STRICT" = 1 ] && exit 0', {}),
        ('[ "$GUARD_STRICT_OFF_MODE" = 1 ] && exit 0', {}),
        ('[ "$MY_GUARD" = 1 ]', {}),
        ('[ "$GIVEN_BLOCK" = 1 ]', {}),
        ('if [[ -z "${REMOTE_SESSION:-}" ]]; then\n  exit 0\nfi\nexit 2\n', {"REMOTE_SESSION": "1"}),
        ('[ -n "$REMOTE_SESSION" ] || exit 0\nexit 2\n', {"REMOTE_SESSION": "1"}),
        ("if not os.environ.get('REMOTE'):\n    sys.exit(0)\nprint('deny')\n", {"REMOTE": "1"}),
        ("if (!process.env.REMOTE) process.exit(0);\nsay({decision: 'block'});\n", {"REMOTE": "1"}),
        ('[ -z "$REMOTE_SESSION" ] && exit 0\necho "$REMOTE_SESSION"\n', {}),
        ('NAME=$(jq -r .tool_name)\n[ -z "$NAME" ] && exit 0\nexit 2\n', {}),
        ('x=1; NAME=$(jq -r .tool_name); [ -z "$NAME" ] && exit 0\nexit 2\n', {}),
        ('for NAME in $(ls); do\n[ -z "$NAME" ] && exit 0\ndone\nexit 2\n', {}),
        (': "${NAME:=$(id)}"\n[ -z "$NAME" ] && exit 0\nexit 2\n', {}),
        (
            '[ -z "$REMOTE" ] && exit 0\n[ "$REMOTE" = 1 ] || echo "Set REMOTE=1 to refuse."\nexit 2\n',
            {"REMOTE": "1"},
        ),
        ('[ -z "$CLAUDE_PROJECT_DIR" ] && exit 0\nexit 2\n', {}),
        ('[ -z "$SERVICE_TOKEN" ] && exit 0\nexit 2\n', {}),
    ],
)
def test_variables_that_make_guards_refuse(text, switches):
    """A variable counts if its name says that the guard refuses with it, unless the settings give it."""
    hook = Hook(event="PreToolUse", command="./guard.sh", env={"GIVEN_BLOCK": "0"})
    hook_set = HookSet(
        host="claude-code", root=Path("/w"), files=(), hooks=(hook,), sources=(("guard.sh", text),)
    )
    assert guard_switches(hook_set) == switches


def test_variables_that_settings_give(tmp_path):
    """A variable that the settings give to all hooks has the value that a person chose."""
    text = '[ "$MY_GUARD_BLOCK" = "1" ] && exit 2'
    (tmp_path / "guard.sh").write_text(text)
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh guard.sh"}]}]}}
    for env, wanted in (({}, {"MY_GUARD_BLOCK": "1"}), ({"MY_GUARD_BLOCK": "0"}, {})):
        (tmp_path / "s.json").write_text(json.dumps({**settings, "env": env}))
        hook_set = read_hook_set(hosts.find("claude-code"), tmp_path, ["s.json"])
        assert (guard_switches(hook_set), len(hook_set.sources)) == (wanted, 1)


@pytest.mark.parametrize(
    ("rules", "active"),
    [
        (GuardRules({"a.md": "text"}, {}), "a.md as in the examples"),
        (GuardRules({}, {"A_BLOCK": "1"}), "A_BLOCK=1"),
        (GuardRules({"a.md": "text"}, {"A_BLOCK": "1"}), "a.md as in the examples and A_BLOCK=1"),
        (GuardRules({}, {}), ""),
    ],
)
def test_sessions_with_rules(rules, active):
    """Sessions get the files of rules and the variables, and say so; without any they stay as they are."""
    session = CheckSession(title="x", scenario=Scenario(name="x"))
    (ruled,) = rules.among([session])
    assert (ruled.scenario.files, ruled.scenario.env, ruled.active) == (rules.files, rules.env, active)
    assert (ruled == session) is not active


@pytest.mark.nightly
@pytest.mark.slow
def test_a_guard_that_a_variable_makes_refuse(tmp_path, harness):
    """A guard that only warns by itself is tried as one that refuses, and the report says with what."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(SETTINGS)
    script = tmp_path / "guard.sh"
    script.write_text(GUARD)
    script.chmod(0o755)
    (place,) = find_hook_sets(tmp_path)
    report = CheckRun(place, harness.settings, harness.resources).run()
    found = next(one for one in report.problems if one.symptom.kind == "BYPASS")
    assert found.active == "CLEANUP_BLOCK=1"
