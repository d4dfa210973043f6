"""The settings of a run, and the exceptions that end a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.line_coverage import CoverageStore
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario

if TYPE_CHECKING:
    from pytest_hookharness.model.outcome import Outcome


class Interrupted(KeyboardInterrupt):
    """The user interrupted a simulation (Ctrl-C), with this outcome so far."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__("the simulation was interrupted")


class SimulationError(Exception):
    """The scenario asks for something that the harness cannot do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSelection:
    """
    Which trials of a test matrix are made.

    Attributes:
        most: How many trials at most; ``None`` for all.
        only: Only trials of the family with this name, or else those whose name contains this text, or the
            one with exactly this name; empty for all.
    """

    most: int | None = None
    only: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    The settings of all scenarios of a run.

    Attributes:
        seed: Seed of all made-up values.
        hook_timeout: Seconds after which a hook run is cut although its host would wait longer.
        wall: Seconds of real time that one simulation may take.
        turns: The number of turns after which a run is cut; ``None`` for the scenario's own limit.
        tier: How hook runs are isolated from the machine; ``None`` for the best available tier.
        base: Folder below which everything is written; ``None`` for a new temporary one.
        keep: Keep the workspace of a simulation whose expectations were not met.
        keep_passing: With ``keep``, keep the workspaces of all others as well.
        traces: Folder for trace files; ``None`` for no trace files.
        probes: Probe which changing state parts affect the decisions.
        paces: Compare a session with slower ones, if its hooks may read the clock.
        choice: Which trials of `vary` are made, in an order that follows from the seed; ``None`` for all of
            them, family by family.
        coverage_store: Where the lines that hooks run are recorded; ``None`` if they are not.
        warm: Fork runs of Python hooks from prepared interpreters, if they run in the same way then.
        lead: By how many seconds the hooks' clock is ahead when a session at a declared pace begins; at least
            the budget of the first play, and the same for all plays that are compared with it.
        linger: Seconds for which processes that a hook or a command of the agent leaves running may live on;
            0 for the host's own rule; ``None`` for the whole session.
    """

    seed: int = 0
    hook_timeout: float = 10.0
    wall: float = 60.0
    turns: int | None = None
    tier: Tier | None = None
    base: Path | None = None
    keep: bool = False
    keep_passing: bool = False
    traces: Path | None = None
    probes: bool = True
    paces: bool = True
    choice: TrialSelection | None = None
    coverage_store: CoverageStore | None = None
    warm: bool = False
    lead: float = 600.0
    linger: float | None = 0.0

    def ahead(self, scenario: Scenario) -> float:
        """Return by how many seconds the hooks' clock is ahead when a session begins."""
        # The state of covered folders is not restored, so no experiment there takes simulated time.
        return self.lead if scenario.pace and not scenario.cover else 0.0

    def of_rerun(self, outcome: Outcome) -> Settings:
        """Return the settings for another run of a scenario: no probes, and no more turns than needed."""
        limit = outcome.scenario.turns if self.turns is None else self.turns
        return replace(self, turns=min(limit, 3 * outcome.iterations + 5), probes=False, keep=False)
