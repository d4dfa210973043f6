"""Which verdict a trace and its end get, and why."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_hookharness.judging.recurrence.cycle import Lasso
from pytest_hookharness.judging.verdict.assumptions import (
    STANDING,
    UNOBSERVED,
    clock_was_read,
    gather_assumptions,
)
from pytest_hookharness.judging.verdict.conclusion import form_conclusion
from pytest_hookharness.judging.verdict.judge_input import JudgeInput
from pytest_hookharness.judging.verdict.run_end import RunEnd
from pytest_hookharness.judging.verdict.verdict import judge
from pytest_hookharness.model import moves
from pytest_hookharness.model.moves import Edit, Prompt, Stop
from pytest_hookharness.model.probes import PerturbationKind, Probe, ProbeEffect, ProbeReport, ProbeResult
from pytest_hookharness.model.processes import (
    Activity,
    Cut,
    Exited,
    HeldOpen,
    Process,
    ProcessResult,
    TimedOut,
)
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.reads import Influences, ObservedCycle
from pytest_hookharness.model.trace import (
    Change,
    Exchange,
    Happened,
    HookEvent,
    HookRun,
    Moved,
    State,
    StateEntry,
    Step,
    Trace,
)
from pytest_hookharness.model.verdicts import (
    Cap,
    Capped,
    Hung,
    Livelock,
    Recursing,
    RunEnding,
    Terminated,
    Undecided,
    verdict_name,
)

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
ASSUMED = Rule("A cut hook allows.", Basis.ASSUMED, "a host")
GUARD = Cap(overrides=9, why="It overrides the ninth.", rule=RULE)
PROMPT = Happened(event=Prompt(text="Go."))
STOP = Moved(move=Stop())
EDIT = Moved(move=Edit(file="x", text=""))


def asked(
    event: str = "Stop",
    *,
    refused: bool = False,
    overridden: bool = False,
    halt: str | None = None,
    run: ProcessResult | None = None,
    rule: Rule = RULE,
    reasons: tuple[str, ...] = (),
) -> HookEvent:
    ruling = Ruling.DENY if refused or overridden else Ruling.NONE
    hook_run = HookRun(
        hook=Hook(event=event, command="./hook.sh"),
        payload={},
        run=run or ProcessResult(ending=Exited(0)),
        reply=Reply(ruling=ruling, rule=rule),
    )
    decision = Decision(
        event=event,
        ruling=ruling,
        refused=refused,
        overridden=overridden,
        halt=halt,
        rule=RULE,
        reasons=reasons,
    )
    return HookEvent(event=event, hook_runs=(hook_run,), decision=decision)


def trace(*exchanges: Exchange, states: Mapping[int, State] | None = None) -> Trace:
    steps: list[Step] = []
    turn = 0
    for number, exchange in enumerate(exchanges, 1):
        turn += isinstance(exchange, Moved)
        steps.append(Step(number=number, turn=turn, exchange=exchange))
    return Trace(steps=tuple(steps), states=states or {})


def state(digest: str, *, agent: str = "", visible: int = 0, opaque: str = "", **contents: str) -> State:
    files = {f"workspace/{name}": StateEntry("file", 0o644, content) for name, content in contents.items()}
    return State(digest=digest, files=files, agent=agent, visible={"loop_count": visible}, opaque=opaque)


def refusals(digests: str) -> Trace:
    """A trace of refused stops, and the state after each."""
    known = {turn: state(digest, log=digest) for turn, digest in enumerate(digests, 1)}
    return trace(PROMPT, *(item for _ in digests for item in (STOP, asked(refused=True))), states=known)


def stopped(turn: int) -> RunEnd:
    return RunEnd(how="stopped", turn=turn)


def test_an_allowed_stop_is_terminated() -> None:
    """A run is terminated if the hooks allowed the last stop."""
    seen = trace(PROMPT, STOP, asked(refused=True), STOP, asked())
    assert judge(JudgeInput(seen, stopped(2))) == Terminated(turn=2)


def test_a_stop_without_hooks_is_terminated() -> None:
    """If no hook is configured for the stop, nothing refuses it."""
    assert judge(JudgeInput(trace(PROMPT, EDIT, STOP), stopped(2))) == Terminated(turn=2)


def test_a_hook_that_halts_everything_terminates() -> None:
    """A hook that halts everything has ended the run by its own decision."""
    seen = trace(PROMPT, EDIT, asked("PostToolUse", halt="enough"))
    assert judge(JudgeInput(seen, RunEnd(how="halted", turn=1))) == Terminated(turn=1)


def test_a_refused_prompt_terminates() -> None:
    """An agent whose prompt was refused never started, so the run is terminated in turn 0."""
    seen = trace(PROMPT, asked("UserPromptSubmit", refused=True))
    assert judge(JudgeInput(seen, RunEnd(how="halted", turn=0))) == Terminated(turn=0)


@pytest.mark.parametrize(("configured", "known"), [(("UserPromptSubmit",), True), (("Stop",), False)])
def test_a_refused_prompt_says_nothing_of_hooks_of_the_stop(configured: tuple[str, ...], known: bool) -> None:
    """Hooks of a stop that were never asked have decided nothing, so their scenario is no success."""
    seen = trace(PROMPT, asked("UserPromptSubmit", refused=True))
    verdict = judge(JudgeInput(seen, RunEnd(how="halted", turn=0), configured=configured))
    assert isinstance(verdict, Terminated) == known
    assert known or "nothing is known of the hooks of Stop" in verdict.why
    assert known or verdict.reasons == {"prompt refused"}


@pytest.mark.parametrize(
    "after",
    [
        asked("SessionEnd", halt="enough"),
        asked("PreCompact", halt="enough"),
        asked("UserPromptSubmit", refused=True),
    ],
    ids=["session end", "compaction", "second prompt"],
)
@pytest.mark.parametrize("how", ["idle", "stopped", "halted"])
def test_what_comes_after_a_refused_stop_does_not_undo_it(after: HookEvent, how: RunEnding) -> None:
    """A run with a standing refusal is not terminated by later decisions of other events' hooks."""
    seen = trace(PROMPT, STOP, asked(refused=True), Happened(event=moves.End()), after)
    assert isinstance(judge(JudgeInput(seen, RunEnd(how=how, turn=1))), Undecided)


