"""Gemini CLI: what only this host does."""

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
    ToolCall,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.protocol import Hook, Ruling

GEMINI = hosts.find("gemini-cli")
GO, DONE, RUN = Prompt(text="go"), Stop(text="done"), RunCommand(command="true", say="running")
DENY = {"decision": "deny", "reason": "no"}


def settings(**commands):
    """Groups with one hook for each event, each with its own matcher if one is given."""
    return {
        event: [{"matcher": matcher, "hooks": [{"type": "command", "command": "./x"}]}]
        for event, matcher in commands.items()
    }


@pytest.mark.parametrize(
    "code, stdout, stderr, ruling, reason",
    [
        (0, json.dumps(DENY), "", Ruling.DENY, "no"),
        (0, "", json.dumps(DENY), Ruling.DENY, "no"),
        (1, json.dumps(DENY), "", Ruling.DENY, "no"),
        (0, json.dumps(json.dumps(DENY)), "", Ruling.DENY, "no"),
        (0, '{"decision": "DENY"}', "", Ruling.NONE, ""),
        (0, '{"decision": "deny"}', "", Ruling.DENY, "No reason provided"),
        (0, "text", json.dumps(DENY), Ruling.NONE, ""),
        (1, "", "text", Ruling.NONE, ""),
        (2, "", "", Ruling.NONE, ""),
        (2, "out", "err", Ruling.DENY, "out"),
        (2, '{"decision": "allow"}', "err", Ruling.ALLOW, ""),
        (2, "42", "err", Ruling.NONE, ""),
        (2, '"text"', "", Ruling.DENY, '"text"'),
        (127, "", "bash: ./gone: No such file", Ruling.DENY, "bash: ./gone: No such file"),
    ],
)
def test_replies(ended, code, stdout, stderr, ruling, reason):
    """Answers count with every exit code, and text refuses with any exit code except 0 and 1."""
    hook = Hook(event="BeforeTool", command="./x")

    reply = hosts.read_reply(GEMINI, hook, "BeforeTool", ended(code, stdout, stderr))

    assert (reply.ruling, reply.reason) == (ruling, reason)


def test_a_signal_counts_as_success(ended):
    """A hook that was ended by a signal has no effect, even with text."""
    hook = Hook(event="BeforeTool", command="./x")

    assert hosts.read_reply(GEMINI, hook, "BeforeTool", ended(stdout="no", signal=9)).ruling is Ruling.NONE


@pytest.mark.parametrize(
    "event, matcher, target, hook_runs",
    [
        ("BeforeTool", "shell", "run_shell_command", True),
        ("BeforeTool", " run_shell_command ", "run_shell_command", True),
        ("BeforeTool", "run_shell_command | Write", "run_shell_command", False),
        ("BeforeTool", "(", "(", True),
        ("SessionStart", "startup", "startup", True),
        ("SessionStart", "startup|resume", "startup", False),
        ("AfterAgent", "nothing", "", True),
    ],
)
def test_matchers(event, matcher, target, hook_runs):
    """Matchers for tools are regular expressions, and those for sessions are compared as literal text."""
    hook = Hook(event=event, command="x", matcher=matcher)

    assert bool(hosts.select(GEMINI, (hook,), event, target)) is hook_runs


@pytest.mark.parametrize("written, seconds", [(30, 0.03), ("30", 0.03), (0, 0.0), (-5, 0.0), (60_000, 60.0)])
def test_timeouts_count_milliseconds(written, seconds):
    """A timeout of any size counts milliseconds."""
    handler = {"type": "command", "command": "x", "timeout": written}

    (hook,) = hosts.configure(GEMINI, {}, inline={"BeforeTool": handler}).hooks

    assert hook.timeout == pytest.approx(seconds)


