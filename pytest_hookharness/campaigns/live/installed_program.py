"""The real programs that are installed on this machine, each in a folder named after its host and version."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_hookharness.hosts.wire.programs import LiveProgram
from pytest_hookharness.model.fast_dataclass import dataclass

# The environment variable that names the folder of real programs.
VARIABLE = "HOOKHARNESS_LIVE"


class NoProgram(Exception):
    """The real program is missing, has another version, or cannot be isolated here; with what to do next."""


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """A real program on this machine."""

    program: LiveProgram
    version: str
    folder: Path
    command: tuple[str, ...]


def find_installed(program: LiveProgram, version: str, path: Path | None) -> InstalledProgram:
    """
    Return a real program at a version, from its folder below a folder of installations.

    Raises:
        NoProgram: It is not there, or says that it is another version.
    """
    name = f"{program.host}@{version}"
    if path is None:
        raise NoProgram(
            f"no folder of real programs is known; set the ini key hook_live_path or {VARIABLE} to one, "
            f"and run: {program.install_command(f'FOLDER/{name}', version)}"
        )
    folder = path / name
    install = program.install_command(str(folder), version)
    found = [
        next(iter(sorted(folder.glob(one))), None) for one in (program.interpreter, program.binary) if one
    ]
    words = [str(one) for one in found if one is not None]
    if len(words) < len(found):
        raise NoProgram(f"{name} is not installed in {folder}; run: {install}")
    seen = _installed_version(program, folder)
    if seen != version and not seen.startswith(f"{version}."):
        raise NoProgram(
            f"the program in {folder} has the version {seen or 'unknown'}, not {version}; run: {install}"
        )
    return InstalledProgram(program, version, folder, tuple(words))


def _installed_version(program: LiveProgram, folder: Path) -> str:
    """Return the installed version: without a word, npm installs an older one if node is too old."""
    if program.python:
        name = program.packages[0].partition("==")[0].replace("-", "_")
        found = next(iter(folder.glob(f"lib/python*/site-packages/{name}-*.dist-info")), None)
        return found.name.removeprefix(f"{name}-").removesuffix(".dist-info") if found is not None else ""
    package = folder / "node_modules" / program.packages[0].rpartition("@")[0]
    try:
        return str(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return ""
