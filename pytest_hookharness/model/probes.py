"""
Probes: experiments on saved states, and what they showed.

Parts: what differs between two moments of a loop that are otherwise alike.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

_LONG, _LONG_NAME = 60, 28


class PartKind(enum.Enum):
    """
    What a part is, as far as its values tell.
    """

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
    One thing that differs from lap to lap.

    Attributes:
        path: State path of the file, or of the folder that gets more files.
        name: Where in it: a JSON path (``$.queue[0].count``), a key, ``line 3``, ``file name``; empty
            for the whole of it.
        kind: What it is.
        before: Its value one lap ago, shortened; empty for what has grown.
        after: Its value now, shortened; what was added, for what has grown.
        step: By how much a counter moves each lap.
        unit: What the number of a time stamp counts: ``s``, ``ms``, ``us``, ``ns``, ``text``.
        stamped: Whether it is a time stamp, or time stamps are part of what is added, so that it can age.
    """

    path: str
    name: str = ""
    kind: PartKind
    before: str = ""
    after: str = ""
    step: int | float | None = None
    unit: str = ""
    stamped: bool = False

    @property
    def file(self) -> str:
        """
        The state path, without the folders in the middle of a long one.
        """
        first, _, rest = self.path.partition("/")
        name = rest.rpartition("/")[2]
        if len(name) > _LONG_NAME:
            name = f"{name[:8]}...{name[-10:]}"
        return f"{first}/.../{name}" if len(self.path) > _LONG else self.path

    @property
    def place(self) -> str:
        """
        The part in few words: where it stands.
        """
        return f"{self.name} in {self.file}" if self.name else self.file


class PerturbationKind(enum.Enum):
    """
    What an experiment does to parts.
    """

    OLDER = "put back to its older value"
    AHEAD = "pushed ahead"
    AGED = "made older, as if time had passed"
    WAITED = "left alone for a while"
    REPLACED = "replaced by another of its kind"
    TRANSCRIPT = "the transcript grown tenfold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """
    One change of the state, made by experiment.

    Attributes:
        parts: The parts that are changed, as places in the list of all parts.
        how: What is done to them.
        repetitions: How many laps ahead; for ``AHEAD``.
        seconds: How much time passes; for ``AGED`` and ``WAITED``.
        pace: Seconds that the clock of the hooks goes on with each lap; for ``AHEAD``.
    """

    parts: tuple[int, ...]
    how: PerturbationKind
    repetitions: int = 0
    seconds: float = 0.0
    pace: float = 0.0


class ProbeEffect(enum.Enum):
    """
    What a lap from a changed state showed, beside a lap from the state as it was.
    """

    SAME = "the same decisions, and the same effect on the rest"
    DECISION = "another decision"
    EFFECT = "the same decisions, but another effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """
    What one lap from a changed state showed.

    Attributes:
        reaction: Whether it was the same.
        what: What was different, in a few words; empty if nothing was.
        turn: In which turn of the lap it was; 0 if in none.
        allows_stop: Whether the turn was over then, and nothing stood in the way.
    """

    reaction: ProbeEffect
    what: str = ""
    turn: int = 0
    allows_stop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """
    One experiment.

    Attributes:
        kind: What kind of change it was.
        tried: What was done to the state, in words.
        seen: What a lap from there showed.
        hook_runs: How many fires that took.
    """

    kind: PerturbationKind
    tried: str
    seen: ProbeResult
    hook_runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """
    Where, by experiment, something else would happen.

    Attributes:
        at: The first place where it would, in words: ``count 50 in home/.state.json``.
        what: What would happen there.
        turn: The turn in which it would, if nothing else comes between; ``None`` if only time leads there.
        seconds: How much time would have to pass; ``None`` if turns lead there.
        allows_stop: Whether the hooks would then refuse nothing any more.
        reaction: What kind of difference it is.
    """

    at: str
    what: str
    reaction: ProbeEffect = ProbeEffect.DECISION
    turn: int | None = None
    seconds: float | None = None
    allows_stop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """
    All experiments on the state after one turn, and what they come to.

    Attributes:
        turn: That turn.
        period: Length in turns of the laps that are alike.
        parts: What differs from lap to lap; empty if nothing does.
        probes: The experiments, in order.
        threshold: Where something else would happen; ``None`` if nowhere as far as was tried.
        unclear: Why nothing follows from the experiments; empty if something does.
        limits: What the experiments did not reach, in sentences.
        unpredictable: Whether a part moves on by a rule that is not seen, so that nothing could be foretold.
    """

    turn: int
    period: int
    parts: tuple[StatePart, ...] = ()
    probes: tuple[Probe, ...] = ()
    threshold: Threshold | None = None
    unclear: str = ""
    limits: tuple[str, ...] = ()
    unpredictable: bool = False

    @property
    def inert(self) -> bool:
        """
        Whether, as far as was tried, no part that changes decides anything.
        """
        return self.threshold is None and not self.unclear

    @property
    def hook_runs(self) -> int:
        """
        How many fires all experiments took.
        """
        return sum(probe.hook_runs for probe in self.probes)
