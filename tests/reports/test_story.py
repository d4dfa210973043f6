"""The story of an outcome."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.model import moves
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.exploration import Exploration, Successor, TrapState
from pytest_hookharness.model.moves import (
    Event,
    Move,
    Prompt,
    Reaction,
    RunCommand,
    Script,
    Stop,
    ToolCall,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import (
    PerturbationKind,
    Probe,
    ProbeEffect,
    ProbeReport,
    ProbeResult,
    Threshold,
)
from pytest_hookharness.model.processes import (
    Activity,
    Cut,
    Ending,
    Exited,
    HeldOpen,
    NotStarted,
    Output,
    Process,
    ProcessResult,
    Signaled,
    Tier,
    TimedOut,
)
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import AssumedCap, Origin, Scenario
from pytest_hookharness.model.trace import (
    Change,
    Exchange,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Finding,
    Hung,
    Livelock,
    Lockout,
    Recursing,
    Terminated,
    Undecided,
    Verdict,
    Violation,
    WithoutCap,
)
from pytest_hookharness.reports.safe_text import columns
from pytest_hookharness.reports.terminal.story import first_line, story
from pytest_hookharness.reports.terminal.verdict_text import most_severe

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
GUARD = Cap(overrides=9, why="It overrides the ninth.", rule=RULE)
PROMPT = Happened(event=Prompt(text="Fix it."))
STOP = Moved(move=Stop(text="I am done."))
ORIGIN = Origin(file=Path("/work place/scenarios/lint.scenario.yaml"), marks={"expect.verdict": (14, 12)})
CHANGED = tuple(Change(path=f"workspace/{name}", how="content") for name in ("log", "b", "c", "d"))
VERDICTS: list[tuple[Verdict, str]] = [
    (Terminated(turn=2), "terminated: the hooks allowed the stop in turn 2 after 1 block"),
    (
        Capped(turn=9, cap=GUARD, changed=CHANGED),
        (
            "capped: claude-code overrode the 9th refusal in a row, in turn 9; what the hooks would do "
            "without the cap is unknown: it was not tried; changing: workspace/log, workspace/b, "
            "workspace/c and 1 more"
        ),
    ),
    (
        Capped(turn=9, cap=GUARD, without=WithoutCap(name="terminated", why="the hooks would allow it")),
        (
            "capped: claude-code overrode the 9th refusal in a row, in turn 9; without the cap, the hooks "
            "would allow it"
        ),
    ),
    (
        Capped(turn=9, cap=GUARD, without=WithoutCap(name="livelock", why="the hooks never allow it")),
        (
            "capped: claude-code overrode the 9th refusal in a row, in turn 9; without the cap, the hooks "
            "never allow it"
        ),
    ),
    (
        Capped(turn=9, cap=replace(GUARD, overrides=None)),
        "capped: the cap of claude-code ended it in turn 9: It overrides the ninth.",
    ),
    (
        Capped(turn=5, cap=GUARD, status="error"),
        "capped: claude-code ended the run in turn 5 as 'error': It overrides the ninth.",
    ),
    (
        Livelock(stem=2, period=1),
        (
            "livelock: the session repeats forever (state repeats every turn after turn 2; "
            "confirmed in turn 4; closed evidence)"
        ),
    ),
    (
        Livelock(stem=2, period=1, evidence="unread"),
        (
            "livelock: the session repeats forever (every turn the same after turn 2, but for files that "
            "are written and never read; unread evidence)"
        ),
    ),
    (
        Livelock(stem=1, period=2, evidence="masked", cap=GUARD),
        (
            "livelock: the session repeats forever, if what is masked decides nothing (state repeats every "
            "2 turns after turn 1; confirmed in turns 4 to 5; masked evidence); only the cap of "
            "claude-code ends it, at the 9th refusal in a row"
        ),
    ),
    (
        Hung(turn=1, event="Stop", command="./lint.sh", rule=RULE),
        "hung: the Stop hook ./lint.sh did not end in turn 1, and claude-code waits for it forever",
    ),
    (
        Hung(turn=2, event="BeforeTool", command="./asks.sh", rule=RULE, asked=True),
        (
            "hung: the BeforeTool hook ./asks.sh asked the person in turn 2, and claude-code waits for "
            "an answer forever"
        ),
    ),
    (
        Recursing(turn=3, limit="a depth of 3"),
        "recursing: hook runs caused hook runs in turn 3, beyond a depth of 3",
    ),
    (
        Lockout(turn=2, moves=(Stop(), moves.RunCommand(command="true"))),
        "lockout: after turn 2 none of the agent's 2 moves leads to a stop",
    ),
    (
        Lockout(turn=0, moves=(Stop(),)),
        "lockout: from the beginning no move of the agent leads to a stop",
    ),
    (
        Undecided(turn=200, why="no end and no repeat in 200 turns", changed=CHANGED[:1], cap=GUARD),
        (
            "undecided: no end and no repeat in 200 turns; changing: workspace/log; the cap of claude-code "
            "would override the 9th refusal in a row"
        ),
    ),
]
ENDINGS: list[tuple[Ending, str]] = [
    (Exited(2), "exited 2 in 0.1 s"),
    (Signaled(11), "was killed by signal 11 in 0.1 s"),
    (TimedOut(0.5, by=Cut.HOOK_TIMEOUT), "timed out after 0.5 s (the harness's hook timeout)"),
    (
        TimedOut(60, by=Cut.LIMIT, ignored_term=True),
        "timed out after 60 s (the host's timeout) and ignored the signal",
    ),
    (
        HeldOpen(Exited(0), 0.5, (Process(7, "sleep", 0),)),
        "exited 0, but sleep (pid 7) holds its output open",
    ),
    (HeldOpen(Signaled(9), 0.5), "was killed by signal 9, but another process holds its output open"),
    (NotStarted("no such file"), "was not started: no such file"),
]


def asked(
    ruling: Ruling = Ruling.DENY,
    *,
    event: str = "Stop",
    reason: str = "ruff: not found",
    ending: Ending | None = None,
    overridden: bool = False,
    wall: float = 0.1,
    command: str = "./lint_or_die.sh",
    context: str = "",
    halt: str | None = None,
    fault: str | None = None,
    sign: str = "stop_hook_active",
    flag: object = True,
) -> HookEvent:
    refused = ruling is Ruling.DENY
    hook_run = HookRun(
        hook=Hook(event=event, command=command),
        payload={sign: flag},
        run=ProcessResult(ending=ending or Exited(2 if refused else 0), wall=wall),
        reply=Reply(
            ruling=ruling,
            reason=reason if refused else "",
            context=context,
            halt=halt,
            fault=fault,
            rule=RULE,
        ),
    )
    decision = Decision(
        event=event,
        ruling=ruling,
        refused=refused and not overridden,
        overridden=overridden,
        reasons=(reason,) if refused else (),
        halt=halt,
        rule=RULE,
    )
    return HookEvent(event=event, hook_runs=(hook_run,), decision=decision)


def both_asked() -> HookEvent:
    """One event that two hooks refuse."""
    one, other = asked(command="a"), asked(command="b")
    return replace(one, hook_runs=(*one.hook_runs, *other.hook_runs))


def trace(*exchanges: Exchange) -> Trace:
    steps: list[Step] = []
    turn = 0
    for number, exchange in enumerate(exchanges, 1):
        turn += isinstance(exchange, Moved)
        steps.append(Step(number=number, turn=turn, exchange=exchange))
    return Trace(steps=tuple(steps))


BLOCKED_ONCE = trace(PROMPT, STOP, asked(), STOP, asked(Ruling.NONE))


def outcome(verdict: Verdict, seen: Trace = BLOCKED_ONCE, **others: object) -> Outcome:
    scenario = Scenario(name="lint", expect=Expectation(verdict="terminated", within=3), origin=ORIGIN)
    made = Outcome(scenario=scenario, host="claude-code", trace=seen, verdict=verdict, seed=7)
    return replace(made, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize("verdict,expected", VERDICTS)
def test_the_first_line_is_enough(verdict: Verdict, expected: str) -> None:
    """The first line says the verdict with its turn, its cause and what changed."""
    assert first_line(outcome(verdict)) == expected


def test_a_long_broken_expectation_hides_no_evidence() -> None:
    """What a verdict rests on stands in the first line beside a broken expectation of any length."""
    loop = Livelock(stem=1, period=1, repetitions=2, evidence="driven", matters=("workspace/.count", "clock"))
    broken = Violation(path="expect.findings", expected="none", seen="x" * 900)

    line = first_line(outcome(loop, violations=(broken,)))

    assert "it could depend on workspace/.count, clock" in line
    assert len(line) < 500


def test_the_first_line_says_what_a_hook_waited_for() -> None:
    """The first line names the host's limit and the last process of a chain in full, without its parents."""
    parents = "/bin/sh -c ./fifo.sh waits for its child fifo.sh (pid 4), "
    cause = "/bin/sh ./fifo.sh waits for a file to be opened, such as a FIFO whose other end no process opens"
    limit = "cut after 10 s (the hook timeout; as far as seen, it waits beyond the host's limit of 600 s)"
    hung = Finding(code="HH001", name="HUNG-HOOK", text=f"Stop: {limit}: {parents}{cause}.", hook="./fifo.sh")

    line = first_line(outcome(Terminated(turn=3), trace(STOP, asked(Ruling.NONE)), findings=(hung,)))

    why = f"Stop: {limit}: {cause} (HH001 HUNG-HOOK)"
    assert line == f"hook cut: ./fifo.sh did not decide: {why}; the session ended in turn 3"


