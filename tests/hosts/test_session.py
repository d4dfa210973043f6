"""The session as a value: the order of events, and how turns continue and end."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import (
    Compact,
    Corrupt,
    Edit,
    End,
    Performance,
    Prompt,
    Resume,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
    Wait,
)
from pytest_hookharness.model.protocol import Basis, Ruling
from pytest_hookharness.model.trace import Step

BLOCK = {"decision": "block", "reason": "not yet"}
GO = Prompt(text="go")


def special(event, **fields):
    """Return an answer for one event alone."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def always(answer):
    """Return a function that gives the same answer for every hook."""
    return lambda *_: answer


def at(event, answer):
    """Return a function that answers for the hooks of one event, and gives no answer for all other hooks."""
    return lambda request, _: answer if request.event == event else None


def test_without_hooks_only_acts_are_requested(play):
    """A session without hooks requests acts and ends, and never requests hooks."""
    played = play({}, [GO, Stop()], always(None))

    assert played.asked() == []
    assert [ending.how for ending in played.endings] == ["stopped", "stopped"]


def test_events_of_a_session_in_order(play, profile):
    """A prompt, a call and a stop cause their events in the order of the host."""
    settings = dict.fromkeys(profile.events, "./hook")
    acts = [GO, RunCommand(command="true", say="Running."), Stop(text="")]

    played = play(settings, acts, always(None))

    assert played.events == [
        "SessionStart",
        "UserPromptSubmit",
        "MessageDisplay",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ]


def test_a_saved_session_goes_on_alike(profile):
    """A restored session gives the same progress again, and another answer gives another progress."""
    configuration = hosts.configure(profile, {}, inline={"Stop": "./hook"})
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    progress = hosts.advance(hosts.begin(profile, configuration, facts).session, GO)
    saved = hosts.advance(progress.session, Stop()).session

    blocked = hosts.advance(saved, hosts.HooksFinished(runs=(BLOCK,)))
    allowed = hosts.advance(saved, hosts.HooksFinished(runs=(None,)))

    assert hosts.advance(saved, hosts.HooksFinished(runs=(BLOCK,))) == blocked
    assert (blocked.session.visible["stop_hook_active"], blocked.session.refusals_in_row) == (True, 1)
    assert (allowed.session.visible["stop_hook_active"], allowed.session.refusals_in_row) == (False, 0)


@pytest.mark.parametrize(
    "answer", [hosts.HooksFinished(), Performance(), hosts.HooksFinished(runs=(None, None))]
)
def test_an_answer_that_does_not_fit_is_refused(profile, answer):
    """An answer of the wrong type or length is an error for any request."""
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    configuration = hosts.configure(profile, {}, inline={"SessionStart": "./hook"})
    asked = hosts.begin(profile, configuration, facts).session
    idle = hosts.begin(profile, hosts.Configuration(), facts).session

    with pytest.raises(hosts.Mismatch):
        hosts.advance(asked, answer)
    with pytest.raises(hosts.Mismatch):
        hosts.advance(idle, answer)


def test_a_move_outside_a_turn_is_refused(profile):
    """The agent cannot move before a prompt."""
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")

    with pytest.raises(hosts.Mismatch, match="no turn is running"):
        hosts.advance(hosts.begin(profile, hosts.Configuration(), facts).session, Stop())


@pytest.mark.parametrize("answer", [BLOCK, {"continue": False, "stopReason": "no"}])
def test_a_refused_prompt_is_never_seen(play, answer):
    """A refused prompt starts no turn, and the next prompt does."""
    played = play({"UserPromptSubmit": "./hook"}, [GO, Prompt(text="again")], always(answer))

    assert played.observations == []
    assert [ending.how for ending in played.endings] == ["halted", "halted", "halted"]


