"""Shell commands that replay a simulation, and the line that says how hook runs are isolated."""

from __future__ import annotations

import shlex

from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Settings

# The words of the option --tier. A tier's own value is what reports call it.
TIERS = {"namespaces": Tier.NAMESPACES, "subreaper": Tier.SUBREAPER, "group": Tier.GROUP}


@dataclass(frozen=True, slots=True)
class TraceItem:
    """
    What a simulation is played for, as a trace file names it.

    Attributes:
        id: The node id of a test, or of an item of a scenario file.
        replay: The shell command that plays it again.
    """

    id: str
    replay: str

    @classmethod
    def of_test(cls, node: str, seed: int) -> TraceItem:
        """Return the item of a pytest test, by its node id."""
        return cls(node, shlex.join(["pytest", node, "--hook-seed", str(seed)]))

    @classmethod
    def of_scenario(cls, scenario: Scenario, replay: str) -> TraceItem:
        """Return the item of a scenario, whether it was read from a file or not."""
        return cls(item_of(scenario), replay)


_ISOLATION = {
    Tier.NAMESPACES: "namespaces (private /tmp, no network, nothing survives)",
    Tier.SUBREAPER: "subreaper (nothing survives; /tmp and network are the machine's)",
    Tier.GROUP: "process group (daemons may survive; /tmp and network are the machine's)",
}


def header(settings: Settings) -> str:
    """Return the line that says how hook runs are isolated from the machine."""
    isolation = _ISOLATION[settings.tier or available_tiers()[0]]
    return f"hook harness: {isolation}, seed {settings.seed}, hook timeout {settings.hook_timeout:g} s"


def replay_command(scenario: Scenario, settings: Settings) -> str:
    """Return the command that plays an item of a scenario file with these settings; empty without a file."""
    if scenario.origin is None:
        return ""
    words = replay_options(settings)
    if settings.warm:
        # Only pytest has this option, and it has others by longer names.
        words = [f"--hook-{word[2:].removeprefix('hook-')}" if word[:2] == "--" else word for word in words]
        return shlex.join(["pytest", item_of(scenario), "--hook-warm", *words])
    return shlex.join(["hookharness", "run", item_of(scenario), *words])


def stress_command(words: str, scenario: Scenario, settings: Settings) -> str:
    """Return the command that tries the mutations named by some words on an item; empty without a file."""
    if scenario.origin is None:
        return ""
    command = ["hookharness", "check", "--stress", item_of(scenario), "--only", words]
    return shlex.join([*command, *replay_options(settings)])


def item_of(scenario: Scenario) -> str:
    """Return the node id of a scenario: its file, if it was read from one, and its name."""
    return f"{scenario.origin.file}::{scenario.id}" if scenario.origin is not None else scenario.id


def replay_options(settings: Settings) -> list[str]:
    """Return the options of the shell command for these settings: the seed, and all that is not default."""
    standard = Settings()
    words = ["--seed", str(settings.seed)]
    if settings.hook_timeout != standard.hook_timeout:
        words += ["--hook-timeout", f"{settings.hook_timeout:g}s"]
    if settings.wall != standard.wall:
        words += ["--budget", f"{settings.wall:g}s"]
    if settings.turns is not None:
        words += ["--turns", str(settings.turns)]
    if settings.tier is not None:
        words += ["--tier", next(name for name, tier in TIERS.items() if tier is settings.tier)]
    return words
