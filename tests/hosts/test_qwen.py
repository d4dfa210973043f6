"""Qwen Code: what only this host does, at both versions."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import (
    Edit,
    Performance,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
)
from pytest_hookharness.model.protocol import Hook, Ruling

QWEN, OLDER = hosts.find("qwen-code"), hosts.find("qwen-code@0.15.10")
GO, DONE, RUN = Prompt(text="go"), Stop(text="done"), RunCommand(command="true")
BLOCK = {"decision": "block", "reason": "no"}


def permit(decision):
    """A ruling on a call in the host's own form."""
    own = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": decision,
    }
    return {"hookSpecificOutput": own}


@pytest.mark.parametrize(
    "code, stdout, stderr, ruling, reason",
    [
        (0, json.dumps(permit("deny")), "", Ruling.DENY, "deny"),
        (0, "", json.dumps(permit("deny")), Ruling.DENY, "deny"),
        (1, json.dumps(BLOCK), "", Ruling.DENY, "no"),
        (0, '{"decision": "deny"}', "", Ruling.DENY, "No reason provided"),
        (0, '{"continue": false, "stopReason": "halt"}', "", Ruling.DENY, "halt"),
        (2, json.dumps(permit("allow")), "err", Ruling.DENY, "err"),
        (2, "", json.dumps(permit("allow")), Ruling.ALLOW, ""),
        (2, "", "{}", Ruling.NONE, ""),
        (2, "", "[]", Ruling.DENY, "[]"),
        (2, "out", "", Ruling.NONE, ""),
        (3, "", "err", Ruling.NONE, ""),
        (127, "", "bash: ./gone: No such file", Ruling.NONE, ""),
    ],
)
def test_replies(ended, code, stdout, stderr, ruling, reason):
    """Exit code 2 refuses only by standard error, and any other exit code by a JSON answer."""
    hook = Hook(event="PreToolUse", command="./x")

    reply = hosts.read_reply(QWEN, hook, "PreToolUse", ended(code, stdout, stderr))

    assert (reply.ruling, reply.reason) == (ruling, reason)


@pytest.mark.parametrize(
    "said, refused",
    [
        (["deny", "allow"], False),
        (["allow", "deny"], True),
        (["deny", ""], True),
    ],
)
def test_the_last_ruling_on_a_call_wins(play, said, refused):
    """An allow cancels a refusal that comes before it in the settings."""
    handlers = [{"type": "command", "command": f"./{place}"} for place in range(len(said))]

    played = play(
        {"PreToolUse": [{"hooks": handlers}]},
        [GO, RUN, DONE],
        lambda _, place: permit(said[place]) if said[place] else None,
        profile=QWEN,
    )

    assert [call.refused for call in played.performed] == [refused]


def test_the_agent_gets_all_reasons_of_a_stop(play):
    """The reasons of several refusals of a stop become one text, with one line for each."""
    handlers = [{"type": "command", "command": f"./{place}"} for place in range(2)]
    hooks = {"Stop": [{"hooks": handlers}]}

    played = play(
        hooks, [GO, DONE, DONE], lambda _, place: {**BLOCK, "reason": str(place)}, profile=QWEN, most=8
    )

    assert "0\n1" in played.seen()


@pytest.mark.parametrize(
    "profile, given, calls",
    [
        (QWEN, {}, 8),
        (QWEN, {"env": {"QWEN_CODE_STOP_HOOK_BLOCK_CAP": "3"}}, 3),
        (QWEN, {"env": {"QWEN_CODE_STOP_HOOK_BLOCK_CAP": "0"}}, 8),
        (QWEN, {"env": {"QWEN_CODE_STOP_HOOK_BLOCK_CAP": "500"}}, 100),
        (OLDER, {}, 100),
    ],
)
def test_caps(play, profile, given, calls):
    """The host overrides the refusal that reaches the cap."""
    played = play({"Stop": "./x"}, [GO, *[DONE] * 120], lambda *_: BLOCK, profile=profile, **given)

    assert len(played.asked("Stop")) == calls
    assert played.endings[0].how == "capped"


def test_a_cap_in_the_settings(play):
    """The settings can set the cap."""
    files = {"workspace/.qwen/settings.json": json.dumps({"stopHookBlockingCap": 2})}

    played = play({"Stop": "./x"}, [GO, *[DONE] * 9], lambda *_: BLOCK, profile=QWEN, files=files)

    assert len(played.asked("Stop")) == 2


@pytest.mark.parametrize("profile, how", [(QWEN, "capped"), (OLDER, "idle")])
def test_calls_between_refusals(play, profile, how):
    """Only at the older version do calls between refusals reset the count."""
    acts = [GO, *[RUN, DONE] * 101]

    played = play({"Stop": "./x"}, acts, lambda *_: BLOCK, profile=profile, most=5000)

    assert played.endings[0].how == how


@pytest.mark.parametrize("profile, flags", [(QWEN, [False, True]), (OLDER, [True, True])])
def test_the_flag_of_a_stop(play, profile, flags):
    """The older version sets the flag from the first stop on."""
    replies = iter([BLOCK, None])

    played = play({"Stop": "./x"}, [GO, DONE, DONE], lambda *_: next(replies), profile=profile)

    assert played.flags() == flags