def test_a_call_that_finishes_is_a_stop() -> None:
    """A call of the host's finishing tool is an attempt to stop, and its refusal stands like any other."""
    finish = Moved(move=moves.Tools(calls=(moves.ToolCall(name="finish", input={}),)))
    end = RunEnd(how="stopped", turn=1, finishing=("finish",))
    assert judge(JudgeInput(trace(PROMPT, finish, asked()), end)) == Terminated(turn=1)
    assert isinstance(judge(JudgeInput(trace(PROMPT, finish, asked()), stopped(1))), Undecided)
    assert isinstance(judge(JudgeInput(trace(PROMPT, finish, asked(refused=True)), end)), Undecided)


def test_a_halt_when_the_session_ends_ends_nothing() -> None:
    """A session that the script ended in the middle is undecided, although a hook halts its end."""
    seen = trace(PROMPT, EDIT, Happened(event=moves.End()), asked("SessionEnd", halt="enough"))
    assert isinstance(judge(JudgeInput(seen, RunEnd(how="idle", turn=1))), Undecided)


@pytest.mark.parametrize(
    "seen,words",
    [
        (trace(PROMPT, EDIT, Happened(event=moves.End())), "before the agent tried to stop"),
        (trace(PROMPT, STOP, asked(refused=True), Happened(event=moves.End())), "still stood"),
        (trace(PROMPT, STOP, asked(), PROMPT, EDIT), "before the agent tried to stop"),
        (trace(PROMPT), "before the agent made a move"),
    ],
)
def test_a_session_that_the_script_ended_is_undecided(seen: Trace, words: str) -> None:
    """A session that ends without an allowed stop is no proof of termination."""
    verdict = judge(JudgeInput(seen, stopped(seen.turns)))
    assert isinstance(verdict, Undecided)
    assert words in verdict.why


