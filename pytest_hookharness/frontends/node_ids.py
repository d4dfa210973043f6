"""
Find the scenario that a node id names, and the files that a command line names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from os.path import isfile
from pathlib import Path

from pytest_hookharness import scenario_files
from pytest_hookharness.frontends.harness import finding_names, host_names, known_behaviours
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.scenario import Scenario

_WORD = re.compile(r"(?<![^\s=])[^\s;|&<>()\"'$`*?=]+")


def anchor(command: str, folder: Path) -> str:
    """
    Write the files that a command names in full, where they exist in a folder.

    The hook itself runs in a throw-away workspace, in which such a path would point nowhere. A bare
    first word is a program to be looked up on the PATH, as in any shell.
    """

    def full(found: re.Match[str]) -> str:
        word = found[0]
        if word.startswith("/") or ("/" not in word and found.start() == 0):
            return word
        path = folder / word
        there = isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
        return shlex.quote(str(path.resolve())) if there else word

    return _WORD.sub(full, command)


def anchored(value: Json, folder: Path) -> Json:
    """
    Write the files in full that the commands of some hooks name.
    """
    match value:
        case str():
            return anchor(value, folder)
        case Mapping():
            return {
                key: anchored(item, folder) if key == "command" or not isinstance(item, str) else item
                for key, item in value.items()
            }
        case Sequence():
            return [anchored(item, folder) for item in value]
        case _:
            return value


def pick(name: str, folder: Path | None = None) -> Scenario:
    """
    The one scenario that a node id names: ``FILE::name[variant-host]``, or a file with one item.

    Raises:
        ValueError: The file has no such item; the message lists those it has.
    """
    file, _, wanted = name.partition("::")
    path = (folder or Path()) / file
    known = host_names()
    scenarios = scenario_files.load(
        path, known_hosts=known, known_findings=finding_names(), known_behaviours=known_behaviours()
    )
    if wanted not in {"", *(scenario.id for scenario in scenarios)}:
        # The item may have been played on another host than its file names.
        others = [host for host in known if wanted.endswith((f"[{host}]", f"-{host}]"))]
        scenarios += scenario_files.load(path, hosts=others) if others else ()
    found = [scenario for scenario in scenarios if wanted in ("", scenario.id)]
    if len(found) != 1:
        items = "\n  ".join(f"{file}::{scenario.id}" for scenario in scenarios)
        problem = f"has no item {wanted!r}" if wanted else f"has {len(scenarios)} items; name one"
        raise ValueError(f"{file} {problem}:\n  {items}")
    return found[0]
