"""The check of one hook set: what the shell command and the pytest option share."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness.campaigns.arming.activation import Activation
from pytest_hookharness.campaigns.arming.project_texts import walks_kept
from pytest_hookharness.campaigns.check.answers.reason_keys import with_reason_keys
from pytest_hookharness.campaigns.check.causes import static_problems
from pytest_hookharness.campaigns.check.check_run import CheckRun, OnStep
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.gates.commits import with_whole_commits
from pytest_hookharness.campaigns.check.gates.copied_history import with_copied_history
from pytest_hookharness.campaigns.check.hook_statistics import is_kind, is_wanted
from pytest_hookharness.campaigns.check.lent_home import lent_home
from pytest_hookharness.campaigns.check.project_copy import copyable
from pytest_hookharness.campaigns.check.scenario_export import export, shows
from pytest_hookharness.campaigns.check.static.correctable_hooks import cannot_run
from pytest_hookharness.campaigns.check.static.hook_program import describe_other_readers
from pytest_hookharness.campaigns.check.static.mac_shell import describe_mac_problems
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.campaigns.check.untried_hooks import untried_hooks
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.execution.workspace.project_copies import ProjectCopies
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.replay_command import item_of, replay_options
from pytest_hookharness.frontends.screen import ProgressLine, shell_line
from pytest_hookharness.judging.checkup.one_place import without_repeats
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.simulation.testbed.run_settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Executor

CLEAN, FOUND, UNKNOWN = 0, 1, 2
# A check and its report; no check where it was interrupted before it began.
_Checked: TypeAlias = tuple[CheckRun | None, CheckReport]
# So much the check of any hook set takes, counted in hooks.
_SMALLEST_WEIGHT = 2
# So much a hook takes whose scripts another hook set has too, such as settings and a plugin of one project,
# and one that cannot run.
_OF_A_COPY = 0.25
_INTERRUPTED = "The check was interrupted."
# The share of the budget that is kept for playing what is written; the search uses up all of its own.
_FOR_FILES = 0.2
# The share of the budget that is kept for finding fixes, with `--fix`.
_FOR_FIXES = 0.4
# The share that the first copy of the project may take.
_FOR_COPY = 0.4
# The share for removing the copies of all hook sets at the end.
_FOR_CLEANING = 0.04
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


@contextmanager
def checked(
    hook_set: HookSet,
    harness: Harness,
    only: str = "",
    on_step: OnStep | None = None,
    *,
    wall: float | None = None,
    given: Sequence[Activation] = (),
    copies: ProjectCopies | None = None,
    executor: Executor | None = None,
) -> Generator[tuple[CheckRun, CheckReport]]:
    """
    Check one hook set; for a block, further sessions can be played with its copy.

    Args:
        only: The problem that is looked for; empty for all.
        wall: Seconds that the check may take; ``None`` for those of the harness.
        given: Ways to make hooks active that a person named.
        copies: Copies of projects that sessions take in turns; ``None`` to make one for each session.
        executor: Plays the sessions; ``None`` for this process.
    """
    # How long each hook takes is one of the questions, so all of them are started as usual.
    settings = replace(harness.settings, warm=False)
    settings = settings if wall is None else replace(settings, wall=wall)
    tier = settings.tier or available_tiers()[0]
    caches = tier is Tier.NAMESPACES
    began = time.monotonic()
    base = harness.base
    with copyable(hook_set, base) as (copy, left_out), lent_home(copy, base, caches=caches) as ready:
        settings = replace(settings, wall=settings.wall - (time.monotonic() - began))
        resources = replace(harness.resources, copies=copies)
        run = CheckRun(ready, settings, resources, only, on_step or _ignore_step, given, executor)
        with walks_kept():
            report = with_reason_keys(with_whole_commits(with_copied_history(run.run())))
        notes = () if only else (*describe_mac_problems(copy.sources), *describe_other_readers(copy))
        away = (left_out,) if left_out else ()
        yield run, replace(report, place=hook_set, open=(*away, *report.open, *notes))


def project_copies(harness: Harness) -> AbstractContextManager[ProjectCopies | None]:
    """Return the copies that sessions take in turns; of ``None`` if a process could outlive its session."""
    if (harness.settings.tier or available_tiers()[0]) is Tier.GROUP:
        return nullcontext()
    return ProjectCopies(harness.base / ".copies", _FOR_COPY * harness.settings.wall)


def check(hook_set: HookSet, harness: Harness) -> CheckReport:
    """Check one hook set."""
    with project_copies(harness) as copies, checked(hook_set, harness, copies=copies) as (_, report):
        return report


def check_all(
    hook_sets: Sequence[HookSet],
    harness: Harness,
    copies: ProjectCopies | None,
    seconds: float,
    only: str = "",
    write: Path | None = None,
    given: Sequence[Activation] = (),
    executor: Executor | None = None,
    is_fixable: Callable[[HookSet, Problem], bool] | None = None,
    *,
    fixing: bool = False,
) -> list[CheckReport]:
    """
    Check hook sets, until Ctrl-C; if one problem is looked for, stop at the hook set that shows it.

    Fixes are looked for in the time that all of the checks have left.

    Args:
        copies: Copies of projects that sessions take in turns; ``None`` to make one for each session.
        seconds: The time for all of it.
        only: The problem that is looked for; empty for all.
        write: The folder in which a scenario file is written for each problem; ``None`` for none.
        given: Ways to make hooks active that a person named.
        executor: Plays the sessions; ``None`` for this process.
        is_fixable: Returns whether to look for a fix of a problem; ``None``: always.
        fixing: Whether to keep a part of the time for finding fixes; ignored with ``only``.
    """
    seconds *= 1 - _FOR_CLEANING
    kept = _FOR_FILES * seconds if write is not None else 0.0
    end = time.monotonic() + seconds - kept
    found: list[_Checked] = []
    line = shell_line(sys.stderr)
    with ExitStack() as stack:
        for hook_set, wall in _shares(hook_sets, (seconds - kept) * (1 - _FOR_FIXES * (fixing and not only))):
            with line.about(hook_set.title) as progress:
                try:
                    play = partial(checked, wall=wall, given=given, copies=copies, executor=executor)
                    one = play(hook_set, harness, only, progress.step)
                    checking: _Checked = stack.enter_context(one)
                except KeyboardInterrupt:
                    # While files were copied, or between two sessions.
                    checking = None, unplayed(hook_set, only)
            wanted = any(problem.id == only for problem in checking[1].problems) and not is_kind(only)
            found = [checking] if wanted else [*found, checking]
            if checking[1].interrupted:
                found += [(None, unplayed(each, only)) for each in hook_sets[len(found) :]]
            if wanted or checking[1].interrupted:
                break
        untold = without_repeats(report for _, report in found)
        found = [(run, report) for (run, _), report in zip(found, untold, strict=True)]
        fixed = [*_with_fixes(found, end, line, is_fixable)]
        if write is None:
            return [report for _, report in fixed]
        share = kept / len(fixed)
        return [
            report if run is None else _write_scenarios(run, report, write, share) for run, report in fixed
        ]


def unplayed(hook_set: HookSet, only: str = "", why: str = _INTERRUPTED) -> CheckReport:
    """Return the report of a hook set of which nothing was run: what is certain from the files alone."""
    static = check_statically(hook_set)
    problems = static_problems(hook_set, static, ())
    return CheckReport(
        place=hook_set,
        problems=tuple(one for one in problems if is_wanted(only, one.id, one.symptom.kind)),
        only=only,
        untried=tuple(untried_hooks(hook_set, static, ())),
        undecided=(*static.errors, why),
        interrupted=True,
        failed=bool(static.errors),
    )


def check_project(
    project: Path | str, executor: Executor | None = None, settings: Settings | None = None
) -> list[CheckReport]:
    """
    Check the hooks of a project as ``hookharness check --yes`` does; nothing of your HOME is lent to them.

    Args:
        project: A folder, or a settings file. Its hooks are run.
        executor: Plays the sessions in other processes or on other machines; ``None`` for this process.
    """
    settings = settings or Settings()
    hook_sets = find_hook_sets(Path(project), copies=True)
    with Harness(settings) as harness, project_copies(harness) as copies:
        return check_all(hook_sets, harness, copies, settings.wall, executor=executor)


def _shares(hook_sets: Sequence[HookSet], wall: float) -> Iterator[tuple[HookSet, float]]:
    """Yield each hook set with its share of the time that is left: more for more hooks."""
    end = time.monotonic() + wall
    weights = [*weigh(hook_sets)]
    for place, hook_set in enumerate(hook_sets):
        left = max(end - time.monotonic(), 0.0)
        yield hook_set, left * weights[place] / sum(weights[place:])


def weigh(hook_sets: Sequence[HookSet]) -> Iterator[float]:
    """Yield how much time each hook set needs, counted in hooks; copies, and what cannot run, need little."""
    known: set[str] = set()
    for hook_set in hook_sets:
        scripts = [hook_set.scripts_of(hook) for hook in hook_set.hooks if not cannot_run(hook_set, hook)]
        copies = sum(bool(texts) and known.issuperset(texts) for texts in scripts)
        known.update(text for texts in scripts for text in texts)
        idle = len(hook_set.hooks) - len(scripts)
        active = len(scripts) - copies + (copies + idle) * _OF_A_COPY + _SMALLEST_WEIGHT
        # Where nothing can run, the source is read, and that is all.
        yield active if scripts else _OF_A_COPY


def _with_fixes(
    found: Sequence[_Checked],
    end: float,
    line: ProgressLine,
    is_fixable: Callable[[HookSet, Problem], bool] | None,
) -> Iterator[_Checked]:
    """Yield the checks with fixes of their problems, unless they were interrupted."""
    from pytest_hookharness.campaigns.check.fixes.fix_trial import find_fixes

    interrupted = any(report.interrupted for _, report in found)
    for place, (run, report) in enumerate(found):
        if run is None or interrupted or not report.problems:
            yield run, report
            continue
        waiting = sum(bool(other.problems) for _, other in found[place:])
        run.allow(max(end - time.monotonic(), 0.0) / waiting)
        began = time.monotonic()
        with line.about(report.place.title) as progress:
            run.on_step = progress.step
            fixed = find_fixes(run, report, is_fixable)
            fixed = replace(fixed, seconds=report.seconds + time.monotonic() - began)
        interrupted = fixed.interrupted
        yield run, fixed


def _write_scenarios(run: CheckRun, report: CheckReport, folder: Path, seconds: float) -> CheckReport:
    """Write a scenario file for each problem, played in some seconds."""
    run.allow(seconds)
    return export(report, folder, partial(shows, run))


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