def test_the_cap_makes_it_capped_and_names_what_changed() -> None:
    """A run that the cap ended is capped, with the files that differ between its last similar turns."""
    known = {1: state("a", log="1"), 2: state("b", log="2"), 3: state("c", log="3")}
    refused = asked(refused=True)
    seen = trace(PROMPT, STOP, refused, STOP, refused, STOP, asked(overridden=True), states=known)
    changed = (Change(path="workspace/log", how="content"),)
    expected = Capped(turn=3, cap=GUARD, changed=changed, masks=("workspace/log",))
    assert judge(JudgeInput(seen, RunEnd(how="capped", turn=3), cap=GUARD)) == expected


@pytest.mark.parametrize(
    ("said", "masks"),
    [
        (("item 1", "item 2", "item 3"), ()),
        (("took 0.31s", "took 0.4s", "took 12s"), ("workspace/log",)),
    ],
)
def test_no_mask_where_the_hook_says_what_changes(said: tuple[str, ...], masks: tuple[str, ...]) -> None:
    """A mask is named only if the reason of the hook stays the same each turn, apart from durations."""
    known = {turn: state("abc"[turn - 1], log=str(turn)) for turn in range(1, 4)}
    first, second, third = (asked(refused=True, reasons=(one,)) for one in said)
    seen = trace(PROMPT, STOP, first, STOP, second, STOP, third, states=known)
    verdict = judge(JudgeInput(seen, RunEnd(how="capped", turn=3), cap=GUARD))
    assert isinstance(verdict, Capped)
    assert verdict.masks == masks


def test_an_override_after_an_earlier_prompt_is_still_capped() -> None:
    """A run in which the cap overrode a refusal once is never terminated."""
    seen = trace(PROMPT, STOP, asked(overridden=True), PROMPT, STOP, asked())
    verdict = judge(JudgeInput(seen, stopped(2), cap=GUARD))
    assert verdict == Capped(turn=1, cap=GUARD)


def test_a_cap_without_a_description_gives_the_hosts_sentence() -> None:
    """A capped run contains the host's own sentence if no cap was described."""
    verdict = judge(JudgeInput(refusals("ab"), RunEnd(how="capped", turn=2, why="500 steps.", rule=RULE)))
    assert isinstance(verdict, Capped)
    assert verdict.cap == Cap(overrides=None, why="500 steps.", rule=RULE)


def test_a_run_that_the_host_ends_carries_its_word() -> None:
    """The host's own word and reason for the end replace what its cap would have done."""
    end = RunEnd(how="capped", turn=2, why="the second denial", rule=RULE, status="error")
    denied = judge(JudgeInput(trace(PROMPT, STOP, asked(overridden=True)), end, cap=GUARD))
    limited = judge(JudgeInput(refusals("ab"), end, cap=replace(GUARD, overrides=None)))
    assert isinstance(denied, Capped)
    assert isinstance(limited, Capped)
    assert (denied.status, denied.cap) == ("error", replace(GUARD, why="the second denial"))
    assert (limited.status, limited.cap.why) == ("error", "the second denial")


def test_similar_turns_are_at_one_place_in_the_script() -> None:
    """Changes are searched between turns at the same place, not between a call and a stop."""
    known = {
        1: state("a", agent="stop", log="1", call="none"),
        2: state("b", agent="call", log="2", call="there"),
        3: state("c", agent="stop", log="3", call="none"),
    }
    verdict = judge(JudgeInput(trace(PROMPT, STOP, EDIT, STOP, states=known), RunEnd(how="turns", turn=3)))
    assert isinstance(verdict, Undecided)
    assert verdict.changed == (Change(path="workspace/log", how="content"),)


def test_a_confirmed_lasso_is_a_livelock() -> None:
    """A lasso that was repeated once is a livelock with assumptions and cap; unobserved it is driven."""
    end = RunEnd(how="lasso", turn=4)
    verdict = judge(
        JudgeInput(refusals("xaaa"), end, cap=GUARD, lasso=Lasso(2, 1), assumptions=("The tier.",))
    )
    expected = Livelock(
        stem=2,
        period=1,
        repetitions=2,
        evidence="driven",
        matters=("what it reads, which was not observed",),
        assumptions=(*STANDING, "The tier."),
        cap=GUARD,
    )
    assert verdict == expected


