"""``hookharness init``: write first scenarios for a project. No hook is run, and no file is overwritten."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.failing_gates import FAILS, changed_places, started_checks
from pytest_hookharness.campaigns.check.gates.changed_sources import source_edits
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.execution.workspace.project_files import list_ignored
from pytest_hookharness.frontends.option_types import make_folder
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.scenario_files.schema.texts import REPOSITORY
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_DESCRIPTION = (
    "Finds the hooks that a project or a plugin configures, for every host, and writes a scenario in which "
    "an agent works and stops with them, with variants for other agents. No hook is run and no file is "
    "overwritten; `pytest --hook-scenarios` plays them."
)
SUFFIX = ".scenario.yaml"
_WORK = """\
agent:
  - prompt: Please do the work.
  - run: git status
  - edit: {file: notes.md, text: "A first note.\\n"}
  - read: notes.md
  - stop: Done.
  - then: idle
"""
# Agents that react to a refusal in other ways; hooks are known to loop with each of them.
_AGENTS = ("obedient", "editing", "repeating")
_MOST_FILES = 4
_REACTIONS = """\
# A hook that refuses until something is done needs an agent that does it; the scenario fails without one:
# when:
#   - {{event: {stop}, reason: words of the refusal, do: [{{run: make test}}]}}
"""
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
        "path", metavar="PATH", nargs="?", type=Path, default=Path(), help="a project or a plugin (.)"
    )
    parser.add_argument("--host", default="", help="only for the hooks of this host")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of the files (PATH/scenarios; PATH itself if it is no repository)",
    )
    parser.set_defaults(call=_call)


def _call(arguments: argparse.Namespace) -> int:
    """Write the scenarios, and print how to play them."""
    root = arguments.path.resolve()
    # A scenario names its own repository or a folder beside it, but none above it.
    is_repository = (root / ".git").exists()
    folder: Path = (arguments.output or (root / "scenarios" if is_repository else root)).resolve()
    if is_repository and not folder.is_relative_to(root):
        raise SimulationError(
            f"--output: {folder} is not in {root}; scenarios copy the repository that contains them"
        )
    if not is_repository and not root.is_relative_to(folder):
        raise SimulationError(
            f"--output: {root} is not in {folder}; as it is not the top of a repository, its scenarios must "
            "be in the folder itself or in one above it"
        )
    hook_sets = tuple(_with_hooks(find_hook_sets(root, arguments.host), root))
    if is_repository:
        hook_sets = tuple(_copied(hook_sets, root))
    texts: dict[Path, str] = {}
    for hook_set in hook_sets:
        place = REPOSITORY if is_repository and hook_set.root == root else _below(hook_set.root, folder)
        name, text = compose(hook_set, place)
        texts[folder / f"{name}{SUFFIX}"] = text
    make_folder(str(folder), "--output", below=Path.cwd())
    for path, text in texts.items():
        try:
            create_file(path, text)
            print(f"wrote {path}")
        except FileExistsError:
            print(f"kept  {path}, which exists already")
    print(f"Now: {shlex.join(['pytest', '--hook-scenarios', str(folder)])}")
    return 0


def _with_hooks(hook_sets: Sequence[HookSet], root: Path) -> Iterator[HookSet]:
    """Yield the hook sets with hooks, and print all flaws; raise ``SimulationError`` if none has."""
    flaws = [flaw for hook_set in hook_sets for flaw in hook_set.flaws]
    if not any(hook_set.hooks for hook_set in hook_sets):
        raise SimulationError(f"{root}: no hook can be read: {'; '.join(flaws)}")
    for flaw in flaws:
        print(f"note: {flaw}", file=sys.stderr)
    yield from (hook_set for hook_set in hook_sets if hook_set.hooks)


def _below(root: Path, folder: Path) -> str:
    path = os.path.relpath(root, folder)
    return f"./{path}" if path == REPOSITORY else path


def _copied(hook_sets: Sequence[HookSet], root: Path) -> Iterator[HookSet]:
    """Yield the hook sets without files that git ignores, because copies of the repository lack them."""
    ignored = frozenset(list_ignored(root))
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
            kept = tuple(hook for hook in hook_set.hooks if hook.source not in names)
            yield replace(hook_set, files=files, hooks=kept)


def compose(hook_set: HookSet, folder: str = REPOSITORY) -> tuple[str, str]:
    """
    Return the name of the scenario file for a hook set, without its suffix, and its text.

    Args:
        folder: The project or the plugin, relative to the file.
    """
    events = hosts.find(hook_set.host).events
    guards = any(
        events[hook.event].role is hosts.Role.BEFORE_TOOL for hook in hook_set.hooks if hook.event in events
    )
    part = re.sub(r"\W+", "-", hook_set.part.removesuffix(".md")).strip("-")
    kind = part or ("plugin" if hook_set.plugin else "")
    stop = next((name for name, event in events.items() if event.role is hosts.Role.STOP), "Stop")
    keys = {
        # Reports name the host behind it.
        "name": "-".join(filter(None, ("hooks-allow-stop", kind))),
        "why": f"The hooks of {', '.join(hook_set.files)} let an agent stop, however it reacts to a refusal.",
        "host": hook_set.host,
        "plugin" if hook_set.plugin else "project": folder,
        **({"hooks": json.dumps(named)} if (named := hook_set.inline or hook_set.only) else {}),
        **({"env": json.dumps(dict(hook_set.env))} if hook_set.env else {}),
        # Many hooks ask git for changes.
        "git": "true",
    }
    others = dict.fromkeys((hook.event, hook.type) for hook in hook_set.hooks if hook.type != "command")
    if others:
        # The real answer is unknown; an empty one decides nothing.
        given = (f"{{event: {event}, type: {kind}, reply: {{}}}}" for event, kind in others)
        keys["world"] = f"{{answers: [{', '.join(given)}]}}"
    lines = [f"{key}: {value}" for key, value in keys.items()]
    variants = [
        f"  {each}: {{agent: [{{prompt: Please do the work.}}, {{stop: Done.}}, {{then: {each}}}]}}"
        for each in _AGENTS
    ]
    variants += _with_failing_checks(hook_set, stop)
    agent = f"{_WORK}{_GUARDS if guards else ''}{_REACTIONS.format(stop=stop)}"
    text = "\n".join([*lines, f"{agent}expect: {{verdict: terminated}}", "variants:"])
    return "-".join(filter(None, (hook_set.host, kind))), "\n".join([text, *variants, ""])


def _with_failing_checks(hook_set: HookSet, stop: str) -> list[str]:
    """Return the lines of the variant in which the checks that Stop hooks start fail; none without checks."""
    hooks = [hook for hook in hook_set.hooks if hook.event == stop]
    checks = sorted({name for hook in hooks for name in started_checks(hook_set, hook)})
    if not checks:
        return []
    fails = f"{{exit: {FAILS.exit}, stdout: {json.dumps(FAILS.stdout)}}}"
    doubles = ", ".join(f"{name}: {fails}" for name in checks)
    sources = "\n".join(hook_set.code_of(*hooks))
    # Many gates check only if files of certain kinds changed.
    files = [f"{place}changed.{kind}" for place, kind in changed_places(sources)][:_MOST_FILES]
    edits = "".join(f'{{edit: {{file: {file}, text: "changed\\n"}}}}, ' for file in files)
    # Some gates see only files that git tracks.
    known = [f"echo >>{shlex.quote(edit.file)}" for edit in source_edits(hook_set, [sources])]
    edits += "".join(f"{{run: {json.dumps(command)}}}, " for command in known[:_MOST_FILES])
    agent = f"agent: [{{prompt: Please do the work.}}, {edits}{{stop: Done.}}, {{then: idle}}]"
    return [
        f"  # Test doubles replace the checks that {stop} hooks start; the agent cannot make them succeed.",
        f"  failing-checks: {{commands: {{{doubles}}}{f', {agent}' if edits else ''}}}",
    ]
