"""Symptoms: what is wrong in an outcome, for hooks without expectations."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.judging.checkup.bad_ends import open_questions
from pytest_hookharness.judging.checkup.symptoms import find_symptoms
from pytest_hookharness.judging.findings.codes import DOUBLE_NOISE, TEXT_MATCH, WRONG_KEY
from pytest_hookharness.judging.findings.finding_catalogue import (
    CRASHED,
    HUNG_HOOK,
    MANGLED,
    NEVER_FIRED,
    NOT_RUN,
)
from pytest_hookharness.model.moves import Stop, ToolCall, ToolResult
from pytest_hookharness.model.mutations import ANOTHER_AGENT, TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.probes import ProbeReport, Threshold
from pytest_hookharness.model.processes import Cut, Exited, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.start_failures import StartFailure
from pytest_hookharness.model.trace import Change, HookEvent, HookRun, Moved, Performed, Step, Trace
from pytest_hookharness.model.verdicts import Cap, Capped, Limit, Livelock, Terminated, Undecided

RULE = Rule("a refusal", Basis.DOCUMENTED, "a page")
HOOK = Hook(event="Stop", command="./check.sh")


def outcome(verdict=None, steps=(), **more):
    verdict = verdict or Terminated(turn=1)
    return Outcome(
        scenario=Scenario(name="check"),
        host="claude-code@1",
        trace=Trace(steps=tuple(steps)),
        verdict=verdict,
        **more,
    )


def refusal(turn, reason="Run the tests."):
    hook_run = HookRun(hook=HOOK, payload={}, reply=Reply(ruling=Ruling.DENY, reason=reason, rule=RULE))
    decision = Decision(event="Stop", ruling=Ruling.DENY, refused=True, reasons=(reason,), rule=RULE)
    moved = Step(number=2 * turn, turn=turn, exchange=Moved(move=Stop()))
    return moved, Step(
        number=2 * turn + 1,
        turn=turn,
        exchange=HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision),
    )


def written(*paths):
    decision = Decision(event="Stop", rule=RULE)
    hook_run = HookRun(hook=HOOK, payload={}, reply=Reply(rule=RULE))
    changes = tuple(Change(path=path, how="added") for path in paths)
    hooked = HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision, changes=changes)
    return Step(number=1, turn=1, exchange=hooked)


def test_a_stop_hook_that_cannot_run_and_refuses():
    """If a failure refuses every stop, the effect says so, and until when."""
    loop = Livelock(stem=1, period=1, cap=Cap(overrides=9, why="", rule=RULE))
    found = NOT_RUN.found("Stop: check.sh does not exist.", turn=1, hook="./check.sh")
    (told,) = (
        one
        for one in find_symptoms(outcome(loop, [*refusal(1), *refusal(2)], findings=(found,)))
        if one.kind == "NOT-RUN"
    )
    assert told.effect == (
        "claude-code takes this for a refusal of Stop, so every stop is refused until its own limit, refusal "
        "9 in a row."
    )


def test_a_clean_run_has_no_symptom():
    """An outcome without findings whose hooks allow the stop has no symptom."""
    assert find_symptoms(outcome()) == ()


def test_livelock_names_who_refused():
    """A livelock is a symptom of the hook that refused, with its reason."""
    (found,) = find_symptoms(outcome(Livelock(stem=1, period=1), refusal(1)))
    assert (found.kind, found.hook) == ("livelock", "./check.sh")
    assert "Run the tests." in found.text


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ({"cap": Cap(overrides=9, why="", rule=RULE)}, "goes on until its own limit, refusal 9 in a row."),
        ({"cap": Cap(overrides=None, why="it is off", rule=RULE)}, "does not end this: it is off."),
        ({"limits": (Limit(turn=30, why="", rule=RULE),)}, "goes on until its own limit, turn 30."),
        ({}, "it goes on until a person ends it."),
    ],
)
def test_what_a_livelock_claims(more, effect):
    """A livelock says how often stops were refused, which limit of the host ends it, and what it assumes."""
    loop = Livelock(stem=1, period=1, **more)
    rests = ("A fact of every session.", "The agent does not make DONE.md, which the hooks look for.")
    (found,) = find_symptoms(outcome(loop, [*refusal(1), *refusal(2)], assumptions=rests))
    assert found.text == (
        'Stop is refused each time with "Run the tests.", 2 times until the session repeats itself.'
    )
    assert found.effect.endswith(effect)
    assert found.assumes == rests[1:]


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            Livelock(stem=1, period=1, evidence="driven"),
            (
                'Stop is refused each time, the last time with "Try 2.", 2 times until the session repeats '
                "itself but for what was not seen to decide."
            ),
        ),
        (
            Capped(turn=2, cap=Cap(overrides=2, why="", rule=RULE)),
            'Stop is refused, the last time with "Try 2.", until the host\'s own limit overrides it.',
        ),
    ],
)
def test_refusals_with_different_words(verdict, text):
    """Words that only the last refusal had are not reported for all, and no change is called a repetition."""
    first, last = refusal(1, "Try 1."), refusal(2, "Try 2.")
    if isinstance(verdict, Capped):
        hooked = last[1].exchange
        decision = replace(hooked.decision, refused=False, overridden=True)
        last = (last[0], replace(last[1], exchange=replace(hooked, decision=decision)))
    (found,) = find_symptoms(outcome(verdict, [*first, *last]))
    assert found.text == text


@pytest.mark.parametrize(("times", "kinds"), [(12, ["no-end"]), (10, []), (3, [])])
def test_stops_that_are_refused_to_the_last_turn(times, kinds):
    """An undecided run is a symptom if many stops were refused and none was allowed."""
    steps = [step for turn in range(1, times + 1) for step in refusal(turn)]
    seen = outcome(Undecided(turn=times, why="no repeat"), steps)
    assert [one.kind for one in find_symptoms(seen)] == kinds
    assert bool(open_questions(seen)) is not bool(kinds)


@pytest.mark.parametrize("capped", [False, True])
def test_stops_that_are_allowed_at_a_later_time(capped):
    """If experiments saw that the stop is allowed after some time, the symptom says so."""
    steps = [step for turn in range(1, 13) for step in refusal(turn)]
    if capped:
        decision = replace(steps[-1].exchange.decision, refused=False, overridden=True)
        steps[-1] = replace(steps[-1], exchange=replace(steps[-1].exchange, decision=decision))
    limit = Threshold(at="about 10 min without a turn", what="", seconds=600, allows_stop=True)
    reports = (ProbeReport(turn=12, period=1, threshold=limit),)
    cap = Cap(overrides=12, why="", rule=RULE)
    verdict = Capped(turn=12, cap=cap) if capped else Undecided(turn=12, why="no repeat")
    (found,) = find_symptoms(outcome(verdict, steps, probe_reports=reports))
    assert found.text.endswith("; it would be allowed after about 10 min without a turn.")


@pytest.mark.parametrize(("code", "number"), [(CRASHED, 1), (NEVER_FIRED, 0)])
def test_only_what_hooks_are_to_blame_for(code, number):
    """A finding about a hook is a symptom, and one about the generated session is none."""
    assert len(find_symptoms(outcome(findings=(code.found("seen", hook="./check.sh"),)))) == number


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        ("workspace/.git/index", ["STAGED"]),
        ("workspace/.git/refs/heads/main", ["STAGED"]),
        ("workspace/vendor/.git/description", []),
        ("outside/opt/hook.log", ["OUTSIDE-WRITE"]),
        ("outside/opt/tool/__pycache__/main.cpython-311.pyc", []),
        ("outside/opt/tool/__pycache__", []),
        ("outside/home/dev/.gradle/wrapper/dists/gradle.zip.part", []),
        ("outside/home/dev/.gradle-logs/hook.log", ["OUTSIDE-WRITE"]),
        ("outside/opt/.gradle/hook.log", ["OUTSIDE-WRITE"]),
        ("workspace/MARK", ["CARRIED-OUT"]),
        ("home/.cache/log", []),
    ],
)
def test_files_that_hooks_may_not_touch(path, kinds):
    """
    Writing the index, files outside or the marker is a symptom, writing in the workspace or HOME is none.
    """
    assert [one.kind for one in find_symptoms(outcome(steps=[written(path)]), mark="MARK")] == kinds


@pytest.mark.parametrize(
    "folders", [(), ("outside/work/shop/.pytest_cache", "outside/work/shop", "outside/work")]
)
def test_what_git_ignores_in_the_project_is_inside(folders):
    """A cache of the project, to which the copy has a link, is not outside, nor are the folders above it."""
    seen = outcome(steps=[written("outside/work/shop/.cache/nodeids", *folders)])
    others = replace(seen.scenario, project=Path("/work/shop-2"))
    own = replace(seen.scenario, project=Path("/work/shop"))

    assert [one.kind for one in find_symptoms(replace(seen, scenario=others))] == ["OUTSIDE-WRITE"]
    assert not [*find_symptoms(replace(seen, scenario=own))]
    more = outcome(steps=[written("outside/work/log", *folders)])
    assert [one.kind for one in find_symptoms(replace(more, scenario=own))] == ["OUTSIDE-WRITE"]


def test_folders_in_which_python_keeps_modules():
    """A folder that changed because Python keeps modules in it is none, unless something else is there."""
    cache = written(
        "outside/opt/tool/__pycache__/main.pyc", "outside/opt/tool/__pycache__", "outside/opt/tool"
    )
    assert not find_symptoms(outcome(steps=[cache]))
    more = written("outside/opt/tool/__pycache__", "outside/opt/tool", "outside/opt/tool/log")
    assert [one.kind for one in find_symptoms(outcome(steps=[more]))] == ["OUTSIDE-WRITE"]


TRACEBACK = "Traceback (most recent call last):\n  File x.py, line 1\n"


@pytest.mark.parametrize(
    ("code", "said", "number"),
    [
        (1, f"{TRACEBACK}ValueError: No closing quotation\n", 1),
        (1, "x.js:3\n\nRangeError: Invalid count value: -1\n    at x.js:3:1\n\nNode.js v20.1.0\n", 1),
        (1, f"{TRACEBACK}AttributeError: 'NoneType' object has no attribute 'get'\n", 0),
        (1, f"{TRACEBACK}FileNotFoundError: [Errno 2] No such file or directory: 'git'\n", 0),
        (1, f"{TRACEBACK}ValueError: in a test\n1 failed\n", 0),
        (2, f"{TRACEBACK}ValueError: in a test\n", 0),
    ],
)
def test_an_uncaught_error(code, said, number):
    """An error of its own that ends a hook is a symptom; what it passes on, or the machine lacks, is none."""
    run = ProcessResult(ending=Exited(code), stderr=Output(said.encode()), wall=0.1)
    hook_run = HookRun(hook=HOOK, payload={}, reply=Reply(rule=RULE), run=run)
    decision = Decision(event="Stop", rule=RULE)
    step = Step(number=1, turn=1, exchange=HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision))
    assert [one.kind for one in find_symptoms(outcome(steps=[step]))] == ["CRASHED"] * number


@pytest.mark.parametrize(("result", "number"), [("fail-closed", 1), ("fail-open", 0)])
def test_a_guard_hook_that_can_be_bypassed_is_no_symptom(result, number):
    """A guard hook that refuses data is a symptom, one that can be bypassed is none."""
    finding = TEXT_MATCH.found("`rm` is refused otherwise.", hook="./guard.sh")
    cell = TrialResult(
        family="quoting",
        mutation="the same words in a title",
        outcome=result,
        hook="./guard.sh",
        evidence=f"{finding.code} {finding.name}: {finding.text}",
    )
    assert len(find_symptoms(outcome(findings=(finding,), trial_results=(cell,)))) == number


def asked(turn, *, refused):
    """A call that must be allowed, and its result."""
    call = ToolCall(name="Write", input={}, expect="allow")
    performed = Performed(call=call, result=ToolResult(), refused=refused)
    steps = refusal(turn) if refused else ()
    return *steps, Step(number=2 * turn + 1, turn=turn, exchange=performed)


@pytest.mark.parametrize(
    ("refusals", "number"), [((False, True), 1), ((True, False), 0), ((True, True), 0), ((False, False), 0)]
)
def test_words_that_only_mention_something(refusals, number):
    """A call that is refused for its text is a symptom only after one with other text was allowed."""
    steps = [step for turn, refused in enumerate(refusals, 1) for step in asked(turn, refused=refused)]
    assert [one.kind for one in find_symptoms(outcome(steps=steps))] == ["RAW-JSON"] * number


@pytest.mark.parametrize(("name", "number"), [(ANOTHER_AGENT, 0), ("another session", 1)])
def test_agents_of_one_session_may_be_counted_together(name, number):
    """A counter that other sessions change is a symptom, and one that agents of a session share is none."""
    finding = WRONG_KEY.found("another's count", hook="./count.sh")
    cell = TrialResult(family="sessions", mutation=name, name=name, outcome="differs", hook="./count.sh")
    assert len(find_symptoms(outcome(findings=(finding,), trial_results=(cell,)))) == number


@pytest.mark.parametrize(
    ("keys", "number"),
    [("metrics", 0), ("metrics, note", 0), ("permission", 1), ("metrics, decision", 1), ("action", 1)],
)
def test_keys_that_no_host_reads(keys, number):
    """An answer only with keys of its author's own asks for nothing; one with another host's keys is lost."""
    finding = MANGLED.found(f"Stop: ignored: the host knows none of the keys {keys}", hook="./check.sh")
    assert len(find_symptoms(outcome(findings=(finding,)))) == number


@pytest.mark.parametrize(
    ("name", "number"), [('{"decision": "block"}.py', 0), ("notes.py", 1)], ids=["of a file", "of the hook"]
)
def test_what_only_looks_like_an_answer(name, number):
    """A name of a file that looks like an answer, and that a hook prints, is no lost answer."""
    step = ran(Exited(0), stdout=b'[main 1] Saved {"decision": "block"}.py')
    (run,) = step.exchange.hook_runs
    run = replace(run, payload={"tool_input": {"file_path": f"/p/{name}"}})
    step = replace(step, exchange=replace(step.exchange, hook_runs=(run,)))
    text = "Stop: the answer does not begin the output; something else is printed before it"
    finding = MANGLED.found(text, turn=1, hook=HOOK.command)
    assert len(find_symptoms(outcome(steps=[step], findings=(finding,)))) == number


def test_a_failure_that_may_be_a_refusal():
    """A failure in a hook's words comes with the status that refuses, and one without words does not."""
    texts = ['Stop: exit code 1 is not a refusal on claude-code (2 is): "No."', "Stop: exit code 1: nothing"]
    found = [CRASHED.found(text, hook="./check.sh") for text in texts]
    advice = [find_symptoms(outcome(findings=(one,)))[0].advice for one in found]
    assert advice[0].startswith("If the hook means to refuse, print the reason to standard error")
    assert advice[1] == CRASHED.fix


