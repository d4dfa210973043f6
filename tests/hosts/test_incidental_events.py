"""Events that accompany other events, and hooks that the host waits for without end."""

from dataclasses import replace

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.rules.replies import Halting
from pytest_hookharness.model.moves import Performance, Prompt, RunCommand, Stop, ToolCall, Tools
from pytest_hookharness.model.processes import Cut, Exited, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Field

BLOCK = {"decision": "block", "reason": "not yet"}
GO, DONE, RUN = Prompt(text="go"), Stop(text="done"), RunCommand(command="true", say="running")


def change(profile, part, **values):
    """Return the profile with other values in one of its parts."""
    return replace(profile, **{part: replace(getattr(profile, part), **values)})


def around(profile, name, role, *fields, **values):
    """Return the profile with one more event, made from an event without side effects."""
    rule = profile.events["SessionEnd"]
    keys = replace(rule.fields, event=name, fields=fields)
    made = replace(rule, **{"fields": keys, "role": role, "target": "", "shared": False, **values})
    return replace(profile, events={**profile.events, name: made})


@pytest.mark.parametrize(
    "power, endings", [(hosts.Power.REFUSES, ["halted"]), (hosts.Power.NOTHING, ["stopped"])]
)
def test_a_refused_request_ends_the_turn(play, profile, power, endings):
    """A refusal of a request to the model ends the turn, if the event has the power to refuse."""
    kind = around(profile, "BeforeModel", hosts.Role.BEFORE_MODEL, power=power)
    kind = change(kind, "turns", before_request=(hosts.Role.BEFORE_MODEL,))

    played = play({"BeforeModel": "./x"}, [GO, DONE], lambda *_: BLOCK, profile=kind)

    assert [ending.how for ending in played.endings][:1] == endings


def test_a_refused_prompt_of_a_subagent_ends_no_turn(play):
    """A refusal of an incidental event about a call leaves the turn alone."""
    codex = hosts.find("codex")
    refusals = iter([None, BLOCK])
    acts = [GO, one_call(codex.tools.subagent, {"message": "sub"}), DONE]

    played = play({"UserPromptSubmit": "./x"}, acts, lambda *_: next(refusals), profile=codex)

    assert played.endings[0].how == "stopped"


def one_call(name, given):
    """Return one call of a tool."""
    return Tools(calls=(ToolCall(name=name, input=given),))


def test_the_text_of_a_move(play, profile):
    """An event after the model's answer gets the text of that answer alone."""
    kind = around(profile, "AfterModel", hosts.Role.AFTER_MODEL, Field(name="said"))
    kind = change(kind, "turns", after_request=(hosts.Role.AFTER_MODEL,))

    played = play({"AfterModel": "./x"}, [GO, RUN, DONE], lambda *_: None, profile=kind)

    assert [asked.payload["said"] for asked in played.asked()] == ["running", "done"]


def test_a_target_that_only_the_host_knows(play, profile):
    """A matcher is compared with a value of the host's own if the event itself gives none."""
    kind = around(profile, "BeforeModel", hosts.Role.BEFORE_MODEL, Field(name="trigger"), target="trigger")
    kind = replace(kind, own_values=lambda _words: {"trigger": "auto"})
    kind = change(kind, "turns", before_request=(hosts.Role.BEFORE_MODEL,))
    groups = [
        {"matcher": word, "hooks": [{"type": "command", "command": word}]} for word in ("auto", "manual")
    ]

    played = play({"BeforeModel": groups}, [GO, DONE], lambda *_: None, profile=kind)

    assert [hook.command for asked in played.asked() for hook in asked.hooks] == ["auto"]


def test_events_after_the_start(play, profile):
    """Hooks of some events run once the session has started, before the first prompt."""
    kind = around(profile, "Notice", hosts.Role.NOTIFICATION)
    kind = change(kind, "turns", after_start=(hosts.Role.NOTIFICATION,))
    settings = dict.fromkeys(("SessionStart", "Notice", "UserPromptSubmit"), "./x")

    played = play(settings, [GO, DONE], lambda *_: None, profile=kind)

    assert played.events == ["SessionStart", "Notice", "UserPromptSubmit"]


