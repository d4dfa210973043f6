"""Which defects are found in a trace, and how they are reported."""

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pytest_hookharness.judging.findings.find import find
from pytest_hookharness.judging.findings.finding_catalogue import HUNG_HOOK, catalogue, look_up
from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.moves import Prompt, Stop, ToolCall, ToolResult, Tools
from pytest_hookharness.model.outcome import INCONCLUSIVE_FINDINGS
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
    TimedOut,
)
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.model.trace import Happened, HookEvent, HookRun, Moved, Performed, State, Step, Trace

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
SLEEP = Process(7, "sleep 100", 0.1)
WAITS = Activity(Process(12, "cat", 0.0), "S", "read", "end of file on stdin")


@dataclass(frozen=True)
class Problem:
    """A problem in the hook settings, as a host reports it."""

    kind: str
    source: str = ".claude/settings.json"
    path: str = "hooks.Stop[0]"
    text: str = "there is no command"
    rule: Rule | None = RULE


def hook_run(
    ending: Ending | None = None,
    *,
    fault: str | None = None,
    run: ProcessResult | None = None,
    ruling: Ruling = Ruling.NONE,
    silent: bool = False,
) -> HookRun:
    return HookRun(
        hook=Hook(event="Stop", command="./hook.sh"),
        payload={},
        run=run or ProcessResult(ending=ending or Exited(0)),
        reply=Reply(fault=fault, ruling=ruling, silent=silent, rule=RULE),
    )


def hooked(*hook_runs: HookRun, refused: bool = False, reasons: tuple[str, ...] = ()) -> HookEvent:
    ruling = Ruling.DENY if refused else Ruling.NONE
    decision = Decision(event="Stop", ruling=ruling, refused=refused, reasons=reasons, rule=RULE)
    return HookEvent(event="Stop", hook_runs=hook_runs, decision=decision)


def trace(*asked: HookEvent, states: dict[int, State] | None = None) -> Trace:
    steps = tuple(Step(number=turn, turn=turn, exchange=item) for turn, item in enumerate(asked, 1))
    return Trace(steps=steps, states=states or {})


def names(seen: Trace) -> list[str]:
    return [finding.name for finding in find(seen)]


@pytest.mark.parametrize(
    "ended, said, late",
    [
        (Exited(2), b"", "too late for its exit code 2"),
        (Exited(0), b"{}", "too late for what it had printed"),
        (Exited(0), b"", ""),
        (None, b"", ""),
    ],
)
def test_what_came_too_late_is_reported(ended: Exited | None, said: bytes, late: str) -> None:
    """The finding about a hook that was cut after its answer names the answer that came too late."""
    cut = TimedOut(after=1.0, by=Cut.LIMIT, ended=ended)
    (finding,) = find(trace(hooked(hook_run(run=ProcessResult(ending=cut, stdout=Output(said, len(said)))))))

    assert finding.name == "HUNG-HOOK"
    assert late in finding.text
    assert bool(late) is ("too late" in finding.text)


def test_a_cancelled_refusal_is_found() -> None:
    """
    A refusal that other output cancelled is a finding, and one that stands or ends with the turn is none.
    """
    lost = hook_run(ruling=Ruling.DENY)
    halted = Decision(event="Stop", ruling=Ruling.NONE, refused=False, halt="enough", rule=RULE)

    assert names(trace(hooked(lost, hook_run()))) == ["MANGLED"]
    assert names(trace(hooked(lost, refused=True, reasons=("no",)))) == []
    assert names(trace(HookEvent(event="Stop", hook_runs=(lost,), decision=halted))) == []


def test_a_clean_trace_has_no_findings() -> None:
    """Hooks that end, answer and refuse with a reason give no finding."""
    assert (
        find(trace(hooked(hook_run()), hooked(hook_run(Exited(2)), refused=True, reasons=("lint failed",))))
        == ()
    )


