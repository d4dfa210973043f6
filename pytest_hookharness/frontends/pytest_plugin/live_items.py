"""``--hook-live``: scenario items that are played twice, simulated and on the real program, and compared."""

from __future__ import annotations

import os
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.live.comparison import CATEGORIES, Comparison, Difference
from pytest_hookharness.campaigns.live.listed_differences import find_listed
from pytest_hookharness.campaigns.live.live_record import headline, new_differences
from pytest_hookharness.campaigns.live.live_run import play_both
from pytest_hookharness.campaigns.live.live_scenario import (
    VARIABLE,
    InstalledProgram,
    NoLiveEquivalent,
    NoProgram,
    check_playable,
    find_installed,
)
from pytest_hookharness.campaigns.live.normalisation import NOT_COMPARED, TABLE
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.frontends.replay_command import TraceItem, item_of
from pytest_hookharness.hosts.wire.programs import find_program, known_programs
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.simulation.testbed.run_settings import Settings

_PROPERTY = "hook_live"
_MOST = 600


class LiveDiffers(Exception):
    """A scenario went differently on the real program of its host."""

    def __init__(self, headline: str, report: str) -> None:
        self.report = report
        super().__init__(headline)


def check_option(config: pytest.Config) -> None:
    """Check the values of the option; raise ``OptionError`` if the program of a host is not known."""
    for name in config.getoption("--hook-live") or ():
        if find_program(name.partition("@")[0]) is None:
            known = ", ".join(known_programs())
            raise OptionError(
                f"--hook-live: no program of {name!r} is known; expected {known}, or one of these @VERSION"
            )


def play_live(scenario: Scenario) -> Callable[..., None]:
    """Return the test function of a scenario item that is compared with the real program."""

    def play(_hook_context: Any, request: pytest.FixtureRequest) -> None:
        harness = _hook_context.harness
        try:
            installed = _find(scenario, request.config)
            check_playable(scenario)
            with harness.recording(scenario, _trace_item(scenario, installed, harness.settings)) as observer:
                comparison = play_both(scenario, installed, harness.settings, harness.resources, observer)
        except (NoProgram, NoLiveEquivalent) as reason:
            pytest.skip(str(reason))
        counts = {one: (comparison.agreed(one), comparison.compared.get(one, 0)) for one in CATEGORIES}
        known = (find_listed(comparison.host, one) for one in comparison.differences)
        listed = [found.reason for found in known if found is not None]
        record = {"host": comparison.host, "version": comparison.version, "counts": counts, "listed": listed}
        request.node.user_properties.append((_PROPERTY, record))
        fresh = new_differences(comparison)
        if fresh:
            raise LiveDiffers(headline(comparison), "\n".join(_report(comparison, fresh)))

    return play


def _trace_item(scenario: Scenario, installed: InstalledProgram, settings: Settings) -> TraceItem:
    option = f"--hook-live={installed.program.host}@{installed.version}"
    command = ["pytest", option, item_of(scenario), "--hook-seed", str(settings.seed)]
    return TraceItem.of_scenario(scenario, shlex.join(command))


def _find(scenario: Scenario, config: pytest.Config) -> InstalledProgram:
    """Return the program that an item is compared with."""
    profile = hosts.find(scenario.host)
    asked = (one.partition("@") for one in config.getoption("--hook-live") or ())
    versions = {name: version for name, _, version in asked}
    program = find_program(profile.name)
    if program is None or profile.name not in versions:
        raise NoProgram(
            f"--hook-live does not name {profile.name}; --hook-host plays the scenario on another host"
        )
    folder = os.environ.get(VARIABLE) or config.getini("hook_live_path")
    place = config.rootpath / Path(folder).expanduser() if folder else None
    return find_installed(program, versions[profile.name] or profile.version, place)


def _report(comparison: Comparison, fresh: list[Difference]) -> Iterator[str]:
    yield headline(comparison)
    for one in fresh:
        yield f"\n{one.category}, {plain(one.where, 200)}"
        yield f"  simulated: {plain(one.simulated, _MOST)}"
        yield f"  real:      {plain(one.real, _MOST)}"
        if one.rule is not None:
            basis = f"{one.rule.basis.value}: {plain(one.rule.source, 120)}"
            yield f"  rule:      {plain(one.rule.text, 300)} [{basis}]"
    yield "\nmade alike before the comparison:"
    for row in TABLE:
        what = row.pattern or ", ".join(row.keys) or "paths"
        yield f"  {row.what}: {what} -> {row.put}"
    yield f"variables that are not compared: {', '.join(sorted(NOT_COMPARED))}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how far simulation and real programs agree, by host and category."""
    agreed: dict[str, Counter[str]] = defaultdict(Counter)
    total: dict[str, Counter[str]] = defaultdict(Counter)
    listed: Counter[str] = Counter()
    reports = (report for found in terminalreporter.stats.values() for report in found)
    for report in reports:
        record = dict(getattr(report, "user_properties", ())).get(_PROPERTY)
        if record is None or getattr(report, "when", "") != "call":
            continue
        name = f"{record['host']} and program {record['version']}"
        listed.update(f"{name}: {reason}" for reason in record["listed"])
        for category, (same, every) in record["counts"].items():
            agreed[name][category] += same
            total[name][category] += every
    if not agreed:
        return
    terminalreporter.section("agreement with real programs")
    for name in agreed:
        cells = [f"{one} {agreed[name][one]}/{total[name][one]}" for one in CATEGORIES if total[name][one]]
        terminalreporter.write_line(f"{name}: {', '.join(cells)}")
    for reason, number in listed.items():
        terminalreporter.write_line(f"{counted(number, 'known difference')}, {reason}")