def test_prompts_are_named_by_a_template(play, profile):
    """A host may name prompts by the session and their number."""
    ids = replace(profile.tools.ids, prompt="{session}#{number}")
    kind = change(profile, "tools", ids=ids)

    played = play({"Stop": "./x"}, [GO, DONE, GO, DONE], lambda *_: None, profile=kind)

    named = [asked.payload["prompt_id"].partition("#") for asked in played.asked("Stop")]
    assert [number for _, _, number in named] == ["0", "1"]
    assert {session for session, _, _ in named} == {played.asked("Stop")[0].payload["session_id"]}


def test_a_result_is_replaced(play, profile):
    """Where a refusal replaces the result of a call, the agent gets its reason instead."""
    rule = replace(profile.events["PostToolUse"], power=hosts.Power.REPLACES)
    kind = replace(profile, events={**profile.events, "PostToolUse": rule})

    played = play({"PostToolUse": "./x"}, [GO, RUN, DONE], lambda *_: BLOCK, profile=kind)

    assert "not yet" in played.seen()


@pytest.mark.parametrize("words, shown", [({"stopReason": "halt"}, "halt"), ({}, "not yet")])
def test_a_refusal_that_halts_too(play, profile, words, shown):
    """Where a halt is a refusal, its own text has precedence over the reason of the refusal beside it."""
    answers = replace(profile.replies.answers, halting=Halting.REFUSES)
    kind = change(change(profile, "replies", answers=answers), "wording", feedback="{reason}")
    refusals = iter([{**BLOCK, "continue": False, **words}, None])

    played = play({"Stop": "./x"}, [GO, DONE, DONE], lambda *_: next(refusals), profile=kind)

    assert played.seen()[-1] == shown


def test_which_calls_of_a_batch_failed(play, profile):
    """The event after all calls can show which of them failed."""
    rule = profile.events["PostToolBatch"]
    keys = replace(rule.fields, fields=(Field(name="failed", source="tool_calls_ended"),))
    kind = replace(profile, events={**profile.events, "PostToolBatch": replace(rule, fields=keys)})

    def perform(_):
        return Performance(exit=3)

    played = play({"PostToolBatch": "./x"}, [GO, RUN, DONE], lambda *_: None, profile=kind, perform=perform)

    assert played.asked()[0].payload == {"failed": ["failed"]}


def cut(after, by, ended=None):
    """Return the result of a hook run that was cut."""
    return ProcessResult(ending=TimedOut(after, by=by, ended=ended))


@pytest.mark.parametrize(
    "close_wait, run, how",
    [
        (None, cut(2.0, Cut.HOOK_TIMEOUT), "waiting"),
        (None, cut(0.5, Cut.HOOK_TIMEOUT), "stopped"),
        (None, cut(0.5, Cut.HOOK_TIMEOUT, Exited(0)), "waiting"),
        (None, cut(1.0, Cut.LIMIT), "stopped"),
        (1.0, cut(2.0, Cut.HOOK_TIMEOUT), "stopped"),
    ],
    ids=["limit is over", "limit is to come", "only output is open", "host cut it", "host gives up"],
)
def test_a_hook_that_the_host_waits_for_without_end(play, profile, close_wait, run, how):
    """A host that never gives up waits without end for a hook that only the hook timeout cut."""
    kind = change(profile, "process", kill=replace(profile.process.kill, close_wait=close_wait))
    handler = {"type": "command", "command": "./x", "timeout": 1}

    played = play({"Stop": handler}, [GO, DONE], lambda *_: run, profile=kind)

    assert played.endings[-1].how == how
    assert ("./x" in played.endings[-1].why) is (how == "waiting")
