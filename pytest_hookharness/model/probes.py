"""
Probes: experiments on saved states, and their results.

A cycle repetition is one pass through a cycle. State parts are the differences between the states after two
repetitions that are otherwise equal; a probe changes such parts and plays one more repetition.
"""

from __future__ import annotations

import enum

from pytest_hookharness.model.fast_dataclass import dataclass

_LONG, _LONG_NAME = 60, 28


class PartKind(enum.Enum):
    """The kind of a state part, guessed from its values."""

    STAMP = "time stamp"
    COUNTER = "counter"
    NUMBER = "number"
    GROWTH = "growing text"
    FILES = "growing number of files"
    IDENTIFIER = "identifier"
    DIGEST = "content hash"
    PROCESS = "process number"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePart:
    """
    One state part: a value that differs from repetition to repetition.

    Attributes:
        path: State path of the file, or of the folder with the growing number of files.
        name: Position in the file: a JSON path (``$.queue[0].count``), a key, ``line 3``, ``file name``;
            empty for the whole file.
        before: The value one repetition ago, shortened; empty if it has grown.
        after: The value now, shortened; the added text if it has grown.
        step: The difference of a counter per repetition.
        stamped: Whether it is a timestamp or contains timestamps, so that it can be made older.
    """

    path: str
    name: str = ""
    kind: PartKind
    before: str = ""
    after: str = ""
    step: int | float | None = None
    stamped: bool = False

    @property
    def file(self) -> str:
        """The state path; folders in the middle of a long one are left out."""
        first, _, rest = self.path.partition("/")
        name = rest.rpartition("/")[2]
        if len(name) > _LONG_NAME:
            name = f"{name[:8]}...{name[-10:]}"
        return f"{first}/.../{name}" if len(self.path) > _LONG else self.path

    @property
    def place(self) -> str:
        """The position of the part, in a few words."""
        return f"{self.name} in {self.file}" if self.name else self.file


class PerturbationKind(enum.Enum):
    """The kinds of change that a probe makes to state parts."""

    OLDER = "put back to its older value"
    AHEAD = "pushed ahead"
    AGED = "made older, as if time had passed"
    WAITED = "left alone for a while"
    CLOCK = "played with a clock that moves on"
    REPLACED = "replaced by another of its kind"
    TRANSCRIPT = "the transcript made longer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """
    The change of the state in one probe.

    Attributes:
        parts: Indexes of the changed parts in the list of all parts.
        repetitions: Number of repetitions to go ahead; for ``AHEAD``.
        seconds: Seconds that pass; for ``AGED`` and ``WAITED``.
        pace: Seconds that the hooks' clock advances per repetition; for ``AHEAD``.
    """

    parts: tuple[int, ...]
    how: PerturbationKind
    repetitions: int = 0
    seconds: float = 0.0
    pace: float = 0.0


class UnknownDecisionError(Exception):
    """The harness ended a hook run of an experiment before it decided, so the experiment shows nothing."""


class ProbeEffect(enum.Enum):
    """The difference between a repetition from the changed state and one from the original state."""

    SAME = "the same decisions, and the same effect on the rest"
    DECISION = "another decision"
    EFFECT = "the same decisions, but another effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """
    The result of one repetition from a changed state: the difference, in a few words, and its turn, if any.

    ``allows_stop`` says that the hooks allowed a stop in that turn.
    """

    reaction: ProbeEffect
    what: str = ""
    turn: int = 0
    allows_stop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One experiment on a saved state, with the change that was tried, in words."""

    kind: PerturbationKind
    tried: str
    seen: ProbeResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """
    A value, found by probes, at which a hook starts to behave differently.

    Attributes:
        at: The first such value, in words: ``count 50 in home/.state.json``; empty if it was not looked for,
            and turns were played until it was reached.
        turn: The turn in which the loop would reach it; ``None`` if only the passage of time leads there.
        latest: The last turn in which it can come, if time decides and the turns take less time than before;
            ``None`` if it comes in ``turn``.
        seconds: Time that would have to pass; ``None`` if turns lead there.
        allows_stop: Whether the hooks would then allow the stop.
    """

    at: str
    what: str
    reaction: ProbeEffect = ProbeEffect.DECISION
    turn: int | None = None
    latest: int | None = None
    seconds: float | None = None
    allows_stop: bool = False

    @property
    def played(self) -> bool:
        """Whether the run was played on to it, and not only tried ahead."""
        return not self.at and self.seconds is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """
    All probes of the state after one turn, and their conclusion.

    Attributes:
        period: Length of a repetition in turns.
        parts: The state parts; empty if nothing differs.
        threshold: The threshold that was found; ``None`` if there was none within what was tried.
        unclear: Why the probes are inconclusive; empty if they are conclusive.
        out_of_time: Whether that is because turns had used up their share of the time.
        limits: What the probes did not cover, in sentences.
        unpredictable: Whether a part changes by an unknown rule, so that later values cannot be predicted.
        uncapped: The last turn that was played after this one without the limits of the host; 0 if none was.
    """

    turn: int
    period: int
    parts: tuple[StatePart, ...] = ()
    probes: tuple[Probe, ...] = ()
    threshold: Threshold | None = None
    unclear: str = ""
    out_of_time: bool = False
    limits: tuple[str, ...] = ()
    unpredictable: bool = False
    uncapped: int = 0

    @property
    def inert(self) -> bool:
        """Whether no state part affects a decision, within what was tried."""
        return self.threshold is None and not self.unclear

    def changes_within(self, repetitions: int) -> bool:
        """Return whether another effect was found within some repetitions: then the parts do not progress."""
        found = self.threshold
        if found is None or found.turn is None or found.reaction is not ProbeEffect.EFFECT:
            return False
        return found.turn - self.turn <= repetitions * self.period

    @property
    def shows_no_time(self) -> bool:
        """Whether the clock was moved, and made no difference."""
        return self.inert and any(probe.kind is PerturbationKind.CLOCK for probe in self.probes)
