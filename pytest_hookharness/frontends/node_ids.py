"""Node ids of scenarios, and the files that a hook's command line names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from os.path import isfile, realpath
from pathlib import Path

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.frontends.harness import finding_names, known_behaviours
from pytest_hookharness.model.name_hint import UnknownName
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.scenario import Scenario

_WORD = re.compile(r"(?<![^\s=])[^\s;|&<>()\"'$`*?=]+")


def anchor(command: str, folder: Path) -> str:
    """
    Return a command with full paths for the files of a folder that it names.

    The hook runs in a throw-away workspace, where a relative path would not exist. A first word without a
    slash is a program on the PATH, as in any shell.
    """

    def in_full(found: re.Match[str]) -> str:
        word = found[0]
        if word.startswith("/") or ("/" not in word and found.start() == 0):
            return word
        path = f"{folder}/{word}"
        exists = isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
        return shlex.quote(realpath(path)) if exists else word

    return _WORD.sub(in_full, command)


def anchored(value: Json, folder: Path) -> Json:
    """Return hooks in which each command has full paths, see `anchor`."""
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
    Return the scenario that a node id names: ``FILE::name[variant-host]``, or a file with one item.

    The bare name is enough where only one item has it.

    Raises:
        ValueError: The file has no such item; the message lists its items.
    """
    file, _, wanted = name.partition("::")
    scenarios = _load((folder or Path()) / file, wanted)
    found = [scenario for scenario in scenarios if wanted in ("", scenario.id)]
    found = found or [scenario for scenario in scenarios if wanted == scenario.name]
    if len(found) != 1:
        items = "\n  ".join(f"{file}::{scenario.id}" for scenario in found or scenarios)
        named = f" named {wanted!r}" if wanted else ""
        problem = f"has {len(found)} items{named}; name one" if found else f"has no item {wanted!r}"
        raise UnknownName(f"{file} {problem}:\n  {items}")
    return found[0]


def _load(path: Path, wanted: str) -> list[Scenario]:
    known = hosts.names()
    scenarios = scenario_files.load(
        path, known_hosts=known, known_findings=finding_names(), known_behaviours=known_behaviours()
    )
    if wanted in {"", *(scenario.id for scenario in scenarios)}:
        return [*scenarios]
    # With --hook-host, an item may have been played on a host that its file does not name.
    others = [host for host in known if wanted.endswith((f"[{host}]", f"-{host}]"))]
    return [*scenarios, *(scenario_files.load(path, hosts=others) if others else ())]
