"""Which expectations of a scenario are met; each is shown met, and broken by another trace."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.judging.expectations.check_expectations import find_violations, with_findings
from pytest_hookharness.model import moves
from pytest_hookharness.model.expectations import (
    CapExpectation,
    Expectation,
    FileExpectations,
    Range,
    ordinal,
)
from pytest_hookharness.model.moves import Prompt, Reaction, Script, Stop, ToolCall, ToolResult, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, Output, Process, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling, Unheard
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.model.trace import (
    Exchange,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    Performed,
    State,
    StateEntry,
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
    verdict_name,
)

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
GUARD = Cap(overrides=9, why="It overrides the ninth.", rule=RULE)
IDLE_GUARD = Cap(overrides=None, why="Tool calls reset it.", rule=RULE)
LOOP = Livelock(stem=1, period=2, cap=GUARD)
BASH = ToolCall(name="Bash", input={"command": "ls"}, label="agent[1]")
READ = ToolCall(name="Read", input={"file": "x"}, label="agent[1]")
PROMPT = Happened(event=Prompt(text="Go."))
VERDICTS: list[Verdict] = [
    Terminated(turn=2),
    Capped(turn=2, cap=GUARD),
    LOOP,
    Hung(turn=1, event="Stop", command="./x", rule=RULE),
    Recursing(turn=1, limit="3"),
    Lockout(turn=1),
    Undecided(turn=2, why="no end"),
]


def asked(
    event: str = "Stop",
    ruling: Ruling = Ruling.NONE,
    *,
    reason: str = "",
    overridden: bool = False,
    target: str = "",
    payload: Mapping[str, Mapping[str, str]] | None = None,
    ran: bool = True,
    leftovers: int = 0,
) -> HookEvent:
    refused = ruling is Ruling.DENY and not overridden
    run = ProcessResult(ending=Exited(0), leftovers=tuple(Process(n, "sleep 9", 0) for n in range(leftovers)))
    hook_run = HookRun(
        hook=Hook(event=event, command="./lint.sh"),
        payload=payload or {},
        run=run,
        reply=Reply(ruling=ruling, reason=reason, rule=RULE),
    )
    decision = Decision(
        event=event,
        ruling=ruling,
        refused=refused,
        overridden=overridden,
        reasons=(reason,) if reason else (),
        rule=RULE,
    )
    return HookEvent(event=event, target=target, hook_runs=(hook_run,) if ran else (), decision=decision)


def trace(*exchanges: Exchange) -> Trace:
    steps: list[Step] = []
    turn = 0
    for number, exchange in enumerate(exchanges, 1):
        turn += isinstance(exchange, Moved)
        steps.append(Step(number=number, turn=turn, exchange=exchange))
    return Trace(steps=tuple(steps))


BLOCKED_ONCE = trace(
    PROMPT,
    asked("UserPromptSubmit"),
    Moved(move=Stop()),
    asked(ruling=Ruling.DENY, reason="lint: 3 problems"),
    Moved(move=Stop()),
    asked(),
)


def outcome(
    expect: Expectation,
    seen: Trace = BLOCKED_ONCE,
    verdict: Verdict | None = None,
    *,
    script: Script | None = None,
    findings: tuple[Finding, ...] = (),
    origin: Origin | None = None,
    variant: str = "",
) -> Outcome:
    scenario = Scenario(name="lint", expect=expect, script=script or Script(), origin=origin, variant=variant)
    return Outcome(
        scenario=scenario,
        host="claude-code@2",
        trace=seen,
        verdict=verdict or Terminated(turn=2),
        findings=findings,
    )


def nothing(_file: str) -> str | None:
    return None


def broken(
    seen: Outcome,
    *,
    initial: Mapping[str, StateEntry] | None = None,
    final: Mapping[str, StateEntry] | None = None,
    final_text: Callable[[str], str | None] = nothing,
) -> list[str]:
    found = find_violations(seen, initial=initial or {}, final=final or {}, final_text=final_text)
    return [violation.path for violation in found]


@pytest.mark.parametrize("wanted", VERDICTS)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_meets_only_its_own_expectation(wanted: Verdict, verdict: Verdict) -> None:
    """The expected verdict is met by that verdict and by no other."""
    word = verdict_name(wanted)
    seen = broken(outcome(Expectation(verdict=word), verdict=verdict))
    assert seen == ([] if wanted is verdict else ["expect.verdict"])


def test_an_undecided_run_meets_no_other_expectation() -> None:
    """Without an expected verdict, an undecided run is still a broken expectation."""
    undecided = Undecided(turn=2, why="no end")
    assert broken(outcome(Expectation(), verdict=undecided)) == ["expect.verdict"]
    assert broken(outcome(Expectation())) == []


@pytest.mark.parametrize("within,expected", [(2, []), (1, ["expect.within"])])
def test_within_counts_iterations(within: int, expected: list[str]) -> None:
    """The expected number of iterations is a maximum."""
    assert broken(outcome(Expectation(verdict="terminated", within=within))) == expected


def test_within_is_part_of_a_broken_verdict() -> None:
    """If the verdict is another one, the expectation names both and is broken once."""
    seen = outcome(Expectation(verdict="terminated", within=1), verdict=LOOP)
    found = find_violations(seen, initial={}, final_text=nothing)
    assert found == (Violation(path="expect.verdict", expected="terminated within 1", seen="livelock"),)


@pytest.mark.parametrize(
    "overrides,seen",
    [
        (
            9,
            (
                "livelock, proved before the host's cap acts at the 9th refusal in a row; "
                "`until: guard` plays up to it"
            ),
        ),
        (None, "livelock"),
    ],
)
def test_a_loop_that_was_to_be_capped_names_the_key_that_plays_on(overrides: int | None, seen: str) -> None:
    """A proved loop in place of an expected cap says how to play up to the cap, if that acts."""
    verdict = replace(LOOP, cap=Cap(overrides=overrides, why="It does.", rule=RULE))
    looped = outcome(Expectation(verdict="capped"), verdict=verdict)
    found = find_violations(looped, initial={}, final_text=nothing)
    assert [violation.seen for violation in found] == [seen]


def test_places_in_a_row_have_their_ending() -> None:
    """An ordinal number has the right ending, also after the teens."""
    numbers = (1, 2, 3, 4, 9, 11, 12, 13, 21, 102, 113)
    spoken = ["1st", "2nd", "3rd", "4th", "9th", "11th", "12th", "13th", "21st", "102nd", "113th"]
    assert [ordinal(number) for number in numbers] == spoken


ONE, TWO = Range.exactly(1), Range.exactly(2)
KEPT_AND_BROKEN: list[tuple[Expectation, list[str]]] = [
    (Expectation(blocks=ONE), []),
    (Expectation(blocks=TWO), ["expect.blocks"]),
    (Expectation(blocks={"Stop": ONE}), []),
    (Expectation(blocks={"Stop": ONE, "PreToolUse": ONE}), ["expect.blocks.PreToolUse"]),
    (Expectation(hook_runs={"lint.sh": Range(min=2), "Stop": TWO}), []),
    (Expectation(hook_runs={"lint.sh": Range(max=2)}), ["expect.fires.lint.sh"]),
    (Expectation(decisions={"Stop": ("deny", "allow")}), []),
    (Expectation(decisions={"Stop": ("deny", "none")}), []),
    (Expectation(decisions={"Stop": ("deny",)}), []),
    (Expectation(decisions={"Stop": ("allow",)}), ["expect.decisions.Stop"]),
    (Expectation(decisions={"Stop": ("deny", "allow", "allow")}), ["expect.decisions.Stop"]),
    (Expectation(reasons=(r"lint: \d",)), []),
    (Expectation(reasons=(r"lint: \d", "types")), ["expect.reasons[1]"]),
    (Expectation(sometimes=("Stop", "Stop:deny", "Stop:none")), []),
    (Expectation(sometimes=("Stop", "PreToolUse")), ["expect.sometimes[1]"]),
    (Expectation(sometimes=("Stop:ask",)), ["expect.sometimes[0]"]),
    (Expectation(effects={"Stop": (), "Stop:deny": ()}), []),
    (Expectation(effects={"Stop:deny": (), "PreToolUse": (".state",)}), ["expect.effects"]),
    (Expectation(sessions_alike=True), ["expect.sessions_alike"]),
]


@pytest.mark.parametrize("expect,expected", KEPT_AND_BROKEN)
def test_expectations_about_events(expect: Expectation, expected: list[str]) -> None:
    """Blocks, hook runs, decisions, reasons and required events are checked against the trace."""
    assert broken(outcome(expect)) == expected


def test_text_that_the_agent_must_get() -> None:
    """
    An expected text for the agent is met by what reaches it, and the violation names where else it was said.
    """
    lost = Unheard(place="reason of an allow", text="tabs", rule=RULE)
    run = ProcessResult(ending=Exited(0), stderr=Output(b"spaces", 6))
    hook_run = HookRun(
        hook=Hook(event="Stop", command="./x"), payload={}, run=run, reply=Reply(unheard=lost, rule=RULE)
    )
    decision = Decision(event="Stop", to_agent=("<x>short lines</x>",), rule=RULE)
    seen = outcome(
        Expectation(told=("short", "tabs", "spaces", "blank")),
        trace(Moved(move=Stop()), HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)),
    )
    found = find_violations(seen, initial={}, final={}, final_text=nothing)

    assert [(one.path, one.seen) for one in found] == [
        ("expect.told[1]", "said as reason of an allow (Stop, turn 1), which the agent does not see"),
        ("expect.told[2]", "printed by a hook of Stop in turn 1, but not shown to the agent"),
        ("expect.told[3]", "no hook said it"),
    ]


def test_a_refusal_that_was_overridden_is_no_block() -> None:
    """A refusal that the cap overrode counts as allowed, and not as a block."""
    seen = trace(Moved(move=Stop()), asked(ruling=Ruling.DENY, overridden=True))
    expect = Expectation(blocks=Range.exactly(0), decisions={"Stop": ("allow",)})
    assert broken(outcome(expect, seen)) == []
    assert broken(outcome(Expectation(decisions={"Stop": ("none",)}), seen)) == ["expect.decisions.Stop"]


def test_what_must_happen_needs_a_hook_run() -> None:
    """An event without a hook run does not count as having happened."""
    seen = trace(Moved(move=Stop()), asked(ran=False))
    assert broken(outcome(Expectation(sometimes=("Stop",)), seen)) == ["expect.sometimes[0]"]


@pytest.mark.parametrize(
    "expect,expected",
    [
        (Expectation(period=2), []),
        (Expectation(period=1), ["expect.period"]),
        (Expectation(evidence="closed"), []),
        (Expectation(evidence="masked"), ["expect.evidence"]),
    ],
)
def test_expectations_about_the_cycle(expect: Expectation, expected: list[str]) -> None:
    """Period and evidence are those of the proved loop."""
    assert broken(outcome(expect, verdict=LOOP)) == expected


@pytest.mark.parametrize("expect", [Expectation(period=2), Expectation(evidence="closed")])
def test_expectations_about_the_cycle_need_one(expect: Expectation) -> None:
    """An expectation about the cycle is broken if no loop was proved."""
    assert len(broken(outcome(expect))) == 1


@pytest.mark.parametrize(
    "verdict,kept_workspace",
    [
        (LOOP, {"present", "ninth"}),
        (replace(LOOP, cap=IDLE_GUARD), {"none"}),
        (replace(LOOP, cap=None), {"none"}),
        (Capped(turn=9, cap=GUARD), {"present", "ninth"}),
        (Capped(turn=9, cap=IDLE_GUARD), {"present"}),
        (Terminated(turn=2), set[str]()),
    ],
)
def test_expectations_about_the_cap(verdict: Verdict, kept_workspace: set[str]) -> None:
    """A cap is present if it ended or would end this very loop."""
    guards = {
        "present": CapExpectation(),
        "ninth": CapExpectation(overrides=9),
        "none": CapExpectation(present=False),
        "eighth": CapExpectation(overrides=8),
    }
    assert {
        name for name, guard in guards.items() if not broken(outcome(Expectation(cap=guard), verdict=verdict))
    } == kept_workspace


CRASH = Finding(code="HH005", name="CRASHED", text="exit code 1")


@pytest.mark.parametrize(
    "named,findings,expected",
    [
        ((), (), []),
        ((), (CRASH,), ["expect.findings"]),
        (("HH005",), (CRASH,), []),
        (("crashed",), (CRASH,), []),
        (("CRASHED", "HUNG-HOOK"), (CRASH,), ["expect.findings[1]"]),
        (("CRASHD",), (CRASH,), ["expect.findings[0]", "expect.findings"]),
    ],
)
def test_findings_are_not_allowed_unless_named(
    named: tuple[str, ...], findings: tuple[Finding, ...], expected: list[str]
) -> None:
    """Every finding must be expected by code or name, and every expected one must occur."""
    assert broken(outcome(Expectation(findings=named), findings=findings)) == expected


@pytest.mark.parametrize("named, expected", [((), ["expect.findings"]), (("CRASHED",), [])])
def test_findings_that_are_made_later_count_the_same(named: tuple[str, ...], expected: list[str]) -> None:
    """
    A finding that is added to a judged outcome breaks the expectation of none, and meets that of its name.
    """
    judged = outcome(Expectation(findings=named))
    judged = replace(judged, violations=find_violations(judged, initial={}, final_text=nothing))

    assert [one.path for one in with_findings(judged, (CRASH,)).violations] == expected


def test_what_was_seen_leaves_out_the_list_of_all_events() -> None:
    """A failed expectation names the nearest event; only the finding below it lists all events."""
    text = "claude-code has no event 'Stopp'; did you mean 'Stop'? known events: Setup, Stop"
    finding = Finding(code="HH008", name="EVENT-UNKNOWN", text=text)
    judged = outcome(Expectation(), findings=(finding,))
    (seen,) = find_violations(judged, initial={}, final_text=nothing)
    assert seen.seen == "HH008 EVENT-UNKNOWN: claude-code has no event 'Stopp'; did you mean 'Stop'?"


def test_a_misspelt_finding_gets_the_nearest_name() -> None:
    """An unknown name of a finding is answered with the most similar name."""
    seen = outcome(Expectation(findings=("CRASHD",)), findings=(CRASH,))
    found = find_violations(seen, initial={}, final_text=nothing)
    assert "nearest is CRASHED" in found[0].expected


@pytest.mark.parametrize(
    "left,expect,expected",
    [
        (0, Expectation(), []),
        (1, Expectation(), ["expect.leftovers"]),
        (2, Expectation(leftovers=TWO), []),
        (0, Expectation(leftovers=Range(min=1)), ["expect.leftovers"]),
    ],
)
def test_no_process_may_be_left_over_unless_expected(
    left: int, expect: Expectation, expected: list[str]
) -> None:
    """Leftover processes break the expectation unless their number is expected."""
    assert broken(outcome(expect, trace(Moved(move=Stop()), asked(leftovers=left)))) == expected


def test_naming_the_finding_names_its_processes() -> None:
    """A scenario that expects the finding about leftover processes need not count them as well."""
    finding = Finding(code="HH003", name="LEFTOVER", text="sleep")
    seen = trace(Moved(move=Stop()), asked(leftovers=1))
    assert broken(outcome(Expectation(findings=("LEFTOVER",)), seen, findings=(finding,))) == []
    assert broken(outcome(Expectation(), seen, findings=(finding,))) == ["expect.leftovers"]


OLD, NEW = StateEntry("file", 0o644, "old"), StateEntry("file", 0o644, "new")
FILES = {"workspace/kept": OLD, "workspace/changed": NEW, "workspace/folder/new": NEW}
BEFORE = {"workspace/kept": OLD, "workspace/changed": OLD, "workspace/gone": OLD, "workspace/folder": OLD}


@pytest.mark.parametrize(
    "files,expected",
    [
        (FileExpectations(equal={"kept": "a\nb\n"}), []),
        (FileExpectations(equal={"kept": "a\nc\n"}), ["expect.files.equal.kept"]),
        (FileExpectations(equal={"kept": "a\n"}), ["expect.files.equal.kept"]),
        (FileExpectations(equal={"kept": "a\nb\nc"}), ["expect.files.equal.kept"]),
        (FileExpectations(equal={"none": ""}), ["expect.files.equal.none"]),
        (FileExpectations(contain={"kept": "b"}), []),
        (
            FileExpectations(contain={"kept": "x", "none": ""}),
            ["expect.files.contain.kept", "expect.files.contain.none"],
        ),
        (FileExpectations(absent=("none",)), []),
        (FileExpectations(absent=("kept", "folder")), ["expect.files.absent[0]", "expect.files.absent[1]"]),
        (FileExpectations(unchanged=("kept",)), []),
        (
            FileExpectations(unchanged=("changed", "gone")),
            ["expect.files.unchanged[0]", "expect.files.unchanged[1]"],
        ),
        (FileExpectations(unchanged=("folder",)), ["expect.files.unchanged[0]"]),
        (FileExpectations(unchanged=("never-there",)), ["expect.files.unchanged[0]"]),
    ],
)
def test_expectations_about_files(files: FileExpectations, expected: list[str]) -> None:
    """Files at the end are compared with the expected text, part or absence, and with their first state."""
    texts = {"kept": "a\nb\n"}
    seen = outcome(Expectation(files=files))
    assert broken(seen, initial=BEFORE, final=FILES, final_text=texts.get) == expected


def test_the_last_state_is_the_end_unless_entries_are_given() -> None:
    """Without entries of the end those of the last state are compared."""
    seen = outcome(Expectation(files=FileExpectations(unchanged=("changed",))))
    states = {1: State(files=BEFORE), 2: State(files=FILES)}
    seen = replace(seen, trace=replace(seen.trace, states=states))
    assert len(find_violations(seen, initial=BEFORE, final_text=nothing)) == 1
    assert len(find_violations(seen, initial=FILES, final_text=nothing)) == 0


def test_an_unreadable_file_never_meets_an_expectation() -> None:
    """An error while a file is read leaves the check as an error."""

    def fail(_file: str) -> str | None:
        raise PermissionError("not readable")

    with pytest.raises(PermissionError):
        broken(outcome(Expectation(files=FileExpectations(absent=("x",)))), final_text=fail)


def call(expect: str | None, of: ToolCall = BASH) -> ToolCall:
    return replace(of, expect=expect)


def pre(ruling: Ruling, of: ToolCall = BASH) -> HookEvent:
    payload = {"tool_input": {key: str(value) for key, value in of.input.items()}}
    return asked("PreToolUse", ruling, target=of.name, payload=payload)


def performed(of: ToolCall, *, refused: bool = False) -> Performed:
    return Performed(call=of, result=ToolResult(), refused=refused)


@pytest.mark.parametrize("wanted", ["allow", "deny", "ask"])
@pytest.mark.parametrize(
    "became,after",
    [
        ("allow", [pre(Ruling.NONE), performed(BASH)]),
        ("allow", [performed(replace(BASH, input={"command": "ls -l"}))]),
        (
            "allow",
            [
                performed(replace(BASH, input={"command": "ls -l"})),
                asked("PostToolUse", Ruling.DENY, target="Bash"),
            ],
        ),
        ("allow", [pre(Ruling.ALLOW), performed(BASH), asked("PostToolUse", Ruling.DENY, target="Bash")]),
        ("deny", [pre(Ruling.DENY)]),
        ("deny", [pre(Ruling.DENY), performed(BASH, refused=True)]),
        ("ask", [pre(Ruling.ASK), performed(BASH)]),
        ("never made", []),
    ],
)
def test_expectations_about_one_call(wanted: str, became: str, after: list[Exchange]) -> None:
    """The result of a call says whether it was carried out, and whether the user would have been asked."""
    move = Tools(calls=(call(wanted),))
    seen = outcome(Expectation(), trace(Moved(move=move), *after), script=Script(acts=(move,)))
    assert broken(seen) == ([] if became == wanted else ["agent[1].expect"])


@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize("wanted", ["deny", None])
def test_a_call_of_a_reaction_that_was_never_made(wanted: str | None, made: bool) -> None:
    """What is expected of a call in a reaction is broken if the agent never came to that call."""
    move = Tools(calls=(replace(call(wanted), label="when[0].do[0]"),))
    script = Script(reactions=(Reaction(reason="blocked", moves=(move,)),))
    after: list[Exchange] = [Moved(move=move), pre(Ruling.DENY)] if made else []
    seen = broken(outcome(Expectation(), trace(*after), script=script))
    assert seen == (["when[0].do[0].expect"] if wanted and not made else [])


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("wanted", ["deny", "ask"])
def test_a_call_about_which_no_hook_was_asked(wanted: str, asked: bool) -> None:
    """If an expected refusal fails because no hook was asked, that is said."""
    move = Tools(calls=(call(wanted),))
    after: list[Exchange] = [pre(Ruling.NONE), performed(BASH)] if asked else [performed(BASH)]
    seen = outcome(Expectation(), trace(Moved(move=move), *after), script=Script(acts=(move,)))
    (violation,) = find_violations(seen, initial={}, final_text=nothing)
    assert violation.seen.startswith("allow")
    assert ("no hook was asked" in violation.seen) == (not asked)


def test_parallel_calls_are_distinguished() -> None:
    """Each of two calls in one turn is checked by its own result."""
    other = replace(BASH, input={"command": "rm"}, label="agent[1]")
    move = Tools(calls=(call("deny"), call("allow", other), call("allow", READ)))
    after: list[Exchange] = [
        pre(Ruling.DENY),
        pre(Ruling.NONE, other),
        performed(other),
        performed(READ),
    ]
    assert broken(outcome(Expectation(), trace(Moved(move=move), *after))) == []
    swapped = Tools(calls=(call("allow"), call("deny", other), call("allow", READ)))
    assert len(broken(outcome(Expectation(), trace(Moved(move=swapped), *after)))) == 2


def test_a_call_that_the_hooks_changed_is_not_mixed_up() -> None:
    """
    If one of two calls of a tool was carried out with another input, that call is the allowed one.
    """
    other = replace(BASH, input={"command": "rm"})
    move = Tools(calls=(call("deny"), call("allow", other)))
    changed = performed(replace(BASH, input={"command": "rm -i"}))
    after: list[Exchange] = [pre(Ruling.DENY), pre(Ruling.NONE, other), changed]
    assert broken(outcome(Expectation(), trace(Moved(move=move), *after))) == []


def test_two_like_calls_need_two_that_were_made() -> None:
    """One call that was carried out meets the expectation of one call only."""
    move = Tools(calls=(call("allow"), call("allow")))
    once = trace(Moved(move=move), performed(BASH))
    twice = trace(Moved(move=move), performed(BASH), performed(BASH))
    assert broken(outcome(Expectation(), once)) == ["agent[1].expect"]
    assert broken(outcome(Expectation(), twice)) == []


def test_a_shell_move_is_judged_like_a_call() -> None:
    """An expectation about a run, an edit or a read is met by the call that the host made of it."""
    move = moves.RunCommand(command="ls", expect="deny", label="agent[0]")
    assert broken(outcome(Expectation(), trace(Moved(move=move), pre(Ruling.DENY)))) == []
    assert broken(outcome(Expectation(), trace(Moved(move=move), performed(BASH)))) == ["agent[0].expect"]


def test_an_expected_call_that_was_never_made_is_broken() -> None:
    """A run that ends before an expected call breaks any expectation of that call."""
    script = Script(acts=(Prompt(text="Go."), moves.Read(file="x", expect="allow")))
    assert broken(outcome(Expectation(), script=script)) == ["agent[1].expect"]


def test_paths_are_those_of_the_variant() -> None:
    """A broken expectation of a variant is named by the key path in the file."""
    origin = Origin(file=Path("lint.scenario.yaml"), marks={"variants.old.expect.blocks": (9, 5)})
    seen = outcome(Expectation(blocks=TWO), origin=origin, variant="old")
    assert broken(seen) == ["variants.old.expect.blocks"]


@pytest.mark.parametrize(
    ("marks", "path"),
    [
        ({"expect.verdict": (3, 5), "variants.old.expect.blocks": (9, 5)}, "variants.old.expect.findings"),
        ({"expect.findings": (3, 5), "variants.old.expect.blocks": (9, 5)}, "expect.findings"),
        ({"expect.verdict": (3, 5)}, "expect.findings"),
    ],
    ids=["the variant has an expectation", "the base names it", "only the base has one"],
)
def test_what_nobody_wrote_is_looked_for_in_the_variant(marks: dict[str, tuple[int, int]], path: str) -> None:
    """An expectation that nobody wrote is reported at the `expect` of the variant, if it has one."""
    origin = Origin(file=Path("lint.scenario.yaml"), marks=marks)
    assert Scenario(name="lint", origin=origin, variant="old").mark("expect.findings") == path


@pytest.mark.parametrize(("call", "expected"), [(BASH, []), (READ, ["expect.sessions_alike"])])
def test_sessions_without_a_common_call_are_not_alike(call: ToolCall, expected: list[str]) -> None:
    """Only a call that is made in two sessions in a row shows whether they answer it alike."""
    seen = trace(PROMPT, performed(BASH), Happened(event=moves.Resume()), performed(call))
    assert broken(outcome(Expectation(sessions_alike=True), seen)) == expected