@pytest.mark.parametrize(
    ("influences", "evidence"),
    [
        (Influences(), "closed"),
        (Influences(matters=("workspace/n",)), "driven"),
        (Influences(clock=True), "driven"),
        (Influences(matters=("not everything",), why="no record"), "driven"),
    ],
)
def test_what_is_read_decides_the_evidence(influences: Influences, evidence: str) -> None:
    """A recurring state proves the loop only if nothing else was read; a clock needs experiments."""
    observed = ObservedCycle(stem=2, period=1, influences=influences)
    case = JudgeInput(refusals("xaaa"), RunEnd(how="lasso", turn=4), lasso=Lasso(2, 1), observed=observed)
    verdict = judge(case)
    assert isinstance(verdict, Livelock)
    assert verdict.evidence == evidence
    # What could matter is named, so that nothing else is assumed away.
    assert (UNOBSERVED in verdict.assumptions) == bool(influences.why)


def test_a_run_that_time_cut_proves_nothing_by_its_turns() -> None:
    """Where the budget ends, a recurring state is a proof only if nothing else was read."""
    matters = Influences(matters=("workspace/n",))
    for influences, proved in ((Influences(), True), (matters, False)):
        observed = ObservedCycle(stem=2, period=1, influences=influences)
        end = RunEnd(how="wall", turn=4, why="time budget used up")
        case = JudgeInput(refusals("xaaa"), end, lasso=Lasso(2, 1), observed=observed)
        assert isinstance(judge(case), Livelock) == proved


@pytest.mark.parametrize(
    ("end", "reasons"),
    [
        (RunEnd(how="turns", turn=4), {"turns"}),
        (RunEnd(how="turns", turn=4, why="events followed each other"), set()),
        (RunEnd(how="wall", turn=4), {"time"}),
        (RunEnd(how="wall", turn=4, reasons=frozenset(["time for turns"])), {"time for turns"}),
        (RunEnd(how="interrupted", turn=4), {"interrupted"}),
        (RunEnd(how="stopped", turn=4), {"ended early"}),
        (RunEnd(how="disagreed", turn=4, why="x", reasons=frozenset(["clock"])), {"clock"}),
    ],
)
def test_an_open_verdict_says_what_kept_it_open(end: RunEnd, reasons: set[str]) -> None:
    """Advice and check ask for the kind of the reason, whatever its words are."""
    verdict = judge(JudgeInput(refusals("wxyz"), end))
    assert isinstance(verdict, Undecided)
    assert verdict.reasons == reasons


def test_one_state_with_two_results_is_a_reason_of_its_own() -> None:
    """What decides lies outside of the state then, whatever ended the run."""
    verdict = judge(JudgeInput(refusals("wxyz"), RunEnd(how="turns", turn=4), flaky=True))
    assert isinstance(verdict, Undecided)
    assert verdict.reasons == {"turns", "two results"}


@pytest.mark.parametrize("how", ["lasso", "progression"])
def test_a_clock_that_was_tried_is_an_assumption(how: RunEnding) -> None:
    """If a moved clock made no difference, the level stays and the clock becomes an assumption."""
    seen = ProbeResult(reaction=ProbeEffect.SAME)
    probing = ProbeReport(
        turn=4, period=1, probes=(Probe(kind=PerturbationKind.CLOCK, tried="1 h later", seen=seen),)
    )
    observed = ObservedCycle(stem=2, period=1, influences=Influences(clock=True))
    states = "xaaa" if how == "lasso" else "wxyz"
    verdict = judge(JudgeInput(refusals(states), RunEnd(how=how, turn=4), observed=observed, probing=probing))
    assert isinstance(verdict, Livelock)
    assert verdict.evidence == ("closed" if how == "lasso" else "unread")
    assert clock_was_read(["1 h later"]) in verdict.assumptions


