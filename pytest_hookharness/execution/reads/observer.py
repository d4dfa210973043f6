"""
Observed hook runs: ordinary ones that also yield a record of what they looked at.

The caller asks an `ReadObserver` instead of the sandbox; everything else about the runs stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_hookharness.execution.reads.baseline import (
    Key,
    SharedBaselines,
    empty_program,
    key_of,
    without_startup,
)
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec
from pytest_hookharness.model.reads import LookKind, Reads

# How a program looks for something, and not how it makes or changes it.
_LOOKS_FOR = frozenset(
    {LookKind.OPENED, LookKind.EXECUTED, LookKind.STATUS, LookKind.ACCESS, LookKind.LISTED}
)
Starter = Callable[[Sequence[ProcessSpec]], tuple[ProcessResult, ...]]
_STARTS = 2


class ReadObserver:
    """
    Runs hooks and records what they look at; it remembers what the start of each interpreter looks at.

    Attributes:
        shared: Has such records of other simulations; ``None`` while a start could go another way here.
    """

    def __init__(self) -> None:
        self.shared: SharedBaselines | None = None
        self._known: dict[Key, tuple[Reads, ...]] = {}
        # Those that no other simulation knew.
        self._new: set[Key] = set()

    def run(self, start: Starter, specs: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
        """
        Start all processes at once and return their results in the same order, each with its ``reads``.

        Afterwards each interpreter runs an empty program, twice, unless a record of that is known.
        """
        results = start([replace(spec, observed=True) for spec in specs])
        return tuple(
            replace(result, reads=self.subtract(start, spec, result.reads or Reads(observed=False)))
            for result, spec in zip(results, specs, strict=True)
        )

    def subtract(self, start: Starter, hook: ProcessSpec, reads: Reads) -> Reads:
        """Return the record of a hook run without what the start of each interpreter looks at."""
        if not reads.observed:
            return reads
        baselines: dict[str, tuple[Reads, ...]] = {}
        for program in reads.programs:
            spec = empty_program(program, hook)
            if spec is not None and program.invoked not in baselines:
                baselines[program.invoked] = self._baseline(start, spec)
        return without_startup(reads, baselines)

    def _baseline(self, start: Starter, spec: ProcessSpec) -> tuple[Reads, ...]:
        """Return the records of empty programs; none if one of them could not be recorded."""
        key = key_of(spec)
        if key not in self._known:
            found = self.shared.find(key) if self.shared is not None else ()
            if not found:
                found = self._record(start, spec)
                self._new.add(key)
            self._known[key] = found
        return self._known[key]

    def _record(self, start: Starter, spec: ProcessSpec) -> tuple[Reads, ...]:
        records = [start([spec])[0].reads for _ in range(_STARTS)]
        found = tuple(reads for reads in records if reads is not None and reads.complete)
        return found if len(found) == _STARTS else ()

    def share(self) -> None:
        """Give other simulations what the start of each interpreter looks at, as far as it holds there."""
        for key in self._new if self.shared is not None else ():
            if self._known[key] and self.shared is not None:
                self.shared.offer(key, self._known[key])


class SearchObserver(ReadObserver):
    """Runs hooks and notes the missing paths that they look for, each with the command lines that did."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: dict[str, set[str]] = {}

    def run(self, start: Starter, specs: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
        """Start all processes at once, and return their results without what they looked at."""
        results = start([replace(spec, observed=True) for spec in specs])
        for result, spec in zip(results, specs, strict=True):
            for program in result.reads.programs if result.reads else ():
                for look in program.looks:
                    if look.kind in _LOOKS_FOR and not (look.existed or look.own):
                        self.missing.setdefault(look.path, set()).add(" ".join(spec.argv))
        return tuple(replace(result, reads=None) for result in results)
