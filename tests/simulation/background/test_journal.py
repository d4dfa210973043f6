"""The journal of process hooks: the engine's state, written down and read back."""

import pytest

from pytest_hookharness.model.background import BackgroundProcess, OnExit, ProcessHook, Rate, ThreadLimits
from pytest_hookharness.simulation.background.engine import advance
from pytest_hookharness.simulation.background.engine_state import (
    Detached,
    EngineState,
    JournalError,
    OutputLine,
    Policy,
    ProcessExited,
    Started,
    UserStarted,
    read_journal,
    write_journal,
)

POLICY = Policy(
    processes={"build": BackgroundProcess(run="make", hooks=(ProcessHook(trigger=OnExit()),) * 2)},
    limits=ThreadLimits(depth=0, rate=Rate(2, 9.0)),
)


def states():
    """Yield every state of a run in which a thread waits and a start is refused."""
    state = EngineState()
    yield state
    for limits in (ThreadLimits(rate=Rate(2, 9.0)), POLICY.limits):
        policy = Policy(processes=POLICY.processes, limits=limits)
        name = "build.2" if "build" in state.watched else "build"
        for event in (
            UserStarted(at=0.0),
            Detached(name="build", by=0, at=0.5),
            Started(process=name, pid=7, at=1.0),
            OutputLine(process=name, text='"ü"\x00', at=1.5),
            ProcessExited(process=name, code=1, at=2.0, lines=3, tail=("a", "b")),
        ):
            state, _ = advance(policy, state, event)
            yield state


def test_a_state_is_read_back_as_it_was_written():
    """Every state is read back equal, with what waits and what was refused."""
    every = [*states()]

    assert [read_journal(write_journal(state)) for state in every] == every
    assert every[-1].waiting
    assert every[-1].denials


@pytest.mark.parametrize(
    "text", ["", "[]", "{}x", '{"busy": 1}', '{"waiting": [{}]}', '{"strange": 1}', '{"starts": ["x"]}']
)
def test_a_text_that_does_not_fit_is_refused(text):
    """A text that is no journal is never read as a state."""
    with pytest.raises(JournalError, match="cannot be read back"):
        read_journal(text)
