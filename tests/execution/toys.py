"""Toy hooks: where they are and how to start one."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_hookharness.execution.platform.linux_inotify import InotifyPool, InotifyWatch
from pytest_hookharness.model.processes import ProcessSpec

HOOKS = Path(__file__).parents[1] / "hooks"
DEADLINE = 20.0

# All toys that stay run a sleep of this length, which no other test process uses. So a survivor is found
# by its command line even if its environment was cleared and its parent is gone.
STAY = f"86399.{os.getpid()}"


def launch(*words: str, **changes: Any) -> ProcessSpec:
    """Return the process spec of a toy, or another command, with limits that keep a test quick."""
    argv = (str(HOOKS / words[0]), *words[1:]) if words[0].endswith((".sh", ".py")) else words
    base = ProcessSpec(
        argv=argv,
        cwd=str(HOOKS),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TOY_SECONDS": STAY},
        limit=60.0,
        hook_timeout=15.0,
        pipe_wait=0.2,
        linger=0.05,
    )
    return replace(base, **changes)


def staying(mark: str = STAY) -> list[int]:
    """List the living processes of toys that stay."""
    return [pid for pid, words in _commands() if mark in words]


def _commands() -> Iterator[tuple[int, str]]:
    for path in Path("/proc").iterdir():
        name = path.name
        if name.isdecimal():
            try:
                yield int(name), Path(f"/proc/{name}/cmdline").read_text(errors="replace")
            except OSError:
                continue


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds, looking at short intervals; fail after a late deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never came true: {what}"
        select.select((), (), (), 0.01)


class BlindPool(InotifyPool):
    """A pool on a system that does not report what is touched."""

    def take(self) -> InotifyWatch:
        raise OSError("nothing is reported here")


def watches(watch: bool) -> InotifyPool | None:
    """Return the pool for a scanner: ``None`` for its own one, or one that reports nothing."""
    return None if watch else BlindPool()
