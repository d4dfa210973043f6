"""The scripted agent: its next act, given the messages it saw."""

from pytest_hookharness.agents.agent import Agent, Playback, Position, start
from pytest_hookharness.agents.behaviours import (
    BEHAVIOURS,
    BehaviourFunction,
    UnknownBehaviour,
    number_options,
)

__all__ = [
    "BEHAVIOURS",
    "Agent",
    "BehaviourFunction",
    "Playback",
    "Position",
    "UnknownBehaviour",
    "number_options",
    "start",
]
