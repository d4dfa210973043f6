"""
Numbers and their nouns.

What the author of a scenario promises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_hookharness.model.moves import Move

VerdictName: TypeAlias = Literal[
    "terminated", "capped", "livelock", "hung", "recursing", "lockout", "undecided"
]


VERDICTS: tuple[VerdictName, ...] = (
    "terminated",
    "capped",
    "livelock",
    "hung",
    "recursing",
    "lockout",
    "undecided",
)


@dataclass(frozen=True, slots=True)
class Range:
    """
    How often something may happen, both ends included; ``None`` is open.
    """

    min: int | None = None
    max: int | None = None

    @classmethod
    def exactly(cls, number: int) -> Range:
        """
        The range that holds one number only.
        """
        return cls(number, number)

    def __contains__(self, number: int) -> bool:
        return (self.min is None or self.min <= number) and (self.max is None or number <= self.max)

    def __str__(self) -> str:
        if self.min == self.max and self.min is not None:
            return str(self.min)
        if self.min is None:
            return f"at most {self.max}" if self.max is not None else "any number"
        return f"at least {self.min}" if self.max is None else f"{self.min} to {self.max}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExpectations:
    """
    What the workspace must look like at the end; all paths are relative to it.
    """

    equal: Mapping[str, str] = field(default_factory=dict)
    contain: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CapExpectation:
    """
    What must be said about the host's guard.

    Attributes:
        overrides: The refusal that the guard sets aside, counted from 1; ``None`` if not asked for.
        present: Whether the host has a guard that would end the loop.
    """

    present: bool = True
    overrides: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExpectation:
    """
    What must be seen of process hooks.

    Attributes:
        threads: Threads that were spawned, by process (``build``) or by hook (``build.on_exit``).
        depth: The depth of the deepest thread; ``None`` if not asked for.
    """

    threads: Mapping[str, Range] = field(default_factory=dict)
    depth: Range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """
    What a scenario's author promises.

    A key that was not written is not checked, except that findings and leftovers are never allowed
    unless named.

    Attributes:
        verdict: The verdict by name.
        within: Iterations, at most.
        within_ms: Milliseconds that 95 % of the fires of each hook may take, by event.
        blocks: Refusals that the host honoured: in all, or by event.
        hook_runs: Fires of a hook, by a word of its command, or of an event by its name.
        decisions: The rulings on an event, in order, from the first.
        period: The period of the lasso, in turns.
        cap: What is said about the guard.
        evidence: ``exact``, ``probed`` or ``masked``.
        reasons: Regular expressions, each found in some reason the agent was given.
        detectors: Loops of the agent's own moves that must be seen, by their titles; others must not.
            ``None`` if nothing is said of them.
        findings: Codes that must occur; others must not.
        files: The workspace at the end.
        leftovers: How many processes were left over, in all.
        sometimes: Event names, or ``event:ruling``, each of which must happen at least once.
        told: Regular expressions, each found in some text of a hook that reaches the agent's model.
        effects: Files by ``event`` or ``event:ruling`` that hooks change each time that this happens; if
            they do not, that is a finding.
        sessions_alike: A call that a session makes first is answered as it was in the session before;
            if it is not, that is a finding.
        processes: What must be seen of process hooks.
        way_in: The shortest way into a lock-out, empty if the session begins in it; ``None`` if not asked
            for.
        way_out: The shortest way out of the loop that the agent runs into, its stop included; ``None`` if not
            asked for.
        sessions: How many sessions stand-ins played, in all.
        depth: How many sessions lay within each other, below the scenario's own.
    """

    verdict: VerdictName | None = None
    within: int | None = None
    within_ms: Mapping[str, int] = field(default_factory=dict)
    blocks: Range | Mapping[str, Range] | None = None
    hook_runs: Mapping[str, Range] = field(default_factory=dict)
    decisions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    period: int | None = None
    cap: CapExpectation | None = None
    evidence: str | None = None
    reasons: tuple[str, ...] = ()
    detectors: tuple[str, ...] | None = None
    findings: tuple[str, ...] = ()
    files: FileExpectations | None = None
    leftovers: Range | None = None
    sometimes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sessions_alike: bool = False
    processes: ProcessExpectation = ProcessExpectation()
    way_in: tuple[Move, ...] | None = None
    way_out: tuple[Move, ...] | None = None
    sessions: Range | None = None
    depth: Range | None = None

    def allows(self, *words: str) -> bool:
        """
        Whether a finding is promised, or is one that nobody has to name, by its code and its name.
        """
        # Processes that are left over are counted by a promise of their own, which never stays unsaid.
        return "LEFTOVER" in words or any(word.upper() in words for word in self.findings)


def counted(number: object, word: str) -> str:
    """
    A number, or what is promised of one, with its noun: ``1 block``, ``2 blocks``, ``at most 1 block``.
    """
    return f"{number} {word}" if str(number).rpartition(" ")[2] == "1" else f"{number} {word}s"
