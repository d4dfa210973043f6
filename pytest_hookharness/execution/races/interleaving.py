"""
Interleaving control: hook runs side by side, each held before it changes what others have read.

The program that does it is ``scheduler``; this module starts it and reads its report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_hookharness.execution.processes.sandbox import ExecutionError, library_paths, python_program
from pytest_hookharness.execution.races import scheduler
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import (
    Cut,
    Ending,
    Exited,
    Output,
    ProcessResult,
    ProcessSpec,
    Signaled,
    Stdin,
    TimedOut,
)

# Bytes that a pipe holds; the scheduler writes all of the input before a process begins.
LONGEST_INPUT = 1 << 16
_SPARE = 5.0
_REPORT = 64 << 20
_UNSEEN = "no hook run was seen to change these files"

Starter = Callable[[Sequence[ProcessSpec], float], tuple[ProcessResult, ...]]


@dataclass(frozen=True, slots=True)
class InterleavingResult:
    """
    The result of hook runs side by side.

    Attributes:
        holds: How often one of them was held.
        reason: Why they were not controlled; empty if they were.
    """

    runs: tuple[ProcessResult, ...]
    holds: int
    reason: str


def run_interleaved(
    start: Starter, specs: Sequence[ProcessSpec], watched: Sequence[str], delay: float, budget: float
) -> InterleavingResult:
    """
    Start all processes at once, or delayed, and control how they interleave.

    Args:
        watched: Absolute paths of the files before whose changes they are held.
        delay: Seconds between their starts.
        budget: Seconds for all of it.

    Raises:
        ExecutionError: The program inside the sandbox failed.
    """
    limit = min(budget, max(min(spec.limit, spec.hook_timeout) for spec in specs) + _SPARE)
    processes = [_encode(spec) for spec in specs]
    spec = {"hook_runs": processes, "watched": [*watched], "apart": delay, "limit": limit}
    program = ProcessSpec(
        argv=python_program(scheduler.__name__, "-B"),
        cwd="/",
        env=library_paths(specs[0].env),
        stdin=Stdin(data=json.dumps(spec).encode()),
        limit=limit + _SPARE,
        hook_timeout=limit + _SPARE,
        output_limit=_REPORT,
    )
    (run,) = start([program], limit + 2 * _SPARE)
    try:
        report = json.loads(run.stdout.data)
        runs = tuple(_decode(result, limit) for result in report["hook_runs"])
        holds, reason = int(report["holds"]), str(report["reason"])
        return InterleavingResult(runs, holds, reason or ("" if holds else _UNSEEN))
    except (ValueError, KeyError, TypeError) as problem:
        errors = run.stderr.text[-500:]
        raise ExecutionError(f"the interleaving scheduler failed: {run.ending}: {errors}") from problem


def _encode(spec: ProcessSpec) -> Mapping[str, Any]:
    data = spec.stdin.data
    if len(data) > LONGEST_INPUT:
        raise ExecutionError(
            f"a hook run with {len(data)} bytes of input cannot be interleaved; the limit is {LONGEST_INPUT}"
        )
    stdin = data.decode("utf-8", "surrogateescape")
    return {"argv": spec.argv, "cwd": spec.cwd, "env": spec.env, "stdin": stdin}


def _decode(result: Mapping[str, Any], limit: float) -> ProcessResult:
    status: int | None = result["status"]
    ending: Ending = TimedOut(limit, Cut.HOOK_TIMEOUT)
    if status is not None:
        ending = Exited(status) if status >= 0 else Signaled(-status)
    out, err = (part.encode("latin-1") for part in result["output"])
    return ProcessResult(ending=ending, stdout=Output(out, len(out)), stderr=Output(err, len(err)))