def test_what_is_only_written_needs_no_experiment() -> None:
    """A run whose state moves on is a livelock if nothing of it is read, without any probe."""
    observed = ObservedCycle(stem=2, period=1, influences=Influences())
    case = JudgeInput(refusals("wxyz"), RunEnd(how="progression", turn=4), observed=observed)
    verdict = judge(case)
    assert isinstance(verdict, Livelock)
    assert (verdict.evidence, verdict.stem, verdict.period) == ("unread", 2, 1)
    read = replace(observed, influences=Influences(matters=("workspace/n",)))
    assert isinstance(judge(replace(case, observed=read)), Undecided)


def test_a_mask_that_hid_a_difference_is_named() -> None:
    """If a masked path really differed, the evidence is masked and the path is named."""
    masked = frozenset({"workspace/.log"})
    verdict = judge(
        JudgeInput(refusals("aaa"), RunEnd(how="lasso", turn=3), lasso=Lasso(1, 1), masked=masked)
    )
    assert isinstance(verdict, Livelock)
    assert verdict.evidence == "masked"
    assert "workspace/.log" in verdict.assumptions[-1]


@pytest.mark.parametrize("digests", ["aa", "aab", "abab"])
def test_a_lasso_without_its_confirming_repetition_is_undecided(digests: str) -> None:
    """The judge checks a lasso again and claims only what the states show."""
    period = 2 if digests == "abab" else 1
    verdict = judge(JudgeInput(refusals(digests), RunEnd(how="lasso", turn=3), lasso=Lasso(1, period)))
    assert isinstance(verdict, Undecided)


def test_a_proof_is_found_that_the_loop_did_not_pursue() -> None:
    """A run that repeats itself until its last turn is a livelock even if the loop did not pursue it."""
    verdict = judge(JudgeInput(refusals("xababab"), RunEnd(how="turns", turn=7)))
    assert isinstance(verdict, Livelock)
    assert (verdict.stem, verdict.period) == (3, 2)


def test_one_state_with_two_results_is_undecided_and_named() -> None:
    """A flaky hook gives an undecided verdict that names the turn and what differs between the results."""
    verdict = judge(JudgeInput(refusals("aab"), RunEnd(how="lasso", turn=3), lasso=Lasso(1, 1), flaky=True))
    assert isinstance(verdict, Undecided)
    assert "the same state led to two results in turn 3" in verdict.why
    assert verdict.changed == (Change(path="workspace/log", how="content"),)


def test_a_flaky_run_is_no_livelock_although_it_circles() -> None:
    """Once one state led to two results, a later cycle proves nothing."""
    verdict = judge(JudgeInput(refusals("aabbb"), RunEnd(how="lasso", turn=5), lasso=Lasso(3, 1)))
    assert isinstance(verdict, Undecided)


def test_a_difference_that_only_the_loop_saw_is_undecided() -> None:
    """If the loop saw different contents behind equal digests, nothing is proved."""
    verdict = judge(JudgeInput(refusals("aaa"), RunEnd(how="lasso", turn=3), lasso=Lasso(1, 1), flaky=True))
    assert isinstance(verdict, Undecided)
    assert verdict.why.startswith("the same state came again, which alone proves no loop; ")
    assert "two results in turn 3" in verdict.why


def test_an_unknown_state_is_named() -> None:
    """A state that is not known completely is named as the reason why nothing was proved."""
    seen = trace(PROMPT, STOP, states={1: state("a", opaque="the behaviour remembers a lock")})
    verdict = judge(JudgeInput(seen, RunEnd(how="turns", turn=1)))
    assert isinstance(verdict, Undecided)
    assert "the behaviour remembers a lock" in verdict.why


def test_says_what_else_differs_if_no_file_does() -> None:
    """If only a counter of the host changes, it is named instead of files."""
    known = {1: state("a", visible=1), 2: state("b", visible=2)}
    verdict = judge(JudgeInput(trace(PROMPT, STOP, STOP, states=known), RunEnd(how="turns", turn=2)))
    assert isinstance(verdict, Undecided)
    assert "the host's loop_count" in verdict.why