@pytest.mark.parametrize("ending", [ending for ending, _ in ENDINGS])
@pytest.mark.parametrize("verdict", [verdict for verdict, _ in VERDICTS])
def test_every_verdict_has_a_story_with_every_ending(verdict: Verdict, ending: Ending) -> None:
    """Every verdict with every ending gives a story from its first line to its replay command."""
    lines = story(outcome(verdict, trace(PROMPT, STOP, asked(ending=ending)))).splitlines()
    assert lines[0] == first_line(outcome(verdict, trace(PROMPT, STOP, asked(ending=ending))))
    assert lines[-1].startswith("  replay:")


@pytest.mark.parametrize("ending,expected", ENDINGS)
def test_every_ending_is_described(ending: Ending, expected: str) -> None:
    """The ending of a process is described, with what ended it or what holds its output open."""
    report = story(outcome(Terminated(turn=1), trace(STOP, asked(Ruling.NONE, ending=ending))), width=200)
    assert f"Stop   ./lint_or_die.sh  {expected}" in report


def test_the_story_of_a_livelock() -> None:
    """A livelock has a complete story, from its turns to its assumptions and its replay command."""
    seen = trace(PROMPT, STOP, asked(wall=0.3, flag=False), *(STOP, asked()) * 3)
    made = outcome(
        Livelock(stem=2, period=1, cap=GUARD, assumptions=("Ids are derived.",)),
        seen,
        violations=(Violation(path="expect.verdict", expected="terminated within 3", seen="livelock"),),
        assumptions=("Ids are derived.", "The network is not watched."),
    )
    assert story(made).splitlines() == [
        (
            "livelock: Stop is blocked forever by ./lint_or_die.sh (state repeats every turn after turn "
            "2; confirmed in turn 4; closed evidence); only the cap of claude-code ends it, at the 9th "
            "refusal in a row"
        ),
        '  before  script  writes: "Fix it."',
        '  turn 1  agent   stops: "I am done."',
        '          Stop    ./lint_or_die.sh  exited 2 in 0.3 s  -> block "ruff: not found"',
        "  turns 2 to 4  the same, and so on forever      (claude-code would override refusal 9)",
        (
            "  expected: terminated within 3          "
            "/work place/scenarios/lint.scenario.yaml:14  expect.verdict"
        ),
        "  seen:     livelock",
        "  The same stop will be refused forever. Let the hook allow the stop if nothing changed since its",
        "  last refusal, or read `stop_hook_active` from its input.",
        "  If an agent can do what the hook asks for, let the scenario's agent do it: `when: [{event: Stop,",
        "  do: [{run: COMMAND}]}]`.",
        "  assumed: Ids are derived.",
        "  assumed: The network is not watched.",
        "  tier:    process group: a process that leaves its group is looked for and may survive; /tmp is",
        "           shared with the machine",
        "  replay: hookharness run '/work place/scenarios/lint.scenario.yaml::lint[claude-code]' --seed 7",
    ]


