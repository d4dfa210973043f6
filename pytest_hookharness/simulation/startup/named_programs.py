"""Programs that hook commands name and that exist nowhere: a mistake that is found before a session."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.execution.paths import is_file, lies_in
from pytest_hookharness.hosts.settings.configuration import INLINE
from pytest_hookharness.model.processes import ProcessSpec
from pytest_hookharness.model.protocol import Hook, fill_variables
from pytest_hookharness.simulation.testbed.host_actions import prepare_launch
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed
from pytest_hookharness.simulation.testbed.validation import place_of

# Where a shell decides or expands something, what a command names is not certain.
_UNCERTAIN = re.compile(r"[;|&\n(){}`$!\[\]<>*?~#=]")
_FILE = re.compile(r".*/.*|.*\.[A-Za-z]\w{0,4}")
_EXPECTED = ("NOT-RUN", "HH004")


def check_programs(testbed: Testbed) -> None:
    """
    Refuse a scenario with a hook whose program certainly exists nowhere, unless it expects NOT-RUN.

    Certain is a program that its command line names without any expansion but that of known variables, if no
    file of this name exists in the folders of the scenario and nothing in the scenario mentions it, so that
    nothing can create it.

    Raises:
        SimulationError: The first such hook, with the nearest name that exists.
    """
    scenario = testbed.scenario
    if scenario.cover or scenario.fake_agents or any(name in scenario.expect.findings for name in _EXPECTED):
        return
    for hook in testbed.configuration.hooks:
        for word in _find_missing(testbed, hook):
            path = Path(testbed.workspace.root, word)
            near = difflib.get_close_matches(path.name, _names_beside(path), n=1)
            shown = word.replace(str(testbed.workspace.root), "workspace")
            hint = f"did you mean {near[0]!r}? Otherwise write" if near else "write"
            raise SimulationError(
                f"{_place(testbed, hook)}: {hook.event}: `{hook.command}` cannot run: {shown} does not "
                f"exist; {hint} it under `files`, or expect the finding NOT-RUN"
            )


def _place(testbed: Testbed, hook: Hook) -> str:
    """Return where a hook is configured: the key of the scenario file, or a settings file."""
    if hook.source in ("", INLINE):
        return f"{place_of(testbed.scenario, f'hooks.{hook.event}')}hooks"
    return hook.source


def _find_missing(testbed: Testbed, hook: Hook) -> Iterator[str]:
    if hook.type != "command" or hook.event not in testbed.profile.events:
        return
    payload = hosts.payload_for(testbed.profile, hook.event, testbed.facts, {})
    spec = prepare_launch(testbed, [hook], 0, payload)
    words = _words(hook, spec)
    for place, word in enumerate(words):
        path = Path(os.path.normpath(Path(spec.cwd, word)))
        if place == 0 and "/" not in word:
            continue
        if word.startswith("-") or (place and not _FILE.fullmatch(word)):
            continue
        if os.path.lexists(path):
            return
        if _may_appear(testbed, hook, path):
            continue
        if place == 0 or _executes(testbed, spec, words, word):
            yield word
        return


def _words(hook: Hook, spec: ProcessSpec) -> list[str]:
    """Return the words of a command line that is one simple command; none if that is not certain."""
    if hook.args is not None:
        return [*spec.argv]
    filled = fill_variables(hook.command, spec.env, keep_unknown=True)
    if _UNCERTAIN.search(filled):
        return []
    try:
        return shlex.split(filled)
    except ValueError:
        return []


def _may_appear(testbed: Testbed, hook: Hook, path: Path) -> bool:
    """Return whether something in the scenario could create a file, or processes see other files there."""
    scenario, workspace = testbed.scenario, testbed.workspace
    # What is hidden of a home folder holds nothing but what hooks write.
    other = [point for point in workspace.private if point not in workspace.homes]
    if lies_in(path, other) and not lies_in(path, workspace.written):
        return True
    if any(Path(entry).name == path.name for entry in testbed.files):
        return True
    others = (each.command for each in testbed.configuration.hooks if each.command != hook.command)
    mentions = (repr(scenario.script), scenario.setup, repr(scenario.commands), *others)
    return any(path.name in text for text in mentions)


def _executes(testbed: Testbed, spec: ProcessSpec, words: list[str], word: str) -> bool:
    """Return whether the first of some words executes the file that another one names."""
    from pytest_hookharness.execution.startup.process_trace import TracedProcess
    from pytest_hookharness.simulation.startup.experiments import is_read_as_program
    from pytest_hookharness.simulation.startup.languages import find_languages
    from pytest_hookharness.simulation.startup.trial_runs import TrialRuns
    from pytest_hookharness.simulation.testbed.undo import undone

    files = {each: "file" for each in words[1:] if is_file(Path(spec.cwd, each))}
    decider = TracedProcess(
        parent=0, argv=tuple(words), environment=dict(spec.env), folder=spec.cwd, files=files
    )
    with undone(testbed):
        trials = TrialRuns(testbed, spec, decider)
        return bool(find_languages(trials, word)[0]) or is_read_as_program(trials, word)


def _names_beside(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir()]
    except OSError:
        return []
