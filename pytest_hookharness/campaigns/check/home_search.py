"""
What hooks look for in vain in the project, and below their HOME, as the kernel sees it in a session.

Programs that hooks start read files that no script names. A session with each event of the hooks is observed
in a HOME that has only what is lent by name; what is looked for there, and a person has, may be lent as well.
What is looked for in the project may be the state that makes a loop active.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.campaigns.arming.state_names import SESSION
from pytest_hookharness.campaigns.check.lent_home import lent_home, may_lend
from pytest_hookharness.campaigns.check.session_errors import is_defect, play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.execution.reads.observer import SearchObserver
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.simulate import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

# What shells read when they start: it is about a person at a terminal, and names more files.
_OF_SHELLS = re.compile(
    r"\.(?:bashrc|bash_\w+|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|t?cshrc|inputrc)|\.config/fish/.*"
)
# The share of the time of a check for observing its hooks.
_SHARE = 0.1
_MOST = 200


class _Search(Observer):
    """Has the processes of a session observed."""

    def __init__(self) -> None:
        self.observing = ExitStack()
        self.seen = SearchObserver()
        self._home = self._project = self._session = ""

    def begin(self, testbed: Testbed) -> None:
        self._home = f"{testbed.workspace.home}/"
        self._project = f"{testbed.workspace.root}/"
        self._session = testbed.facts.session_id
        self.observing.enter_context(testbed.observed_by(self.seen))

    @property
    def paths(self) -> list[str]:
        """What was looked for in vain, by path below HOME."""
        inside = (path for path in self.seen.missing if self._home and path.startswith(self._home))
        found = [path.removeprefix(self._home) for path in inside]
        return [path for path in found if not _OF_SHELLS.fullmatch(path)]

    @property
    def in_project(self) -> list[str]:
        """What was looked for in vain in the project, by path in it."""
        inside = (path for path in self.seen.missing if self._project and path.startswith(self._project))
        found = (path.removeprefix(self._project).replace(self._session, SESSION) for path in inside)
        return [path for path in found if path][:_MOST]


def with_looked_for(
    hook_sets: Sequence[HookSet], settings: Settings, resources: Resources
) -> tuple[HookSet, ...]:
    """
    Return hook sets with what their hooks look for in vain.

    What they look for below HOME is lent to them if their owner has it; what they look for in the project is
    noted.
    """
    share = replace(settings, wall=_SHARE * settings.wall / len(hook_sets), probes=False)
    return tuple(_searched(each, share, resources) for each in hook_sets)


def look_in_project(session: CheckSession, settings: Settings, resources: Resources) -> list[str]:
    """Return what hooks look for in vain in the project, by path in it, in one session."""
    return _observed(session, replace(settings, wall=_SHARE * settings.wall), resources).in_project


def _observed(session: CheckSession, settings: Settings, resources: Resources) -> _Search:
    search = _Search()
    with search.observing:
        try:
            play_session(session, settings, resources, search)
        except Exception as error:
            # The check itself says what cannot be played.
            if is_defect(error):
                raise
    return search


def _searched(hook_set: HookSet, settings: Settings, resources: Resources) -> HookSet:
    with lent_home(hook_set, resources.base, caches=False) as ready:
        search = _observed(plan_each_event(ready), settings, resources)
    paths = search.paths
    found = [path for path in paths if may_lend(Path.home(), path, paths)]
    inner = [path for path in found if not path.startswith(tuple(f"{each}/" for each in found))]
    # Caches stay the last.
    lent = tuple(dict.fromkeys([*inner, *hook_set.lent]))
    return replace(hook_set, lent=lent, looked_for=tuple(search.in_project))
