"""Claims about files that a host keeps below HOME and that hooks read."""

import json

import pytest

from pytest_hookharness.campaigns.arming.home_paths import host_files
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_host_files

# Its answer is no JSON as soon as there is a plan.
PLANS = """FILE=$(ls -t "$HOME"/.claude/plans/*.md 2>/dev/null | head -1)
[ -n "$FILE" ] || exit 0
echo '{"decision": "block", "reason": "'"$(cat "$FILE")"'"}'
"""


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ('ls "$HOME/.claude/plans"', ["plans"]),
        ("path.join(os.homedir(), '.claude', 'todos')", ["todos"]),
        ('Path.home() / ".claude" / "tasks" / session', ["tasks"]),
        ("ls ~/.claude/plans ${HOME}/.claude/todos", ["plans", "todos"]),
        ("ls .claude/plans ~/.claude/hooks", []),
    ],
)
def test_which_files_of_the_host_are_read(plugin, text, folders):
    """The plans, to-do lists and tasks of the host are known by their folder, however it is joined."""
    hook_set = plugin("sh ${CLAUDE_PLUGIN_ROOT}/stop.sh", **{"stop.sh": text})
    found = host_files(hook_set)
    assert [path.split("/")[1] for path in found] == folders
    assert all(json.loads(body) for path, body in found.items() if path.endswith(".json"))


def test_a_hook_that_fails_as_soon_as_the_host_has_a_plan(plugin, harness):
    """A session with the host's own files shows what a hook does with them."""
    hook_set = plugin("sh ${CLAUDE_PLUGIN_ROOT}/stop.sh", **{"stop.sh": PLANS})
    (session,) = plan_host_files(hook_set)
    assert session.active == "~/.claude/plans/quiet-running-river.md as the host writes it"
    outcome = play_session(session, harness.settings, harness.resources)
    assert "MANGLED" in [finding.name for finding in outcome.findings]
    assert not [*plan_host_files(plugin("exit 0"))]
