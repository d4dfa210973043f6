"""The changes of experiments in words, and the threshold that follows from one that made a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field

from pytest_hookharness.judging.probing.experiments import ExperimentResult
from pytest_hookharness.judging.state_diff.pattern import Pattern
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.probes import PartKind, Perturbation, PerturbationKind, Threshold
from pytest_hookharness.model.time_budget import format_duration

# Parts whose later values are unknown.
_UNKNOWN_LATER = frozenset({
    PartKind.STAMP, PartKind.IDENTIFIER, PartKind.DIGEST, PartKind.PROCESS, PartKind.OTHER,
})  # fmt: skip


def describe_pause(seconds: float) -> str:
    """Return, in words, a pause after which hooks decide differently, as exactly as it is known."""
    # It was searched to a second or 2 %, and many hooks count whole seconds.
    return f"about {format_duration(seconds + max(1.0, 0.02 * seconds), digits=2)} without a turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedCycle:
    """
    The cycle from whose last repetition experiments start.

    Attributes:
        pattern: How files changed from one repetition to the next; ``None`` if they did not.
        counts: What the host counts in the input of the hooks, with the growth in a repetition.
        pace: Seconds that pass for the hooks in a repetition, at a declared pace; else 0.
        least: Of these, the seconds that pass even if the hooks take no time.
    """

    turn: int
    period: int
    pattern: Pattern | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    pace: float = 0.0
    least: float = 0.0

    def describe(self, perturbation: Perturbation) -> str:
        """Return what a perturbation changes, in words."""
        match perturbation.how:
            case PerturbationKind.AGED:
                return f"files and times in them {format_duration(perturbation.seconds)} older"
            case PerturbationKind.WAITED:
                return f"waited {format_duration(perturbation.seconds)}"
            case PerturbationKind.AHEAD if not perturbation.repetitions:
                return "one more repetition"
            case _:
                pass
        if perturbation.how is PerturbationKind.AHEAD and self.counts:
            return ", ".join([*self._moved(perturbation), *self._counted(perturbation.repetitions)])
        reached = self.pattern.describe_all(perturbation) if self.pattern is not None else ""
        if perturbation.how is PerturbationKind.AHEAD and perturbation.pace:
            turns = counted(f"{perturbation.repetitions * self.period:,}", "more such turn")
            passed = f"{turns} ({format_duration(perturbation.repetitions * perturbation.pace)})"
            return f"{reached}, {passed}" if reached else passed
        if self.pattern is None or perturbation.how is PerturbationKind.TRANSCRIPT:
            return str(perturbation.how.value)
        return reached or "one more repetition"

    def _moved(self, perturbation: Perturbation) -> Iterator[str]:
        """Yield the changes of the parts whose later values are known."""
        if self.pattern is not None:
            known = (
                part for part in perturbation.parts if self.pattern.parts[part].kind not in _UNKNOWN_LATER
            )
            yield from (self.pattern.describe(part, perturbation) for part in known)

    def _counted(self, repetitions: int) -> Iterator[str]:
        """Yield by how much the counts of the host are larger."""
        for name, step in self.counts.items():
            yield counted(f"{repetitions * step:,}", f"more {name[:-1]}")

    def find_threshold(self, result: ExperimentResult) -> Threshold | None:
        """Return the threshold that experiments found; ``None`` if they found none."""
        perturbation, seen = result.perturbation, result.seen
        if perturbation is None or seen is None:
            return None
        if perturbation.how in (PerturbationKind.AGED, PerturbationKind.WAITED):
            at = describe_pause(perturbation.seconds)
            return Threshold(
                at=at, what=seen.what, seconds=perturbation.seconds, allows_stop=seen.allows_stop
            )
        later, latest = perturbation.repetitions * self.period + max(1, seen.turn), None
        if self.least:
            # One repetition more, because many hooks count whole seconds.
            latest = self.turn + math.ceil(later * self.pace / self.least) + self.period
        return Threshold(
            at=self.describe(perturbation),
            what=seen.what,
            reaction=seen.reaction,
            turn=self.turn + later,
            latest=latest,
            allows_stop=seen.allows_stop,
        )
