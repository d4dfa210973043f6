"""``pytest --hook-check``: the checks of a project's hook sets as items of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.frontends import checkup as checkups
from pytest_hookharness.frontends.harness import USER_ERRORS, Harness
from pytest_hookharness.frontends.pytest_plugin import options
from pytest_hookharness.frontends.pytest_plugin.collection import failure
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import check_report as reports


class CheckFailed(Exception):
    """A check found problems or could not finish."""

    def __init__(self, report: CheckReport) -> None:
        self.report = report
        super().__init__(reports.headline(report))


class SettingsFile(pytest.File):
    """The settings file of one hook set."""

    hook_set: HookSet

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item."""
        yield CheckItem.from_parent(self, name=f"check[{self.hook_set.title}]", hook_set=self.hook_set)


class CheckItem(pytest.Item):
    """The check of one hook set."""

    def __init__(self, *, hook_set: HookSet, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hook_set = hook_set

    def runtest(self) -> None:
        """Check the hooks; raise ``CheckFailed`` if something is wrong with them, or unknown."""
        with Harness(options.settings(self.config)) as harness:
            report = checkups.check(self.hook_set, harness)
        if checkups.status_of([report]) != checkups.CLEAN:
            raise CheckFailed(report)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the settings file as the place of the item."""
        return self.path, 0, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """Return the report, without a frame of the harness."""
        problem = excinfo.value
        if isinstance(problem, CheckFailed):
            text = reports.render_check(problem.report, self._replay)
            return failure(self.path, 1, reports.headline(problem.report), text)
        if isinstance(problem, USER_ERRORS):
            message = plain(str(problem), 1000)
            return failure(self.path, 1, message, f"{self.name} could not be checked: {message}")
        return super().repr_failure(excinfo)

    def _replay(self, problem: Problem, place: HookSet) -> str:
        return checkups.problem_command(problem, place.root, place.host, options.settings(self.config))


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the check of each hook set to the run; raise ``pytest.UsageError`` if no hooks are found."""
    path = session.config.rootpath / str(session.config.getoption("--hook-check"))
    try:
        hook_sets = find_hook_sets(path)
    except USER_ERRORS as error:
        raise pytest.UsageError(f"--hook-check: {error}") from None
    for hook_set in hook_sets:
        file = SettingsFile.from_parent(session, path=hook_set.root / hook_set.files[0])
        file.hook_set = hook_set
        items += file.collect()