@pytest.mark.parametrize("cap, honoured", [(None, 8), ("3", 3), ("abc", 8), ("20", 20)])
def test_the_cap_overrides_the_next_refusal(play, cap, honoured):
    """The host honours as many refusals as the cap in its environment says, and overrides the next one."""
    env = {} if cap is None else {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap}

    played = play({"Stop": "./hook"}, [GO, *[Stop()] * 40], always(BLOCK), env=env)

    assert [decision.refused for decision in played.decisions] == [True] * honoured + [False]
    assert played.decisions[-1].overridden
    assert played.endings[0].how == "capped"
    described = hosts.cap_for(played.sessions[-1], [])
    assert described is not None
    assert described.overrides == honoured + 1


@pytest.mark.parametrize("cap", ["0", "-1"])
def test_the_cap_can_be_switched_off(play, cap):
    """With a cap of zero or below no refusal is ever overridden, and the description gives the reason."""
    env = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap}

    played = play({"Stop": "./hook"}, [GO, *[Stop()] * 60], always(BLOCK), env=env)

    assert [decision.refused for decision in played.decisions] == [True] * 60
    described = hosts.cap_for(played.sessions[-1], [])
    assert described is not None
    assert described.overrides is None
    assert "switches the cap off" in described.why


def test_the_cap_may_be_in_the_settings(play):
    """A cap that the settings put into the environment has the same effect as one in the host's own."""
    settings = {"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}, "hooks": {"Stop": "./hook"}}

    played = play(settings, [GO, *[Stop()] * 9], always(BLOCK))

    assert [decision.overridden for decision in played.decisions] == [False, True]


def test_tool_calls_reset_the_count(play):
    """With calls between refusals the cap never acts, and without them it acts after eight more refusals."""
    repetition = [RunCommand(command="true"), Stop()]

    played = play({"Stop": "./hook"}, [GO, *repetition * 30, *[Stop()] * 20], always(BLOCK))

    assert [decision.overridden for decision in played.decisions] == [False] * 37 + [True]


@pytest.mark.parametrize(
    "event, answer",
    [
        ("PreToolUse", BLOCK),
        ("PreToolUse", special("PreToolUse", permissionDecision="ask")),
        ("PermissionRequest", special("PermissionRequest", decision={"behavior": "deny"})),
    ],
)
def test_refused_calls_reset_the_count(play, event, answer):
    """Calls that were never carried out reset the cap's count too, so it is never reached between them."""
    answers = {event: answer, "Stop": BLOCK}
    acts = [GO, *[RunCommand(command="true"), Stop()] * 20]

    played = play({event: "./no", "Stop": "./hook"}, acts, lambda request, _: answers[request.event])

    stops = [decision for decision in played.decisions if decision.event == "Stop"]
    assert [decision.overridden for decision in stops] == [False] * 20
    repetition = [Step(number=1, turn=1, exchange=played.performed[-1])]
    assert hosts.cap_for(played.sessions[-1], repetition).overrides is None


def test_a_call_that_is_carried_out_resets_the_count_after_refused_ones(play):
    """One carried-out call among several resets the count, and then nothing is assumed any more."""
    settings = {"PreToolUse": {"command": "./no", "if": "Bash(a)"}, "Stop": "./hook"}
    both = Tools(calls=tuple(ToolCall(name="Bash", input={"command": name}) for name in "ab"))
    acts = [GO, *[RunCommand(command="a"), Stop()] * 5, both, RunCommand(command="a"), *[Stop()] * 20]

    played = play(settings, acts, always(BLOCK))

    stops = [decision for decision in played.decisions if decision.event == "Stop"]
    assert [decision.overridden for decision in stops] == [False] * 13 + [True]
    assert stops[-1].rule.basis is Basis.OBSERVED


def test_the_flag_is_cleared_by_the_next_prompt(play):
    """The flag stop_hook_active stays set across tool calls and is cleared by the next prompt."""
    answers = iter([BLOCK, None, None])
    acts = [GO, Stop(), RunCommand(command="true"), Stop(), Prompt(text="more"), Stop()]

    played = play({"Stop": "./hook"}, acts, lambda *_: next(answers))

    assert played.flags() == [False, True, False]


def test_a_prompt_resets_the_count(play):
    """Refusals before a prompt do not count towards the cap after it."""
    answers = iter([BLOCK] * 5 + [None] + [BLOCK] * 9)
    acts = [GO, *[Stop()] * 6, Prompt(text="more"), *[Stop()] * 9]

    played = play({"Stop": "./hook"}, acts, lambda *_: next(answers))

    assert [decision.refused for decision in played.decisions] == [True] * 5 + [False] + [True] * 8 + [False]


def test_context_at_a_stop_counts_for_the_cap(play):
    """A text in additionalContext on Stop continues the turn and is overridden like a refusal."""
    played = play({"Stop": "./hook"}, [GO, *[Stop()] * 20], always(special("Stop", additionalContext="more")))

    assert [decision.refused for decision in played.decisions] == [True] * 8 + [False]
    assert played.decisions[0].reasons == ("more",)


def test_continue_false_beats_a_refusal_of_another_hook(play):
    """A stop that one hook refuses and another hook halts is over."""
    answers = [BLOCK, {"continue": False, "stopReason": "enough"}]

    played = play({"Stop": ["./a", "./b"]}, [GO, Stop(), Stop()], lambda _, index: answers[index])

    assert len(played.decisions) == 1
    assert not played.decisions[0].refused
    assert (played.endings[0].how, played.decisions[0].halt) == ("halted", "enough")


def test_parallel_calls_run_their_hooks_one_by_one(play):
    """The hooks before all calls of a message come first, then those after each, then one for the batch."""
    calls = Tools(calls=tuple(ToolCall(name="Bash", input={"command": name}) for name in "ab"))
    settings = dict.fromkeys(("PreToolUse", "PostToolUse", "PostToolBatch"), "./hook")

    played = play(settings, [GO, calls, Stop()], always(None))

    assert played.events == ["PreToolUse", "PreToolUse", "PostToolUse", "PostToolUse", "PostToolBatch"]
    batch = played.asked("PostToolBatch")[0].payload["tool_calls"]
    assert [call["tool_input"]["command"] for call in batch] == ["a", "b"]


def test_one_of_two_calls_may_be_refused(play):
    """A refused call is reported and not made while the other one is, and both are listed as performed."""
    calls = Tools(calls=tuple(ToolCall(name="Bash", input={"command": name}) for name in "ab"))
    deny = special("PreToolUse", permissionDecision="deny", permissionDecisionReason="not a")

    def answer(request, _):
        return deny if request.payload["tool_input"]["command"] == "a" else None

    played = play({"PreToolUse": "./hook"}, [GO, calls, Stop()], answer)

    assert [done.refused for done in played.performed] == [True, False]
    assert [message.kind for message in played.observations[1]] == ["refusal", "result"]


def test_a_given_result_is_used_without_a_request(play):
    """A call whose result the scenario gives is not made, and its hooks see that result."""
    call = ToolCall(
        name="WebFetch", input={"url": "x"}, given=ToolResult(text="page", response={"code": 200})
    )

    played = play({"PostToolUse": "./hook"}, [GO, Tools(calls=(call,)), Stop()], always(None))

    assert not any(isinstance(request, hosts.PerformCall) for request in played.requests)
    assert played.asked("PostToolUse")[0].payload["tool_response"] == {"code": 200}
    assert played.observations[1][0].text == "page"


def test_a_failed_call_causes_the_failure_event(play):
    """A call that fails causes PostToolUseFailure and not PostToolUse, with the host's words for it."""
    settings = dict.fromkeys(("PostToolUse", "PostToolUseFailure"), "./hook")
    done = Performance(exit=3, stderr="boom\n")

    played = play(settings, [GO, RunCommand(command="x"), Stop()], always(None), perform=lambda _: done)

    assert played.events == ["PostToolUseFailure"]
    assert played.asked()[0].payload["error"] == "Exit code 3\nboom"


def test_a_subagent_is_held_until_its_cap(play):
    """A refused subagent repeats its words, and its stop is allowed at the ninth refusal."""
    settings = dict.fromkeys(("PreToolUse", "SubagentStart", "SubagentStop", "PostToolUse"), "./hook")

    played = play(settings, [GO, Subagent(prompt="look"), Stop()], at("SubagentStop", BLOCK))

    assert played.events == ["PreToolUse", "SubagentStart", "PostToolUse", *["SubagentStop"] * 9]
    flags = [request.payload["stop_hook_active"] for request in played.asked("SubagentStop")]
    assert flags == [False, *[True] * 8]
    assert played.decisions[-1].overridden


def test_a_refused_subagent_is_never_started(play):
    """A refusal of the call that starts a subagent prevents all events of the subagent."""
    settings = dict.fromkeys(("PreToolUse", "SubagentStart", "SubagentStop"), "./hook")

    played = play(settings, [GO, Subagent(prompt="look"), Stop()], at("PreToolUse", BLOCK))

    assert played.events == ["PreToolUse"]


@pytest.mark.parametrize("refused", [True, False])
def test_a_compaction_can_be_prevented(play, refused):
    """A compaction starts the session anew unless a hook refuses it, and hides no message."""
    settings = dict.fromkeys(("PreCompact", "PostCompact", "SessionStart"), "./hook")
    answer = at("PreCompact", BLOCK if refused else None)

    played = play(settings, [GO, Compact(), Stop()], answer)

    after = [] if refused else ["SessionStart", "PostCompact"]
    assert played.events == ["SessionStart", "PreCompact", *after]
    assert played.observations[0] == played.observations[1]


def test_a_resumed_session_starts_again(play):
    """Resuming a session ends it and starts it with another source, under the same name."""
    settings = dict.fromkeys(("SessionStart", "SessionEnd"), "./hook")

    played = play(settings, [GO, Stop(), Resume(), Prompt(text="on"), Stop()], always(None))

    sources = [request.payload.get("source") for request in played.asked()]
    assert sources == ["startup", None, "resume", None]
    known = ["prompt_id" in request.payload for request in played.asked()]
    assert known == [False, True, False, True]
    assert len({request.payload["session_id"] for request in played.asked()}) == 1


@pytest.mark.parametrize("act, reason", [(End(reason="logout"), "logout"), (None, "other")])
def test_the_end_of_a_session_has_a_reason(play, act, reason):
    """The end that the script names reaches SessionEnd, and without one the reason is 'other'."""
    played = play({"SessionEnd": "./hook"}, [GO, Stop(), *([act] if act else [])], always(None))

    assert [request.payload["reason"] for request in played.asked()] == [reason]
    assert isinstance(played.requests[-1], hosts.Ended)


def test_events_between_moves_do_not_hide_messages(play):
    """After a damaged file or a wait the agent is shown the same messages again."""
    answers = iter([BLOCK, None])
    acts = [GO, Stop(), Corrupt(file="x"), Wait(seconds=60), Stop()]

    played = play({"Stop": "./hook"}, acts, lambda *_: next(answers))

    assert played.observations[1] == played.observations[2] == played.observations[3]


def test_a_wait_moves_the_timestamps(play):
    """Time that the script lets pass appears in the timestamps of the transcript."""
    stamps = []
    for seconds in (0.0, 3600.0):
        played = play({}, [GO, Wait(seconds=seconds), Stop()], always(None))
        stamps.append(played.lines[-1]["timestamp"])

    assert stamps[0][:13] == "2026-01-05T09"
    assert stamps[1][:13] == "2026-01-05T10"


def test_continue_false_before_a_call_still_makes_it(play):
    """A hook that halts before a call ends the turn after the call, and without a stop event."""
    settings = dict.fromkeys(("PreToolUse", "PostToolUse", "Stop"), "./hook")

    played = play(settings, [GO, RunCommand(command="x"), Stop()], at("PreToolUse", {"continue": False}))

    assert played.events == ["PreToolUse", "PostToolUse"]
    assert played.endings[0].how == "halted"


def test_a_permission_is_requested_only_where_settings_do_not_allow(play):
    """PermissionRequest runs for a call that no rule allows, and not for a call that a rule covers."""
    hooks = {"PermissionRequest": "./hook"}
    deny = special("PermissionRequest", decision={"behavior": "deny", "message": "ask first"})
    acts = [GO, RunCommand(command="git status"), Stop()]

    asked = play({"hooks": hooks}, acts, always(deny))
    allowed = play({"hooks": hooks, "permissions": {"allow": ["Bash(git *)"]}}, acts, always(deny))

    assert (asked.performed[0].refused, asked.performed[0].result.text) == (True, "ask first")
    assert allowed.events == []


def test_a_replaced_result_is_what_the_agent_sees(play):
    """The text that a hook gives as updatedToolOutput replaces the result."""
    answer = special("PostToolUse", updatedToolOutput="hidden")

    played = play({"PostToolUse": "./hook"}, [GO, RunCommand(command="x"), Stop()], always(answer))

    assert [message.text for message in played.observations[1]] == ["hidden"]


def test_feedback_after_a_call_refuses_nothing(play):
    """A refusal on PostToolUse is shown after the result and does not count as a refusal."""
    played = play({"PostToolUse": "./hook"}, [GO, Edit(file="a", text="b"), Stop()], always(BLOCK))

    assert [message.kind for message in played.observations[1]] == ["result", "feedback"]
    assert "not yet" in played.observations[1][1].text
    assert (played.decisions[0].refused, played.decisions[0].ruling) == (False, Ruling.DENY)


def test_a_refusal_after_all_calls_ends_the_turn(play):
    """A refusal on PostToolBatch ends the turn without another message to the model."""
    played = play({"PostToolBatch": "./hook"}, [GO, RunCommand(command="x"), Stop()], always(BLOCK))

    assert len(played.observations) == 1
    assert played.endings[0].how == "halted"


def test_the_transcript_is_one_chain_of_json_lines(play):
    """Every line of the transcript names the one before it, and Stop runs after the last words."""
    played = play(
        {"Stop": "./hook"}, [GO, RunCommand(command="x", say="Now."), Stop(text="Bye.")], always(None)
    )

    lines, stop = played.lines, played.requests.index(played.asked("Stop")[0])
    assert [line["parentUuid"] for line in lines] == [None, *(line["uuid"] for line in lines[:-1])]
    assert json.loads(json.dumps(lines)) == lines
    assert "Bye." in json.dumps(played.written[stop])
    assert [line["type"] for line in lines] == ["user", "assistant", "assistant", "user", "assistant"]


def test_changed_settings_apply_from_the_next_event_on(profile):
    """Requested hooks stay the same after a change of settings, and the next event runs the new ones."""
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    old = hosts.configure(profile, {}, inline={"Stop": "./old"})
    new = hosts.configure(profile, {}, inline={"Stop": ["./new", "./more"]})
    progress = hosts.advance(hosts.begin(profile, old, facts).session, GO)
    asked = hosts.advance(progress.session, Stop())

    changed = hosts.reconfigure(asked.session, new)
    answered = hosts.advance(changed, hosts.HooksFinished(runs=(BLOCK,)))
    again = hosts.advance(answered.session, Stop())

    assert [hook.command for hook in changed.hooks] == ["./old"]
    assert answered.decision.refused
    assert [hook.command for hook in again.request.hooks] == ["./new", "./more"]
    assert again.request.payload["stop_hook_active"]
    assert hosts.reconfigure(changed, old) == asked.session


def test_a_loop_without_a_stop_is_not_ended_by_the_cap(play):
    """While calls are refused and no stop is, the cap counts nothing; with a refused stop it counts."""
    deny, stop = at("PreToolUse", BLOCK), at("Stop", BLOCK)
    settings = {"PreToolUse": "./x", "Stop": "./x"}

    calls = play(settings, [GO, *[RunCommand(command="a")] * 3], deny, most=8).sessions[-1]
    stops = play(settings, [GO, *[Stop()] * 3], stop, most=8).sessions[-1]

    assert hosts.cap_for(calls, []).overrides is None
    assert hosts.cap_for(stops, []).overrides == 9


def test_changed_settings_reach_the_cap(profile):
    """A cap in changed settings is the one that applies."""
    facts = hosts.facts(profile, workspace="/w", home="/h", tmp="/t")
    session = hosts.begin(profile, hosts.Configuration(), facts).session
    capped = hosts.Configuration(env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"})

    assert hosts.cap_for(hosts.reconfigure(session, capped), []).overrides == 3
