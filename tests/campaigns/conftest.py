"""Campaigns are tested with the same harness as single simulations."""

from ..simulation.conftest import harness, inputs, play

__all__ = ["harness", "inputs", "play"]