@pytest.mark.parametrize(
    ("words", "kind"), [("BLOCKED: no rm.", "MANGLED"), ("No.", "CRASHED"), ("Permission denied", "CRASHED")]
)
def test_a_refusal_that_is_a_failure_for_the_host(words, kind):
    """A failure is reported as MANGLED only if the hook's words say that it refuses."""
    text = f'PreToolUse: exit code 1 is not a refusal on claude-code (2 is): "{words}"'
    (symptom,) = find_symptoms(outcome(findings=(CRASHED.found(text, hook="./check.sh"),)))
    assert symptom.kind == kind


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Use the Read tool instead of cat.", "UNSEEN-REASON"),
        ("\u26a0 Avoid --no-verify.", "UNSEEN-REASON"),
        ("Blocked: use make instead of npm.", "MANGLED"),
        ("No.", "CRASHED"),
        ("ValueError: the name must be a string", "CRASHED"),
        ("guard.sh: line 3: [: you should not see this", "CRASHED"),
        ("jq not found, please install it", "CRASHED"),
    ],
)
def test_advice_with_a_status_of_failure(words, kind):
    """Advice that a hook prints with exit code 1 reaches only the user, and is no crash."""
    text = f'PreToolUse: exit code 1 is not a refusal on claude-code (2 is): "{words}"'
    (symptom,) = find_symptoms(outcome(findings=(CRASHED.found(text, hook="./check.sh"),)))
    assert (symptom.kind, "additionalContext" in symptom.advice) == (kind, kind == "UNSEEN-REASON")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Stop: 2 hooks write to standard error and decide nothing; 2 lines for one event.", 0),
        ("Stop: 2 hooks say the same, 'Run the tests.'.", 1),
    ],
)
def test_logs_of_several_hooks(text, number):
    """Hooks that log beside each other are no symptom, and hooks that say the same are one."""
    found = DOUBLE_NOISE.found(text, hook="./check.sh, ./other.sh")
    assert len(find_symptoms(outcome(findings=(found,)))) == number


