"""
A person's consent before ``hookharness check`` runs hooks for the first time, and lends them files.

It is kept in the person's cache folder, for exactly the commands and files that were listed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from pytest_hookharness.execution.user_files import user_folder
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

_QUESTION = "Run these commands in throw-away copies? [y/N] "
_LEND = "Lend the hooks read-only copies of these too? [y/N] "
_NOBODY = (
    "{path}: its hooks would be run here for the first time, and nobody can be asked; add --yes to allow it, "
    "or call it in a terminal"
)


def is_agreed(path: Path, hook_sets: Sequence[HookSet], question: str = _QUESTION) -> bool:
    """
    Return whether the person agrees to run these hooks with what they are lent, now or in an earlier call.

    An agreement is kept in the person's cache folder as a digest of the commands and of what is lent;
    changed ones are asked about again.

    Raises:
        SimulationError: Nobody can be asked.
    """
    note = user_folder("XDG_CACHE_HOME", ".cache") / "consents" / _digest(path, hook_sets)
    if note.is_file():
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SimulationError(_NOBODY.format(path=path.resolve()))
    if not _says_yes(question):
        return False
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()
    return True


def _says_yes(question: str) -> bool:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _digest(path: Path, hook_sets: Sequence[HookSet]) -> str:
    parts = [str(path.resolve())]
    for hook_set in hook_sets:
        hooks = (*hook_set.hooks, *hook_set.shared)
        parts += [
            hook_set.host,
            *hook_set.lent,
            *(repr((hook.event, hook.command, hook.args)) for hook in hooks),
        ]
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def lend(
    path: Path, hook_sets: Sequence[HookSet], found: Sequence[HookSet], *, agreed: bool
) -> Sequence[HookSet]:
    """
    Say what hooks also look for below HOME, and return the hook sets that get it if the person agrees.

    What they look for in the project needs nobody's consent.
    """
    known = {each for hook_set in hook_sets for each in hook_set.lent}
    new = dict.fromkeys(each for hook_set in found for each in hook_set.lent if each not in known)
    unlent = [replace(each, lent=old.lent) for old, each in zip(hook_sets, found, strict=True)]
    if not new:
        return unlent
    print(f"Hooks also look for {', '.join(plain(f'~/{each}') for each in new)}.", file=sys.stderr)
    try:
        agreed = agreed or is_agreed(path, found, _LEND)
    except SimulationError:
        # Nobody can be asked.
        agreed = False
    return found if agreed else unlent
