"""``hookharness init``: write first scenarios for a project. No hook is run, and no file is overwritten."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.execution.workspace.project_files import list_ignored
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Behaviour, Edit, Read, RunCommand, Script, Stop
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_DESCRIPTION = (
    "Finds the hooks that a project configures, for every host, and writes scenarios in which an agent works "
    "and stops with them. No hook is run and no file is overwritten; `pytest --hook-scenarios` plays them."
)
SUFFIX = ".scenario.yaml"
_WORK: tuple[Act, ...] = (
    FIRST_PROMPT,
    RunCommand(command="git status"),
    Edit(file="notes.md", text="A first note.\n"),
    Read(file="notes.md"),
    Stop(text="Done."),
)
# Agents that react to a refusal in different ways; hooks are known to loop with each of them.
_AGENTS = {
    "idle": "does nothing about a refusal",
    "obedient": "does a call after each refusal",
    "editing": "touches another file in every turn",
}
_GUARDS = """\
# Hooks run before tools are used. List here what they must refuse, and what they must not:
#   - run: git push --force
#     expect: deny
#   - run: git status
#     expect: allow
"""


def declare_init(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness init``."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "path", metavar="PATH", nargs="?", type=Path, default=Path(), help="a project, a repository (.)"
    )
    parser.add_argument("--host", default="", help="only for the hooks of this host")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="a folder in the project (PATH/scenarios)"
    )
    parser.set_defaults(call=_call)


def _call(arguments: argparse.Namespace) -> int:
    """
    Write the scenarios, and print how to play them.

    Raises:
        SimulationError: The project is no repository, or has no hooks.
    """
    root = arguments.path.resolve()
    folder: Path = (arguments.output or root / "scenarios").resolve()
    if not (root / ".git").exists():
        raise SimulationError(
            f"{root}: is not a git repository, and scenarios copy a repository's files; call `git init` there"
        )
    if not folder.is_relative_to(root):
        raise SimulationError(
            f"--output: {folder} is not in {root}; scenarios copy the repository that contains them"
        )
    hook_sets = [*_copied(find_hook_sets(root, arguments.host), root)]
    texts = {folder / f"{name}{SUFFIX}": text for hook_set in hook_sets for name, text in compose(hook_set)}
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        try:
            create_file(path, text)
            print(f"wrote {path}")
        except FileExistsError:
            print(f"kept  {path}, which exists already")
    print(f"Now: {shlex.join(['pytest', '--hook-scenarios', str(folder)])}")
    return 0


def _copied(hook_sets: Sequence[HookSet], root: Path) -> Iterator[HookSet]:
    """
    Yield the hook sets without files that git ignores, because copies of the repository lack them.

    Raises:
        SimulationError: No hook set is left.
        WorkspaceError: Git fails.
    """
    with TemporaryDirectory(prefix="hookharness-init-") as home:
        ignored = frozenset(list_ignored(root, Path(home)))
    names = [file for hook_set in hook_sets for file in hook_set.files if file in ignored]
    if all(file in ignored for hook_set in hook_sets for file in hook_set.files):
        raise SimulationError(
            f"{root}: git ignores {', '.join(names)}, so no copy of the repository has these hooks; "
            "write them into a file that is part of the repository"
        )
    for name in names:
        print(f"left out: the hooks of {name}, because git ignores that file and scenarios do not copy it")
    for hook_set in hook_sets:
        files = tuple(file for file in hook_set.files if file not in ignored)
        if files:
            yield replace(hook_set, files=files)


def compose(hook_set: HookSet) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the scenarios for a hook set."""
    events = hosts.find(hook_set.host).events
    guards = any(
        events[hook.event].role is hosts.Role.BEFORE_TOOL for hook in hook_set.hooks if hook.event in events
    )
    # Many hooks ask git for changes, and the project is a repository.
    made = Scenario(name=hook_set.host, host=hook_set.host, git=True, hooks=hook_set.only or None)
    root = hook_set.root
    made = replace(made, plugin=root) if hook_set.plugin else replace(made, project=root)
    for behaviour, does in _AGENTS.items():
        name = f"{hook_set.host}-{'plugin-' if hook_set.plugin else ''}{behaviour}"
        why = f"The hooks of {', '.join(hook_set.files)} let an agent stop that {does}."
        script = Script(acts=_WORK, then=Behaviour(name=behaviour))
        text = scenario_files.write(replace(made, script=script), name=name, why=why, folder="repository")
        yield name, text + (_GUARDS if guards else "") + "expect: {verdict: terminated}\n"
