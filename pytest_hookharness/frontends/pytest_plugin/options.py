"""The settings of a pytest run, from its options and ini keys, and the harness with these settings."""

from __future__ import annotations

import difflib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.frontends.harness import ALL_HOSTS, Harness
from pytest_hookharness.frontends.option_types import OptionError, seconds, whole
from pytest_hookharness.frontends.replay_command import TIERS
from pytest_hookharness.model.scenario import without_final_zeros
from pytest_hookharness.simulation.testbed.run_settings import Settings, TrialSelection

COVERAGE_PLUGIN = "hookharness-coverage"


def settings(config: pytest.Config, factory: pytest.TempPathFactory | None = None) -> Settings:
    """Return the settings from options and ini keys; raise ``pytest.UsageError`` for an unreadable value."""
    try:
        return _settings(config, factory)
    except OptionError as error:
        raise pytest.UsageError(str(error)) from None


def _settings(config: pytest.Config, factory: pytest.TempPathFactory | None) -> Settings:
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
        warm=bool(config.getoption("--hook-warm") or config.getini("hook_warm")),
        choice=TrialSelection() if config.getoption("--hook-stress") else None,
    )


@contextmanager
def open_harness(
    config: pytest.Config, factory: pytest.TempPathFactory, supervisor: Supervisor
) -> Generator[Harness]:
    """Open the harness of a run for a block; raise ``pytest.UsageError`` for an unreadable option."""
    from pytest_hookharness.frontends.screen import open_line

    chosen = settings(config, factory)
    if (coverage_data := config.pluginmanager.get_plugin(COVERAGE_PLUGIN)) is not None:
        chosen = coverage_data.recorded(chosen, config)
    with open_line(config) as line, Harness(chosen, config.hook, line, supervisor) as harness:
        yield harness


def is_verbose(config: pytest.Config) -> bool:
    """Return whether stories are shown without cuts: with `-v`."""
    return (config.getoption("verbose") or 0) > 0


def is_brief(config: pytest.Config) -> bool:
    """Return whether a failure is reported in one line, without its story: with `--tb=line`."""
    return bool(config.getoption("tbstyle") == "line")


def _check_host(name: str) -> None:
    if without_final_zeros(name) in (ALL_HOSTS, *map(without_final_zeros, hosts.names())):
        return
    near = difflib.get_close_matches(name.partition(",")[0], hosts.names(), n=1, cutoff=0.5)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise OptionError(
        f"--hook-host: there is no host {name!r}; {meant}`hookharness hosts` lists them, and {ALL_HOSTS} "
        "stands for each; repeat the option for several hosts"
    )