LOOP = Livelock(stem=1, period=1)
REACTING = Script(reactions=(Reaction(event="Stop", moves=(RunCommand(command="make"),)),))


@pytest.mark.parametrize(
    ("made", "advised"),
    [
        (outcome(LOOP), True),
        (outcome(Terminated(turn=1)), False),
        (outcome(LOOP, scenario=Scenario(name="try")), False),
        (outcome(LOOP, scenario=Scenario(name="x", origin=ORIGIN)), True),
        (
            outcome(LOOP, scenario=Scenario(name="x", origin=ORIGIN, expect=Expectation(verdict="livelock"))),
            False,
        ),
        (
            outcome(
                LOOP,
                scenario=Scenario(
                    name="x", origin=ORIGIN, script=REACTING, expect=Expectation(verdict="terminated")
                ),
            ),
            False,
        ),
    ],
)
def test_an_agent_that_could_do_what_a_hook_asks_is_advised(made: Outcome, advised: bool) -> None:
    """A report on a scenario that expects an end says how its agent could react, if it does not yet."""
    assert ("let the scenario's agent do it" in story(made)) is advised


def test_every_assumption_is_printed() -> None:
    """A livelock in the weakest tier rests on a dozen assumptions, and its story has them all."""
    assumptions = tuple(f"Assumption number {number}." for number in range(13))
    report = story(outcome(Livelock(stem=1, period=1), assumptions=assumptions))
    assert [line for line in assumptions if f"assumed: {line}" not in report] == []


def test_no_assumption_is_called_so_twice() -> None:
    """A sentence that begins with the word follows the label of assumptions without a second one."""
    assumptions = ("Assumed by the scenario: 2 s pass between its turns.", "Ids are derived.")
    report = story(outcome(Livelock(stem=1, period=1), assumptions=assumptions))
    assert "  assumed by the scenario: 2 s pass between its turns.\n  assumed: Ids are derived.\n" in report


def test_a_cycle_of_several_turns_is_folded_as_a_whole() -> None:
    """Turns that repeat in pairs are shown once and then named together."""
    call = Moved(move=moves.RunCommand(command="true"))
    report = story(outcome(Livelock(stem=1, period=2), trace(*(STOP, asked(), call) * 3)))
    assert "  turns 3 to 6  the same as turns 1 and 2, and so on forever" in report
    assert "claude-code has no known cap on refusals" in report


def test_a_masked_loop_is_endless_only_if_the_mask_is_right() -> None:
    """What masked evidence proves is said with its condition: in the verdict, the turns and the advice."""
    report = story(outcome(Livelock(stem=1, period=1, evidence="masked"), trace(*(STOP, asked()) * 3)))
    condition = ", if what is masked decides nothing"
    assert f"blocked forever by ./lint_or_die.sh{condition} (state repeats" in report
    assert f"the same, and so on forever{condition} (" in report.replace("\n   ", "")
    assert f"The same stop will be refused forever{condition}." in " ".join(report.split())


def test_a_cap_that_the_scenario_took_away_is_not_called_unknown() -> None:
    """With `cap: none` the story names the scenario, and not what is known of the host."""
    looping = outcome(Livelock(stem=1, period=1), trace(*(STOP, asked()) * 3))
    report = story(replace(looping, scenario=replace(looping.scenario, cap=AssumedCap())))
    assert "(the scenario sets cap: none, so nothing overrides it)" in report
    assert "no known cap" not in report


