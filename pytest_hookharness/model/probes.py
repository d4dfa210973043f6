"""
This module is concerned with probes: experiments on saved states, and what they showed.

Ground floor: values only.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from pytest_hookharness.model.parts import Part, Pushing


class Reaction(enum.Enum):
    """
    What a lap from a changed state showed, beside a lap from the state as it was.
    """

    SAME = "the same decisions, and the same effect on the rest"
    DECISION = "another decision"
    EFFECT = "the same decisions, but another effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    What one lap from a changed state showed.

    Attributes:
        reaction: Whether it was the same.
        what: What was different, in a few words; empty if nothing was.
        turn: In which turn of the lap it was; 0 if in none.
        lets_go: Whether the turn was over then, and nothing stood in the way.
    """

    reaction: Reaction
    what: str = ""
    turn: int = 0
    lets_go: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """
    One experiment.

    Attributes:
        kind: What kind of change it was.
        tried: What was done to the state, in words.
        seen: What a lap from there showed.
        fires: How many fires that took.
    """

    kind: Pushing
    tried: str
    seen: Seen
    fires: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Valve:
    """
    Where, by experiment, something else would happen.

    Attributes:
        at: The first place where it would, in words: ``count 50 in home/.state.json``.
        what: What would happen there.
        turn: The turn in which it would, if nothing else comes between; ``None`` if only time leads there.
        seconds: How much time would have to pass; ``None`` if turns lead there.
        lets_go: Whether the hooks would then refuse nothing any more.
        reaction: What kind of difference it is.
    """

    at: str
    what: str
    reaction: Reaction = Reaction.DECISION
    turn: int | None = None
    seconds: float | None = None
    lets_go: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """
    All experiments on the state after one turn, and what they come to.

    Attributes:
        turn: That turn.
        period: Length in turns of the laps that are alike.
        parts: What differs from lap to lap; empty if nothing does.
        probes: The experiments, in order.
        valve: Where something else would happen; ``None`` if nowhere as far as was tried.
        unclear: Why nothing follows from the experiments; empty if something does.
        limits: What the experiments did not reach, in sentences.
        lawless: Whether a part moves on by a rule that is not seen, so that nothing could be foretold.
    """

    turn: int
    period: int
    parts: tuple[Part, ...] = ()
    probes: tuple[Probe, ...] = ()
    valve: Valve | None = None
    unclear: str = ""
    limits: tuple[str, ...] = ()
    lawless: bool = False

    @property
    def inert(self) -> bool:
        """
        Whether, as far as was tried, no part that changes decides anything.
        """
        return self.valve is None and not self.unclear

    @property
    def fires(self) -> int:
        """
        How many fires all experiments took.
        """
        return sum(probe.fires for probe in self.probes)