def ran(ending, stderr=b"", *, stdout=b"", refused=False, failure=None):
    """Return a step in which the hook ran."""
    run = ProcessResult(
        ending=ending,
        stdout=Output(stdout, len(stdout)),
        stderr=Output(stderr, len(stderr)),
        limit=600.0,
        wall=10.0,
        failure=failure,
    )
    ruling = Ruling.DENY if refused else Ruling.NONE
    hook_run = HookRun(hook=HOOK, payload={}, run=run, reply=Reply(ruling=ruling, rule=RULE))
    decision = Decision(event="Stop", ruling=ruling, refused=refused, rule=RULE)
    return Step(number=1, turn=1, exchange=HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision))


@pytest.mark.parametrize(("by", "number"), [(Cut.HOOK_TIMEOUT, 0), (Cut.LIMIT, 1)])
def test_a_run_that_only_the_harness_cut(by, number):
    """A hook that took longer than the harness waits has no symptom; one that its host cut has."""
    found = HUNG_HOOK.found("Stop: cut", turn=1, hook="./check.sh")
    seen = outcome(steps=[ran(TimedOut(after=10.0, by=by))], findings=(found,))
    assert len(find_symptoms(seen)) == number


def test_what_another_shell_did_not_know_is_the_cause():
    """A missing file is not the cause if it follows from syntax that the shell does not know."""
    stderr = b"/tmp/hookharness-x1/0/check/plugin/x.sh: 4: Bad substitution\nbash: x: No such file\n"
    text = "Stop: exit code 127: /tmp/hookharness-x1/0/check/workspace/x does not exist."
    found = NOT_RUN.found(text, turn=1, hook="./check.sh")
    (symptom,) = find_symptoms(outcome(steps=[ran(Exited(127), stderr)], findings=(found,)))
    assert symptom.text == 'Stop: exit code 127: "plugin/x.sh: 4: Bad substitution".'