def test_the_verbose_story_cuts_no_reason_of_the_verdict() -> None:
    """A long reason is cut in the first line, and stands there whole with `-v`."""
    why = " ".join(f"reason {number}" for number in range(100))
    undecided = outcome(Undecided(turn=1, why=why))
    assert why not in story(undecided)
    assert story(undecided, verbose=True).startswith(f"undecided: {why}\n")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (
            Capped(turn=9, cap=GUARD, changed=CHANGED[:1]),
            "Up to turn 8 every turn repeats except for workspace/log; the session was played on",
        ),
        (Capped(turn=9, cap=GUARD), "After turn 8 the session was played on without the limits of the host"),
        (Livelock(stem=1, period=1), "Up to turn 8 every turn repeats; the session was played on"),
        (Livelock(stem=1, period=1, evidence="unread"), "After turn 8 the session was played on"),
    ],
)
def test_turns_with_a_change_are_not_said_to_repeat(verdict: Verdict, said: str) -> None:
    """Where files change in each turn, the report names them, or does not claim that the turns repeat."""
    threshold = Threshold(at="", what="", turn=28, allows_stop=True)
    played = ProbeReport(turn=8, period=1, uncapped=28, threshold=threshold)
    assert said in " ".join(story(outcome(verdict, probe_reports=(played,))).split())


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (PerturbationKind.CLOCK, "change of time makes"),
        (PerturbationKind.TRANSCRIPT, "time or transcript makes"),
    ],
)
def test_only_what_was_tried_is_said_to_make_no_difference(kind: PerturbationKind, said: str) -> None:
    """The transcript is named among what makes no difference only if it was changed."""
    probe = Probe(kind=kind, tried="1 h later", seen=ProbeResult(reaction=ProbeEffect.SAME))
    report = ProbeReport(turn=8, period=1, probes=(probe,))
    assert f"{said} a difference" in story(outcome(Livelock(stem=1, period=1), probe_reports=(report,)))


def test_turns_that_differ_are_never_folded() -> None:
    """A turn whose reason differs by one letter is shown in full."""
    seen = trace(*(item for reason in "aab" for item in (STOP, asked(reason=reason))))
    report = story(outcome(Terminated(turn=3), seen))
    assert '-> block "a"' in report
    assert "  turn 2  the same\n" in report
    assert '-> block "b"' in report


def test_turns_that_differ_in_durations_are_folded() -> None:
    """A reason that names how long something took is the same reason in the next turn."""
    said = [asked(reason=f"1 failed in {taken}") for taken in ("0.31s", "0.4s", "12 seconds")]
    report = story(outcome(Terminated(turn=3), trace(PROMPT, STOP, said[0], STOP, said[1], STOP, said[2])))
    assert "turns 2 and 3  the same\n" in report
    assert "turns 2 and 3" not in story(
        outcome(
            Terminated(turn=3), trace(PROMPT, STOP, said[0], STOP, said[1], STOP, asked(reason="2 failed"))
        )
    )


def test_a_long_trace_is_shortened_in_the_middle() -> None:
    """The first and the last of many different turns are shown, and the rest are counted."""
    seen = trace(*(item for turn in range(1, 201) for item in (STOP, asked(reason=f"number {turn}"))))
    lines = story(outcome(Undecided(turn=200, why="no end"), seen)).splitlines()
    assert "  ... 190 turns ..." in lines
    assert "number 6" in "".join(lines)
    assert "number 7" not in "".join(lines)
    assert "number 197" in "".join(lines)
    assert len(lines) < 50


def test_a_long_turn_is_shortened_in_the_middle() -> None:
    """The first and the last of a turn's many hook runs are shown, and the rest are counted."""
    hooked = replace(asked(), hook_runs=asked().hook_runs * 500)
    report = story(outcome(Terminated(turn=1), trace(STOP, hooked)))
    assert "... 487 lines ..." in report


def test_a_timeout_shows_what_each_process_was_doing() -> None:
    """Below a hook run that timed out is what each process was waiting for."""
    doing = (
        Activity(Process(12, "cat", 0), "S", "read", "end of file on stdin"),
        Activity(Process(13, "git", 0), "S", "wait4"),
        Activity(Process(14, "yes", 0), "R"),
    )
    report = story(
        outcome(Terminated(turn=1), trace(STOP, asked(ending=TimedOut(5, Cut.LIMIT, doing=doing))))
    )
    assert "cat (pid 12) waits for end of file on stdin" in report
    assert "git (pid 13) is blocked in wait4" in report
    assert "yes (pid 14) is running" in report


MOVES: list[tuple[Move, str]] = [
    (
        Tools(calls=(ToolCall(name="Bash", input={"command": "ls"}),), say="Now."),
        'says "Now.", calls Bash {"command": "ls"}',
    ),
    (moves.RunCommand(command="npm test"), 'runs "npm test"'),
    (moves.Edit(file="src/a.py", text="x"), "edits src/a.py"),
    (moves.Read(file="src/a.py"), "reads src/a.py"),
    (Stop(text="Done."), 'stops: "Done."'),
    (moves.Subagent(prompt="Look."), 'starts the subagent general-purpose: "Look."'),
]


@pytest.mark.parametrize("move,expected", MOVES)
def test_every_move_is_described(move: Move, expected: str) -> None:
    """Every move of the agent is described."""
    assert f"agent  {expected}" in story(outcome(Terminated(turn=1), trace(Moved(move=move))))


