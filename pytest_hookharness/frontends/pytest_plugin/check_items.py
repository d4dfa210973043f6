"""
``pytest --hook-check``: the check-up of a project as items of a run.

It is a part of the plugin that is registered only where the option is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.frontends import checkup as checkups
from pytest_hookharness.frontends.harness import USER_ERRORS, Harness
from pytest_hookharness.frontends.pytest_plugin import options
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import check_report as reports


class CheckFailed(Exception):
    """
    The check-up of a place came to something else than that all is well.

    Attributes:
        checkup: What it came to.
    """

    def __init__(self, checkup: CheckReport) -> None:
        self.checkup = checkup
        super().__init__(reports.headline(checkup))


class SettingsFile(pytest.File):
    """
    The settings in which one host finds hooks.
    """

    place: HookSet

    def collect(self) -> Iterator[pytest.Item]:
        """
        One item for the host.
        """
        yield CheckItem.from_parent(self, name=f"check[{self.place.host}]", place=self.place)


class CheckItem(pytest.Item):
    """
    The check-up of one place.
    """

    def __init__(self, *, place: HookSet, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.place = place

    def runtest(self) -> None:
        """
        Check the hooks.

        Raises:
            Unwell: Something is wrong with them, or it could not be told.
        """
        with Harness(options.settings(self.config)) as harness:
            checkup = checkups.check(self.place, harness)
        if checkups.status_of([checkup]) != checkups.CLEAN:
            raise CheckFailed(checkup)

    def reportinfo(self) -> tuple[Path, int, str]:
        """
        The settings file.
        """
        return self.path, 0, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """
        The report, without a frame of ours.
        """
        problem = excinfo.value
        if isinstance(problem, CheckFailed):
            return self._told(reports.headline(problem.checkup), reports.told(problem.checkup, self._again))
        if isinstance(problem, USER_ERRORS):
            said = plain(str(problem), 1000)
            return self._told(said, f"{self.name} could not be checked: {said}")
        return super().repr_failure(excinfo)

    def _again(self, problem: Problem) -> str:
        return checkups.problem_command(
            problem, self.place.root, self.place.host, options.settings(self.config)
        )

    def _told(self, line: str, text: str) -> ReprExceptionInfo:
        # Only these very classes survive the way from an xdist worker to the controller.
        return ReprExceptionInfo(
            reprtraceback=ReprTraceback([ReprEntryNative([text + "\n"])], None, "native"),
            reprcrash=ReprFileLocation(str(self.path), 1, line),
        )


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """
    Add the check-up of each place to the run.

    Raises:
        pytest.UsageError: No hooks are found.
    """
    path = session.config.rootpath / str(session.config.getoption("--hook-check"))
    try:
        places = find_hook_sets(path)
    except USER_ERRORS as error:
        raise pytest.UsageError(f"--hook-check: {error}") from None
    for place in places:
        file = SettingsFile.from_parent(session, path=place.root / place.files[0])
        file.place = place
        items += file.collect()
