"""
The home folder of the user who runs the harness, which no hook should read: what of it programs need.

Hooks have a HOME of their own. The user's is still in reach by its path, with keys, tokens and histories, so
sandboxes that can do so hide it. What stays is what lies on the search path, and the installations to which
that belongs.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pytest_hookharness.execution.paths import lies_in
from pytest_hookharness.execution.platform import linux
from pytest_hookharness.execution.platform.linux import read_link
from pytest_hookharness.execution.real_paths import real_paths
from pytest_hookharness.model.expectations import first_few

# Folders of programs that belong to the folder above them, if that is an installation.
_PROGRAM_FOLDERS = frozenset(("bin", "sbin", "shims", "scripts"))
# The folders of an installation beside its programs.
_LIBRARIES = ("lib", "lib64", "libexec", "pyvenv.cfg")
# The installation that programs without one of their own share; users keep much else there.
_SHARED = ".local"
# Folders of a home with files of many programs, of which only the one that is needed is shown.
_MIXED = frozenset((".", _SHARED, f"{_SHARED}/share", ".config", ".cache"))
_LONGEST_LINE, _SHOWN = 256, 8
_MOST_LINKS = 40


def find_homes(points: Collection[str]) -> tuple[str, ...]:
    """
    Return the real paths of the user's home folders, except those in ``points``, which are private anyway.

    These are ``HOME``, and the home folder in the system's list of users.
    """
    named = [os.environ.get("HOME", "")]
    with suppress(KeyError):  # a user without an entry, as in many containers
        named.append(pwd.getpwuid(os.geteuid()).pw_dir)
    found = dict.fromkeys(os.path.realpath(home) for home in named if home.startswith("/"))
    return tuple(home for home in found if os.path.isdir(home) and not _is_of_the_system(home, points))


def _is_of_the_system(home: str, points: Collection[str]) -> bool:
    """Return whether a folder holds or lies in what every process needs, as the homes of some services do."""
    if linux.is_kernel_folder(home):
        return True
    return lies_in(home, points) or any(lies_in(point, [home]) for point in points)


@cache
def find_programs(home: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths in a home folder that programs of a search path need, by links and first lines."""
    found: dict[str, None] = {}

    @cache  # thousands of links lead to some tens of folders
    def real(folder: str) -> str:
        return os.path.realpath(folder)

    seen: set[str] = set()
    listed: set[str] = set()
    pending = [folder for folder in path if os.path.isdir(folder)]
    while pending:
        folder = pending.pop()
        if folder in seen:
            continue
        seen.add(folder)
        needed = _installation(folder, home)
        if needed in found:
            continue
        found[needed] = None
        pending += _interpreters(needed)
        # On many systems /bin and /usr/bin are one, and so are many folders of links.
        if real(folder) not in listed:
            listed.add(real(folder))
            pending += dict.fromkeys(_elsewhere(folder, home, real))
    return tuple(each for each in found if lies_in(os.path.realpath(each), [home]))


def _installation(folder: str, home: str) -> str:
    """Return the installation that a folder of programs belongs to; the folder itself if it has none."""
    above, name = os.path.split(os.path.realpath(folder))
    if name.lower() not in _PROGRAM_FOLDERS or above == home or os.path.basename(above) == _SHARED:
        return folder
    whole = name == "shims" or any(os.path.exists(os.path.join(above, each)) for each in _LIBRARIES)
    return above if whole and lies_in(above, [home]) else folder


def _elsewhere(folder: str, home: str, real: Callable[[str], str]) -> Iterator[str]:
    """Yield where links and first lines of the programs in a folder lead."""
    try:
        with os.scandir(folder) as listing:
            entries = [*listing]
    except OSError:
        return
    here = real(folder)
    # The many programs of the system name no interpreter in anybody's home.
    own = lies_in(here, [home])
    mixed = {os.path.normpath(os.path.join(home, each)) for each in _MIXED}
    for entry in entries:
        target = ""
        if entry.is_symlink():
            led = read_link(entry.path)
            # A link to another program of the folder leads where that one does.
            if "/" in led or here in mixed:
                target = _end_of(os.path.join(here, led), real)
        elif own and entry.is_file():
            target = _interpreter(entry.path)
        if target:
            above = os.path.dirname(target)
            yield target if above in mixed else above


def _end_of(path: str, real: Callable[[str], str]) -> str:
    """Return where a path leads to in the end; ``real`` returns the real path of a folder."""
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        path = f"{real(folder)}/{name}"
        if not (led := read_link(path)):
            break
        path = os.path.join(os.path.dirname(path), led)
    return os.path.normpath(path)


def _interpreter(program: str) -> str:
    """Return the path in the first line of a script; empty if there is none."""
    try:
        with Path(program).open("rb") as file:
            first = file.readline(_LONGEST_LINE)
    except OSError:
        return ""
    words = first.removeprefix(b"#!").split()
    named = first.startswith(b"#!") and words and words[0].startswith(b"/")
    return os.fsdecode(words[0]) if named else ""


def _interpreters(folder: str) -> Iterator[str]:
    """Yield where the Python is that a virtual environment is made of."""
    try:
        lines = Path(folder, "pyvenv.cfg").read_text("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            yield value.strip()


def find_opening(home: str, visible: Mapping[str, str]) -> str:
    """Return a visible path that contains the whole home folder; empty if there is none."""
    return next((path for path, real in visible.items() if lies_in(home, [real])), "")


def describe_homes(homes: Sequence[str], visible: Sequence[str]) -> Iterator[str]:
    """Yield, in sentences, what hooks can read of home folders that are hidden where that is possible."""
    real = real_paths(visible)
    for home in homes:
        if path := find_opening(home, real):
            yield f"Hooks can read all of {home}, for {path} must be visible."
            continue
        inside = {place for place in real.values() if lies_in(place, [home])}
        top = sorted(each for each in inside if not lies_in(each, inside - {each}))
        if top:
            yield f"Of {home} hooks can read only {first_few(top, _SHOWN)}."
