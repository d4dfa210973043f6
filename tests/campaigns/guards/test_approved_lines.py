"""Claims about hooks that allow a line for one of its commands."""

import json

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.guard_sessions import plan_rewordings
from pytest_hookharness.campaigns.check.hook_statistics import find_problems
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.guards.unasked import approved_lines
from pytest_hookharness.model.protocol import Ruling

ANSWER = """printf '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "%s"}}'"""
APPROVES = f"""case "$(jq -r .tool_input.command)" in
    %s) {ANSWER % "allow"} ;;
esac
"""
BEGINS, WHOLE = APPROVES % '"git status"*', APPROVES % '"git status"'
PARTS = f"""text=$(jq -r .tool_input.command)
case "$text" in *[\\;\\&\\|]*) exit 0 ;; "git status"*) {ANSWER % "allow"} ;; esac
"""
EVERYTHING = f"cat >/dev/null; {ANSWER % 'allow'}\n"
LINE, IN_FOLDER = "git status && rm -rf ~", "cd . && git status && rm -rf ~"


@pytest.fixture
def approved(tmp_path, harness):
    """Returns the problems of a hook's answers to lines with allowed and with risky commands."""

    def play(script, host="claude-code", file=".claude/settings.json", guard="", **settings):
        (tmp_path / file).parent.mkdir()
        (tmp_path / "approve.sh").write_text(script)
        (tmp_path / "guard.sh").write_text(guard)
        names = ("approve", "guard") if guard else ("approve",)
        hooks = [{"type": "command", "command": f"sh {tmp_path}/{name}.sh"} for name in names]
        content = {"hooks": {"PreToolUse": [{"hooks": hooks}]}, **settings}
        (tmp_path / file).write_text(json.dumps(content))
        (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == host]
        planned = plan_rewordings(hook_set, [])
        outcomes = [play_session(one, harness.settings, harness.resources) for one in planned]
        return [one.symptom.text for one in find_problems(hook_set, outcomes)]

    return play


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("script", "line"), [(BEGINS, LINE), (APPROVES % '"cd "*" && git status"*', IN_FOLDER)]
)
def test_a_hook_that_looks_at_the_beginning_of_a_line(approved, script, line):
    """A hook that allows a line for its first command lets the next one through unasked, which is UNASKED."""
    (text,) = approved(script)
    assert text == (
        f"PreToolUse: it answers `allow` to `{line}`, and nothing to `rm -rf ~` alone, so claude-code runs "
        "the whole line without asking the user."
    )


@pytest.mark.nightly
@pytest.mark.parametrize("script", [WHOLE, PARTS, EVERYTHING, "exit 0\n"])
def test_a_hook_that_allows_what_it_knows(approved, script):
    """A hook of whole lines, one that leaves lines to the host, and one that allows both are not such."""
    assert approved(script) == []


@pytest.mark.nightly
def test_a_line_that_another_rule_refuses(approved):
    """Nothing is reported if another hook, or a rule of the settings, stops the risky command."""
    guard = "jq -r .tool_input.command | grep -Eq 'rm|curl' || exit 0; echo No. >&2; exit 2\n"
    assert approved(BEGINS, guard=guard) == []


def test_a_risky_command_that_the_settings_deny(approved):
    """The rules of the host hold for each command of a line, whatever a hook answers."""
    assert approved(BEGINS, permissions={"deny": ["Bash(rm:*)", "Bash(curl:*)"]}) == []


@pytest.mark.nightly
def test_a_host_that_takes_no_approval(approved):
    """Where `allow` is no answer to a call, nothing is said of it."""
    assert approved(BEGINS, "codex", ".codex/hooks.json") == []


@pytest.mark.parametrize("answers", [(Ruling.DENY,), (Ruling.NONE, Ruling.ALLOW), ()])
def test_a_risky_command_that_may_be_known(answers):
    """A hook that has an answer to the risky command at times, or was not asked about it, proves nothing."""
    rulings = [("git status", Ruling.ALLOW), (LINE, Ruling.ALLOW)]
    assert [*approved_lines([*rulings, *(("rm -rf ~", one) for one in answers)])] == []
    assert [*approved_lines([*rulings, ("rm -rf ~", Ruling.NONE)])] == [(LINE, "rm -rf ~")]
