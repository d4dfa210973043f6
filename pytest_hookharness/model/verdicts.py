"""
Verdicts (whether and how a session ends) and findings (defects found in it).

Every trace has exactly one verdict. ``judging`` defines which findings exist.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias, assert_never, get_args

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.trace import Change

VerdictName: TypeAlias = Literal[
    "terminated", "capped", "livelock", "hung", "recursing", "lockout", "undecided"
]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
# How the verdicts are sorted elsewhere; a new one is in each group on purpose, or is not.
UNWANTED = frozenset(VERDICTS) - {"terminated", "undecided"}
BY_REFUSALS = frozenset[VerdictName](["livelock", "capped", "lockout"])
# Ends that were seen, and follow from nothing else.
OBSERVED = frozenset[VerdictName](["terminated", "hung"])
# If the sessions of several agents end in different ways, the first of these that one has is the verdict.
WORST_FIRST: tuple[VerdictName, ...] = ("hung", "recursing", "undecided")

# What kept a verdict open, as far as advice depends on it; sentences say it in full.
# ``turns``: all turns that were wanted were played.
# ``time``: the budget ended the run, or ``time for turns``: the share of it that turns may use.
# ``ended early``: the session ended before a stop was allowed.
# ``prompt refused``: hooks ended the session before the agent started.
# ``two results``: the same state led to two results.
# ``clock``: not all programs saw the moved clock.
# ``answer too long``: not all of it was kept.
# The other three still ran at the end.
OpenReason: TypeAlias = Literal[
    "turns",
    "time",
    "time for turns",
    "interrupted",
    "ended early",
    "prompt refused",
    "two results",
    "clock",
    "answer too long",
    "process of a hook",
    "process of a command",
    "hook in the background",
]
_OUT_OF_TIME = frozenset[OpenReason](["time", "time for turns"])

# How a host's session ends; a run ends so too, or by a limit or a proof of the harness.
SessionEnd: TypeAlias = Literal["stopped", "capped", "halted", "waiting", "idle"]
RunEnding: TypeAlias = Literal[
    SessionEnd, "recursed", "turns", "wall", "interrupted", "lasso", "progression", "threshold", "disagreed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """
    The host's cap on refusals, and its effect on one loop.

    Attributes:
        overrides: The refusal that it overrides, counted from 1 within the current series; ``None`` if it
            never acts on this loop.
    """

    overrides: int | None
    why: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of the host that ends every long session, and the turn in which it would end one loop."""

    turn: int
    why: str
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminated:
    """The agent wanted to stop and the hooks allowed it."""

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutCap:
    """
    What the hooks themselves would do about a loop that a host's cap ends.

    Attributes:
        name: ``terminated`` (they allow the stop), ``livelock`` (they never do) or ``undecided``.
        why: What shows it, in words.
        reasons: What kept it open; empty unless it is undecided.
        played: Whether turns without the cap were played, and not only experiments.
        by_chance: Whether hooks draw numbers on which it may depend.
    """

    name: Literal["terminated", "livelock", "undecided"]
    why: str
    reasons: frozenset[OpenReason] = frozenset()
    played: bool = False
    by_chance: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is unknown, and a play without the cap in the rest of the time could show it."""
        return self.name == "undecided" and not self.reasons & _OUT_OF_TIME


# The condition of what masked evidence proves, after the claim.
IF_MASKED = ", if what is masked decides nothing"

UNKNOWN_WITHOUT_CAP = WithoutCap(name="undecided", why="it was not tried")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capped:
    """
    The host's cap ended the loop before a livelock was proved, or because of ``until: guard``.

    Attributes:
        without: What the hooks would do without it.
        changed: Files that changed from turn to turn and prevented a proof.
        masks: Masks with which the last turns repeat, as tried on the states of the run.
        status: The host's own word for such an end; empty if it has none.
    """

    turn: int
    cap: Cap
    without: WithoutCap = UNKNOWN_WITHOUT_CAP
    changed: tuple[Change, ...] = ()
    masks: tuple[str, ...] = ()
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Livelock:
    """
    The session repeats: by what was observed and tried it never ends.

    A path that leads into a cycle is called a lasso: the *stem* is the part before the cycle, the *period*
    the length of the cycle.

    Attributes:
        stem: The turn after which the cycle begins.
        period: Length of the cycle in turns.
        repetitions: Number of complete repetitions that were observed.
        evidence: ``closed`` (the state recurred, and everything that was read is part of it), ``unread``
            (what changes is only written), ``driven`` (something was read that could matter: real turns and
            experiments went the same way) or ``masked`` (the author declared differences irrelevant).
        matters: What was read that changes or lies outside of the state, in words; for ``driven``.
        assumptions: Facts that the proof depends on, in sentences.
        cap: The effect of the host's cap; ``None`` if the host has none.
        limits: Other limits of the host that would end the loop, earliest first.
    """

    stem: int
    period: int
    repetitions: int = 2
    evidence: str = "closed"
    matters: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    cap: Cap | None = None
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hung:
    """
    The host waits forever.

    Attributes:
        turn: The turn in which it started to wait.
        command: The hook that causes it.
        asked: Whether the hook asked the user a question; otherwise the hook did not end and was cut.
    """

    turn: int
    event: str
    command: str
    rule: Rule
    asked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recursing:
    """
    Hook runs caused hook runs beyond a limit of depth or number.

    Attributes:
        limit: The limit, and how it was reached.
        chain: The causes, in short sentences, root first.
    """

    turn: int
    limit: str
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockout:
    """No sequence of candidate moves leads from the state after this turn to a stop."""

    turn: int
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a verdict does not hold: in words, and what advice depends on."""

    why: str
    reasons: frozenset[OpenReason] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """
    It is unknown whether the session ends.

    Attributes:
        why: What ended the simulation.
        reasons: What kept it open, as far as advice depends on it.
        changed: Files that differed between the last turns, if no state occurred again.
        masks: Masks with which the last turns repeat, as tried on the states of the run.
        cap: The effect that the host's cap would have on the loop; ``None`` if it has none.
        running: Commands of the hooks that were running when the time budget ended.
    """

    turn: int
    why: str
    reasons: frozenset[OpenReason] = frozenset()
    changed: tuple[Change, ...] = ()
    masks: tuple[str, ...] = ()
    cap: Cap | None = None
    running: tuple[str, ...] = ()

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time budget left it open."""
        return bool(self.reasons & _OUT_OF_TIME)


Verdict: TypeAlias = Terminated | Capped | Livelock | Hung | Recursing | Lockout | Undecided


def verdict_name(verdict: Verdict) -> VerdictName:
    """Return the name of a verdict, as in scenario files."""
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
    A defect found in one simulation.

    Attributes:
        code: ``HH`` and three digits.
        name: Short name in capitals, such as ``EARLY-EXIT``.
        text: The observation, in one sentence.
        turn: The turn in which it was first observed; 0 before the first.
        hook: Command of the hook; empty if none.
        times: Number of observations.
        rule: The host's rule behind it; ``None`` if there is none.
    """

    code: str
    name: str
    text: str
    advice: str = ""
    turn: int = 0
    hook: str = ""
    times: int = 1
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """An expectation of the scenario that was not met, with its key path as written in the file."""

    path: str
    expected: str
    seen: str


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The judgement of a trace."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    assumptions: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class FindingCode:
    """One kind of defect: ``HH`` and three digits; no code for a bad end, which has only a name."""

    code: str
    name: str
    what: str
    why: str
    fix: str

    def found(self, text: str, *, turn: int = 0, hook: str = "", rule: Rule | None = None) -> Finding:
        """Return a finding of this kind; ``text`` is the observation, ``hook`` the command."""
        return Finding(
            code=self.code, name=self.name, text=text, advice=self.fix, turn=turn, hook=hook, rule=rule
        )
