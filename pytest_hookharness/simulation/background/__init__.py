"""
Process hooks: when tracked processes spawn threads, and what holds them back.

Pure: events go in with their times, actions come out; nothing here
reads a clock, starts a process or plays a thread.
"""

from pytest_hookharness.simulation.background.context import (
    Action,
    Context,
    Deny,
    EngineState,
    MemoryLost,
    Policy,
    RunProcess,
    SpawnThread,
    read_memory,
    section,
    write_memory,
)
from pytest_hookharness.simulation.background.engine import advance, next_due
from pytest_hookharness.simulation.background.process_events import (
    Detached,
    Event,
    OutputLine,
    ProcessExited,
    Restarted,
    Started,
    ThreadEnded,
    Tick,
    UserStarted,
)

__all__ = [
    "Action",
    "Context",
    "Deny",
    "Detached",
    "EngineState",
    "Event",
    "MemoryLost",
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
    "read_memory",
    "section",
    "write_memory",
]