@pytest.mark.parametrize(
    "ending,fault,expected",
    [
        (TimedOut(5, by=Cut.LIMIT), None, ["HUNG-HOOK"]),
        (TimedOut(5, by=Cut.LIMIT), "timed-out: after 5 s", ["HUNG-HOOK"]),
        (TimedOut(5, by=Cut.LIMIT), "crashed: killed", ["HUNG-HOOK"]),
        (HeldOpen(Exited(0), 0.5, (SLEEP,)), None, ["HELD-OPEN"]),
        (HeldOpen(Exited(0), 0.5, (SLEEP,)), "timed-out: output open", ["HELD-OPEN"]),
        (HeldOpen(Exited(127), 0.5), None, ["HELD-OPEN", "NOT-RUN"]),
        (NotStarted("no such file"), None, ["NOT-RUN"]),
        (NotStarted("no such file"), "not-run: no such file", ["NOT-RUN"]),
        (Exited(126), None, ["NOT-RUN"]),
        (Exited(127), "crashed: exit code 127", ["NOT-RUN"]),
        (Exited(0), "not-run: the command is empty", ["NOT-RUN"]),
        (Exited(1), "crashed: exit code 1", ["CRASHED"]),
        (Exited(1), None, []),
        (Signaled(9), None, ["CRASHED"]),
        (Signaled(11), "crashed: signal 11", ["CRASHED"]),
        (Exited(0), "mangled: text before the JSON", ["MANGLED"]),
        (Exited(0), "ignored: no such field for this event", ["MANGLED"]),
        (Exited(0), "something nobody foresaw", ["MANGLED"]),
        (Exited(0), "too-long: 10000 characters", ["OUTPUT-CUT"]),
    ],
)
def test_every_ending_and_fault_is_reported_once(
    ending: Ending, fault: str | None, expected: list[str]
) -> None:
    """What a process did and what its host made of it give one finding of the right kind."""
    assert names(trace(hooked(hook_run(ending, fault=fault)))) == expected


@pytest.mark.parametrize(
    ("kind", "advice"),
    [("syntax", "`bash -n FILE`"), ("module", "Install the module"), ("missing", "the executable bit")],
)
def test_what_to_do_about_a_script_that_could_not_run(kind: Any, advice: str) -> None:
    """The advice on a hook that did not run fits what is wrong with it."""
    run = ProcessResult(ending=Exited(2), failure=StartFailure(kind=kind, name="x"))
    (found,) = find(trace(hooked(hook_run(run=run, fault="not-run: x"))))
    assert found.name == "NOT-RUN"
    assert advice in found.advice


@pytest.mark.parametrize(
    ("by", "idle_until", "said"),
    [
        (Cut.LIMIT, 0.0, "the host's limit"),
        (Cut.HOOK_TIMEOUT, 0.0, "the hook timeout; its later decision is unknown"),
        (Cut.HOOK_TIMEOUT, math.inf, "the hook timeout; as far as seen, it waits beyond the host's limit"),
    ],
)
def test_a_cut_says_whose_limit_it_was(by: Cut, idle_until: float, said: str) -> None:
    """A cut names its limit, and for the harness's own whether the host would have cut the run too."""
    doing = (replace(WAITS, idle_until=idle_until),)
    (found,) = find(trace(hooked(hook_run(TimedOut(5, by=by, doing=doing)))))
    assert f"({said})" in found.text
    assert "cat waits for end of file on stdin" in found.text


@pytest.mark.parametrize(
    ("waits_for", "asks", "advice"),
    [
        ("a timer: it sleeps", "", "give up before the host's limit of 600 s"),
        ("a file to be opened, such as a FIFO whose other end no process opens", "", "If it opens a FIFO"),
        ("end of file on stdin, which the host keeps open", "", "Read one line instead of the whole input"),
        ("input from the terminal", "Password:", "Nobody answers on a terminal"),
        ("its connection to be accepted", "", "Set a time limit for the connection"),
        ("a lock on /work/.lock", "", "flock --timeout 5"),
        ("a lock or another thread", "", HUNG_HOOK.fix),
    ],
)
def test_the_advice_on_a_hung_hook_fits_what_it_waited_for(waits_for: str, asks: str, advice: str) -> None:
    """A hook that was cut gets advice on its own wait, whatever its parents wait for."""
    parent = Activity(Process(3, "sh -c ./hook", 0.0), "S", "wait4", "its child hook (pid 4)")
    doing = (parent, Activity(Process(4, "sh ./hook", 0.0), "S", "x", waits_for, asks=asks))
    run = ProcessResult(ending=TimedOut(5, by=Cut.HOOK_TIMEOUT, doing=doing), limit=600.0)

    (found,) = find(trace(hooked(hook_run(run=run))))

    assert advice in found.advice