EVENTS: list[tuple[Event, str]] = [
    (Prompt(text="Go."), 'writes: "Go."'),
    (moves.Wait(seconds=301), "waits 301 s"),
    (moves.Wait(seconds=365 * 86_400), "waits 1 year"),
    (moves.Compact(), "compacts the conversation (auto)"),
    (moves.Resume(), "resumes the session"),
    (moves.End(), "ends the session (other)"),
    (moves.Corrupt(file=".state"), "corrupts .state (delete)"),
]


@pytest.mark.parametrize("event,expected", EVENTS)
def test_every_event_is_described(event: Event, expected: str) -> None:
    """Every event that happens to the agent is described."""
    assert f"script  {expected}" in story(outcome(Terminated(turn=1), trace(Happened(event=event))))


@pytest.mark.parametrize(
    "hooked,expected",
    [
        (asked(), '-> block "ruff: not found"'),
        (asked(overridden=True), '-> block, which the host overrides "ruff: not found"'),
        (asked(Ruling.ALLOW), "-> allow"),
        (asked(Ruling.ASK), "-> ask"),
        (asked(Ruling.DEFER), "-> defer"),
        (asked(Ruling.NONE, context="mind the gap"), '-> tells the agent "mind the gap"'),
        (asked(Ruling.NONE, halt="enough"), '-> halt "enough"'),
        (asked(Ruling.NONE, fault="mangled: no JSON"), "(mangled: no JSON)"),
    ],
)
def test_every_reply_is_described_with_its_effect(hooked: HookEvent, expected: str) -> None:
    """A reply is described together with whether the host honoured it."""
    assert expected in story(outcome(Terminated(turn=1), trace(STOP, hooked)), width=200)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (("PostToolUse feedback: ruff: not found",), "only tells the agent"),
        ((), "does not honour"),
    ],
)
def test_a_refusal_after_a_call_is_described_by_what_the_agent_is_told(
    told: tuple[str, ...], expected: str
) -> None:
    """A refusal that undoes nothing is told apart from one that nobody hears of."""
    hooked = asked(event="PostToolUse")
    decision = replace(hooked.decision, refused=False, reasons=("ruff: not found",), to_agent=told)
    report = story(
        outcome(Terminated(turn=1), trace(STOP, replace(hooked, decision=decision))),
        width=200,
    )
    assert f'-> block, which the host {expected} "ruff: not found"' in report


def test_a_block_without_a_refusing_hook_is_shown() -> None:
    """If the host continues the turn by its own rule, the block has a line of its own."""
    hooked = asked(Ruling.NONE)
    decision = replace(hooked.decision, ruling=Ruling.DENY, refused=True, reasons=("go on",))
    report = story(outcome(Terminated(turn=1), trace(STOP, replace(hooked, decision=decision))))
    assert 'Stop   -> block: "go on"' in report


def test_refused_and_failed_tool_calls_are_shown() -> None:
    """A call that was not carried out or that failed is shown; one that succeeded is not."""
    call = ToolCall(name="Bash", input={})
    performed = [
        Performed(call=call, result=ToolResult(), refused=True),
        Performed(call=call, result=ToolResult(text="boom", failed=True)),
        Performed(call=call, result=ToolResult(text="all well")),
    ]
    report = story(outcome(Terminated(turn=1), trace(STOP, *performed)))
    assert "Bash was not carried out" in report
    assert 'Bash failed: "boom"' in report
    assert "all well" not in report


@pytest.mark.parametrize(
    "seen,verdict,expected",
    [
        (trace(PROMPT, asked(event="UserPromptSubmit")), Terminated(turn=0), "the agent never started"),
        (trace(), Terminated(turn=0), "started no session with these settings"),
        (trace(PROMPT), Terminated(turn=0), "the session ended before the agent's first turn"),
        (
            trace(STOP, asked(Ruling.NONE, halt="enough")),
            Terminated(turn=1),
            'ended the turn, turn 1, without a block: "enough"',
        ),
        (trace(STOP, asked(Ruling.NONE)), Terminated(turn=1), "allowed the stop in turn 1 without a block"),
        (
            trace(PROMPT, asked(Ruling.NONE, event="UserPromptSubmit"), STOP),
            Terminated(turn=1),
            "terminated: no hook was asked about the stop in turn 1",
        ),
        (
            trace(STOP, asked(Ruling.NONE, event="SessionEnd")),
            Terminated(turn=1),
            "terminated: no hook was asked about the stop in turn 1",
        ),
        (
            # Its hooks were removed meanwhile.
            trace(PROMPT, STOP, asked(), STOP),
            Terminated(turn=2),
            "terminated: no hook was asked about the stop in turn 2, after 1 block",
        ),
        (
            trace(PROMPT, Moved(move=RunCommand(command="ls")), asked(event="AfterModel", reason="no")),
            Terminated(turn=1),
            'terminated: a refusal of AfterModel ended turn 1: "no"',
        ),
        (
            trace(STOP, asked(Ruling.NONE, command="./x.sh", fault="ignored: exit code 2 has no effect")),
            Terminated(turn=1),
            "./x.sh did not decide: exit code 2 has no effect; the session ended in turn 1 without a block",
        ),
        (
            trace(STOP, asked(Ruling.NONE, fault='ignored: exit code 0 allows, although it says "error"')),
            Terminated(turn=1),
            "allowed the stop in turn 1 without a block",
        ),
    ],
)
def test_the_kinds_of_termination_differ(seen: Trace, verdict: Verdict, expected: str) -> None:
    """A refused prompt, no session at all, a hook that ended a turn and an allowed stop read differently."""
    assert expected in first_line(outcome(verdict, seen))