@pytest.mark.parametrize(
    "how,words",
    [
        ("turns", "no end and no repeated state in 3 turns"),
        ("wall", "time budget used up: no end and no repeated state in 3 turns"),
        ("interrupted", "interrupted after 3 turns"),
    ],
)
def test_a_run_that_was_cut_is_undecided(how: RunEnding, words: str) -> None:
    """A run that a budget or the user ended is undecided."""
    verdict = judge(JudgeInput(refusals("abc"), RunEnd(how=how, turn=3)))
    assert isinstance(verdict, Undecided)
    assert verdict.why == words


@pytest.mark.parametrize("ending", [TimedOut(5, by=Cut.LIMIT), HeldOpen(Exited(0), 5)])
def test_a_host_that_waits_for_a_cut_hook_run_is_hung(ending: TimedOut | HeldOpen) -> None:
    """A run is hung if the host waits for a hook run that was cut or held open."""
    seen = trace(PROMPT, STOP, asked(run=ProcessResult(ending=ending)), STOP)
    verdict = judge(JudgeInput(seen, RunEnd(how="waiting", turn=2)))
    assert verdict == Hung(turn=1, event="Stop", command="./hook.sh", rule=RULE)


def test_a_host_that_waits_for_what_a_hook_asked_is_hung() -> None:
    """A run is hung if a hook's question gets no answer, also after a hook run that was cut."""
    cut = asked("BeforeTool", run=ProcessResult(ending=TimedOut(5, by=Cut.LIMIT)))
    question = replace(
        asked("BeforeTool"), decision=Decision(event="BeforeTool", ruling=Ruling.ASK, rule=ASSUMED)
    )
    (hook_run,) = question.hook_runs
    reply = Reply(ruling=Ruling.ASK, rule=ASSUMED)
    question = replace(question, hook_runs=(*cut.hook_runs, replace(hook_run, reply=reply)))
    seen = trace(PROMPT, EDIT, cut, EDIT, question, asked("Notification"))

    verdict = judge(JudgeInput(seen, RunEnd(how="waiting", turn=2, rule=ASSUMED)))

    assert verdict == Hung(turn=2, event="BeforeTool", command="./hook.sh", rule=ASSUMED, asked=True)


def test_a_host_that_waits_for_a_person_is_undecided() -> None:
    """A host that waits although no hook run was cut and no hook asked is not hung."""
    verdict = judge(
        JudgeInput(trace(PROMPT, EDIT, asked()), RunEnd(how="waiting", turn=1, why="a question is open"))
    )
    assert isinstance(verdict, Undecided)
    assert "a question is open" in verdict.why


def test_sessions_beyond_a_limit_are_recursing() -> None:
    """A run that went beyond a limit of depth or number is recursing."""
    verdict = judge(JudgeInput(trace(PROMPT), RunEnd(how="recursed", turn=1, why="a depth of 3")))
    assert verdict == Recursing(turn=1, limit="a depth of 3")


def test_hung_goes_before_everything_else() -> None:
    """A run that waits forever is hung although the cap acted before and a lasso was closed."""
    cut = asked(run=ProcessResult(ending=TimedOut(5, by=Cut.LIMIT)))
    known = {turn: state("a") for turn in (1, 2, 3)}
    seen = trace(PROMPT, STOP, asked(overridden=True), STOP, STOP, cut, states=known)
    assert isinstance(judge(JudgeInput(seen, RunEnd(how="waiting", turn=3), lasso=Lasso(1, 1))), Hung)


@pytest.mark.slow
@given(
    st.frozensets(st.sampled_from(["workspace/a", "home/b"])),
    st.lists(st.sampled_from("abc"), max_size=8),
    st.booleans(),
)
def test_a_mask_never_turns_terminated_into_something_else(
    masked: frozenset[str], digests: list[str], flaky: bool
) -> None:
    """A run that the hooks ended stays terminated under every mask, however many states it makes equal."""
    known = {turn: state(digest) for turn, digest in enumerate(digests, 1)}
    exchanges = [item for _ in digests for item in (STOP, asked(refused=True))]
    seen = trace(PROMPT, *exchanges, STOP, asked(), states=known)
    turn = len(digests) + 1
    assert judge(JudgeInput(seen, stopped(turn), masked=masked, flaky=flaky)) == Terminated(turn=turn)


