"""
``hookharness init``: a first scenario folder for the hooks that a project has.

Nothing is run, and no file is written over.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.campaigns.check.discovery import find_places
from pytest_hookharness.execution.workspace.git_repository import list_ignored
from pytest_hookharness.frontends.output import incident_files
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Behaviour, Edit, Read, RunCommand, Script, Stop
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

DESCRIPTION = (
    "Finds the hooks that a project configures, for every host, and writes scenarios in which an agent works "
    "and stops with them. Nothing is run and no file is written over; `pytest --hook-scenarios` plays them."
)
SUFFIX = ".scenario.yaml"
_WORK: tuple[Act, ...] = (
    FIRST_PROMPT,
    RunCommand(command="git status"),
    Edit(file="notes.md", text="A first note.\n"),
    Read(file="notes.md"),
    Stop(text="Done."),
)
# How agents differ that hooks have been caught by: what each of them does about a refusal.
_AGENTS = {
    "idle": "does nothing about a refusal",
    "obedient": "does a call after each refusal",
    "editing": "touches another file in every turn",
}
_GUARDS = """\
# Its hooks are asked before tools are used. Say here what they must refuse, and what they must not:
#   - run: git push --force
#     expect: deny
#   - run: git status
#     expect: allow
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    Declare what the command takes.
    """
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        type=Path,
        default=Path(),
        help="a project folder, a repository (.)",
    )
    parser.add_argument("--host", default="", help="only for the hooks of this host")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="a folder in the project (PATH/scenarios)"
    )


def tell(arguments: argparse.Namespace) -> int:
    """
    Write the scenarios, and say what to do with them.

    Raises:
        SimulationError: The project is no repository, or has no hooks.
    """
    root = arguments.path.resolve()
    folder: Path = (arguments.output or root / "scenarios").resolve()
    if not (root / ".git").exists():
        raise SimulationError(
            f"{root}: is no repository, whose files scenarios could copy; call `git init` there"
        )
    if not folder.is_relative_to(root):
        raise SimulationError(
            f"--output: {folder} is not in {root}; scenarios copy the repository that they are in"
        )
    places = [*_copied(find_places(root, arguments.host), root)]
    texts = {folder / f"{name}{SUFFIX}": text for place in places for name, text in compose(place)}
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        try:
            incident_files.write_new(path, text)
            print(f"wrote {path}")
        except FileExistsError:
            print(f"kept  {path}, which is there already")
    print(f"Now: {shlex.join(['pytest', '--hook-scenarios', str(folder)])}")
    return 0


def _copied(places: Sequence[HookSet], root: Path) -> Iterator[HookSet]:
    """
    The places as copies of the repository have them: without files that git ignores.

    Raises:
        SimulationError: Nothing is left.
        WorkspaceError: Git refuses.
    """
    with TemporaryDirectory(prefix="hookharness-init-") as home:
        away = frozenset(list_ignored(root, Path(home)))
    names = [file for place in places for file in place.files if file in away]
    if all(file in away for place in places for file in place.files):
        raise SimulationError(
            f"{root}: git ignores {', '.join(names)}, so that no copy of the repository has these hooks; "
            "write them into a file that is part of it"
        )
    for name in names:
        print(f"left out: the hooks of {name}, for git ignores that file, and scenarios copy none of those")
    for place in places:
        files = tuple(file for file in place.files if file not in away)
        if files:
            yield replace(place, files=files)


def compose(place: HookSet) -> Iterator[tuple[str, str]]:
    """
    The scenarios for the hooks of a place: names and texts.
    """
    events = hosts.find(place.host).events
    guards = any(
        events[hook.event].role is hosts.Role.BEFORE_TOOL for hook in place.hooks if hook.event in events
    )
    # Hooks ask git what has changed, and the project is a repository.
    made = Scenario(name=place.host, host=place.host, git=True, hooks=place.only or None)
    made = replace(made, plugin=place.root) if place.plugin else replace(made, project=place.root)
    for behaviour, does in _AGENTS.items():
        name = f"{place.host}-{'plugin-' if place.plugin else ''}{behaviour}"
        why = f"The hooks of {', '.join(place.files)} let go of an agent that {does}."
        script = Script(acts=_WORK, then=Behaviour(name=behaviour))
        text = scenario_files.write(replace(made, script=script), name=name, why=why, folder="repository")
        yield name, text + (_GUARDS if guards else "") + "expect: {verdict: terminated}\n"
