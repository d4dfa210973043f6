"""Advice on a verdict."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Script, Stop, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import (
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    Threshold,
)
from pytest_hookharness.model.processes import Activity, Cut, Ending, Exited, Process, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Moved, Step, Trace
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Finding,
    Hung,
    Livelock,
    Undecided,
    Verdict,
    WithoutCap,
)
from pytest_hookharness.reports.terminal.advice import advice

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
CAP = Cap(overrides=9, why="It overrides the ninth.", rule=RULE)
ORIGIN = Origin(file=Path("/work/lint.scenario.yaml"))
FILE = (Change(path="workspace/log", how="content"),)
SLEEPS = Activity(Process(5, "sleep 40", 0.0), "S", "nanosleep", "a timer: it sleeps", idle_until=40.0)
REFUSED = Exited(2)
CUT_EARLY = TimedOut(after=10.0, by=Cut.HOOK_TIMEOUT, doing=(SLEEPS,))


def asked(turn: int, ending: Ending, wall: float, limit: float | None) -> tuple[Step, Step]:
    """Return a stop and a hook run that refused it, or that was cut."""
    refused = ending == REFUSED
    ruling = Ruling.DENY if refused else Ruling.NONE
    hook_run = HookRun(
        hook=Hook(event="Stop", command="./check.sh"),
        payload={},
        run=ProcessResult(ending=ending, wall=wall, limit=limit),
        reply=Reply(ruling=ruling, reason="no", rule=RULE),
    )
    decision = Decision(event="Stop", ruling=ruling, refused=refused, rule=RULE)
    hooked = HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision, changes=FILE)
    number = 2 * turn
    return Step(number=number, turn=turn, exchange=Moved(move=Stop())), Step(
        number=number + 1, turn=turn, exchange=hooked
    )


def advised(
    verdict: Verdict,
    turns: int = 2,
    *,
    ending: Ending = REFUSED,
    wall: float = 0.1,
    limit: float | None = 600.0,
    origin: Origin | None = None,
    evidence: str | None = None,
    used: float = 0.0,
    probes: tuple[ProbeReport, ...] = (),
    allowed: bool = False,
    **more: object,
) -> str:
    """Return the advice on a run of some refused stops."""
    steps = [step for turn in range(1, turns + 1) for step in asked(turn, ending, wall, limit)]
    steps += asked(turns + 1, Exited(0), wall, limit) if allowed else ()
    expect = Expectation(verdict="livelock", evidence=evidence)
    scenario = Scenario(name="try", expect=expect, origin=origin)
    made = Outcome(scenario=scenario, host="claude-code", trace=Trace(steps=tuple(steps)), verdict=verdict)
    return advice(replace(made, wall=used, probe_reports=probes, **more))


@pytest.mark.parametrize(("turns", "budget"), [(1, "41m"), (3, "61m")])
def test_a_hook_cut_too_early_gets_a_timeout_and_a_budget(turns, budget):
    """Where the harness cut a hook too early, the advice names a timeout and time for a few such runs."""
    said = advised(Undecided(turn=turns, why="it was cut"), turns, ending=CUT_EARLY)

    assert f"--hook-timeout 601s --budget {budget} (in pytest --hook-budget {budget})" in said


def test_a_hook_without_any_limit_gets_no_number():
    """Where the host would wait without end, the advice names no seconds."""
    said = advised(Undecided(turn=1, why="it was cut"), 1, ending=CUT_EARLY, limit=None)

    assert "a longer --hook-timeout, and a --budget for 4 such runs" in said


OUT_OF_TIME = Undecided(
    turn=2,
    why="time budget used up: 60 s for 2 of 200 turns; all turns may need 87m",
    reasons=frozenset(["time"]),
    running=("./check.sh",),
)


@pytest.mark.parametrize(
    ("verdict", "turns", "wall", "said"),
    [
        (
            OUT_OF_TIME,
            1,
            40.0,
            "--budget 4m (in pytest --hook-budget 4m) is time for 4 more hook runs of 40 s",
        ),
        (OUT_OF_TIME, 0, 0.0, "No slow hook run ended. If a state repeats, time for 4 of them is enough"),
        (OUT_OF_TIME, 5, 12.0, "Give the run more turns or time (--turns, --budget)"),
        (replace(OUT_OF_TIME, running=()), 3, 6.0, "--budget 2m (in pytest --hook-budget 2m) is time for 4"),
        (replace(OUT_OF_TIME, running=()), 3, 0.1, "Give the run more turns or time (--turns, --budget)"),
        (replace(OUT_OF_TIME, changed=FILE), 3, 6.0, "If the changing files are a threshold"),
        (replace(OUT_OF_TIME, reasons=frozenset(["time for turns"])), 3, 6.0, "Give the run more turns"),
    ],
)
def test_a_few_slow_turns_may_be_enough_for_a_verdict(verdict, turns, wall, said):
    """Where time ended in one of the first slow turns, the advice has a budget for a few of them, not all."""
    assert said in advised(verdict, turns, wall=wall, used=60.0)


def test_no_few_turns_are_advised_after_the_stop_was_allowed():
    """Where time ended after the hooks allowed the stop, a repeated state is not what is missing."""
    assert "If a state repeats" in advised(OUT_OF_TIME, 1, wall=6.0)
    assert "If a state repeats" not in advised(OUT_OF_TIME, 1, wall=6.0, allowed=True)


@pytest.mark.parametrize(
    "verdict",
    [
        Capped(turn=9, cap=CAP),
        Undecided(turn=2, why="no end in 2 turns", cap=CAP),
    ],
)
def test_a_key_of_scenarios_is_advised_with_its_place(verdict):
    """Without a scenario file, as after `try`, the advice says that `cap: none` goes into one."""
    assert "`cap: none` in a scenario file" in advised(verdict)
    assert "in a scenario file" not in advised(verdict, origin=ORIGIN)
    assert "`cap: none`" in advised(verdict, origin=ORIGIN)


@pytest.mark.parametrize(("turns", "told"), [(200, "Give the run more time"), (100, "--turns 130")])
def test_more_turns_are_advised_only_where_fewer_are_allowed(turns, told):
    """A run that may have as many turns and that time ended needs time."""
    ahead = Threshold(at="x", what="the stop is allowed", turn=120, allows_stop=True)
    report = ProbeReport(turn=3, period=1, threshold=ahead)
    undecided = Undecided(turn=88, why="time budget used up", reasons=frozenset(["time"]))

    assert told in advised(undecided, 1, probes=(report,), scenario=Scenario(name="x", turns=turns))


@pytest.mark.parametrize(
    ("changed", "condition"),
    [(FILE, "If the changing files are a threshold"), ((), "If the hook would allow the stop later")],
)
def test_changing_files_are_a_threshold_only_if_there_are_some(changed, condition):
    """The advice speaks of changing files only if a file changes."""
    assert condition in advised(Undecided(turn=2, why="no end in 2 turns", cap=CAP, changed=changed))


def test_turns_are_an_option_of_try():
    """Without a scenario file the advice to play more turns names the option of the command."""
    verdict = Undecided(turn=2, why="no end in 2 turns", changed=FILE)

    assert "raise --turns to reach it" in advised(verdict)
    assert "raise `turns` to reach it" in advised(verdict, origin=ORIGIN)


@pytest.mark.parametrize(
    ("seen", "wanted", "why", "todo"),
    [
        ("unread", "closed", "workspace/log changes from turn to turn", "expect `evidence: unread`"),
        ("driven", "closed", "the loop could depend on the clock", "expect `evidence: driven`"),
        ("masked", "closed", "the scenario masks what differs", "Remove `mask`"),
        ("closed", "driven", "all that was read is part of it", "Expect `evidence: closed`"),
    ],
)
def test_other_evidence_than_expected_is_explained(seen, wanted, why, todo):
    """Where a loop has other evidence than expected, the advice says what made it so and what to do."""
    verdict = Livelock(stem=0, period=1, evidence=seen, matters=("the clock",) if seen == "driven" else ())

    said = advised(verdict, origin=ORIGIN, evidence=wanted)

    assert said.startswith(f"The evidence is `{seen}`, because ")
    assert why in said
    assert todo in said
    assert "The evidence" not in advised(verdict, origin=ORIGIN, evidence=seen)


def test_a_hook_that_goes_by_the_clock_gets_advice_for_every_clock():
    """Where only passing time would end a loop, the advice fits limits in seconds and hours of the day."""
    ahead = Threshold(
        at="1.82 h without a turn", what="the stop is allowed", seconds=6552.0, allows_stop=True
    )
    verdict = Undecided(turn=2, why="no turn that was played ended the session")

    said = advised(verdict, probes=(ProbeReport(turn=2, period=1, threshold=ahead),))

    assert said == (
        "Let the hook allow the stop after a number of refusals, at any pace and at any time of the day."
    )


def test_advice_on_a_host_that_waits_forever_guesses_no_cause():
    """For a hook that the host waits for forever the finding names the cause, not the advice."""
    said = advised(Hung(turn=1, event="Stop", command="./check.sh", rule=RULE))

    assert "time limit of its own" in said
    assert "terminal" not in said


PLAYED = WithoutCap(name="terminated", why="the hooks allow the stop in turn 15 (played on)")
AHEAD = WithoutCap(name="terminated", why="the hooks would allow the stop at 40 (tried ahead, not played)")
PLAYED_ON = ProbeReport(turn=8, period=1, threshold=Threshold(at="", what="", turn=15, allows_stop=True))


def found_at(turn: int, kind: PerturbationKind = PerturbationKind.AHEAD) -> ProbeReport:
    """Return a report of an experiment that saw the stop allowed."""
    seen = ProbeResult(reaction=ProbeEffect.DECISION, allows_stop=True)
    threshold = Threshold(at="40 in workspace/.n", what="", turn=turn, allows_stop=True)
    return ProbeReport(
        turn=8, period=1, threshold=threshold, probes=(Probe(kind=kind, tried="ahead", seen=seen),)
    )


def test_a_threshold_behind_the_cap_is_advised_with_what_shows_it():
    """A stop that only an experiment saw behind the cap is played with `cap: none`, and enough turns."""
    verdict = Capped(turn=9, cap=CAP, without=AHEAD)
    lower = "lower the hook's threshold below 9 refusals in a row"

    near = advised(verdict, origin=ORIGIN, probes=(found_at(41),))
    assert f"{lower}, or set `cap: none` to see the stop allowed." in near
    far = advised(verdict, probes=(found_at(503),))
    assert f"{lower}, or set `turns: 513` and `cap: none` in a scenario file to see" in far


@pytest.mark.parametrize("probes", [(PLAYED_ON,), ()])
def test_what_was_played_without_the_cap_is_not_advised(probes):
    """If turns were played without the cap, the first line says what happened, and no advice repeats it."""
    said = advised(Capped(turn=9, cap=CAP, without=PLAYED), probes=probes)

    assert said.endswith("lower the hook's threshold below 9 refusals in a row.")


@pytest.mark.parametrize(
    "more",
    [
        {"chance": "shuf in ./check.sh"},
        {"findings": (Finding(code="HH012", name="FLAKY", text="It differed.", advice="Keep a count."),)},
    ],
)
def test_no_threshold_is_advised_where_chance_decides(more):
    """A hook that draws random numbers has no threshold to lower, and turns may show its stop allowed."""
    said = advised(Capped(turn=9, cap=CAP, without=PLAYED), probes=(PLAYED_ON,), **more)

    assert said == "Let the hook allow the stop before the 9th refusal in every run, whatever chance decides."


@pytest.mark.parametrize(
    ("probes", "more"),
    [
        ((found_at(1_566, PerturbationKind.CLOCK),), {}),
        ((PLAYED_ON,), {"scenario": Scenario(name="slow", pace=2.0)}),
        ((), {"findings": (Finding(code="HH016", name="CLOCK", text="It differed.", advice="Wait."),)}),
    ],
)
def test_no_threshold_is_advised_where_the_clock_decides(probes, more):
    """A hook that decides by the clock gets no advice on a number of turns."""
    said = advised(Capped(turn=9, cap=CAP, without=AHEAD), probes=probes, **more)

    assert said == (
        "Let the hook allow the stop before the 9th refusal, at any pace and at any time of the day."
    )


def test_no_play_without_the_cap_is_advised_where_only_time_ends_it():
    """If only a later time allows the stop, a play without the cap shows nothing new."""
    unknown = WithoutCap(name="undecided", why="it would allow the stop after 33 days without a turn")
    later = Threshold(at="33 days", what="", seconds=33 * 86_400.0, allows_stop=True)
    verdict = Capped(turn=9, cap=CAP, without=unknown)

    assert "`cap: none`" in advised(verdict)
    assert "cap: none" not in advised(verdict, probes=(ProbeReport(turn=8, period=1, threshold=later),))


@pytest.mark.parametrize(
    ("scenario", "keys"),
    [
        (Scenario(name="slow", pace=2.0), "`pace`"),
        (Scenario(name="waits", script=Script(acts=(Stop(), Wait(seconds=301.0), Stop()))), "`wait`"),
    ],
)
def test_a_doubt_about_a_moved_clock_is_met_by_the_kernel(scenario, keys):
    """Where hooks do not see the clock of the scenario, the advice is to let the kernel show it to them."""
    said = advised(Undecided(turn=150, why="", reasons=frozenset(["clock"]), cap=CAP), scenario=scenario)

    assert said.startswith("Run it where the kernel lets processes be traced")
    assert said.endswith(f"see the time that {keys} lets pass.")
    assert "turns" not in said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("hook in the background", "`hook_timeout: 30s`"),
        ("process of a hook", "Let the hook wait for that process"),
        ("process of a command", "End that process in the agent's script"),
        ("ended early", "Let the script go on"),
        ("prompt refused", "Give the script a prompt that the hooks allow"),
        ("turns", "Give the run more turns or time (--turns, --budget)."),
    ],
)
def test_an_open_verdict_is_advised_by_its_cause(reason, said):
    """More turns are advised only where they may help, and the words do not say that no stop was tried."""
    text = advised(Undecided(turn=2, why="", reasons=frozenset([reason])), origin=ORIGIN)

    assert said in text
    assert "tries to stop" not in text
    assert ("more turns" in text) is (reason == "turns")


@pytest.mark.parametrize(("uncapped", "shown"), [(0, True), (200, False)])
def test_a_play_without_the_cap_is_advised_only_where_none_was_made(uncapped, shown):
    """After all turns were played without the cap, `cap: none` would show nothing else."""
    open_end = Capped(turn=9, cap=CAP, without=WithoutCap(name="undecided", why="no end in 200 turns"))
    report = ProbeReport(turn=8, period=1, uncapped=uncapped)

    assert ("`cap: none`" in advised(open_end, origin=ORIGIN, probes=(report,))) is shown


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("./h.sh: line 2: jq: command not found run npm test", "jq: command not found"),
        ("sh: 1: pytest: not found", "pytest: not found"),
        (
            "usage: a.py [-h] --event EVENT\na.py: error: unrecognized arguments: --x",
            "a.py: error: unrecognized arguments: --x",
        ),
        ("usage of `eval` was not found in docs/notes.md", ""),
        ("eslint: not found", ""),
        ("Run npm test first.", ""),
    ],
)
def test_an_error_in_the_text_of_a_refusal_is_to_be_mended_first(reason, error):
    """A hook that refuses with its own error is mended before anybody looks for the end of a loop."""
    seen = Livelock(stem=1, period=1)
    steps = [step for turn in (1, 2) for step in asked(turn, REFUSED, 0.1, 600.0)]
    for place, step in enumerate(steps):
        if isinstance(step.exchange, HookEvent):
            (run,) = step.exchange.hook_runs
            run = replace(run, reply=replace(run.reply, reason=reason))
            steps[place] = replace(step, exchange=replace(step.exchange, hook_runs=(run,)))
    outcome = Outcome(
        scenario=Scenario(name="try"), host="a host", trace=Trace(steps=tuple(steps)), verdict=seen
    )

    said = advice(outcome)
    assert (f'First mend the error in its text, "{error}"' in said) is bool(error)
    assert "Let the hook allow the stop if nothing changed since its last refusal" in said