def test_stops_can_be_refused_forever(play):
    """Refusals never end a turn, each becomes a prompt, and calls set the flag to false again."""
    acts = [GO, *[DONE] * 30, RUN, DONE]
    hooks = {"AfterAgent": "./x", "BeforeAgent": "./y"}

    def answer(asked, _):
        return DENY if asked.event == "AfterAgent" else None

    played = play(hooks, acts, answer, profile=GEMINI)

    stops = played.asked("AfterAgent")
    assert [asked.payload["stop_hook_active"] for asked in stops] == [False, *[True] * 29, False]
    assert [asked.payload["prompt"] for asked in played.asked("BeforeAgent")] == ["go", *["no"] * 31]
    assert stops[1].payload["prompt_response"] == "done"
    assert stops[-1].payload["prompt_response"] == "running\ndone"


def test_a_refused_continuation_ends_the_turn(play):
    """BeforeAgent can refuse the reason of a refused stop, and the agent then makes no further move."""
    hooks = {"AfterAgent": "./x", "BeforeAgent": "./y"}
    replies = iter([None, DENY, DENY])

    played = play(hooks, [GO, DONE, DONE], lambda *_: next(replies), profile=GEMINI)

    assert len(played.observations) == 1
    assert played.endings[0].how == "halted"


def test_ask_waits_forever(play):
    """An ask makes the host wait forever, after the notification hooks ran."""
    played = play(
        {"BeforeTool": "./x", "Notification": "./y"},
        [GO, RunCommand(command="echo hi > x")],
        lambda asked, _: {"decision": "ask"} if asked.event == "BeforeTool" else None,
        profile=GEMINI,
    )

    (notice,) = played.asked("Notification")
    assert notice.payload["details"]["command"] == "echo hi > x"
    assert played.endings[-1].how == "waiting"
    assert [call.refused for call in played.performed] == [True]


def test_events_around_requests(play):
    """Three events occur before each request and one after each response, with matchers too."""
    hooks = settings(PreCompress="auto", BeforeModel="", BeforeToolSelection="", AfterModel="", BeforeTool="")

    played = play(hooks, [GO, RUN, DONE], lambda *_: None, profile=GEMINI)

    before = ["PreCompress", "BeforeModel", "BeforeToolSelection"]
    assert played.events == [*before, "AfterModel", "BeforeTool", *before, "AfterModel"]
    requests = [asked.payload["llm_request"]["messages"] for asked in played.asked("BeforeModel")]
    assert requests[0] == [{"role": "user", "content": "go"}]
    answers = [asked.payload["llm_response"]["text"] for asked in played.asked("AfterModel")]
    assert answers == ["running", "done"]


@pytest.mark.parametrize("answer", [DENY, {"continue": False, "stopReason": "no"}])
def test_a_refused_request_ends_the_turn(play, answer):
    """A refusal before a request to the model ends the turn."""
    played = play({"BeforeModel": "./x"}, [GO, DONE], lambda *_: answer, profile=GEMINI)

    assert (played.observations, played.endings[0].how) == ([], "halted")


def test_what_the_agent_gets(play):
    """Refusals, replaced results, changed input and context have the host's own wording."""
    own = {"hookSpecificOutput": {"additionalContext": "look"}}
    rewrite = {"hookSpecificOutput": {"tool_input": {"command": "false"}}}
    replies = iter([DENY, rewrite, {**DENY, **own}])

    played = play(
        {"BeforeTool": "./x", "AfterTool": "./y"},
        [GO, RUN, RUN, DONE],
        lambda *_: next(replies),
        profile=GEMINI,
    )

    note = "\n\n[System] Tool input parameters were modified by a hook before execution."
    blocked = f"no{note}"
    assert played.seen() == ["go", "Tool execution blocked: no", blocked]
    assert played.performed[-1].call.input == {"command": "false"}


def test_texts_of_the_agent_are_part_of_the_state(play):
    """Hooks get all texts of the agent since the prompt, so these texts belong to the state."""
    played = play({"AfterAgent": "./x"}, [GO, RUN, DONE], lambda *_: None, profile=GEMINI)

    assert ["running"] in [session.visible["spoken"] for session in played.sessions]


