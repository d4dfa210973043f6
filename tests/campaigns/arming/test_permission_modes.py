"""Claims about hooks that act only in one permission mode."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.arming.activation import asked_modes
from pytest_hookharness.campaigns.check.session_errors import play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event, plan_modes
from pytest_hookharness.model.checkup import HookSet

IN_PLAN_MODE = """[ "$(jq -r .permission_mode)" = "plan" ] || exit 0
echo "End your turn with a plan." >&2; exit 2
"""


@pytest.mark.parametrize(
    ("text", "host", "modes"),
    [
        (IN_PLAN_MODE, "claude-code", ["plan"]),
        ('if event["permission_mode"] != "bypassPermissions":', "claude-code", ["bypassPermissions"]),
        # The usual mode, a word elsewhere, and a host without such modes.
        ('[ "$permission_mode" = "default" ]', "claude-code", []),
        ('mode = "plan"', "claude-code", []),
        (IN_PLAN_MODE, "cursor", []),
    ],
)
def test_modes_for_which_hooks_ask(text, host, modes):
    """A mode is tried if a script that reads the mode has its name in quotes."""
    hook_set = HookSet(host=host, root=Path("/p"), files=(), hooks=(), sources=(("hooks/x.sh", text),))
    assert asked_modes(hook_set) == modes


@pytest.mark.slow
def test_a_hook_that_acts_in_its_mode(plugin, harness):
    """A hook that refuses a stop only in plan mode does so in the session of that mode, not in others."""
    hook_set = plugin(**{"hooks/stop.sh": IN_PLAN_MODE})
    (session,) = plan_modes(hook_set)
    outcomes = [
        play_session(one, harness.settings, harness.resources) for one in (plan_each_event(hook_set), session)
    ]
    assert session.active == "the permission mode plan"
    assert [bool(outcome.blocks("Stop")) for outcome in outcomes] == [False, True]
