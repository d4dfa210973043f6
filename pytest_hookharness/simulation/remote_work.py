"""
Work for an executor, in other processes or on other machines: what stress, explore and check have in common.

A piece of work is a function of `Resources`; it and its result can be pickled. The clocks of two machines
differ, so work limits itself by a duration. The caller waits by the clock of its own machine.
"""

from __future__ import annotations

import copyreg
import io
import math
import pickle
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future
from contextlib import closing, suppress
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from pytest_hookharness import agents
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.workspace.scratch_folder import ScratchFolder
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.simulation.single_run import Resources

T = TypeVar("T")
Work: TypeAlias = Callable[[Resources], T]
_Behaviours: TypeAlias = Mapping[str, agents.BehaviourFunction] | None
# Seconds in which work that was begun in time may end.
_GRACE = 5.0


def submit(executor: Executor, work: Work[Any], behaviours: _Behaviours = None) -> Future[bytes]:
    """Give a piece of work to an executor; `receive` returns its result."""
    return executor.submit(do_in_new_process, work, behaviours)


def receive(future: Future[bytes], until: float) -> Any:
    """
    Wait for the result of a piece of work until a time of the monotonic clock; longer if it was begun.

    Raises:
        BudgetEnded: There was none until then.
        Exception: The exception that the work raised.
    """
    try:
        _wait(future, until)
        if not future.done() and not future.cancel():
            _wait(future, until + _GRACE)
    except BaseException:
        future.cancel()
        raise
    if not future.done() or (future.cancelled() and time.monotonic() >= until):
        raise BudgetEnded("an executor was waited for")
    return pickle.loads(future.result())  # noqa: S301 - our own code wrote it


def _wait(future: Future[bytes], until: float) -> None:
    # `concurrent.futures.wait` hears nothing of work that is taken back, as by Ctrl-C.
    with suppress(TimeoutError, CancelledError):
        future.exception(None if until == math.inf else max(0.0, until - time.monotonic()))


def do_in_new_process(work: Work[Any], behaviours: _Behaviours) -> bytes:
    """Do a piece of work in a process without a supervisor and a folder; return its result, pickled."""
    with closing(ScratchFolder(keep=False)) as folder, Supervisor() as supervisor:
        result = work(Resources(supervisor=supervisor, base=folder.path, behaviours=behaviours))
    # States are read-only views, which are not pickled otherwise.
    written = io.BytesIO()
    pickler = pickle.Pickler(written)
    pickler.dispatch_table = {**copyreg.dispatch_table, MappingProxyType: _reduce_view}
    pickler.dump(result)
    return written.getvalue()


def _reduce_view(view: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return _read_only, ({**view},)


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)