def test_one_by_one_each_hook_sees_changed_input(play):
    """In a sequential group a hook gets the input with the changes of the hook before it."""
    handlers = [{"type": "command", "command": word} for word in ("./first", "./second")]
    rewrite = {"hookSpecificOutput": {"tool_input": {"command": "false"}}}

    played = play(
        {"BeforeTool": [{"sequential": True, "hooks": handlers}]},
        [GO, RUN, DONE],
        lambda asked, _: rewrite if asked.hooks[0].command == "./first" else None,
        profile=GEMINI,
    )

    second = played.asked("BeforeTool")[1]
    assert second.payload["tool_input"] == {"command": "false", "description": "Runs a command"}


@pytest.mark.parametrize(
    "operation, done, text, display",
    [
        (
            RunCommand(command="x"),
            Performance(exit=3, stdout="o\n", stderr="e\n"),
            (
                "<untrusted_context>\nOutput: o\ne\nExit Code: 3\nProcess Group PGID: (none)\n"
                "</untrusted_context>"
            ),
            "o\ne",
        ),
        (Read(file="a"), Performance(content="abc\n"), "abc\n", ""),
        (
            Read(file="a"),
            Performance(error="a: there is no such file"),
            "Could not read file because no file was found at the specified path.",
            "File not found.",
        ),
    ],
)
def test_results(operation, done, text, display):
    """Results of tools have the host's form, and a failed command is not a failed call."""
    call = GEMINI.tools.call(operation, "/project")

    result = GEMINI.tools.result(call, done, "/project")

    assert (result.text, result.response["returnDisplay"]) == (text, display)
    assert result.failed is bool(done.error)


@pytest.mark.parametrize("old, count", [(None, (2, 0)), ("one\n", (1, 0)), ("three\n", (2, 1))])
def test_changed_files_are_shown_as_patches(old, count):
    """A written file is shown as a patch with the numbers of added and removed lines."""
    call = GEMINI.tools.call(Edit(file="a.txt", text="one\ntwo\n"), "/project")

    result = GEMINI.tools.result(call, Performance(content="one\ntwo\n", original=old), "/project")

    display = result.response["returnDisplay"]
    counts = display["diffStat"]
    assert (counts["model_added_lines"], counts["model_removed_lines"]) == count
    assert display["fileDiff"].count("\n+") == count[0] + 1
    assert display["isNewFile"] is (old is None)


@pytest.mark.parametrize(
    "operation",
    [RunCommand(command="x"), Edit(file="a", text="t"), Edit(file="a", text="t", old="o"), Read(file="a")],
)
def test_calls_are_read_as_their_operations(operation):
    """A call of the host's tools is read as the operation from which it was made."""
    assert GEMINI.tools.operation(GEMINI.tools.call(operation, "/project"), "/project") == operation


def test_a_call_of_another_tool_is_no_operation():
    """A tool that the harness cannot perform is no operation."""
    assert GEMINI.tools.operation(ToolCall(name="web_fetch", input={}), "/project") is None


def test_results_that_a_scenario_gives(play):
    """A given result reaches hooks in the host's form, and a failed one has an error."""
    results = (ToolResult(text="fine"), ToolResult(text="bad", failed=True))
    calls = tuple(ToolCall(name="web_fetch", input={}, given=result) for result in results)

    played = play({"AfterTool": "./x"}, [GO, Tools(calls=calls), DONE], lambda *_: None, profile=GEMINI)

    first, second = (asked.payload["tool_response"] for asked in played.asked("AfterTool"))
    assert first == {"llmContent": "fine", "returnDisplay": "fine"}
    assert second["error"]["message"] == "bad"


@pytest.mark.parametrize("event", sorted(GEMINI.events))
def test_every_event_has_an_input_outside_of_a_session(event):
    """An input with all keys of the event can be made for a hook of each event."""
    facts = hosts.facts(GEMINI, workspace="/project", home="/home/dev", tmp="/tmp/x")

    payload = hosts.payload_for(GEMINI, event, facts)

    assert list(payload) == [field.name for field in GEMINI.events[event].fields.fields]
