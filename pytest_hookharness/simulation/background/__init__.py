"""Process hooks: when background processes spawn threads, and which limits hold them back."""

from pytest_hookharness.simulation.background.context import Context, section
from pytest_hookharness.simulation.background.engine import advance, next_due
from pytest_hookharness.simulation.background.engine_state import (
    Action,
    Deny,
    Detached,
    EngineState,
    Event,
    JournalError,
    OutputLine,
    Policy,
    ProcessExited,
    Restarted,
    RunProcess,
    SpawnThread,
    Started,
    ThreadEnded,
    Tick,
    UserStarted,
    read_journal,
    write_journal,
)

__all__ = [
    "Action",
    "Context",
    "Deny",
    "Detached",
    "EngineState",
    "Event",
    "JournalError",
    "OutputLine",
    "Policy",
    "ProcessExited",
    "Restarted",
    "RunProcess",
    "SpawnThread",
    "Started",
    "ThreadEnded",
    "Tick",
    "UserStarted",
    "advance",
    "next_due",
    "read_journal",
    "section",
    "write_journal",
]