def test_prompts_after_calls(play):
    """Prompt hooks run again after each tool result, and only the user's prompt is a submitted prompt."""
    played = play({"UserPromptSubmit": "./x"}, [GO, RUN, DONE], lambda *_: None, profile=QWEN)

    payloads = [asked.payload for asked in played.asked()]
    assert [payload["prompt"] for payload in payloads] == ["go", ""]
    assert [payload.get("submitted_prompt") for payload in payloads] == ["go", None]
    assert [payload["prompt_id"].partition("#")[2] for payload in payloads] == ["#######0", "#######0"]


def test_names_of_calls(play):
    """A call has the host's identifier and the model's, and a batch has the latter."""
    hooks = dict.fromkeys(("PreToolUse", "PostToolUse", "PostToolBatch"), "./x")

    played = play(hooks, [GO, RUN, DONE], lambda *_: None, profile=QWEN)

    before, after = (played.asked(event)[0].payload for event in ("PreToolUse", "PostToolUse"))
    (batched,) = played.asked("PostToolBatch")[0].payload["tool_calls"]
    assert before["tool_use_id"] == after["tool_use_id"]
    assert before["tool_call_id"] == after["tool_call_id"] == batched["tool_use_id"]
    assert (batched["status"], batched["tool_name"]) == ("success", "run_shell_command")


def test_a_failed_call(play):
    """A failed call has an event of its own, and its batch says that it failed."""
    hooks = dict.fromkeys(("PostToolUse", "PostToolUseFailure", "PostToolBatch"), "./x")

    played = play(
        hooks,
        [GO, Read(file="nope.txt"), DONE],
        lambda *_: None,
        profile=QWEN,
        perform=lambda _: Performance(error="nope.txt: there is no such file"),
    )

    assert played.events == ["PostToolUseFailure", "PostToolBatch"]
    assert played.asked()[0].payload["error"] == "File not found: /project/nope.txt"
    assert played.asked()[1].payload["tool_calls"][0]["status"] == "error"


def test_a_subagent(play):
    """A subagent is named by its kind and call, works, and stops before its caller continues."""
    hooks = dict.fromkeys(("SubagentStart", "SubagentStop", "PostToolUse"), "./x")

    played = play(
        hooks, [GO, Subagent(prompt="sub", texts=("sub done",)), DONE], lambda *_: None, profile=QWEN
    )

    start, stop, after = (asked.payload for asked in played.asked())
    assert start["agent_id"].startswith("general-purpose-call_")
    assert stop["background_tasks"][0]["id"] == start["agent_id"] == stop["agent_id"]
    assert after["tool_response"]["llmContent"] == [{"text": "sub done"}]


def test_a_prompt_that_names_a_command(play):
    """Hooks of an expansion get the text of the command with its arguments."""
    commands = hosts.read_commands(QWEN, {"workspace/.qwen/commands/greet.md": "Greet {{args}}."})

    played = play(
        {"UserPromptExpansion": "./x"},
        [Prompt(text="/greet you"), DONE],
        lambda *_: None,
        profile=QWEN,
        commands=commands,
    )

    assert played.asked()[0].payload["prompt"] == "Greet you."
    assert played.seen() == ["Greet you."]


@pytest.mark.parametrize(
    "matcher, tool, hook_runs",
    [
        ("Bash", "run_shell_command", True),
        ("Write|Edit", "write_file", True),
        ("Write|Edit", "run_shell_command", False),
        ("Read | Shell", "run_shell_command", True),
        ("run_shell_command,Write", "run_shell_command", False),
        ("^run", "run_shell_command", True),
        ("(", "(", True),
        ("[", "run_shell_command", False),
    ],
)
def test_matchers(matcher, tool, hook_runs):
    """A matcher is a list of names and aliases, or otherwise a regular expression."""
    hook = Hook(event="PreToolUse", command="x", matcher=matcher)

    assert bool(hosts.select(QWEN, (hook,), "PreToolUse", tool)) is hook_runs


@pytest.mark.parametrize("written, seconds", [(999, 999.0), (1000, 1.0), ("30", None), (0, None), (-5, None)])
def test_timeouts(written, seconds):
    """A timeout counts seconds, and milliseconds from 1000 on, and an invalid one becomes the default."""
    handler = {"type": "command", "command": "x", "timeout": written}

    (hook,) = hosts.configure(QWEN, {}, inline={"Stop": handler}).hooks

    assert hook.timeout == seconds


@pytest.mark.parametrize(
    "operation",
    [RunCommand(command="x"), Edit(file="a", text="t"), Edit(file="a", text="t", old="o"), Read(file="a")],
)
def test_calls_are_read_as_their_operations(operation):
    """A call of the host's tools is read as the operation from which it was made."""
    assert QWEN.tools.operation(QWEN.tools.call(operation, "/project"), "/project") == operation
    assert QWEN.tools.operation(ToolCall(name="web_fetch", input={}), "/project") is None


@pytest.mark.parametrize("event", sorted(QWEN.events))
def test_every_event_has_an_input_outside_of_a_session(event):
    """An input with all required keys of the event can be made for a hook of each event."""
    facts = hosts.facts(QWEN, workspace="/project", home="/home/dev", tmp="/tmp/x")

    payload = hosts.payload_for(QWEN, event, facts)

    always = [field.name for field in QWEN.events[event].fields.fields if not field.optional]
    assert [name for name in payload if name in always] == always
