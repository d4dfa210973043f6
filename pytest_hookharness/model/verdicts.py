"""
Codes: one kind of defect, in words.

Which codes there are is the judges' business.

Verdicts: what a trace means for termination.

The verdicts are a sum; none of them overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from pytest_hookharness.model.expectations import VerdictName
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.trace import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """
    The host's own net, seen from one loop.

    Attributes:
        overrides: The refusal that it sets aside, counted from 1 since the streak began;
            ``None`` if it would never act on this loop.
        why: One sentence.
        rule: The fact it rests on.
    """

    overrides: int | None
    why: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """
    What ends any long run on a host, seen from one loop.

    Attributes:
        turn: The turn in which it would end this one.
        why: One sentence.
        rule: The fact it rests on.
    """

    turn: int
    why: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminated:
    """
    The agent wanted to stop and the hooks let it, by their own decision.

    Attributes:
        turn: The turn in which they did.
    """

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Capped:
    """
    The host's guard ended it before a lasso was proved, or because the scenario let it.

    Attributes:
        turn: The turn in which it did.
        cap: The guard.
        changed: What kept changing from turn to turn, so that nothing was proved before.
        status: The host's own word for a run that it ended so; empty if it has none.
    """

    turn: int
    cap: Cap
    changed: tuple[Change, ...] = ()
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Livelock:
    """
    The same state came again, twice: it goes on for ever.

    Attributes:
        stem: The turn after which the cycle begins.
        period: Length of the cycle in turns.
        repetitions: How often the cycle was gone round.
        evidence: ``exact``, ``probed`` or ``masked``.
        assumptions: What the proof rests on, in sentences.
        cap: What the host's guard would do about it; ``None`` if the host has none.
        limits: What else of the host would end it, the soonest first.
    """

    stem: int
    period: int
    repetitions: int = 2
    evidence: str = "exact"
    assumptions: tuple[str, ...] = ()
    cap: Cap | None = None
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hung:
    """
    The host waits for ever.

    Attributes:
        turn: The turn in which it began to wait.
        event: Its name of the event.
        command: The hook that it waits because of.
        rule: The host's rule behind it.
        asked: Whether the hook asked for an answer that nobody gives; otherwise it was cut.
    """

    turn: int
    event: str
    command: str
    rule: Rule
    asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recursing:
    """
    Fires caused fires beyond the limit of depth or number.

    Attributes:
        turn: The turn in which it was noticed.
        limit: Which limit, and how it was reached.
        chain: How it came to that, in short sentences, root first.
    """

    turn: int
    limit: str
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockout:
    """
    From this state no move that the agent has leads to a stop.

    Attributes:
        turn: The turn after which it is so.
        moves: The moves that it has.
    """

    turn: int
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """
    It is not known whether this ends.

    Attributes:
        turn: The last turn that was played.
        why: What ended the search.
        changed: What differed between the last turns, if nothing recurred.
    """

    turn: int
    why: str
    changed: tuple[Change, ...] = ()


Verdict: TypeAlias = Terminated | Capped | Livelock | Hung | Recursing | Lockout | Undecided


def verdict_name(verdict: Verdict) -> VerdictName:
    """
    The word for a verdict, as scenario files use it.
    """
    match verdict:
        case Terminated():
            return "terminated"
        case Capped():
            return "capped"
        case Livelock():
            return "livelock"
        case Hung():
            return "hung"
        case Recursing():
            return "recursing"
        case Lockout():
            return "lockout"
        case Undecided():
            return "undecided"
        case _:
            assert_never(verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    A defect seen on the way.

    Attributes:
        code: ``HH`` and three digits.
        name: The short name, in capitals.
        text: What was seen, in one sentence.
        advice: What to do about it.
        turn: The turn in which it was first seen; 0 before the first.
        hook: The command concerned; empty if none.
        times: How often it was seen.
        rule: The host's rule behind it, if there is one.
    """

    code: str
    name: str
    text: str
    advice: str = ""
    turn: int = 0
    hook: str = ""
    times: int = 1
    rule: Rule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """
    A promise of the scenario that was not kept.

    Attributes:
        path: The key path of the promise, as written in the file.
        expected: What was promised, in words.
        seen: What was seen instead.
    """

    path: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class Conclusion:
    """
    What the judge makes of a trace.

    Attributes:
        verdict: The verdict.
        findings: Defects seen on the way.
        assumptions: What verdict and findings rest on, in sentences.
    """

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    assumptions: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class FindingCode:
    """
    One kind of defect.

    Attributes:
        code: ``HH`` and three digits; empty for a bad end, which is known by its name.
        name: The short name, in capitals.
        what: What was seen, in general.
        why: Why that matters.
        fix: What to do about it.
    """

    code: str
    name: str
    what: str
    why: str
    fix: str

    def found(self, text: str, *, turn: int = 0, hook: str = "", rule: Rule | None = None) -> Finding:
        """
        A finding of this kind: what was seen, in which turn, of which command, and by which rule of the host.
        """
        return Finding(
            code=self.code, name=self.name, text=text, advice=self.fix, turn=turn, hook=hook, rule=rule
        )
