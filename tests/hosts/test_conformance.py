"""The recorded behaviour of the real host: each recorded row must result from a session on plain values."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import Performance, Prompt, Stop, ToolCall, Tools
from pytest_hookharness.model.processes import Cut, Exited, HeldOpen, Output, ProcessResult, TimedOut

RESULTS = json.loads((Path(__file__).parents[1] / "data" / "claude-code" / "results.json").read_text())
BASH = Tools(calls=(ToolCall(name="Bash", input={"command": "echo visible-out"}),))


@pytest.fixture(scope="module")
def tally(request):
    """Count rows, and print the share that agrees after the last one."""
    counts = Counter()
    yield counts
    rows = ", ".join(f"{table} {count}" for table, count in sorted(counts.items()))
    capture = request.config.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\nrows of {RESULTS['host']} that agree: {counts.total()} ({rows})")  # noqa: T201


def legend(ended, table, variant):
    """What the record says about the hook of a variant."""
    given = RESULTS["variants"][table][variant]
    if "command" in given:
        code = {"/nonexistent/hook-script": 127, "@NOEXEC@": 126, "": 0}[given["command"]]
        return ended(code, stderr="sh: not run" if code else "")
    return ended(given.get("exit", 0), given["stdout"], given["stderr"], signal=given.get("signal"))


@pytest.mark.parametrize("row", RESULTS["pre"], ids=lambda row: row["variant"])
def test_before_a_tool(play, ended, tally, row):
    """Each answer to PreToolUse has the recorded effect on the call and gives the model the recorded text."""
    run = legend(ended, "pre", row["variant"])
    hook = {"type": "command", "command": row["command"] or "./hook"}
    settings = {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}

    played = play(settings, [Prompt(text="go"), BASH, Stop()], lambda *_: run)

    calls = [request for request in played.requests if isinstance(request, hosts.PerformCall)]
    outcome = "ran" if calls else "blocked"
    if calls and "modified.txt" in str(calls[0].call.input["command"]):
        outcome = "ran_rewritten_input"
    if len(played.observations) == 1:
        outcome = "ran_then_ended_turn" if calls else "ended_turn_without_tool"
    assert outcome == row["outcome"]
    if row["text"] is not None:
        assert played.observations[1][0].text == row["text"]
        assert played.performed[0].refused
        assert played.performed[0].result.text == row["text"]
    tally["PreToolUse"] += 1


@pytest.mark.parametrize("row", RESULTS["stop"], ids=lambda row: row["variant"])
def test_at_a_stop(play, ended, tally, row):
    """Each answer to Stop has the recorded effect on the agent and gives the model the recorded texts."""
    run = legend(ended, "stop", row["variant"])
    runs = iter([run])
    settings = {"Stop": [{"hooks": [{"type": "command", "command": row["command"] or "./hook"}]}]}

    played = play(settings, [Prompt(text="go"), Stop(), Stop()], lambda *_: next(runs, ended()))

    assert (len(played.observations) == 2) is row["continued"]
    assert played.decisions[0].refused is row["continued"]
    if row["continued"]:
        assert [message.text for message in played.observations[1]] == row["injected"]
    if row["flags"]:
        assert played.flags() == row["flags"]
    tally["Stop"] += 1


@pytest.mark.parametrize("row", RESULTS["loop"], ids=lambda row: row["variant"])
def test_always_refused_stop(play, ended, tally, row):
    """A stop that is always refused is overridden at the recorded hook run, or never if tools are used."""
    given = RESULTS["variants"]["loop"][row["variant"]]
    run = ended(given["exit"], given["stdout"], given["stderr"])
    repetition = [BASH, Stop()] if given["between_tool"] else [Stop()]
    acts = [Prompt(text="go"), *(repetition * row["calls"])]

    played = play({"Stop": "./hook"}, acts, lambda *_: run)

    flags = played.flags()
    assert len(flags) == row["calls"]
    assert flags[:3] == row["flags"]["first"]
    assert flags.count(True) == row["flags"]["true"]
    ends = [decision.overridden for decision in played.decisions]
    assert ends == [False] * (row["calls"] - 1) + [not row["cut"]]
    tally["loop"] += 1


@pytest.mark.parametrize("matcher", RESULTS["matchers"]["fired"])
def test_matcher_selects_the_hook(profile, tally, matcher):
    """Each matcher with which the hook ran for a Bash call selects the hook."""
    group = {"hooks": [{"type": "command", "command": "x"}]} | (
        {} if matcher is None else {"matcher": matcher}
    )
    hooks = hosts.configure(profile, {}, inline={"PreToolUse": [group]}).hooks

    assert len(hosts.select(profile, hooks, "PreToolUse", "Bash")) == 1
    tally["matchers"] += 1


@pytest.mark.parametrize("matcher", RESULTS["matchers"]["not_fired"])
def test_matcher_selects_no_hook(profile, tally, matcher):
    """Each matcher with which the hook did not run for a Bash call selects nothing."""
    hooks = hosts.configure(profile, {}, inline={"PreToolUse": {"matcher": matcher, "command": "x"}}).hooks

    assert hosts.select(profile, hooks, "PreToolUse", "Bash") == ()
    tally["matchers"] += 1


@pytest.mark.parametrize(
    "event, matcher, target",
    [
        ("SessionStart", "startup", "startup"),
        ("SessionStart", "startup|resume", "startup"),
        ("Stop", "no", ""),
    ],
)
def test_matchers_of_other_events(profile, tally, event, matcher, target):
    """Sources of a session are matched like tools, and a matcher on Stop is ignored."""
    hooks = hosts.configure(profile, {}, inline={event: {"matcher": matcher, "command": "x"}}).hooks

    assert len(hosts.select(profile, hooks, event, target)) == 1
    tally["matchers"] += 1


def said(event, what):
    """Exit code, standard output and standard error of a hook in the visibility table."""
    special = {"hookEventName": event}
    answers = {
        "additionalContext": {"hookSpecificOutput": {**special, "additionalContext": "MARK"}},
        "block_json": {"decision": "block", "reason": "MARK"},
        "systemMessage": {"systemMessage": "MARK"},
        "allow_reason": {
            "hookSpecificOutput": {
                **special,
                "permissionDecision": "allow",
                "permissionDecisionReason": "MARK",
            }
        },
    }
    if what in answers:
        return 0, json.dumps(answers[what]), ""
    return {"exit2_err": (2, "", "MARK"), "exit1_err": (1, "", "MARK"), "stdout_text": (0, "MARK", "")}[what]


@pytest.mark.parametrize("row", RESULTS["visibility"])
def test_what_the_model_sees(play, ended, tally, row):
    """Each kind of output of each event reaches the model or does not, as recorded."""
    event, _, what = row.partition("/")
    run, recorded = ended(*said(event, what)), RESULTS["visibility"][row]

    played = play({event: "./hook"}, [Prompt(text="go"), BASH, Stop()], lambda *_: run)

    assert any("MARK" in text for text in played.seen()) is recorded["seen"]
    assert any(isinstance(request, hosts.PerformCall) for request in played.requests) is recorded["ran"]
    assert len(played.observations) == recorded["requests"]
    tally["visibility"] += 1


GOOD = {"hooks": [{"type": "command", "command": "GOOD"}]}
SETTINGS = {
    "unknown_event": {"NoSuchEvent": [GOOD], "PreToolUse": [GOOD]},
    "lowercase_event": {"pretooluse": [GOOD], "PreToolUse": [GOOD]},
    "flat_entry": {"PreToolUse": [{"type": "command", "command": "BAD"}, GOOD]},
    "no_type": {"PreToolUse": [{"hooks": [{"command": "BAD"}]}, GOOD]},
    "bad_type": {"PreToolUse": [{"hooks": [{"type": "shell", "command": "BAD"}]}, GOOD]},
    "timeout_string": {
        "PreToolUse": [{"hooks": [{"type": "command", "command": "BAD", "timeout": "5"}]}, GOOD]
    },
    "timeout_negative": {
        "PreToolUse": [{"hooks": [{"type": "command", "command": "BAD", "timeout": -1}]}, GOOD]
    },
    "timeout_zero": {"PreToolUse": [{"hooks": [{"type": "command", "command": "BAD", "timeout": 0}]}, GOOD]},
    "unknown_key": {"PreToolUse": [{"hooks": [{"type": "command", "command": "BAD", "foo": 1}]}, GOOD]},
    "hooks_not_list": {"PreToolUse": [{"hooks": {"type": "command", "command": "BAD"}}, GOOD]},
    "args_array": {"PreToolUse": [{"hooks": [{"type": "command", "command": "BAD", "args": ["x"]}]}, GOOD]},
}


@pytest.mark.parametrize("row", RESULTS["settings"])
def test_bad_settings(profile, tally, row):
    """Each flaw turns off as much of a settings file as recorded, and is a problem unless it is harmless."""
    text = json.dumps({"hooks": SETTINGS[row]})
    configuration = hosts.configure(profile, {"workspace/.claude/settings.json": text})

    chosen = hosts.select(profile, configuration.hooks, "PreToolUse", "Bash")
    assert [hook.words[0] for hook in chosen] == RESULTS["settings"][row]
    assert bool(configuration.problems) is (row not in ("unknown_key", "args_array"))
    tally["settings"] += 1


@pytest.mark.parametrize("row", RESULTS["timeouts"])
def test_timeouts_and_output_that_stays_open(play, tally, row):
    """A hook at its timeout has no effect, and output of a hook that stays open is kept, as recorded."""
    deny = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "R-DENY"}
    out = json.dumps({"hookSpecificOutput": deny}).encode() if "deny" in row else b""
    recorded = RESULTS["timeouts"][row]
    ending = TimedOut(1.0, by=Cut.LIMIT) if recorded["at_limit"] else HeldOpen(Exited(0), 0.5)
    run = ProcessResult(ending=ending, stdout=Output(out, len(out)))

    played = play(
        {"PreToolUse": {"command": "./hook", "timeout": 1}},
        [Prompt(text="go"), BASH, Stop()],
        lambda *_: run,
        perform=lambda _: Performance(exit=0),
    )

    assert any(isinstance(request, hosts.PerformCall) for request in played.requests) is recorded["ran"]
    assert played.observations[1][0].text == recorded["text"]
    tally["time-outs"] += 1


def test_duplicates_run_once(profile, tally):
    """The same command three times in two groups runs once, and another twice with two timeouts runs once."""
    dup, other = {"type": "command", "command": "DUP"}, {"type": "command", "command": "DUP2"}
    groups = [{"hooks": [dup, dup, other]}, {"hooks": [dup, {**other, "timeout": 9}]}]
    hooks = hosts.configure(profile, {}, inline={"PreToolUse": groups}).hooks

    chosen = hosts.select(profile, hooks, "PreToolUse", "Bash")
    order = next(value for key, value in RESULTS["multi"]["order_of_start"].items() if key.startswith("dups"))
    assert [hook.command for hook in chosen] == order
    tally["several"] += 1


@pytest.mark.parametrize("event, names", [("PreToolUse", "ABCD"), ("Stop", "ABD")])
def test_hooks_of_all_groups_start_at_once(play, ended, tally, event, names):
    """All hooks of an event are requested at once, across its groups."""
    first, *others = ({"type": "command", "command": name} for name in names)
    settings = {event: [{"hooks": [first]}, {"hooks": others}]}

    played = play(settings, [Prompt(text="go"), BASH, Stop()], lambda *_: ended())

    (asked,) = played.asked(event)
    assert sorted(hook.command for hook in asked.hooks) == list(names)
    tally["several"] += 1


DENY = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
ALLOW = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}


@pytest.mark.parametrize("row", ["deny fast, allow slow", "allow fast, deny slow"])
def test_deny_beats_allow_in_either_order(play, ended, tally, row):
    """A refusal wins over a permission whichever of the two hooks ends first."""
    deny = json.dumps({"hookSpecificOutput": {**DENY, "permissionDecisionReason": "R-DENY"}})
    outs = {"deny": deny, "allow": json.dumps(ALLOW)}
    names = sorted(outs)

    def answer(_, index):
        return ended(stdout=outs[names[index]])

    order = tuple(names.index(name) for name in RESULTS["multi"][row]["finished"])
    played = play({"PreToolUse": names}, [Prompt(text="go"), BASH, Stop()], answer, finished=order)

    assert played.decisions[0].refused
    assert played.observations[1][0].text == "PreToolUse:Bash hook error: R-DENY"
    tally["several"] += 1


def test_the_model_gets_the_refusal_that_ended_last(play, ended, tally):
    """If two hooks refuse a call, the model gets the refusal of the hook that ended last."""
    row = RESULTS["multi"]["first deny slow, second fast"]
    reasons = ["R-ONE", "R-TWO"]

    def answer(_, index):
        return ended(
            stdout=json.dumps({"hookSpecificOutput": {**DENY, "permissionDecisionReason": reasons[index]}})
        )

    order = tuple(reasons.index(reason) for reason in row["finished"])
    played = play({"PreToolUse": ["./a", "./b"]}, [Prompt(text="go"), BASH, Stop()], answer, finished=order)

    assert played.observations[1][0].text == row["text"]
    assert played.decisions[0].reasons == ("R-ONE",)
    tally["several"] += 1


def test_the_model_gets_all_refusals_of_a_stop_in_finish_order(play, ended, tally):
    """Two refusals of a stop both reach the model, that of the faster hook first."""
    row = RESULTS["multi"]["first stop slow, second fast"]
    reasons = ["R-ONE", "R-TWO"]

    def answer(_, index):
        return ended(stdout=json.dumps({"decision": "block", "reason": reasons[index]}))

    order = tuple(reasons.index(reason) for reason in row["finished"])
    played = play({"Stop": ["./a", "./b"]}, [Prompt(text="go"), Stop()], answer, finished=order)

    texts = [message.text for message in played.observations[1]]
    assert texts[-2:] == row["feedback"]
    assert [reason in text for reason, text in zip(row["finished"], texts, strict=False)] == [True, True]
    tally["several"] += 1


def test_another_profile_value_changes_the_outcome(profile):
    """With another rule for replies the same answer is read differently, so no row is hard-coded."""
    codes = tuple(code for code in profile.replies.codes if code.codes != (2,))
    other = replace(profile, replies=replace(profile.replies, codes=codes))
    hook = hosts.configure(profile, {}, inline={"Stop": "./x"}).hooks[0]
    run = ProcessResult(ending=Exited(2))

    assert hosts.read_reply(profile, hook, "Stop", run).ruling.value == "deny"
    assert hosts.read_reply(other, hook, "Stop", run).ruling.value == "none"