def test_a_sleep_that_the_host_cut_is_too_long() -> None:
    """A hook that still slept at its host's limit must sleep for less, since nobody waits for it."""
    sleeps = Activity(Process(4, "sleep 3", 0.0), "S", "x", "a timer: it sleeps")
    run = ProcessResult(ending=TimedOut(1, by=Cut.LIMIT, doing=(sleeps,)), limit=1.0)

    (found,) = find(trace(hooked(hook_run(run=run))))

    assert found.advice == "Let it end before the host's limit of 1 s, or set a longer one."


def test_different_waits_get_general_advice() -> None:
    """Where two processes of a hook wait for different things, the advice is the general one."""
    waits = ("a timer: it sleeps", "a lock on /work/.lock")
    doing = tuple(Activity(Process(4, "x", 0.0), "S", "x", text) for text in waits)
    run = ProcessResult(ending=TimedOut(5, by=Cut.LIMIT, doing=doing))

    (found,) = find(trace(hooked(hook_run(run=run))))

    assert found.advice == HUNG_HOOK.fix


def test_the_limit_of_the_host_is_named() -> None:
    """A hook that surely waits beyond its host's limit is reported with that limit."""
    ending = TimedOut(5, by=Cut.HOOK_TIMEOUT, doing=(replace(WAITS, idle_until=math.inf),))

    (found,) = find(trace(hooked(hook_run(run=ProcessResult(ending=ending, limit=600.0)))))

    assert "it waits beyond the host's limit of 600 s)" in found.text


def test_processes_that_are_left_over_are_found() -> None:
    """A process that outlived its hook is a separate finding, unless it held the output open."""
    other = Process(8, "server", 0.1)
    left = ProcessResult(ending=Exited(0), leftovers=(SLEEP,))
    assert names(trace(hooked(hook_run(run=left)))) == ["LEFTOVER"]
    held = ProcessResult(ending=HeldOpen(Exited(0), 0.5, (SLEEP,)), leftovers=(SLEEP,))
    assert names(trace(hooked(hook_run(run=held)))) == ["HELD-OPEN"]
    both = ProcessResult(ending=HeldOpen(Exited(0), 0.5, (SLEEP,)), leftovers=(SLEEP, other))
    assert names(trace(hooked(hook_run(run=both)))) == ["HELD-OPEN", "LEFTOVER"]


def test_output_that_the_harness_cut_is_found() -> None:
    """Output beyond what the harness keeps is a finding."""
    assert names(trace(hooked(hook_run(run=ProcessResult(ending=Exited(0), stdout=Output(b"ab", 3)))))) == [
        "OUTPUT-CUT"
    ]
    assert names(trace(hooked(hook_run(run=ProcessResult(ending=Exited(0), stdout=Output(b"ab", 2)))))) == []


@pytest.mark.parametrize("reasons,expected", [((), 1), (("  \n",), 1), (("lint failed",), 0)])
def test_a_refusal_without_a_reason_is_found(reasons: tuple[str, ...], expected: int) -> None:
    """A refusal is silent exactly if only white space reaches the agent."""
    assert names(trace(hooked(hook_run(), refused=True, reasons=reasons))) == ["SILENT-REFUSAL"] * expected


