"""Trees of lines: the sessions of fake agents, and background processes with the threads of their hooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness.model.agent_sessions import ChildHookRun, ChildSession
from pytest_hookharness.model.background import USER, BackgroundReport, BackgroundRun, Denial, HookThread
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.reports.safe_text import plain, quoted
from pytest_hookharness.reports.terminal.phrases import and_more, bounded

_MOST_LINES = 16
_MOST_HOOK_RUNS = 4
_CALL = 44
_COMMAND = 40


def render_sessions(children: Sequence[ChildSession]) -> list[str]:
    """Return each session below the session that started it, with its hook runs; bounded."""
    started = {child.number for child in children}
    roots = (child for child in children if child.parent not in started or child.parent >= child.number)
    lines = [line for child in roots for line in _tree(child, children)]
    if len(lines) > _MOST_LINES:
        return [*lines[:_MOST_LINES], f"  ... {counted(len(lines) - _MOST_LINES, 'line')} ..."]
    return lines


def _tree(child: ChildSession, children: Sequence[ChildSession]) -> Iterator[str]:
    indent = "  " * max(1, min(child.depth, 12))
    yield f"{indent}{plain(' '.join(child.argv), _CALL)}  {_became(child)}"
    for hook_run in child.hook_runs[:_MOST_HOOK_RUNS]:
        yield f"{indent}  {_hook_run(hook_run)}"
    yield from and_more(len(child.hook_runs) - _MOST_HOOK_RUNS, "hook run", f"{indent}  ")
    for other in children:
        if other.parent == child.number < other.number:
            yield from _tree(other, children)


def _became(child: ChildSession) -> str:
    if child.refused:
        return f"refused: beyond {plain(child.refused, 40)}"
    return f"on {counted(child.size, 'byte')}: {plain(child.ended, 20) or 'cut off'}"


def _hook_run(hook_run: ChildHookRun) -> str:
    ended = f"exited {hook_run.code}" if hook_run.code is not None else "did not end by itself"
    said = f" -> {plain(hook_run.ruling, 10)}" if hook_run.ruling != "none" else ""
    because = f" {quoted(hook_run.reason, 40)}" if hook_run.reason.strip() else ""
    return f"{plain(hook_run.event, 24)} {plain(hook_run.command, _COMMAND)}  {ended}{said}{because}"


_MOST_BACKGROUND_LINES = 40
_BECAUSE = 70


def render_background(background: BackgroundReport) -> list[str]:
    """Return the tree of background processes, bounded; empty if there was none."""
    if not (background.processes or background.denials):
        return []
    lines = ["  processes and the threads of their hooks", *_below(background, USER, "    ")]
    started = {run.id for run in background.processes}
    lines += [f"    {_denied(denial)}" for denial in background.denials if denial.process not in started]
    return bounded(lines, _MOST_BACKGROUND_LINES, "    ")


def _below(background: BackgroundReport, thread: int, indent: str) -> Iterator[str]:
    for run in background.processes:
        if run.by != thread:
            continue
        yield indent + _ran(run)
        for spawned in background.threads:
            if spawned.process == run.id:
                yield f"{indent}  {_spawned(spawned)}"
                yield from _below(background, spawned.number, indent + "    ")
        for denial in background.denials:
            if denial.process == run.id:
                yield f"{indent}  {_denied(denial)}"


def _ran(run: BackgroundRun) -> str:
    end = "still running" if run.ended is None else f"exited {run.code} after {run.ended - run.started:.1f} s"
    missed = f", {run.missed} of them unwatched" if run.missed else ""
    side = ", started with unknown parent" if run.side else ""
    return f"{plain(run.id, 40)} (pid {run.pid}){side}  {end}, {counted(run.lines, 'line')}{missed}"


def _spawned(thread: HookThread) -> str:
    first, last = thread.turns
    if not first:
        how = "due, but not played"
    else:
        how = f"turn {first}" if first >= last else f"turns {first} to {last}"
        how += f", {thread.verdict}"
    return f"{plain(thread.because, _BECAUSE)} -> thread {thread.number}, depth {thread.depth}: {how}"


def _denied(denial: Denial) -> str:
    who, what = (denial.hook, "no thread") if denial.hook else (f"detach {denial.process}", "not started")
    return f"{plain(who, _BECAUSE)} -> {what}: {plain(denial.reason, 120)}"
