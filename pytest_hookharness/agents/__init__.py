"""
The scripted agent: what it does next, given what it saw.

Pure; it knows no host, no process and no judge.
"""

from pytest_hookharness.agents.agent import Agent, Position, start
from pytest_hookharness.agents.behaviours import BEHAVIOURS, BehaviourFunction, UnknownBehaviour

__all__ = ["BEHAVIOURS", "Agent", "BehaviourFunction", "Position", "UnknownBehaviour", "start"]
