"""Expectations about loops of the agent's own calls."""

import pytest

from pytest_hookharness.judging.expectations.events import broken_loops
from pytest_hookharness.model.moves import Prompt, Stop, ToolCall, ToolResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

STOP = Moved(move=Stop())


def call(command, *, refused=False):
    result = ToolResult(text="no" if refused else "ok")
    return Performed(call=ToolCall(name="Bash", input={"command": command}), result=result, refused=refused)


def broken(wanted, *exchanges):
    steps = [Step(number=n, turn=n, exchange=exchange) for n, exchange in enumerate(exchanges, 1)]
    outcome = Outcome(
        scenario=Scenario(name="x"), host="h", trace=Trace(steps=tuple(steps)), verdict=Terminated(turn=1)
    )
    return [(item.path, item.expected, item.seen) for item in broken_loops(outcome, wanted)]


@pytest.mark.parametrize(
    ("wanted", "exchanges"),
    [
        (None, [call("a")] * 3),
        ((), [call("a")] * 2),
        (("repetition",), [call("a")] * 3),
        (("repetition",), [call("a", refused=True)] * 3),
        (("cycle of 2",), [call("a"), call("b")] * 3),
        ((), [call("a"), STOP] * 5),
        ((), [call("a"), Happened(event=Prompt(text="Again."))] * 5),
    ],
)
def test_met(wanted, exchanges):
    """The expectation is met if exactly the named loops occur; calls after a refused stop are no loop."""
    assert broken(wanted, *exchanges) == []


def test_a_missing_loop():
    """An expected loop that did not occur is reported with those that did."""
    assert broken(("cycle of 2",)) == [
        ("expect.detectors[0]", "cycle of 2", "no loop of the agent's own calls")
    ]


def test_an_unexpected_loop():
    """An unexpected loop is reported with its message."""
    ((path, expected, seen),) = broken((), *[call("a")] * 3)

    assert (path, expected) == ("expect.detectors", "no repetition")
    assert "3 times in a row" in seen