@pytest.mark.parametrize("printed,said", [(b'{"permission": "deny"}', True), (b"no", False), (b"", False)])
def test_a_reason_beside_an_exit_code_that_refuses_is_told(printed: bytes, said: bool) -> None:
    """Where a hook prints JSON and exits with 2, the text says that the host is not known to read it."""
    run = ProcessResult(ending=Exited(2), stdout=Output(printed, len(printed)))
    refusing = hook_run(run=run, ruling=Ruling.DENY, silent=True)
    (found,) = find(trace(hooked(refusing, refused=True)))
    assert found.name == "SILENT-REFUSAL"
    assert ("is not known to read JSON" in found.text, "Exit with 0" in found.advice) == (said, said)


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        (b"Traceback (most recent call last):\n  File...\nKeyError: 'x'\n", "KeyError: 'x'"),
        (b"Error: no\n    at x.js\n\nNode.js v20.1.0\n", "Error: no"),
        (b"no tests ran\n", ""),
    ],
)
def test_a_failure_that_its_host_takes_for_a_refusal(printed: bytes, error: str) -> None:
    """A hook that an uncaught error ended is said to have failed, not to have given no reason."""
    run = ProcessResult(ending=Exited(1), stderr=Output(printed, len(printed)))
    failed = hook_run(run=run, ruling=Ruling.DENY, silent=True)
    (found,) = find(trace(hooked(failed, refused=True)))
    assert found.name == ("CRASHED" if error else "SILENT-REFUSAL")
    assert found.text.endswith(
        f"an uncaught error ended its hook: {error}." if error else "without a reason."
    )


@pytest.mark.parametrize("silent,expected", [((True,), 1), ((True, True), 1), ((True, False), 0)])
def test_words_of_the_host_are_no_reason(silent: tuple[bool, ...], expected: int) -> None:
    """A refusal by silent hooks has no reason, even if the host adds one."""
    hook_runs = [hook_run(Exited(2), ruling=Ruling.DENY, silent=one) for one in silent]
    agreed = hook_run(silent=True)
    seen = trace(hooked(*hook_runs, agreed, refused=True, reasons=("[./hook.sh]: No stderr output",)))
    assert names(seen) == ["SILENT-REFUSAL"] * expected


@pytest.mark.parametrize(
    "configured,words",
    [
        ((), "none is configured for this host; events in this run: prompt, call of Bash, stop."),
        (("Stop", "Stop", "PreToolUse"), "hooks are configured for Stop, PreToolUse; events in this run:"),
    ],
)
def test_a_run_without_any_hook_run_is_found(configured: tuple[str, ...], words: str) -> None:
    """A run in which no hook ran is a finding that names the configured events and what took place."""
    call = Performed(call=ToolCall(name="Bash", input={}), result=ToolResult())
    course = (Happened(event=Prompt(text="go")), Moved(move=Tools(calls=())), call, Moved(move=Stop()))
    steps = tuple(Step(number=turn, turn=turn, exchange=item) for turn, item in enumerate(course))
    (finding,) = find(Trace(steps=steps), configured=configured)
    assert (finding.code, finding.name, finding.turn) == ("HH011", "NEVER-FIRED", 3)
    assert words in finding.text
    assert "name" in finding.advice


def test_hooks_that_ran_or_are_unknown_are_not_missed() -> None:
    """With a hook run, without known settings, or with a reported cause, no hook is missed."""
    assert find(trace(hooked(hook_run())), configured=("Stop",)) == ()
    assert find(Trace()) == ()
    found = find(Trace(), configured=(), problems=[Problem("malformed")])
    assert [finding.name for finding in found] == ["CONFIG-OFF"]
    other = find(Trace(), configured=(), problems=[Problem("ignored-option")])
    assert {finding.name for finding in other} == {"OPTION-IGNORED", "NEVER-FIRED"}
    (alone,) = find(Trace(), configured=("PreToolUse",), problems=[Problem("never-matches")])
    assert "No hook ran" not in alone.text


@pytest.mark.parametrize(
    "kind,expected",
    [
        ("unknown-event", "EVENT-UNKNOWN"),
        ("unreachable-event", "UNREACHED"),
        ("ignored-option", "OPTION-IGNORED"),
        ("malformed", "CONFIG-OFF"),
        ("off", "CONFIG-OFF"),
    ],
)
def test_problems_in_the_settings_are_findings(kind: str, expected: str) -> None:
    """Unknown and unreached events and ignored options have their own codes; other problems disable hooks."""
    finding = find(Trace(), problems=[Problem(kind)])[0]
    assert (finding.name, finding.turn, finding.rule) == (expected, 0, RULE)
    assert finding.text == ".claude/settings.json, hooks.Stop[0]: there is no command"