@pytest.mark.parametrize(
    ("refused", "effect"),
    [(False, "ignores it: Stop goes on as if the hook were not there."), (True, "a refusal of Stop.")],
)
def test_what_a_broken_hook_printed_and_did(refused, effect):
    """A hook that did not run has the deciding lines of standard error, and what its host made of it."""
    stderr = b"/tmp/hookharness-x1/0/check/plugin/x.sh: 4: Bad substitution\nmore\n\nx: not found\n"
    text = "Stop: /tmp/hookharness-x1/0/check/workspace/x does not exist."
    found = NOT_RUN.found(text, turn=1, hook="./check.sh")
    (symptom,) = find_symptoms(outcome(steps=[ran(Exited(127), stderr, refused=refused)], findings=(found,)))
    assert symptom.text == "Stop: workspace/x does not exist."
    # Of a refusal one line more is shown, and what is left out has a mark.
    middle = "more" if refused else "..."
    assert symptom.printed == f"plugin/x.sh: 4: Bad substitution\n{middle}\nx: not found"
    assert symptom.effect.endswith(effect)
    assert "#!/usr/bin/env bash" in symptom.advice


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("/tmp/hookharness-x1/0/check/home/.claude/x.log", 0),
        ("home/.claude/x.log", 0),
        ("/opt/home/notify.sh", 1),
        ("workspace/x.log", 1),
    ],
)
def test_a_log_that_cannot_be_written_below_home(place, number):
    """That a folder is missing below HOME, which is empty in a check, is no symptom of a hook that allows."""
    error = f"a.sh: line 2: {place}: No such file or directory"
    found = MANGLED.found(f'Stop: exit code 0 allows, although it says "{error}"', turn=1, hook="./check.sh")
    seen = outcome(steps=[ran(Exited(0))], findings=(found,))
    assert len(find_symptoms(seen)) == number


