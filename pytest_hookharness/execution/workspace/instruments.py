"""The instruments of one simulation: what changes or records the way in which hooks run."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_hookharness.execution.clock.clock import Clock
from pytest_hookharness.model.processes import ProcessSpec

if TYPE_CHECKING:
    from pytest_hookharness.execution.coverage.recorder import Recorder


class Instruments:
    """
    The instruments of one simulation.

    Attributes:
        written: Folders outside of the workspace that hooks must be able to write to.
        seen: Files and folders there that they must see.
    """

    def __init__(self, clock: Clock, recorder: Recorder | None) -> None:
        self._clock = clock
        self._recorder = recorder
        self.written = recorder.written if recorder is not None else ()
        self.seen = recorder.seen if recorder is not None else ()

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """Return an environment whose programs see the clock, and are recorded if coverage is wanted."""
        env = self._clock.environment(env)
        return env if self._recorder is None else self._recorder.environment(env)

    def apply_to(self, spec: ProcessSpec) -> ProcessSpec:
        """Return the process spec of a hook that sees the clock and is recorded."""
        spec = self._clock.apply_to(spec)
        return spec if self._recorder is None else self._recorder.apply_to(spec)

    @contextmanager
    def without_recorder(self) -> Generator[None]:
        """For a block, show hooks the clock alone, so that nothing of the recorder counts as read by them."""
        recorder, self._recorder = self._recorder, None
        try:
            yield
        finally:
            self._recorder = recorder

    def settle(self) -> None:
        """Collect what a hook run left for the instruments. No process of it may live."""
        self._clock.settle()
        if self._recorder is not None:
            self._recorder.settle()

    def close(self) -> None:
        """Close the instruments, while the workspace still exists."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