def test_a_settings_file_is_named_once() -> None:
    """A problem whose text begins with its file is reported with the place, and without the file again."""
    text = "settings.json: no such event"
    (finding,) = find(
        Trace(), problems=[Problem("malformed", source="settings.json", path="hooks.X", text=text)]
    )
    assert finding.text == "settings.json, hooks.X: no such event"


def test_one_state_with_two_results_is_a_finding() -> None:
    """A contradiction among the states is found in the trace, or reported by the loop."""
    states = {turn: State(digest=digest) for turn, digest in enumerate("aab", 1)}
    flaky = find(trace(hooked(hook_run()), hooked(hook_run()), hooked(hook_run()), states=states))
    assert [(finding.name, finding.turn) for finding in flaky] == [("FLAKY", 3)]
    assert [finding.name for finding in find(Trace(), flaky=True)] == ["FLAKY"]


def test_equal_findings_are_one_with_a_count() -> None:
    """A defect that occurs in every turn is reported once, with the first turn and the number of times."""
    crash = hook_run(Exited(1), fault="crashed: exit code 1")
    findings = find(trace(hooked(hook_run()), hooked(crash), hooked(crash), hooked(crash, crash)))
    assert [(item.name, item.turn, item.times) for item in findings] == [("CRASHED", 2, 4)]


def test_defects_that_differ_are_not_mixed() -> None:
    """Two different exit codes of one hook are two findings."""
    one, three = (hook_run(Exited(code), fault=f"crashed: exit code {code}") for code in (1, 3))
    assert [item.times for item in find(trace(hooked(one, three), hooked(one)))] == [2, 1]


def test_process_numbers_do_not_keep_findings_apart() -> None:
    """The same leftover command of two hook runs is one finding, although its process id differs."""
    runs = [ProcessResult(ending=Exited(0), leftovers=(Process(pid, "sleep 9", 0),)) for pid in (7, 8)]
    assert [item.times for item in find(trace(*(hooked(hook_run(run=run)) for run in runs)))] == [2]


def test_every_finding_says_what_to_do() -> None:
    """Every code says what was seen, why it matters and what to do, and is found by number and name."""
    for code in catalogue():
        assert all((code.what, code.why, code.fix))
        assert look_up(code.code) is look_up(code.name.lower()) is code
    assert len({code.code for code in catalogue()}) == len(catalogue())
    assert look_up("HH999") is None


def test_every_inconclusive_finding_is_in_the_catalogue():
    """The names of findings after which a run has decided nothing are names that the catalogue knows."""
    assert sorted(INCONCLUSIVE_FINDINGS - {code.name for code in catalogue()}) == []


def test_an_extended_hook_timeout_is_told():
    """A hook that was cut later, because it had waited for a CPU, is reported with that time."""
    run = hook_run(TimedOut(after=14.2, by=Cut.HOOK_TIMEOUT))
    assert run.run is not None

    (found,) = find(trace(hooked(replace(run, run=replace(run.run, extended=4.2)))))

    assert "cut after 14.2 s (the hook timeout, with 4.2 s for which it waited for a CPU;" in found.text


def test_a_cut_in_the_middle_of_nested_sessions_is_no_endless_hook():
    """A hook run is not assumed to be endless while sessions that it started are still running."""
    asked = hooked(hook_run(TimedOut(after=10.0, by=Cut.HOOK_TIMEOUT)))
    children = (
        ChildSession(number=1, ended="idle"),
        ChildSession(number=2),
        ChildSession(number=3, refused="x"),
    )
    (alone,), (within,) = find(trace(asked)), find(trace(replace(asked, children=children)))

    assert "its later decision is unknown" in alone.text
    assert "the hook timeout; 1 session within it still running" in within.text