def test_the_first_line_names_a_broken_expectation_that_the_verdict_does_not_show() -> None:
    """If the verdict is as expected, the first line still names what was not."""
    broken = (
        Violation(path="expect.blocks", expected="2 blocks", seen="1"),
        Violation(path="expect.leftovers", expected="0 processes left over", seen="1"),
    )
    line = first_line(outcome(Terminated(turn=2), violations=broken))
    assert line.endswith(
        "after 1 block; expect.blocks: expected 2 blocks, seen 1 (and 1 more broken expectation)"
    )


def test_the_first_line_cuts_no_word() -> None:
    """What is too long for the first line is left out between two words."""
    words = " ".join(f"word{number:03}" for number in range(60))
    broken = Violation(path="expect.findings", expected="no FLAKY", seen=f"HH012 FLAKY: {words}.")
    line = first_line(outcome(Terminated(turn=2), violations=(broken,)))

    said = line.partition("seen HH012 FLAKY: ")[2]
    assert {len(word.strip(".")) for word in said.split()} == {0, 7}
    assert len(said) < 130


def test_the_replay_of_a_hook_that_draws_says_so() -> None:
    """Where hooks draw random numbers, the line that plays it again is followed by a line that says so."""
    made = outcome(Terminated(turn=2), chance="$RANDOM in check")

    assert story(made).endswith(
        " --seed 7\n          which may go differently: the source names random numbers"
    )
    assert story(replace(made, chance="")).endswith(" --seed 7")


def test_the_most_severe_broken_expectation_comes_first() -> None:
    """An unexpected call comes before findings, and before a loop that was expected."""
    broken = (
        Violation(path="expect.findings", expected="no MANGLED", seen="HH005 MANGLED"),
        Violation(path="agent[1].expect", expected="deny", seen="allow"),
    )
    looped = outcome(Livelock(stem=2, period=1), violations=broken)
    line = first_line(looped)
    assert line.startswith(
        "agent[1].expect: expected deny, seen allow (and 1 more broken expectation); "
        "livelock: the session repeats forever"
    )
    assert most_severe(looped) == broken[1]

    unpromised = Violation(path="variants.b.expect.verdict", expected="terminated", seen="livelock")
    both = replace(looped, violations=(*broken, unpromised))
    assert first_line(both).startswith("livelock: ")
    assert most_severe(both) == unpromised


@pytest.mark.parametrize(
    "verdict,seen,expected",
    [
        (
            Livelock(stem=1, period=1),
            trace(STOP, asked(flag=False), asked()),
            "read `stop_hook_active` from its input",
        ),
        (Livelock(stem=1, period=1), trace(STOP, asked(), asked()), "since its last refusal."),
        (
            Livelock(stem=1, period=1),
            trace(STOP, asked(sign="loop_count", flag=0), asked(sign="loop_count", flag=1)),
            "read `loop_count` from its input",
        ),
        (
            Livelock(stem=1, period=1),
            trace(STOP, asked(sign="x"), asked(sign="x")),
            "since its last refusal.",
        ),
        (
            Livelock(stem=1, period=1),
            trace(STOP, asked(event="PreToolUse")),
            "The same PreToolUse will be refused",
        ),
        (Livelock(stem=1, period=1), trace(STOP), "which hook keeps it going"),
        (
            Livelock(stem=0, period=2),
            trace(STOP, asked(command="a"), STOP, asked(command="b")),
            "These hooks send the agent back and forth: a demands",
        ),
        (
            Livelock(stem=0, period=2),
            trace(STOP, both_asked(), STOP, both_asked()),
            "Several hooks refuse: a demands",
        ),
        (Capped(turn=1, cap=GUARD), trace(STOP, asked(overridden=True)), "Only the cap of claude-code"),
        (Capped(turn=1, cap=GUARD), trace(STOP, asked()), "no threshold of its own could have ended this"),
        (
            Undecided(turn=1, why="no end", changed=CHANGED, masks=("workspace/log", "workspace/[*] a")),
            trace(STOP),
            '`mask: [workspace/log, "workspace/[*] a"]`',
        ),
        (Undecided(turn=1, why="no end", changed=CHANGED), trace(STOP), "raise `turns`"),
        (
            Undecided(turn=1, why="", reasons=frozenset(["two results"])),
            trace(STOP),
            "a folder can be added with `cover`",
        ),
        (Undecided(turn=1, why="no end"), trace(STOP), "more turns or time"),
    ],
)
def test_advice_fits_what_was_seen(verdict: Verdict, seen: Trace, expected: str) -> None:
    """The advice names what this hook could read, or what this run could be given."""
    assert expected in story(outcome(verdict, seen), width=300)


def test_findings_have_advice() -> None:
    """
    A finding is shown with its code, its turn, how often it was seen and what to do, and many are counted.
    """
    finding = Finding(
        code="HH005", name="CRASHED", text="exit code 1", advice="Correct it.", turn=2, times=3, hook="./x.sh"
    )
    report = story(outcome(Terminated(turn=2), findings=(finding,) * 12))
    assert "  HH005 CRASHED  exit code 1 [./x.sh] (first in turn 2, 3 times)\n        Correct it." in report
    assert "  and 2 more findings" in report
    assert "  more:   hookharness findings HH005\n" in report