@pytest.mark.slow
@given(st.sampled_from(get_args(RunEnding)), st.booleans(), st.booleans(), st.text("abc", max_size=6))
def test_never_claims_more_than_it_saw(how: RunEnding, overridden: bool, flaky: bool, digests: str) -> None:
    """No overridden or cut run is terminated, and no flaky run is a livelock, however it ended."""
    known = {turn: state(digest) for turn, digest in enumerate(digests, 1)}
    refused = asked(refused=not overridden, overridden=overridden)
    seen = trace(PROMPT, *(item for _ in digests for item in (STOP, refused)), states=known)
    lasso = Lasso(1, 1) if len(digests) > 2 else None
    word = verdict_name(judge(JudgeInput(seen, RunEnd(how=how, turn=len(digests)), lasso=lasso, flaky=flaky)))
    assert word != "terminated" or (how == "halted" and not (overridden and digests))
    assert word != "livelock" or not flaky


def test_says_which_rules_and_limits_it_assumes() -> None:
    """Assumed rules and hook runs cut at the hook timeout are among the assumptions, once each."""
    waits = Activity(Process(3, "sleep 900", 0.0), "S", idle_until=900.0)
    run = ProcessResult(ending=TimedOut(10, by=Cut.HOOK_TIMEOUT, doing=(waits,)), limit=600.0)
    seen = trace(STOP, asked(run=run, rule=ASSUMED), STOP, asked(run=run, rule=ASSUMED))
    sentences = gather_assumptions(seen, ["The tier."])
    assert sentences[: len(STANDING) + 1] == (*STANDING, "The tier.")
    assert len(sentences) == len(STANDING) + 3
    assert "10 s" in sentences[-2]
    assert ASSUMED.text in sentences[-1]


def test_says_by_how_much_a_hook_timeout_was_extended() -> None:
    """A hook that ran on because it had waited for a CPU is named among the assumptions."""
    run = ProcessResult(ending=Exited(0), wall=12.0, extended=4.2)
    assert "4.2 s longer" in gather_assumptions(trace(STOP, asked(run=run)))[-1]


def test_says_what_hooks_wrote_elsewhere() -> None:
    """Files that hooks wrote outside of the covered folders are listed once, the first three and a count."""
    paths = [f"outside/srv/{name}" for name in "abcde"]
    step = asked()
    hooked = replace(step, changes=tuple(Change(path=path, how="added") for path in paths))
    (sentence,) = gather_assumptions(trace(STOP, hooked, STOP, hooked))[len(STANDING) :]
    assert sentence.endswith("they stay there: /srv/a, /srv/b, /srv/c and 2 more.")
    assert gather_assumptions(trace(STOP, step)) == STANDING


def test_folders_of_what_was_written_elsewhere_are_not_listed() -> None:
    """A folder that changed because a file was added to it is not listed beside the file."""
    changed = [Change(path="outside/srv", how="content"), Change(path="outside/srv/a/b", how="added")]
    (sentence,) = gather_assumptions(trace(STOP, replace(asked(), changes=tuple(changed))))[len(STANDING) :]
    assert sentence.endswith("they stay there: /srv/a/b.")


def test_a_conclusion_is_verdict_findings_and_assumptions() -> None:
    """The conclusion contains the verdict, the findings and the assumptions of both."""
    seen = trace(PROMPT, STOP, asked(refused=True), STOP, asked())
    opinion = form_conclusion(JudgeInput(seen, stopped(2)))
    assert opinion.verdict == Terminated(turn=2)
    assert [finding.name for finding in opinion.findings] == ["SILENT-REFUSAL"]
    assert opinion.assumptions == STANDING


def test_hooks_are_not_missed_in_a_run_that_was_interrupted() -> None:
    """A run that the user stopped before the first hook run had ended does not report that no hook ran."""
    names = [
        [
            one.name
            for one in form_conclusion(
                JudgeInput(Trace(), RunEnd(how=how, turn=0), configured=("Stop",))
            ).findings
        ]
        for how in ("interrupted", "stopped")
    ]
    assert names == [[], ["NEVER-FIRED"]]
