"""The check of one hook set: what the shell command and the pytest option share."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_hookharness.campaigns.check.activation import Activation
from pytest_hookharness.campaigns.check.check_run import CheckRun, OnStep
from pytest_hookharness.campaigns.check.hook_program import describe_other_readers
from pytest_hookharness.campaigns.check.lent_home import lent_home
from pytest_hookharness.campaigns.check.mac_shell import describe_mac_problems
from pytest_hookharness.campaigns.check.project_copy import copyable
from pytest_hookharness.campaigns.check.scenario_export import export, shows
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.replay_command import item_of, replay_options
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.simulation.testbed.run_settings import Settings

CLEAN, FOUND, UNKNOWN = 0, 1, 2
# The share of the budget that is kept for playing what is written; the search uses up all of its own.
_FOR_FILES = 0.2
_COPIED = "Isolated from this machine: the project is a copy, HOME is empty but for copies of what is lent"
_ISOLATION = {
    Tier.NAMESPACES: (
        f"{_COPIED}, /tmp and /dev are private, your home is hidden but for what programs need, no network, "
        "writes elsewhere are discarded, and no process survives. Not isolated: the kernel, /proc, running "
        "as you."
    ),
    Tier.SUBREAPER: (
        f"{_COPIED}, no process survives. Not isolated: /tmp, network, files elsewhere, your home, the "
        "environment of this program, and running as you."
    ),
    Tier.GROUP: (
        f"{_COPIED}. Not isolated: /tmp, network, files elsewhere, your home, the environment of this "
        "program, background processes that lose all they inherit, and running as you."
    ),
}


def check(
    hook_set: HookSet,
    harness: Harness,
    only: str = "",
    write: Path | None = None,
    on_step: OnStep | None = None,
    *,
    fixes: bool = False,
    wall: float | None = None,
    given: Sequence[Activation] = (),
) -> CheckReport:
    """
    Check one hook set.

    Args:
        harness: Runs the sessions.
        only: The problem that is looked for; empty for all.
        write: The folder in which a scenario file is written for each problem; ``None`` for none.
        on_step: Called after each session.
        fixes: Whether fixes are looked for.
        wall: Seconds that it may take; ``None`` for those of the harness.
        given: Ways to make hooks active that a person named.
    """
    settings = harness.settings if wall is None else replace(harness.settings, wall=wall)
    tier = settings.tier or available_tiers()[0]
    caches = tier is Tier.NAMESPACES
    began = time.monotonic()
    with copyable(hook_set) as (copy, left_out), lent_home(copy, caches=caches) as ready:
        settings = replace(settings, wall=settings.wall - (time.monotonic() - began))
        kept = _FOR_FILES * settings.wall if write is not None else 0.0
        searching = replace(settings, wall=settings.wall - kept)
        run = CheckRun(ready, searching, harness.resources, only, on_step or _ignore_step, given)
        report = run.run()
        if fixes and not report.interrupted:
            from pytest_hookharness.campaigns.check.fix_trial import find_fixes

            report = find_fixes(run, report)
        notes = () if only else (*describe_mac_problems(copy.sources), *describe_other_readers(copy))
        report = replace(report, place=hook_set, open=(*report.open, *notes))
        if left_out:
            report = replace(report, open=(left_out, *report.open))
        run.extend(kept)
        return report if write is None else export(report, write, partial(shows, run))


def _ignore_step(_what: str, _done: int, _all: int) -> None:
    """Show no progress."""


def describe_isolation(settings: Settings) -> str:
    """Return sentences that say what is isolated from the machine, and what is not."""
    return _ISOLATION[settings.tier or available_tiers()[0]]


def campaign_headline(campaign: str, scenario: Scenario, settings: Settings) -> str:
    """Return the first line of a report of ``--stress`` or ``--explore``."""
    found_in = f"the hooks in {scenario.hooks or scenario.plugin or scenario.project}"
    hooks = found_in if scenario.origin is None else item_of(scenario)
    return f"{scenario.host}: {campaign} of {plain(hooks, 200)}, seed {settings.seed}"


def problem_command(
    problem: Problem, path: Path, host: str, settings: Settings, options: Sequence[str] = ()
) -> str:
    """Return the shell command that shows a problem again; ``options`` made hooks active for it."""
    if problem.file is not None:
        item = f"{problem.file}::{problem.file.name.partition('.')[0]}[{problem.scenario.host}]"
        return shlex.join(["hookharness", "run", item, *replay_options(settings)])
    words = ["hookharness", "check", str(path), "--yes", "--only", problem.id]
    words += ["--host", host] if host else []
    words += options if problem.active else ()
    return shlex.join([*words, *replay_options(settings)])


def status_of(reports: Sequence[CheckReport]) -> int:
    """Return the exit status of some checks."""
    if any(report.interrupted or report.failed for report in reports):
        return UNKNOWN
    if any(report.problems for report in reports):
        return FOUND
    return UNKNOWN if any(report.undecided or report.untried for report in reports) else CLEAN


def worst(statuses: Iterable[int]) -> int:
    """Return the exit status of some campaigns: a problem that was found outweighs an unknown result."""
    return max(statuses, key=(CLEAN, UNKNOWN, FOUND).index)
