"""Expectations of a scenario's author; the first sentences of attributes describe keys of scenario files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.verdicts import VerdictName


@dataclass(frozen=True, slots=True)
class Range:
    """
    A range of counts, both ends included.

    Attributes:
        min: Smallest count. ``None``: no lower limit.
        max: Largest count. ``None``: no upper limit.
    """

    min: int | None = None
    max: int | None = None

    @classmethod
    def exactly(cls, number: int) -> Range:
        """Return the range that contains one number only."""
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
    The expected workspace at the end of the session; all paths are relative to it.

    Attributes:
        equal: Complete texts of files, by path.
        contain: Texts that files contain, by path.
        absent: Paths that do not exist.
        unchanged: Paths that are the same as at the start.
    """

    equal: Mapping[str, str] = field(default_factory=dict)
    contain: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CapExpectation:
    """
    The expectation about the host's cap on refusals.

    Attributes:
        present: Whether the host has a cap that would end the loop.
        overrides: The refusal that the cap overrides, counted from 1. ``None``: not checked.
    """

    present: bool = True
    overrides: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExpectation:
    """
    The expectation about process hooks.

    Attributes:
        threads: Number of threads that were started, by process (`build`) or by hook (`build.on_exit`).
        depth: Depth of the deepest thread. ``None``: not checked.
    """

    threads: Mapping[str, Range] = field(default_factory=dict)
    depth: Range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """
    The expectation of a scenario's author.

    A key that is not written is not checked, with two exceptions: findings and leftover processes are
    allowed only if they are named.

    Attributes:
        verdict: The expected verdict.
        within: Maximum number of turns since the first prompt.
        within_ms: Time limit in milliseconds, by event, for 95 % of the runs of each hook; for all runs if
            there are fewer than 20.
        blocks: Number of refusals that the host honoured: in total, or by event.
        hook_runs: Number of hook runs, by a word of the hook's command or by event.
        decisions: Decisions on an event, in order, from the first.
        period: Length of the cycle, in turns.
        cap: What the host's cap on refusals does.
        without_cap: What the hooks themselves do about the loop, whatever the host's cap does.
        evidence: How well the livelock is proved; only beside `verdict: livelock`.
        reasons: Regular expressions; each matches a refusal reason that the agent received.
        told: Regular expressions; each matches a text from a hook that the agent received.
        detectors: Loops in the agent's own moves that must be detected; no others may be. ``None``: not
            checked.
        findings: Findings that must occur; no others may.
        files: The workspace at the end.
        no_call_after: Turn after which no tool call succeeds any more, and at least one is tried; 0 for the
            whole session. ``None``: not checked.
        leftovers: Number of processes that outlived their hook run.
        sessions: Number of sessions that fake agents ran, in total.
        depth: Maximum nesting depth of these sessions. The scenario's own session does not count.
        sometimes: Events, or `event:decision`, that must happen at least once.
        effects: Files that hooks change each time this event or `event:decision` happens; otherwise the
            finding EARLY-EXIT is reported.
        sessions_alike: Whether each session must answer a call as the session before it did; otherwise the
            finding STUCK-PHASE is reported.
        way_in: The shortest path into the lock-out; empty if the session starts in it. ``None``: not
            checked.
        way_out: The shortest path out of the loop, including its stop. ``None``: not checked.
        processes: What process hooks must do.
    """

    verdict: VerdictName | None = None
    within: int | None = None
    within_ms: Mapping[str, int] = field(default_factory=dict)
    blocks: Range | Mapping[str, Range] | None = None
    hook_runs: Mapping[str, Range] = field(default_factory=dict)
    decisions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    period: int | None = None
    cap: CapExpectation | None = None
    without_cap: Literal["terminated", "livelock", "undecided"] | None = None
    evidence: str | None = None
    reasons: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    detectors: tuple[str, ...] | None = None
    findings: tuple[str, ...] = ()
    files: FileExpectations | None = None
    no_call_after: int | None = None
    leftovers: Range | None = None
    sessions: Range | None = None
    depth: Range | None = None
    sometimes: tuple[str, ...] = ()
    effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sessions_alike: bool = False
    way_in: tuple[Move, ...] | None = None
    way_out: tuple[Move, ...] | None = None
    processes: ProcessExpectation = ProcessExpectation()

    @property
    def a_loop(self) -> bool:
        """Whether the scenario expects that the session runs in a loop, whatever may end that."""
        of_loops = (self.period, self.evidence, self.cap)
        looped = self.verdict in ("livelock", "capped") or self.without_cap == "livelock"
        return looped or any(one is not None for one in of_loops)

    def allows(self, *words: str) -> bool:
        """Return whether a finding, given by code and name, is expected or is never an error."""
        # LEFTOVER has an expectation of its own (``leftovers``) that is always checked.
        return "LEFTOVER" in words or any(word.upper() in words for word in self.findings)


def counted(number: object, word: str) -> str:
    """Return a number or a range with its noun: ``1 block``, ``2 blocks``, ``at most 1 block``."""
    return f"{number} {word}" if str(number).rpartition(" ")[2] == "1" else f"{number} {word}s"


def first_few(words: Sequence[str], most: int = 3, *, between: str = ", ") -> str:
    """Join the first words, and say how many more there are: ``a, b, c and 2 more``."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return between.join(words[:most]) + more


def ordinal(number: int) -> str:
    """Return the place of a number in a row: ``1st``, ``12th``, ``23rd``."""
    endings = {1: "st", 2: "nd", 3: "rd"}  # codespell:ignore nd
    ending = "th" if number % 100 in (11, 12, 13) else endings.get(number % 10, "th")
    return f"{number}{ending}"
