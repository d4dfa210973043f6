"""
This module is concerned with process hooks: processes, what pulled their triggers, and threads, as a tree.

Middle floor: reports. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.process_hooks import USER, Denial, HookThread, Tracked, TrackedRun
from pytest_hookharness.reports.plain import plain

_MOST_LINES = 40
_BECAUSE = 70


def write_tracked(tracked: Tracked) -> list[str]:
    """
    The lines of the tree, bounded; none if no process was detached.
    """
    if not (tracked.processes or tracked.denials):
        return []
    lines = ["  processes and the threads of their hooks", *_below(tracked, USER, "    ")]
    started = {run.id for run in tracked.processes}
    lines += [f"    {_denied(denial)}" for denial in tracked.denials if denial.process not in started]
    if len(lines) > _MOST_LINES:
        left_out = len(lines) - _MOST_LINES
        lines = [*lines[: _MOST_LINES - 4], f"    ... {counted(left_out, 'line')} ...", *lines[-4:]]
    return lines


def _below(tracked: Tracked, thread: int, indent: str) -> Iterator[str]:
    for run in tracked.processes:
        if run.by != thread:
            continue
        yield indent + _ran(run)
        for spawned in tracked.threads:
            if spawned.process == run.id:
                yield f"{indent}  {_spawned(spawned)}"
                yield from _below(tracked, spawned.number, indent + "    ")
        for denial in tracked.denials:
            if denial.process == run.id:
                yield f"{indent}  {_denied(denial)}"


def _ran(run: TrackedRun) -> str:
    end = "still ran" if run.ended is None else f"exited {run.code} after {run.ended - run.started:.1f} s"
    missed = f", {run.missed} of them unwatched" if run.missed else ""
    way = ", on a side path" if run.side else ""
    return f"{plain(run.id, 40)} (pid {run.pid}){way}  {end}, {counted(run.lines, 'line')}{missed}"


def _spawned(thread: HookThread) -> str:
    first, last = thread.turns
    if not first:
        how = "was due, and not played"
    else:
        how = f"turn {first}" if first >= last else f"turns {first} to {last}"
        how += f", {thread.verdict}"
    return f"{plain(thread.because, _BECAUSE)} -> thread {thread.number}, depth {thread.depth}: {how}"


def _denied(denial: Denial) -> str:
    who, what = (denial.hook, "no thread") if denial.hook else (f"detach {denial.process}", "not started")
    return f"{plain(who, _BECAUSE)} -> {what}: {plain(denial.reason, 120)}"
