"""
The harness as pytest and the shell use it: one supervisor, many loops.
"""

from __future__ import annotations

import difflib
import shlex
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.run import plan_trials, simulate
from pytest_hookharness.campaigns.stress.plan import TestMatrix
from pytest_hookharness.campaigns.stress.stress_run import OnTrial
from pytest_hookharness.execution.paths import remove_tree
from pytest_hookharness.execution.processes.sandbox import ExecutionError, Supervisor, available_tiers
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.frontends.option_types import seconds, whole
from pytest_hookharness.frontends.output.trace_files import TraceItem, recording
from pytest_hookharness.frontends.progress import ProgressLine
from pytest_hookharness.judging.findings.finding_catalogue import DIVERGE, catalogue
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.parallel_jobs import ConcurrentHostRuns, TimedOutcome, can_run_concurrently
from pytest_hookharness.simulation.testbed.run_settings import (
    Interrupted,
    Settings,
    SimulationError,
    TrialSelection,
)
from pytest_hookharness.simulation.testbed.testbed import Testbed

TIERS = {"namespaces": Tier.NAMESPACES, "subreaper": Tier.SUBREAPER, "group": Tier.GROUP}
# What a person can do something about; anything else is a defect of ours and keeps its traceback.
TROUBLE: tuple[type[Exception], ...] = (
    SimulationError,
    WorkspaceError,
    ExecutionError,
    hosts.UnknownHost,
    agents.UnknownBehaviour,
)
# Stands for every host, at every version that is known.
ALL_HOSTS = "all"


def settings(config: pytest.Config, factory: pytest.TempPathFactory | None = None) -> Settings:
    """
    The settings of a pytest run, from its options and ini keys.

    Raises:
        pytest.UsageError: A value cannot be read.
    """

    def chosen(name: str) -> tuple[str, str]:
        given = config.getoption(f"--hook-{name}")
        if given is not None:
            return str(given), f"--hook-{name}"
        return str(config.getini(f"hook_{name}")), f"ini key hook_{name}"

    for host in config.getoption("--hook-host") or ():
        _check_host(host)
    if (most := config.getoption("--hook-durations")) is not None:
        whole(str(most), "--hook-durations", least=0)
    turns, where = chosen("turns")
    return Settings(
        seed=whole(*chosen("seed"), least=0),
        hook_timeout=seconds(*chosen("timeout")),
        wall=seconds(*chosen("budget")),
        turns=whole(turns, where, least=1) if turns else None,
        tier=TIERS.get(config.getoption("--hook-tier") or ""),
        base=factory.mktemp("hooks") if factory is not None else None,
        keep=bool(config.getoption("--hook-keep")),
        traces=Path(traces) if (traces := config.getoption("--hook-trace-dir")) is not None else None,
        choice=TrialSelection() if config.getoption("--hook-stress") else None,
    )


def _check_host(name: str) -> None:
    if name in (ALL_HOSTS, *host_names()):
        return
    near = difflib.get_close_matches(name.partition(",")[0], host_names(), n=1, cutoff=0.5)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise pytest.UsageError(
        f"--hook-host: there is no host {name!r}; {meant}`hookharness hosts` lists them, and {ALL_HOSTS} "
        "stands for each; repeat the option for several hosts"
    )


def host_names() -> tuple[str, ...]:
    """
    The names that a scenario may give for a host: each with its version and without.
    """
    return hosts.names()


def finding_names() -> Mapping[str, str]:
    """
    The codes and names of findings, each with why a scenario may not promise it; empty where it may.
    """
    refused = {DIVERGE: "is found by laying hosts side by side, in no single run; give each host its variant"}
    return {word: refused.get(code, "") for code in catalogue() for word in (code.code, code.name)}


def known_behaviours(hook: Any = None) -> Mapping[str, agents.BehaviourFunction]:
    """
    The behaviours that ship with the harness and those that plugins registered.

    Args:
        hook: Where plugins of pytest are asked; ``None`` where there are none.
    """
    registered = hook.pytest_hook_behaviours() if hook is not None else ()
    return {name: function for known in (agents.BEHAVIOURS, *registered) for name, function in known.items()}


def header(chosen: Settings) -> str:
    """
    One line that says how the fires are kept apart from the machine.
    """
    tier = chosen.tier or available_tiers()[0]
    apart = {
        Tier.NAMESPACES: "namespaces (private /tmp, no network, nothing survives)",
        Tier.SUBREAPER: "subreaper (nothing survives; /tmp and network are the machine's)",
        Tier.GROUP: "process group (daemons may survive; /tmp and network are the machine's)",
    }[tier]
    return f"hook harness: {apart}, seed {chosen.seed}, hook timeout {chosen.hook_timeout:g} s"


def again(scenario: Scenario, chosen: Settings) -> str:
    """
    The shell command that plays a scenario of a file again, with the same settings.
    """
    if scenario.origin is None:
        return ""
    words = ["hookharness", "run", f"{scenario.origin.file}::{scenario.id}"]
    return shlex.join([*words, *options(chosen)])


