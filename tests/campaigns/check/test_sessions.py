"""Claims about the sessions of a check-up."""

from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check import sessions
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit, RunCommand
from pytest_hookharness.model.protocol import Hook

GUARD = Hook(event="PreToolUse", command="./guard.sh")
STOP = Hook(event="Stop", command="./check.sh")


def place(*hooks, host="claude-code"):
    return HookSet(host=host, root=Path("/p"), files=(), hooks=hooks)


def test_hooks_of_one_event_one_after_the_other():
    """Only events with several hooks get an order, in which each of these has its place."""
    made = place(GUARD, STOP, Hook(event="Stop", command="./notify.sh"))
    session = sessions.plan_usual(made, 0)
    assert sessions.in_order(made, session).scenario.order == {"Stop": (1, 2)}
    assert sessions.in_order(place(GUARD, STOP), session) == session


@pytest.mark.parametrize(
    ("host", "options"), [("openhands", {"stuck_detection": False}), ("claude-code", {})]
)
def test_no_host_ends_circles_itself(host, options):
    """A host that looks for circles of the agent is started without that."""
    assert sessions.plan_usual(place(STOP, host=host), 0).scenario.options == options


@pytest.mark.parametrize(
    ("moves", "written", "kinds"),
    [
        ([], False, []),
        ([RunCommand(command="rm -rf /")], False, [("tools", " on the PATH")]),
        ([], True, [("state", " emptied ")]),
    ],
)
def test_trouble_is_tried_where_it_can_show_something(moves, written, kinds):
    """Missing tools are tried where something was refused, and emptied files where guards write some."""
    planned = [*sessions.plan_world(place(GUARD), moves, written=written)]
    assert [(one.scenario.vary[0].family, one.only) for one in planned] == kinds


@pytest.mark.parametrize(("event", "steps"), [("PostToolUse", True), ("PreToolUse", False)])
def test_work_in_steps_is_for_hooks_behind_edits(event, steps):
    """An agent makes an edit that makes no sense alone where hooks run after calls, for these may undo it."""
    acts = sessions.plan_usual(place(Hook(event=event, command="./tidy.sh")), 0).scenario.script.acts
    assert any(isinstance(act, Edit) and act.file == "in_steps.py" for act in acts) is steps
