"""Claims about what guards are tried with: files of rules, and variables that make them refuse."""

import json
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.guard_switches import GuardRules, guard_marks, guard_switches
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
    ("text", "marks"),
    [
        ("[ -f docs/rules.md ] || exit 0\nexit 2\n", ["docs/rules.md"]),
        (
            'root="${CLAUDE_PROJECT_DIR:-$PWD}"\n[[ -f "$root/a/rules.md" ]] || exit 0\nexit 2\n',
            ["a/rules.md"],
        ),
        ('if [ ! -d ".planning" ]; then\n  exit 0\nfi\nexit 2\n', [".planning/.keep"]),
        ('MARK=.work/on.json\n[ ! -e "$MARK" ] && exit 0\nexit 2\n', [".work/on.json"]),
        # Not a guard, in a function, the other way round, and a file whose text it reads.
        ("[ -f docs/rules.md ] || exit 0\n", []),
        ("check() {\n  [ -f docs/rules.md ] || exit 0\n}\nexit 2\n", []),
        ("[ -f docs/rules.md ] && exit 0\nexit 2\n", []),
        ("[ -f docs/rules.md ] || exit 0\ngrep -q on docs/rules.md && exit 2\n", []),
        ('MARK=.work/on.json\n[ -e "$MARK" ] || exit 0\njq -e .on "$MARK" && exit 2\n', []),
        # Elsewhere, of others, and what the project has.
        ('[ -f "$HOME/rules.md" ] || exit 0\nexit 2\n', []),
        ("[ -f package.json ] || exit 0\nexit 2\n", []),
        ("[ -f have.md ] || exit 0\nexit 2\n", []),
    ],
)
def test_files_without_which_guards_end(tmp_path, text, marks):
    """A file counts if a guard ends at once without it and asks nothing else of it."""
    (tmp_path / "have.md").write_text("x")
    sources = (("guard.sh", f"#!/bin/sh\n{text}"), ("start.sh", "#!/bin/sh\necho see docs/rules.md\n"))
    hook_set = HookSet(host="claude-code", root=tmp_path, files=(), sources=sources)
    assert [*guard_marks(hook_set)] == marks


def test_a_mark_of_a_plugin_has_its_own_text(tmp_path):
    """The project of a plugin's user gets the file that the plugin has itself; others get some text."""
    sources = (("guard.sh", "#!/bin/sh\n[ -f have.md ] || exit 0\n[ -f no.md ] || exit 0\nexit 2\n"),)
    (tmp_path / "have.md").write_text("x")
    hook_set = HookSet(host="claude-code", root=tmp_path, files=(), sources=sources, plugin=True)
    assert guard_marks(hook_set) == {"have.md": "x", "no.md": "{}\n"}


@pytest.mark.parametrize(
    ("rules", "active"),
    [
        (GuardRules({"a.md": "text"}, {}), "a.md as in the examples"),
        (GuardRules({}, {"A_BLOCK": "1"}), "A_BLOCK=1"),
        (GuardRules({"a.md": "text"}, {"A_BLOCK": "1"}), "a.md as in the examples and A_BLOCK=1"),
        (GuardRules({}, {}), ""),
        (GuardRules({}, {"A_BLOCK": "1"}, {"b.md": "text"}), "A_BLOCK=1 and a file b.md"),
    ],
)
def test_sessions_with_rules(rules, active):
    """Sessions get the files of rules and the variables, and say so; without any they stay as they are."""
    session = CheckSession(title="x", scenario=Scenario(name="x"))
    (ruled,) = rules.among([session])
    files = {**rules.files, **rules.marks}
    assert (ruled.scenario.files, ruled.scenario.env, ruled.active) == (files, rules.env, active)
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
