"""
The mutation: one difference in the world of a scenario, and what its effect means.

Two kinds of mutation exist. Most must not matter: the free agent plays the scenario again, and a hook that
decides differently has a defect. A fault may matter: the moves of the first run are made again, and each hook
run is judged by its reaction to the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Literal, TypeAlias

from pytest_hookharness.campaigns.stress.first_run import HookTraits, ReplayScript
from pytest_hookharness.judging.comparison.fault_outcome import RANK, FaultReaction, code_of, find_reactions
from pytest_hookharness.judging.comparison.traces import Defect, Pair, by_decision, find_first
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.mutations import FaultOutcome, TrialResult, VaryRequest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import is_stop
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookRun, Trace
from pytest_hookharness.model.verdicts import Finding, FindingCode

# Refusing a stop because of a fault that the agent cannot correct makes an endless loop.
_AT_A_STOP = (
    "Allow the stop, tell the user that nothing was checked, and declare `on_failure: allow` in a scenario; "
    "or refuse a few times, and then allow the stop."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    What one hook did in a trial, compared with a run without the mutation.

    ``payload`` says what happens to its payload without the mutation; empty where that is not distinguished.
    """

    hook: str
    outcome: FaultOutcome
    text: str
    payload: Literal["", "deny", "allow"] = ""
    finding: Finding | None = None


def strongest(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the most telling piece of evidence for each hook and kind of payload."""
    found: dict[tuple[str, str], Evidence] = {}
    for one in evidence:
        key = one.hook, one.payload
        if key not in found or _weight(one) < _weight(found[key]):
            found[key] = one
    return tuple(found.values())


def _weight(evidence: Evidence) -> tuple[bool, int]:
    return evidence.finding is None, RANK.index(evidence.outcome)


@dataclass(frozen=True, slots=True)
class NotTried:
    """
    Something that a family cannot try on a scenario, with the reason; the report lists it.

    With the words of a mutation it is a row of the table, and otherwise a note.
    """

    family: str
    why: str
    mutation: str = ""

    def __str__(self) -> str:
        return f"Not tried ({self.family}): {self.why}."

    @property
    def result(self) -> TrialResult:
        """The row of a table that says this."""
        return TrialResult(family=self.family, mutation=self.mutation, outcome="not tried", evidence=self.why)


class Mutation:
    """
    One difference in the world of a scenario; the base of all mutations, which are frozen dataclasses.

    ``str`` is the difference in words, which tables show and ``--only`` accepts.

    Args:
        family: A word of `vary`, or one of its fault families.
        name: Which mutation of its subject it is, in a word or two.
        code: The finding if a hook decides differently because of it.
        fault: Whether it is judged as a fault; if not, it must not change any decision.
    """

    __slots__ = ()
    _family: ClassVar[str]
    _code: ClassVar[FindingCode]
    _name: ClassVar[str] = ""
    _fault: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, family: str = "", name: str = "", code: FindingCode | None = None, fault: bool = False
    ) -> None:
        # A dataclass with slots is created twice, the second time without these keywords.
        cls._family = family or getattr(cls, "_family", "")
        cls._name = name or cls._name
        if code is not None:
            cls._code = code
        cls._fault = fault or cls._fault

    @property
    def family(self) -> str:
        """The family: a word of `vary`, or one of its fault families."""
        return self._family

    @property
    def as_fault(self) -> bool:
        """Whether it is judged as a fault; otherwise it must not matter."""
        return self._fault

    @property
    def subject(self) -> str:
        """The subject of the mutation, such as a command; empty if the family says it."""
        return ""

    @property
    def name(self) -> str:
        """Which mutation of that subject it is, in a word or two."""
        return self._name

    @property
    def waits(self) -> bool:
        """Whether its run mostly waits, so that other trials can use the processor meanwhile."""
        return False

    @property
    def explains_127(self) -> bool:
        """Whether a script that did run can end with exit code 126 or 127 because of it."""
        return False

    @property
    def group(self) -> str:
        """Which findings with the same code and hook are joined: those of mutations with the same group."""
        return self.family if self.as_fault else ""

    @property
    def reference(self) -> Mutation | None:
        """The mutation whose run this one's is compared with; ``None`` for the unchanged scenario."""
        return None

    def apply(self, scenario: Scenario, replay: ReplayScript) -> Scenario:
        """Return the scenario with this difference and no other, and with the acts of its first run."""
        raise NotImplementedError

    def was_met(self, outcome: Outcome) -> str:
        """Return why a run with the mutation shows nothing; empty if it met a hook, or that is not known."""
        del outcome
        return ""

    def compare(self, usual: Trace, seen: Trace) -> tuple[Evidence, ...]:
        """Return what hooks did differently because of the mutation; for a fault, what each hook run did."""
        if self.as_fault:
            found = find_reactions(usual, seen, explains_127=self.explains_127)
            return tuple(map(self._evidence_of, found))
        finding = self.find_difference(usual, seen)
        if finding is None:
            return ()
        text = f"{finding.code} {finding.name}: {finding.text}"
        outcome = self.outcome_of(finding, usual, seen)
        return (Evidence(hook=finding.hook, outcome=outcome, text=text, finding=finding),)

    def find_difference(self, usual: Trace, seen: Trace) -> Finding | None:
        """Return the defect of a hook to which a difference that must not matter does matter."""
        return find_first(self, usual, seen, self.look)

    def look(self, pair: Pair) -> Defect | None:
        """Return the defect that one event of both runs shows."""
        return by_decision(self._code, pair)

    def outcome_of(self, finding: Finding, usual: Trace, seen: Trace) -> FaultOutcome:
        """Return the word for a difference in the table: that of the fault outcome of the same hook."""
        found = find_reactions(usual, seen, explains_127=self.explains_127)
        same = (one for one in strongest(map(self._evidence_of, found)) if one.hook == finding.hook)
        outcomes: list[FaultOutcome] = [one.outcome for one in same if one.outcome != "as declared"]
        return outcomes[0] if outcomes else "differs"

    def explain(self, usual: Trace, seen: Trace) -> str:
        """Return a note on what went differently and is no defect; empty for nothing."""
        del usual, seen
        return ""

    def describe_input(self, hook_run: HookRun) -> str:
        """Return what a hook run with this fault did with its input, to be appended to the evidence."""
        del hook_run
        return ""

    def _evidence_of(self, reaction: FaultReaction) -> Evidence:
        text = f"{reaction}{self.describe_input(reaction.after)}"
        code = code_of(reaction.outcome)
        finding = None
        if code is not None:
            finding = code.found(f"Fault: {self}. {text}.", turn=reaction.turn, hook=reaction.hook)
            if reaction.outcome == "fail-open" and is_stop(reaction.event):
                finding = replace(finding, advice=_AT_A_STOP)
        return Evidence(
            hook=reaction.hook, outcome=reaction.outcome, text=text, payload=reaction.payload, finding=finding
        )

    def result(self, evidence: Evidence, *, left: bool = False) -> TrialResult:
        """
        Return a piece of evidence as a row of a table; evidence without a hook says why nothing was tried.

        With ``left``, the mutation should have been tried and was not, or proved nothing.
        """
        return TrialResult(
            family=self.family,
            mutation=str(self),
            outcome=evidence.outcome,
            subject=self.subject,
            name=self.name,
            payload=evidence.payload,
            hook=evidence.hook,
            evidence=evidence.text,
            left=left,
        )


# Yields the mutations that a request means for a scenario, and those that cannot be tried. Several plans may
# answer one request.
Plan: TypeAlias = Callable[[VaryRequest, Outcome, HookTraits], Iterator[Mutation | NotTried]]
