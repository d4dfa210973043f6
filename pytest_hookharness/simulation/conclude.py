"""
The outcome of a run: its verdict, findings, assumptions and broken expectations.

Every `Outcome` is built here. Later steps (campaigns) only replace parts of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_hookharness import hosts
from pytest_hookharness.execution.workspace.user_home import describe_homes
from pytest_hookharness.judging.expectations.check_expectations import find_violations
from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.judging.recurrence.cycle import Lasso
from pytest_hookharness.judging.verdict.assumptions import (
    CLOCKS,
    CONTAINED,
    NO_NETWORK,
    RECORDED,
    UNCONTAINED,
    UNREAD_GIT,
    UNWATCHED_FILES,
    UNWATCHED_TRANSCRIPT,
    chance_was_drawn,
    without_unobserved,
)
from pytest_hookharness.judging.verdict.conclusion import form_conclusion, name_chance
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.model import verdicts
from pytest_hookharness.model.background import BackgroundReport
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import ProbeReport
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.protocol import SettingsProblem
from pytest_hookharness.model.reads import ObservedCycle
from pytest_hookharness.model.time_budget import format_duration
from pytest_hookharness.model.trace import HookEvent, StateEntry, Step, Trace
from pytest_hookharness.simulation.testbed.testbed import Testbed

# The words for a socket to an address of another machine.
_INTERNET = re.compile(r"a socket \(inet6? (?!127\.|::1 |localhost)\S+ ")
_BLIND = (
    "the tier of process groups does not see an agent that a hook starts in a session of its own (`setsid`); "
    "use another tier"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvidence:
    """
    What the loop knows of the session that it ran.

    Attributes:
        lasso: The cycle of states that was seen; ``None`` if there is none.
        flaky: Whether a repetition of the cycle went another way than the one before.
        observed: The cycle whose reads were observed; ``None`` if there is none.
        findings: Findings that do not follow from the trace.
        untried: What the time did not suffice for, as a sentence; empty if it did for all.
    """

    session: hosts.Session
    trace: Trace
    end: RunEnd
    lasso: Lasso | None = None
    flaky: bool = False
    probes: tuple[ProbeReport, ...] = ()
    observed: ObservedCycle | None = None
    findings: tuple[verdicts.Finding, ...] = ()
    untried: str = ""

    @property
    def period(self) -> int:
        """The period of the cycle in turns; 0 if none was seen."""
        if self.lasso is not None:
            return self.lasso.period
        if self.observed is not None:
            return self.observed.period
        return self.probes[-1].period if self.probes else 0


def conclude_session(
    testbed: Testbed, evidence: SessionEvidence, *, initial: Mapping[str, StateEntry], wall: float
) -> Outcome:
    """Judge one session, and compare it with its expectations; it took ``wall`` seconds of real time."""
    stem = evidence.lasso.stem if evidence.lasso is not None else None
    in_cycle = [step for step in evidence.trace.steps if stem is not None and step.turn > stem]
    formed = form_conclusion(
        JudgeInput(
            evidence.trace,
            evidence.end,
            cap=hosts.cap_for(evidence.session, in_cycle, evidence.trace.steps),
            limits=hosts.find_limits(evidence.session, evidence.trace.turns, evidence.period),
            lasso=evidence.lasso,
            flaky=evidence.flaky,
            masked=testbed.scanner.masked,
            assumptions=tuple(_assumptions(testbed, evidence)),
            problems=_settings_problems(testbed, evidence.trace),
            configured=tuple(hook.event for hook in testbed.configuration.hooks),
            probing=evidence.probes[-1] if evidence.probes else None,
            observed=evidence.observed,
            expect=testbed.scenario.expect,
        )
    )
    verdict = formed.verdict
    if _is_blind(testbed) and isinstance(verdict, verdicts.Terminated):
        doubt = verdicts.Doubt(f"the session ended, but {_BLIND}", frozenset(["ended early"]))
        verdict = verdicts.Undecided(turn=verdict.turn, why=doubt.why, reasons=doubt.reasons)
    formed = verdicts.Conclusion(
        verdict,
        findings=(*formed.findings, *evidence.findings),
        assumptions=without_unobserved(formed.assumptions, *_seen_to_decide(evidence)),
    )
    outcome = _build(testbed, evidence.trace, formed, wall)
    return _checked(replace(outcome, probe_reports=evidence.probes), testbed, evidence.end, initial)


def conclude_threads(
    testbed: Testbed,
    trace: Trace,
    end: RunEnd,
    verdict: verdicts.Verdict,
    background: BackgroundReport,
    *,
    initial: Mapping[str, StateEntry],
    wall: float,
) -> Outcome:
    """
    Build the outcome of a run with background processes from the verdict on all its threads.

    It ends as the user's own thread did, or the whole run if it was interrupted, after ``wall`` seconds of
    real time.
    """
    testbed.scan()
    recorded = (RECORDED,) if testbed.settings.coverage_store is not None else ()
    events = tuple(hook.event for hook in testbed.configuration.hooks)
    # If only background processes have hooks, and these ran, no missing hook is reported.
    configured = events or (None if background.threads or background.denials else ())
    formed = form_conclusion(
        JudgeInput(
            trace,
            end,
            assumptions=(UNCONTAINED, *recorded, *testbed.sandbox.notes, *testbed.scanner.unapplied),
            problems=_settings_problems(testbed, trace),
            configured=configured,
            # The sessions of several threads are not held against what the scenario expects of one.
            expect=Expectation(),
        )
    )
    outcome = _build(testbed, trace, replace(formed, verdict=verdict), wall)
    return _checked(replace(outcome, background=background), testbed, end, initial)


def conclude_event(testbed: Testbed, hooked: HookEvent) -> Outcome:
    """Build the outcome of hooks that ran for one event outside of any session."""
    trace = Trace(steps=(Step(number=1, turn=0, exchange=hooked),))
    return Outcome(
        scenario=testbed.scenario,
        host=testbed.profile.id,
        trace=trace,
        verdict=verdicts.Terminated(turn=0),
        findings=find(trace) if hooked.hook_runs else (),
        folders=testbed.workspace.folders,
        events=tuple(testbed.profile.events),
    )


def _build(testbed: Testbed, trace: Trace, formed: verdicts.Conclusion, wall: float) -> Outcome:
    chance = "" if isinstance(formed.verdict, verdicts.Livelock) else _chance(testbed, trace)
    assumptions = formed.assumptions
    if chance and isinstance(formed.verdict, verdicts.Terminated | verdicts.Capped):
        assumptions = (*without_unobserved(assumptions, "chance"), chance_was_drawn(chance))
    return Outcome(
        scenario=testbed.scenario,
        host=testbed.profile.id,
        trace=trace,
        verdict=formed.verdict,
        findings=name_chance(formed.findings, chance),
        assumptions=assumptions,
        tier=testbed.sandbox.tier,
        seed=testbed.settings.seed,
        calls={name: testbed.workspace.doubles.calls(name) for name in testbed.scenario.commands},
        wall=wall,
        folders=testbed.workspace.folders,
        chance=chance,
        events=tuple(testbed.profile.events),
    )


def _checked(outcome: Outcome, testbed: Testbed, end: RunEnd, initial: Mapping[str, StateEntry]) -> Outcome:
    """Return an outcome with the broken expectations of its scenario."""
    # A run that was cut might have reached the masked parts later.
    unmatched = {} if end.how in ("interrupted", "wall") else testbed.scanner.unmatched
    broken = find_violations(
        outcome,
        initial=initial,
        final=testbed.files,
        final_text=testbed.read_text,
        unmatched_masks=unmatched,
    )
    return replace(outcome, violations=broken)


def _seen_to_decide(evidence: SessionEvidence) -> Iterator[str]:
    """Yield what may decide, because hooks read it or because an experiment with the time shows it."""
    influences = evidence.observed.influences if evidence.observed is not None else None
    thresholds = (report.threshold for report in evidence.probes)
    decided = any(one is not None and one.seconds is not None for one in thresholds)
    if decided or evidence.end.how == "disagreed":
        yield from ("clock", "the times")
    elif influences is not None and influences.timed:
        yield "clock"
    if influences is not None and any(one.startswith("size, times") for one in influences.matters):
        yield "the times"
    if influences is not None and influences.chance:
        yield "chance"


def _chance(testbed: Testbed, trace: Trace) -> str:
    if all(hook_run.hook.is_one_word for _, hook_run in trace.hook_runs()):
        return ""
    from pytest_hookharness.simulation.testbed.hook_scripts import describe_chance

    return describe_chance(testbed, trace)


def _settings_problems(testbed: Testbed, trace: Trace) -> tuple[SettingsProblem, ...]:
    ignored = hosts.find_ignored(testbed.profile, testbed.scenario.options)
    return (*testbed.configuration.problems, *ignored, *_unmatched(testbed, trace))


def _unmatched(testbed: Testbed, trace: Trace) -> tuple[SettingsProblem, ...]:
    ran = {(run.hook.event, run.hook.command) for _, run in trace.hook_runs()}
    named = (hook for hook in testbed.configuration.hooks if hook.matcher)
    hooks = [hook for hook in named if (hook.event, hook.command) not in ran]
    if not hooks:
        return ()
    # Not at the top: most hooks have no matcher.
    from pytest_hookharness.hosts.matcher_names import find_unmatched

    return find_unmatched(testbed.profile, hooks)


def _is_blind(testbed: Testbed) -> bool:
    # In this tier an agent that a hook starts in a process session of its own cannot be traced.
    return testbed.sandbox.tier is Tier.GROUP and bool(testbed.scenario.fake_agents)


def _assumptions(testbed: Testbed, evidence: SessionEvidence) -> Iterator[str]:
    sandbox, profile = testbed.sandbox, testbed.profile
    yield CONTAINED if sandbox.contained else UNCONTAINED
    yield from sandbox.notes
    if sandbox.tier is Tier.NAMESPACES:
        yield from describe_homes(testbed.workspace.homes, testbed.visible)
    yield from testbed.scanner.unapplied
    if _is_blind(testbed):
        yield f"No agent was started in the background: {_BLIND}."
    if evidence.untried:
        yield evidence.untried
    if sandbox.tier is Tier.NAMESPACES and not testbed.scenario.network and _asks_network(evidence):
        yield NO_NETWORK
    if any("/.git/" in path for path in testbed.files):
        yield UNREAD_GIT
    yield from testbed.workspace.copied.describe(linked=sandbox.contained)
    if testbed.workspace.clock.moved:
        yield from CLOCKS
    elif gap := testbed.workspace.clock.gap:
        yield f"A program saw the machine's clock, and not the later one of the scenario: {gap}."
    if testbed.settings.coverage_store is not None:
        yield RECORDED
    if testbed.scenario.pace:
        yield f"Assumed by the scenario: {format_duration(testbed.scenario.pace)} pass between its turns."
    if not testbed.transcript_counts:
        yield UNWATCHED_TRANSCRIPT
    if not testbed.scanner.watching:
        yield UNWATCHED_FILES
    if any(evidence.trace.children()):
        commands = testbed.scenario.commands.values()
        for agent in sorted({double.agent for double in commands if double.agent}):
            yield from hosts.assumed_of_calls(agent)
    yield from _assumed_by_scenario(testbed)
    if evidence.lasso is not None or evidence.observed is not None:
        limits = (limit for limit in (profile.steps, profile.stuck) if limit is not None)
        for limit in limits:
            yield f"The limit of {profile.id} on any long run was not applied: {limit.rule.text}."


def _asks_network(evidence: SessionEvidence) -> bool:
    observed = evidence.observed
    return observed is not None and any(map(_INTERNET.match, observed.influences.outside))


def _assumed_by_scenario(testbed: Testbed) -> Iterator[str]:
    scenario, profile = testbed.scenario, testbed.profile
    if scenario.flags:
        values = [
            "null" if flag is None else "no value" if flag == "absent" else str(flag).lower()
            for flag in scenario.flags
        ]
        told = f"get stop_hook_active {', '.join(values)}, repeated in this order"
        if len(values) == 1:
            told = f"always get stop_hook_active {values[0]}"
        if {*scenario.flags} == {"absent"}:
            told = "never get stop_hook_active"
        yield f"Assumed by the scenario: stop hooks {told}, instead of what {profile.id} would send."
    if scenario.cap is not None:
        assumed = hosts.describe_assumed_cap(hosts.find(scenario.host), scenario.cap)
        yield f"Assumed by the scenario, instead of the host's own cap: {assumed}."
    if scenario.terminal is not None:
        reason = (
            "starts them in no process session of their own."
            if profile.process.own_session
            else "was started in one."
        )
        yield f"Assumed by the scenario: hooks can open a terminal, as where {profile.id} {reason}"
