"""
Missing files that hooks look for in the project and below HOME, as the kernel reports them in a session.

Programs that hooks start read files that no script names. A session with each event of the hooks is observed
in a HOME that has only what is lent by name; what is looked for there, and a person has, may be lent as well.
What is looked for in the project may be the state that makes a loop active. A second session, of an agent
that works in a folder of the project, shows what hooks look for or write there instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePath

from pytest_hookharness.campaigns.arming.state_names import SESSION
from pytest_hookharness.campaigns.check.lent_home import lent_home, may_lend
from pytest_hookharness.campaigns.check.session_errors import is_defect, play_session
from pytest_hookharness.campaigns.check.sessions import plan_each_event
from pytest_hookharness.campaigns.check.static.relative_files import starts_elsewhere
from pytest_hookharness.execution.reads.observer import SearchObserver
from pytest_hookharness.model.checkup import CheckSession, HookSet
from pytest_hookharness.model.moves import RunCommand, Script
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Performed, Step
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings
from pytest_hookharness.simulation.testbed.testbed import Testbed

# What shells read when they start: it is about a person at a terminal, and names more files.
_OF_SHELLS = re.compile(
    r"\.(?:bashrc|bash_\w+|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|t?cshrc|inputrc)|\.config/fish/.*"
)
# The share of the time of a check for observing its hooks.
_SHARE = 0.1
_MOST = 200
# The folder in which the agent of the second session works.
_AWAY = "away/"
_WORKSPACE = "workspace/"
# A file in a hidden folder, where hooks keep a state; programs look for their settings elsewhere.
_OF_HOOKS = re.compile(r"\.(?!git/)[a-z][\w-]*/(?!hooks/|settings)[^/]")
_LEAVES = RunCommand(command=f"mkdir -p {_AWAY} && cd {_AWAY}")


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

    def step(self, step: Step) -> None:
        done = step.exchange
        if isinstance(done, Performed) and done.call.input.get("command") == _LEAVES.command:
            # What was looked for before, where the agent began, says nothing about its new folder.
            self.seen.missing.clear()

    @property
    def paths(self) -> list[str]:
        """The missing files that were looked for, by path below HOME."""
        inside = (path for path in self.seen.missing if self._home and path.startswith(self._home))
        found = [path.removeprefix(self._home) for path in inside]
        return [path for path in found if not _OF_SHELLS.fullmatch(path)]

    @property
    def in_project(self) -> list[str]:
        """The missing files that were looked for in the project, by path in it."""
        return [*self._missing("")][:_MOST]

    def aside(self) -> Iterator[tuple[str, str]]:
        """Yield the missing files that a command looked for only where the agent works, by path there."""
        inside: dict[str, set[str]] = {}
        for path, commands in self._missing("").items():
            if not path.startswith(_AWAY):
                # A hook that also looks for such a name in the project has another place for it.
                inside.setdefault(PurePath(path).name, set()).update(commands)
        for path, commands in self._missing(_AWAY).items():
            others = inside.get(PurePath(path).name, set())
            yield from ((path, command) for command in sorted(commands - others))

    def _missing(self, folder: str) -> dict[str, set[str]]:
        place = f"{self._project}{folder}"
        return {
            path.removeprefix(place).replace(self._session, SESSION): commands
            for path, commands in self.seen.missing.items()
            if self._project and path.startswith(place) and path != place
        }


def with_looked_for(
    hook_sets: Sequence[HookSet], settings: Settings, resources: Resources
) -> tuple[HookSet, ...]:
    """
    Return hook sets with the missing files that their hooks look for.

    What they look for below HOME is lent to them if their owner has it; what they look for in the project is
    noted.
    """
    share = replace(settings, wall=_SHARE * settings.wall / len(hook_sets), probes=False)
    return tuple(_searched(each, share, resources) for each in hook_sets)


def look_in_project(session: CheckSession, settings: Settings, resources: Resources) -> list[str]:
    """Return the missing files that hooks look for in the project in one session, by path in it."""
    return _observed(session, replace(settings, wall=_SHARE * settings.wall), resources)[0].in_project


def _observed(
    session: CheckSession, settings: Settings, resources: Resources
) -> tuple[_Search, Outcome | None]:
    search, outcome = _Search(), None
    with search.observing:
        try:
            outcome = play_session(session, settings, resources, search)
        except Exception as error:
            # The check itself says what cannot be played.
            if is_defect(error):
                raise
    return search, outcome


def _searched(hook_set: HookSet, settings: Settings, resources: Resources) -> HookSet:
    with lent_home(hook_set, resources.base, caches=False) as ready:
        search, outcome = _observed(plan_each_event(ready), settings, resources)
        aside = _found_aside(ready, outcome, replace(settings, wall=settings.wall / 2), resources)
    paths = search.paths
    found = [path for path in paths if may_lend(Path.home(), path, paths)]
    inner = [path for path in found if not path.startswith(tuple(f"{each}/" for each in found))]
    # Caches stay the last.
    lent = tuple(dict.fromkeys([*inner, *hook_set.lent]))
    return replace(hook_set, lent=lent, looked_for=tuple(search.in_project), aside=aside)


def _found_aside(
    hook_set: HookSet, first: Outcome | None, settings: Settings, resources: Resources
) -> tuple[tuple[str, str], ...]:
    """Return what hooks look for or write where the agent works, and otherwise in the project's folder."""
    if first is None or not any(starts_elsewhere(hook_set, hook) for hook in hook_set.hooks):
        return ()
    session = plan_each_event(hook_set)
    prompt, *acts = session.scenario.script.acts
    scenario = replace(session.scenario, script=Script(acts=(prompt, _LEAVES, *acts)))
    search, second = _observed(replace(session, scenario=scenario), settings, resources)
    before = {path for path, _ in _written(first, "")}
    looked_for = ((path, command) for path, command in search.aside() if _OF_HOOKS.match(path))
    free = (one for one in looked_for if hook_set.plugin or not (hook_set.root / one[0]).exists())
    written = (one for one in _written(second, _AWAY) if one[0] in before)
    return tuple(dict.fromkeys([*written, *sorted(free)]))


def _written(outcome: Outcome | None, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the files that hooks wrote below a folder of the project, by path in it, and the commands."""
    place = f"{_WORKSPACE}{folder}"
    every = (hooked for _, hooked in outcome.trace.hooked()) if outcome is not None else ()
    changes = [one for hooked in every for one in hooked.changes if one.path.startswith(place)]
    for one in changes:
        folder_of_others = any(other.path.startswith(f"{one.path}/") for other in changes)
        if one.hooks and one.how != "removed" and not folder_of_others:
            yield one.path.removeprefix(place), ", ".join(one.hooks)
