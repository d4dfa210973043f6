"""
This module is concerned with consents: whether the person agreed that the hooks of a project are run.

Top floor. What was agreed to is kept in the person's cache, as digests: the commands of a project folder, so
that others are asked about anew.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from pytest_hookharness.model.checkups import Place
from pytest_hookharness.settings import SimulationError

_QUESTION = "Run these commands in throw-away copies? [y/N] "
_NOBODY = (
    "{path}: its hooks would be run here for the first time, and nobody is there to be asked; give --yes if "
    "they may, or call it in a terminal"
)


def ask(path: Path, places: Sequence[Place]) -> bool:
    """
    Whether the hooks of some places may be run, as was said before or is said now.

    Raises:
        SimulationError: Nobody is there to be asked.
    """
    note = _folder() / _digest(path, places)
    if note.is_file():
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SimulationError(_NOBODY.format(path=path.resolve()))
    print(_QUESTION, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()
    return True


def _folder() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(given) if given.startswith("/") else Path.home() / ".cache"
    return cache / "hookharness" / "consents"


def _digest(path: Path, places: Sequence[Place]) -> str:
    told = [str(path.resolve())]
    for place in places:
        told += [place.host, *(repr((hook.event, hook.command, hook.args)) for hook in place.hooks)]
    return sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()
