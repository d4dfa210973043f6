"""Claims about a hook run as a value."""

import pytest

from pytest_hookharness.model.protocol import Basis, Hook, Reply, Rule
from pytest_hookharness.model.trace import HookRun


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("[sh ${CLAUDE_PLUGIN_ROOT}/stop.sh $HOME]: Test it.", "Test it."),
        ("[sh /p/plugin/stop.sh $HOME]: Test it.", "Test it."),
        ("[sh /other/stop.sh $HOME]: Test it.", "[sh /other/stop.sh $HOME]: Test it."),
        ("Test it.", "Test it."),
    ],
)
def test_the_reason_is_what_the_hook_said(given, reason):
    """The command in front of a reason is no part of it, also if the host shows the folder of the plugin."""
    hook = Hook(event="Stop", command="sh ${CLAUDE_PLUGIN_ROOT}/stop.sh $HOME", plugin="/p/plugin")
    reply = Reply(rule=Rule("refuses", Basis.DOCUMENTED, "a page"), reason=given)
    assert HookRun(hook=hook, payload={}, reply=reply).reason == reason