def test_a_failure_of_other_runs_than_those_that_are_shown():
    """For a hook that fails only beside others, refusals in the session are not given as the effect."""
    text = (
        "Stop: of 8 runs side by side 1 end with exit code 1 (\"no '/tmp/hookharness-x1/0/check/home/x'\")."
    )
    found = CRASHED.found(text, hook="./check.sh")
    seen = outcome(steps=[ran(Exited(2), b"Run the tests.", refused=True)], findings=(found,))
    (symptom,) = [one for one in find_symptoms(seen) if one.kind == "CRASHED"]
    assert (symptom.printed, symptom.effect) == ("", "")
    assert "(\"no 'home/x'\")" in symptom.text


@pytest.mark.parametrize(
    "lines",
    [
        [
            "node:internal:873",
            "  throw new ERR();",
            "",
            "{}",
            "    at packageResolve (node:9)",
            "Node.js v20",
        ],
        ["Traceback (most recent call last):", '  File "x.py", line 1', "{}"],
    ],
)
def test_the_error_of_a_long_message_is_shown(lines):
    """Of a message with a stack the line that names the error is printed, wherever it stands."""
    error = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'yaml' imported from config.mjs"
    stderr = "\n".join(lines).format(error).encode()
    failure = StartFailure(kind="module", name="yaml")
    step = ran(Exited(1), stderr, failure=failure)
    found = NOT_RUN.found("Stop: the module yaml was not found.", turn=1, hook="./check.sh")
    (symptom,) = find_symptoms(outcome(steps=[step], findings=(found,)))
    assert symptom.printed == error
    assert "beside the hook" in symptom.advice