@pytest.mark.parametrize("tier", Tier)
def test_every_tier_is_described_if_it_matters(tier: Tier) -> None:
    """The isolation of hook runs is below a livelock, and not below a verdict without assumptions."""
    assert "tier:" in story(outcome(Livelock(stem=1, period=1), tier=tier))
    assert "tier:" not in story(outcome(Terminated(turn=2), tier=tier))


def test_a_kept_workspace_is_named() -> None:
    """A workspace that was kept is named."""
    assert "  workspace: /tmp/kept" in story(outcome(Terminated(turn=2), kept_workspace="/tmp/kept"))


def test_a_scenario_without_a_file_is_repeated_by_its_seed() -> None:
    """Without a file, the scenario and its seed are named."""
    made = outcome(Terminated(turn=2))
    made = replace(made, scenario=replace(made.scenario, origin=None))
    assert story(made).endswith("replay: the same scenario (lint[claude-code]) with seed 7")


def test_a_hostile_name_stays_one_word_of_the_shell() -> None:
    """The command that repeats a run is quoted for a shell."""
    origin = replace(ORIGIN, file=Path("it's; rm -rf $HOME.scenario.yaml"))
    made = outcome(Terminated(turn=2))
    last = story(replace(made, scenario=replace(made.scenario, origin=origin))).splitlines()[-1]
    assert "run 'it'\"'\"'s; rm -rf $HOME.scenario.yaml::lint[claude-code]' --seed 7" in last


BOMB = "\x1b]0;owned\x07\x1b[2J\r\n\u202e\u2028" + "A" * 5000


def test_hostile_text_stays_text_everywhere() -> None:
    """
    With any text of hooks, agents, files and expectations, no line is long or has a control character.
    """
    cut = TimedOut(5, Cut.LIMIT, doing=(Activity(Process(1, BOMB, 0), BOMB, BOMB, BOMB),))
    held = HeldOpen(Exited(0), 1, (Process(1, BOMB, 0),))
    call = ToolCall(name=BOMB, input={BOMB: BOMB})
    seen = trace(
        Happened(event=Prompt(text=BOMB)),
        Moved(move=Tools(calls=(call,), say=BOMB)),
        Performed(call=call, result=ToolResult(text=BOMB, failed=True)),
        Moved(move=moves.Edit(file=BOMB, text="")),
        asked(event=BOMB, reason=BOMB, command=BOMB, context=BOMB, halt=BOMB, fault=BOMB, ending=cut),
        Moved(move=moves.Subagent(kind=BOMB, prompt=BOMB)),
        asked(ending=held),
        Happened(event=moves.Corrupt(file=BOMB, how=BOMB)),
        asked(ending=NotStarted(BOMB)),
    )
    finding = Finding(code=BOMB, name=BOMB, text=BOMB, advice=BOMB, hook=BOMB)
    scenario = Scenario(name=BOMB, variant=BOMB, host=BOMB, origin=Origin(file=Path(BOMB)))
    guard = Cap(overrides=None, why=BOMB, rule=RULE)
    change = (Change(path=BOMB, how="content"),)
    met = Successor(fate="held", why=BOMB, steps=seen.steps)
    trap = TrapState(path=(), trace=seen, met=(met,), holding=tuple(met.refusals), digest="", states=1)
    candidates = (Stop(text=BOMB), moves.RunCommand(command=BOMB))
    explored = Exploration(
        candidates=candidates, states=1, tried=1, stopping=0, open={BOMB: 1}, since=1, escape=candidates
    )
    for verdict in (
        Terminated(turn=1),
        Capped(turn=1, cap=guard, changed=change),
        Livelock(stem=1, period=1, evidence=BOMB, assumptions=(BOMB,), cap=guard),
        Hung(turn=1, event=BOMB, command=BOMB, rule=RULE),
        Recursing(turn=1, limit=BOMB),
        Lockout(turn=1, moves=(Stop(text=BOMB),)),
        Undecided(turn=1, why=BOMB, changed=change),
    ):
        report = story(
            Outcome(
                scenario=scenario,
                host=BOMB,
                trace=seen,
                verdict=verdict,
                findings=(finding,),
                violations=(Violation(path=BOMB, expected=BOMB, seen=BOMB),),
                assumptions=(BOMB,),
                explored=replace(explored, trap=trap if isinstance(verdict, Lockout) else None),
                kept_workspace=BOMB,
            ),
            width=900,
        )
        assert not [character for character in report if not character.isprintable() and character != "\n"]
        assert max(map(columns, report.split("\n"))) < 1000


def test_no_line_of_a_story_commands_a_runner() -> None:
    """A word that a runner would obey at the beginning of a line is escaped if wrapping puts it there."""
    text = " ".join(["::error::no"] * 30)
    finding = Finding(code="HH005", name="CRASHED", text=text, advice=text)

    report = story(outcome(Terminated(turn=2), findings=(finding,)), width=60).splitlines()

    assert not any(line.lstrip().startswith("::") for line in report)
    assert any(line.lstrip().startswith("\\x3a:error::no") for line in report)


def test_the_turns_keep_to_the_terminal() -> None:
    """No line of a turn is wider than the terminal."""
    lines = story(outcome(Terminated(turn=1), trace(STOP, asked(reason="漢" * 200))), width=60).splitlines()
    assert max(columns(line) for line in lines[1:-1]) <= 60


