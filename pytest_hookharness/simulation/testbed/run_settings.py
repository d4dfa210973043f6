"""
What is the same for every simulation of a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_hookharness.model.line_coverage import CoverageStore
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier


class Interrupted(KeyboardInterrupt):
    """
    The person stopped a simulation.

    Attributes:
        outcome: What was seen until then.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__("the simulation was interrupted")


class SimulationError(Exception):
    """
    The harness cannot go on: the scenario asks for what it does not know how to do.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSelection:
    """
    Which of all that could be different is tried.

    Attributes:
        most: This many of them, and no more; ``None`` for all.
        only: Those that hold these words, or the one that is just called so; empty for all.
    """

    most: int | None = None
    only: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    What is the same for every scenario of a run.

    Attributes:
        seed: Seed of everything that is made up.
        hook_timeout: Seconds after which a fire is cut although its host would wait longer.
        wall: Seconds of real time that one simulation may take.
        turns: Most turns that are played; ``None`` for what the scenario says.
        tier: How fires are kept apart from the machine; ``None`` for the best available.
        base: Folder below which everything is written; ``None`` for one of our own.
        keep: Keep the workspace of a simulation whose promises were not kept.
        traces: Folder that trace files are written to; ``None`` for none.
        probes: Find out by experiment what decides where states do not come again exactly.
        choice: What is tried where a scenario is varied, in an order that the seed gives; ``None`` for
            all of it, kind by kind.
        coverage_store: Where it is written down which lines hooks run; ``None`` if nobody asks.
    """

    seed: int = 0
    hook_timeout: float = 10.0
    wall: float = 60.0
    turns: int | None = None
    tier: Tier | None = None
    base: Path | None = None
    keep: bool = False
    traces: Path | None = None
    probes: bool = True
    choice: TrialSelection | None = None
    coverage_store: CoverageStore | None = None