@pytest.mark.parametrize(
    ("key", "value", "advice"),
    [
        ("stop_hook_active", True, "or if `stop_hook_active` in its input is true."),
        ("loop_count", 1, "is not 0."),
        ("stop_hook_active", False, "refusal."),
        ("x", True, "refusal."),
    ],
)
def test_advice_names_a_field_that_told_of_a_refusal(key, value, advice):
    """Advice about a stop that is refused forever names a field only where it told of an earlier refusal."""
    hook = Hook(event="Stop", command="./check.sh")
    reply = Reply(ruling=Ruling.DENY, reason="run the tests", rule=RULE)
    decision = Decision(event="Stop", ruling=Ruling.DENY, refused=True, rule=RULE)
    hook_run = HookRun(hook=hook, payload={key: value}, reply=reply)
    step = Step(number=1, turn=1, exchange=HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision))
    loop = Outcome(
        scenario=Scenario(name="check"),
        host="cursor@1",
        trace=Trace(steps=(step,)),
        verdict=Livelock(stem=1, period=1),
    )

    (found,) = find_symptoms(loop)

    assert found.advice.endswith(advice)


@pytest.mark.parametrize(
    ("event", "stream", "text", "named"),
    [
        ("Stop", "stdout", "Done.\nPlease run the tests.\n", True),
        ("PreToolUse", "stderr", "\u26a0 sudo\n", True),
        ("Stop", "stdout", "\u8bf7\u786e\u8ba4\n", True),
        ("Stop", "stdout", "Done.\n", False),
        ("Stop", "stderr", "Please install jq.\n", False),
        ("Stop", "stderr", "hint: You should run git pull.\n", False),
        ("Stop", "stdout", '{"note": "Please run the tests."}\n', False),
        ("Stop", "stdout", "Please quote me.\n", False),
        ("Stop", "stdout", "[log] Please quote me.\n", False),
        ("Stop", "stdout", "Please do not say: Please quote me.\n", True),
        ("Notification", "stdout", "Please run the tests.\n", False),
    ],
)
def test_a_text_that_nobody_gets(event, stream, text, named):
    """A text that tells somebody to do something is named if the host made nothing of it."""
    streams = {"stdout": b"", "stderr": b"", stream: text.encode()}
    outputs = {name: Output(written, len(written)) for name, written in streams.items()}
    hook_run = HookRun(
        hook=replace(HOOK, event=event),
        payload={"prompt": "Please quote me."},
        reply=Reply(rule=RULE),
        run=ProcessResult(ending=Exited(0), **outputs),
    )
    hooked = HookEvent(event=event, hook_runs=(hook_run,), decision=Decision(event=event, rule=RULE))
    found = find_symptoms(outcome(steps=[Step(number=1, turn=1, exchange=hooked)]))
    assert [one.kind for one in found] == ["UNSEEN-REASON"] * named
    heard = replace(hook_run, reply=Reply(context=text, rule=RULE))
    hooked = replace(hooked, hook_runs=(heard,))
    assert not find_symptoms(outcome(steps=[Step(number=1, turn=1, exchange=hooked)]))


def test_the_effect_of_an_answer_that_is_not_read():
    """How the host takes a lost answer is reported by the runs that gave it, and not by a real refusal."""
    unread = ran(Exited(0), stdout=b'{"updatedInput": {}}')
    hooked = unread.exchange
    lost = replace(hooked.hook_runs[0], reply=Reply(fault="ignored: it knows no such key", rule=RULE))
    unread = replace(unread, exchange=replace(hooked, hook_runs=(lost,)))
    refusal = replace(ran(Exited(2), b"no", refused=True), number=2, turn=2)
    found = MANGLED.found("Stop: it knows no such key", turn=1, hook="./check.sh")
    (symptom,) = find_symptoms(outcome(steps=[unread, refusal], findings=(found,)))
    assert symptom.effect.endswith("ignores it: Stop goes on as if the hook were not there.")