def again_with(words: str, scenario: Scenario, chosen: Settings) -> str:
    """
    The shell command that plays it again with what is different in these words.
    """
    if scenario.origin is None:
        return ""
    item = f"{scenario.origin.file}::{scenario.id}"
    return shlex.join(["hookharness", "stress", item, "--only", words, *options(chosen)])


def options(chosen: Settings) -> list[str]:
    """
    The options of the shell command that give these settings: the seed, and what is not the default.
    """
    standard = Settings()
    words = ["--seed", str(chosen.seed)]
    if chosen.hook_timeout != standard.hook_timeout:
        words += ["--hook-timeout", f"{chosen.hook_timeout:g}s"]
    if chosen.wall != standard.wall:
        words += ["--budget", f"{chosen.wall:g}s"]
    if chosen.turns is not None:
        words += ["--turns", str(chosen.turns)]
    if chosen.tier is not None:
        words += ["--tier", next(name for name, tier in TIERS.items() if tier is chosen.tier)]
    return words


class Harness:
    """
    One supervisor and the settings of a run; give it scenarios, it gives outcomes.

    Attributes:
        settings: The settings.
        interrupted: What was seen of the simulation that Ctrl-C ended.
    """

    def __init__(self, chosen: Settings, hook: Any = None, line: ProgressLine | None = None) -> None:
        self.settings = chosen
        self.interrupted: Outcome | None = None
        self._hook = hook
        self._line = line or ProgressLine()
        self._supervisor: Supervisor | None = None
        self._scratch: Path | None = None
        self._siblings = ConcurrentHostRuns(self._simulate)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """
        End the supervisor and everything that it still keeps.
        """
        self._siblings.stop()
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor = None
        if self._scratch is not None:
            # What is kept lies in it; all else is what Ctrl-C left behind.
            if not (self.settings.keep and any(self._scratch.iterdir())):
                remove_tree(self._scratch)
            self._scratch = None

    @property
    def supervisor(self) -> Supervisor:
        """
        The supervisor, started when it is first needed.
        """
        if self._supervisor is None:
            self._supervisor = Supervisor()
        return self._supervisor

    @property
    def base(self) -> Path:
        """
        The folder below which everything is written.
        """
        if self.settings.base is not None:
            return self.settings.base
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="hookharness-"))
        return self._scratch

    @property
    def behaviours(self) -> Mapping[str, agents.BehaviourFunction]:
        """
        The behaviours that are known here.
        """
        return known_behaviours(self._hook)

    def stage(self, scenario: Scenario) -> Testbed:
        """
        Set the stage for single fires of a scenario's hooks.
        """
        self._siblings.finish()
        return Testbed.open(scenario, self.settings, self.supervisor, self.base)

    def simulate(
        self, scenario: Scenario, on_trial: OnTrial | None = None, item: TraceItem | None = None
    ) -> Outcome:
        """
        Play a scenario to its verdict.

        Args:
            scenario: The scenario.
            on_trial: Called after each trial.
            item: What it is played for; ``None`` for the item of a scenario file.
        """
        self._siblings.finish()
        with self._noting_interrupts(), self._line.about(scenario):
            return self._simulate(scenario, self.base, on_trial=on_trial, item=item)

    def lay_out(self, scenario: Scenario) -> TestMatrix:
        """
        What would be different, one thing at a time, if a scenario were played that is to be varied.
        """
        self._siblings.finish()
        return plan_trials(scenario, settings=self.settings, supervisor=self.supervisor, base=self.base)

    def play(self, scenario: Scenario, siblings: Callable[[], Sequence[Scenario]]) -> TimedOutcome:
        """
        Play a scenario to its verdict, and begin with others that will be asked for.

        Args:
            scenario: The scenario.
            siblings: Gives scenarios whose waits may overlap with its own.
        """
        with self._noting_interrupts(), self._line.about(scenario):
            if not self._siblings.knows(scenario):
                together = [each for each in (scenario, *siblings()) if self._stays_apart(each)]
                self._siblings.begin(together if len(together) > 1 else (), self.base)
            played = self._siblings.take(scenario)
        if played is not None:
            return played
        began = time.monotonic()
        return TimedOutcome(self.simulate(scenario), time.monotonic() - began)

    def _stays_apart(self, scenario: Scenario) -> bool:
        return can_run_concurrently(scenario, self.settings.tier, self.supervisor)

    def _simulate(
        self,
        scenario: Scenario,
        base: Path,
        slot: CpuSlot | None = None,
        on_trial: OnTrial | None = None,
        item: TraceItem | None = None,
    ) -> Outcome:
        item = item or TraceItem.of_scenario(scenario, again(scenario, self.settings))
        door = "hookharness" if self._hook is None else "pytest"
        seen = self._line.seen_of(scenario)
        with recording(self.settings, item, scenario, door) as observer:
            return simulate(
                scenario,
                settings=self.settings,
                supervisor=self.supervisor,
                base=base,
                behaviours=self.behaviours,
                on_turn=seen.turn,
                on_trial=on_trial or seen.trial,
                on_probe=seen.probe,
                slot=slot,
                observer=observer,
            )

    @contextmanager
    def _noting_interrupts(self) -> Generator[None]:
        try:
            yield
        except Interrupted as interrupted:
            self.interrupted = interrupted.outcome
            raise
