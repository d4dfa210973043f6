"""
This package is concerned with process hooks: when tracked processes spawn threads, and what holds them back.

Middle floor: it imports only the model. Pure: events go in with their times, actions come out; nothing here
reads a clock, starts a process or plays a thread.
"""

from pytest_hookharness.processes.actions import Action, Deny, RunProcess, SpawnThread
from pytest_hookharness.processes.context import Context, section
from pytest_hookharness.processes.engine import advance, next_due
from pytest_hookharness.processes.events import (
    Detached,
    Event,
    Exited,
    Line,
    Restarted,
    Started,
    ThreadEnded,
    Tick,
    UserStarted,
)
from pytest_hookharness.processes.memory import MemoryLost, read_memory, write_memory
from pytest_hookharness.processes.state import Policy, State

__all__ = [
    "Action",
    "Context",
    "Deny",
    "Detached",
    "Event",
    "Exited",
    "Line",
    "MemoryLost",
    "Policy",
    "Restarted",
    "RunProcess",
    "SpawnThread",
    "Started",
    "State",
    "ThreadEnded",
    "Tick",
    "UserStarted",
    "advance",
    "next_due",
    "read_memory",
    "section",
    "write_memory",
]
