"""
This module is concerned with actions: what the engine of process hooks wants done.

Middle floor: values only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pytest_hookharness.model.process_hooks import Denial, HookThread
from pytest_hookharness.processes.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProcess:
    """
    Start a process and watch it.

    Attributes:
        process: The id that its events are to carry.
        name: Which one of the scenario's.
    """

    process: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnThread:
    """
    Play a thread, and say when it has ended; until then there will be no other.

    Attributes:
        thread: Which thread it is, and why.
        hook: The place of the hook in its process.
        context: All that the thread is told.
    """

    thread: HookThread
    hook: int
    context: Context


@dataclass(frozen=True, slots=True)
class Deny:
    """
    Note that something was not started.
    """

    denial: Denial


Action: TypeAlias = RunProcess | SpawnThread | Deny