FOLDERS = (("/tmp/pytest-of-me/pytest-22/hooks0/lint-1/workspace", "workspace"),)


def test_paths_of_the_run_are_short() -> None:
    """A file of the workspace is shown as `workspace/...` in reasons, verdicts, findings and expectations."""
    folder = FOLDERS[0][0]
    long = f"ruff: {folder}/ruff.sh: line 3: ruff: command not found in {folder}."
    short = "ruff: workspace/ruff.sh: line 3: ruff: command not found in workspace."
    finding = Finding(code="HH005", name="CRASHED", text=long, advice="Correct it.")
    hooked = asked(reason=long, halt=long, command=f"{folder}/lint.sh")
    made = outcome(
        Terminated(turn=1),
        trace(STOP, hooked),
        findings=(finding,),
        violations=(Violation(path="expect.reasons", expected="x", seen=long),),
        folders=FOLDERS,
        kept_workspace="/tmp/pytest-of-me/pytest-22/hooks0/lint-1",
    )
    told = story(made, width=400)
    assert folder not in told
    assert told.count(short) >= 5
    assert "Stop   workspace/lint.sh  exited 2" in told
    assert "  workspace: /tmp/pytest-of-me/pytest-22/hooks0/lint-1" in told
    assert folder not in first_line(made)


def test_a_path_beside_the_workspace_stays() -> None:
    """Only the folder itself and what is in it is renamed, not a folder whose name begins alike."""
    reason = f"{FOLDERS[0][0]}.bak {FOLDERS[0][0]}-2 {FOLDERS[0][0]}s"
    made = outcome(Terminated(turn=1), trace(STOP, asked(reason=reason)), folders=FOLDERS)
    assert reason in story(made, width=400)


def written(error: str, hooked: HookEvent | None = None) -> HookEvent:
    hooked = hooked or asked(Ruling.NONE)
    (hook_run,) = hooked.hook_runs
    assert hook_run.run is not None
    run = replace(hook_run.run, stderr=Output(error.encode(), len(error)))
    return replace(hooked, hook_runs=(replace(hook_run, run=run),))


@pytest.mark.parametrize("ending", [ending for ending, _ in ENDINGS])
def test_the_last_line_of_standard_error_is_shown(ending: Ending) -> None:
    """The last line of standard error is shown with every ending, also if the reason is another text."""
    error = "Traceback:\n" + "  File x\n" * 1000 + "OSError: disk full\n\n"
    for hooked in (asked(Ruling.NONE, ending=ending), asked(reason="no", ending=ending)):
        told = story(outcome(Terminated(turn=1), trace(STOP, written(error, hooked))))
        assert "            stderr: OSError: disk full\n" in told


def test_a_reason_that_is_the_standard_error_is_shown_once() -> None:
    """The last line of standard error is not repeated where the reason shows it."""
    hooked = written("one\nruff: not found\n", asked(reason="one ruff: not found"))
    assert "stderr:" not in story(outcome(Terminated(turn=1), trace(STOP, hooked)))


def test_turns_with_other_times_on_standard_error_are_the_same() -> None:
    """Turns that differ only in numbers on standard error are folded."""
    seen = trace(STOP, written("done in 12 ms\n"), STOP, written("done in 9 ms\n"))
    told = story(outcome(Terminated(turn=2), seen))
    assert "stderr: done in 12 ms" in told
    assert "  turn 2  the same" in told


def test_the_end_of_a_long_reason_is_shown() -> None:
    """A long reason is wrapped, cut in its middle, and shown in full with `verbose`."""
    reason = "ruff says: " + "word " * 1000 + "MIDDLE " + "word " * 1000 + "command not found"
    made = outcome(Terminated(turn=1), trace(STOP, asked(reason=reason)))
    brief, full = story(made), story(made, verbose=True)
    assert '"ruff says: ' in brief
    assert 'command not found"' in brief
    assert "MIDDLE" not in brief
    assert max(map(columns, full.splitlines()[1:-1])) <= 100
    assert " ".join(reason.split()) in " ".join(full.split())


def test_every_turn_is_shown_with_verbose() -> None:
    """With `verbose` no turn and no hook run of a turn is left out."""
    seen = trace(*(item for turn in range(1, 60) for item in (STOP, asked(reason=f"number {turn}!"))))
    hooked = replace(asked(), hook_runs=tuple(written(f"{n}").hook_runs[0] for n in range(40)))
    told = story(outcome(Terminated(turn=1), seen), verbose=True)
    assert all(f"number {turn}!" in told for turn in range(1, 60))
    told = story(outcome(Terminated(turn=1), trace(STOP, hooked)), verbose=True)
    assert all(f"stderr: {n}\n" in told for n in range(40))


def test_a_narrow_screen_has_the_place_of_an_expectation_on_its_own_line() -> None:
    """What was expected and where it is written are on two lines if one is too narrow for both."""
    broken = (Violation(path="expect.verdict", expected="terminated within 3", seen="livelock"),)
    made = outcome(Livelock(stem=1, period=1), trace(STOP, asked()), violations=broken)

    lines = story(made, width=50).splitlines()

    place = lines.index("  expected: terminated within 3")
    assert lines[place + 1] == "            /work place/scenarios/lint.scenario.yaml:14  expect.verdict"
