"""Codex: its strict answers, its patches, its subagents, and stops without a cap."""

import json

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.model.moves import (
    Compact,
    Edit,
    Performance,
    Prompt,
    Read,
    RunCommand,
    Stop,
    Subagent,
    ToolCall,
    ToolResult,
    Tools,
)
from pytest_hookharness.model.protocol import Hook, Ruling

GO, DONE, CALL = Prompt(text="go"), Stop(text="done"), RunCommand(command="make")
BLOCK = {"decision": "block", "reason": "not yet"}
SETTINGS = "workspace/.codex/hooks.json"
PATCH = "*** Begin Patch\n{}\n*** End Patch\n"


def own(event, **words):
    """An answer with values for one event."""
    return {"hookSpecificOutput": {"hookEventName": event, **words}}


def pre(permission, **words):
    """An answer before a tool."""
    return own("PreToolUse", permissionDecision=permission, **words)


def grant(**words):
    """An answer to a permission request."""
    return own("PermissionRequest", decision=words)


@pytest.fixture
def codex():
    """The newest Codex."""
    return hosts.find("codex")


@pytest.fixture
def run(play, codex):
    """A session of Codex whose hooks all give the same answer."""

    def go(events, acts, answer=None, **given):
        settings = dict.fromkeys(events, "./hook") if isinstance(events, list) else events
        return play(settings, acts, lambda *_: answer, profile=codex, **given)

    return go


@pytest.mark.parametrize(
    "event, answer, why",
    [
        ("PreToolUse", {}, ""),
        ("PreToolUse", {"systemMessage": "x", "continue": True, "suppressOutput": False}, ""),
        ("PreToolUse", pre("deny", permissionDecisionReason="no"), ""),
        ("PreToolUse", {**pre("deny", permissionDecisionReason="no"), "foo": 1}, "'foo' is not a key"),
        ("PreToolUse", pre("deny", permissionDecisionReason=" "), "without a 'permissionDecisionReason'"),
        ("PreToolUse", pre("deny"), "without a 'permissionDecisionReason'"),
        ("PreToolUse", pre("allow"), "without 'updatedInput'"),
        ("PreToolUse", pre("allow", updatedInput={"command": "x"}), ""),
        ("PreToolUse", own("PreToolUse", updatedInput={"command": "x"}), "without 'permissionDecision'"),
        ("PreToolUse", pre("deny", permissionDecisionReason="no", updatedInput={}), "without 'permissionDec"),
        ("PreToolUse", pre("ask", permissionDecisionReason="?"), "not supported"),
        ("PreToolUse", pre("maybe"), "the host knows allow, deny, ask"),
        ("PreToolUse", own("Nope", permissionDecision="deny"), "the event is PreToolUse"),
        ("PreToolUse", {"hookSpecificOutput": {"permissionDecision": "deny"}}, "has no 'hookEventName'"),
        ("PreToolUse", own("PreToolUse", decision="deny"), "'decision' is not a key of 'hookSpecificOutput'"),
        ("PreToolUse", {"decision": "approve"}, "not supported on PreToolUse"),
        ("PreToolUse", {"decision": "deny", "reason": "no"}, "the host knows approve, block"),
        ("PreToolUse", {"continue": False}, "'continue' is not supported"),
        ("PreToolUse", {"stopReason": "x"}, "'stopReason' is not supported"),
        ("PreToolUse", {"suppressOutput": True}, "'suppressOutput' is not supported"),
        ("PreToolUse", {"reason": 3}, "has the wrong type"),
        ("PostToolUse", BLOCK, ""),
        ("PostToolUse", {"reason": "alone"}, "without 'decision'"),
        ("PostToolUse", own("PostToolUse", updatedMCPToolOutput="x"), "not supported on PostToolUse"),
        ("Stop", BLOCK, ""),
        ("Stop", {"continue": False, "stopReason": "enough"}, ""),
        ("Stop", {"decision": "block"}, "without a 'reason'"),
        ("Stop", {"decision": "approve"}, "the host knows block"),
        (
            "Stop",
            own("Stop", additionalContext="x"),
            "'hookSpecificOutput' is not a key of an answer to Stop",
        ),
        ("SessionStart", BLOCK, "'decision' is not a key"),
        ("PreCompact", BLOCK, "'decision' is not a key"),
        ("SessionEnd", {"systemMessage": "bye"}, ""),
        ("PermissionRequest", grant(behavior="deny", message="no"), ""),
        ("PermissionRequest", grant(behavior="allow", updatedInput={}), "not supported"),
        ("PermissionRequest", grant(behavior="allow", interrupt=True), "not supported"),
        ("PermissionRequest", grant(behavior="allow", other=1), "'hookSpecificOutput.decision'"),
    ],
)
def test_answers_are_read_strictly(codex, event, answer, why):
    """An answer with a key that the host does not know or support on the event is invalid as a whole."""
    problem = codex.answers(event).check(event, answer)

    assert why in (problem or "")
    assert (problem is None) is (not why)


@pytest.mark.parametrize(
    "event, fault",
    [("Stop", "mangled: plain text"), ("SubagentStop", "mangled: plain text"), ("PreToolUse", "")],
)
def test_plain_text_at_a_stop_is_an_error(codex, ended, event, fault):
    """Plain text at a stop is reported as an error, and before a tool it has no effect."""
    reply = hosts.read_reply(codex, Hook(event=event, command="x"), event, ended(0, "all is well"))

    assert reply.ruling is Ruling.NONE
    assert (reply.fault or "").startswith(fault)
    assert bool(reply.fault) is bool(fault)


@pytest.mark.parametrize(
    "code, out, err, refused, fault",
    [
        (0, json.dumps(BLOCK), "", True, ""),
        (0, json.dumps({**BLOCK, "foo": 1}), "", False, "ignored: 'foo' is not a key"),
        (0, "\ufeff" + json.dumps(BLOCK), "", False, "an invisible character stands before it"),
        (0, "log\n" + json.dumps(BLOCK), "", False, "does not begin the output"),
        (0, '{"decision": ', "", False, "mangled: the output begins like JSON"),
        (0, "", json.dumps(BLOCK), False, "on standard error"),
        (2, "", "words", True, ""),
        (2, json.dumps({"continue": False}), "words", True, ""),
        (2, "", "", False, "takes it for a refusal only with a reason"),
        (2, json.dumps(BLOCK), " \n", False, "takes it for a refusal only with a reason"),
        (1, json.dumps(BLOCK), "words", False, "crashed: exit code 1"),
        (127, "", "not found", False, "not-run: exit code 127"),
    ],
)
def test_exit_codes(codex, run, ended, code, out, err, refused, fault):
    """Only a valid answer with exit code 0, and exit code 2 with text on standard error, refuse a stop."""
    played = run(["Stop"], [GO, DONE], ended(code, out, err), most=6)

    assert played.decisions[0].refused is refused
    assert fault in (played.replies[0].fault or "")
    assert bool(played.replies[0].fault) is bool(fault)


def test_a_stop_can_be_refused_forever(codex, run, ended):
    """Codex does not end a stop that is always refused, and sets the flag from the second stop on."""
    played = run(["Stop"], [GO, *[Stop(text=f"done {number}") for number in range(200)]], ended(2, "", "no"))

    assert len(played.decisions) == 200
    assert all(decision.refused for decision in played.decisions)
    assert played.flags() == [False, *[True] * 199]
    assert hosts.cap_for(played.sessions[-1], []) is None


@pytest.mark.parametrize(
    "path, file",
    [(SETTINGS, "/project/.codex/hooks.json"), ("home/.codex/hooks.json", "/home/dev/.codex/hooks.json")],
)
def test_a_refused_stop_names_the_hook(run, path, file):
    """The agent gets each reason with the settings file and the position of its hook."""
    handlers = [{"type": "command", "command": name} for name in "ab"]
    files = {path: json.dumps({"hooks": {"Stop": [{"hooks": handlers}]}})}

    played = run(None, [GO, DONE], BLOCK, files=files, most=8)

    expected = [f'<hook_prompt hook_run_id="stop:{place}:{file}">not yet</hook_prompt>' for place in (0, 1)]
    assert list(played.decisions[0].to_agent) == expected


@pytest.mark.parametrize("name", ["plugin/hooks/hooks.json", "inline"])
def test_hooks_outside_of_settings_files_keep_their_source(name):
    """A hook from no settings file of the user or the project is not reported with a folder."""
    assert hosts.settings.configuration.locate(name, "/project", "/home/dev") == name


def test_a_refused_call(run):
    """The agent gets the reason of a refusal and the refused command."""
    played = run(["PreToolUse"], [GO, CALL, DONE], BLOCK)

    expected = "Command blocked by PreToolUse hook: not yet. Command: make"
    assert expected in played.seen()
    assert [one.refused for one in played.performed] == [True]


def test_changed_input_needs_an_allow(run):
    """A changed input counts beside an explicit allow."""
    played = run(["PreToolUse"], [GO, CALL, DONE], pre("allow", updatedInput={"command": "make test"}))

    assert [one.call.input for one in played.performed] == [{"command": "make test"}]


def test_a_refusal_replaces_a_result(run):
    """After a refusal on a call's result the agent gets the reason instead of the result."""
    played = run(["PostToolUse"], [GO, CALL, DONE], BLOCK)

    assert "not yet" in played.seen()
    assert "visible\n" not in played.seen()


@pytest.mark.parametrize("event, calls, how", [("Stop", 0, "halted"), ("PreToolUse", 1, "stopped")])
def test_continue_false(run, event, calls, how):
    """At a stop ``continue: false`` ends the turn, and before a tool it is invalid."""
    acts = [GO, CALL, DONE] if event == "PreToolUse" else [GO, DONE]

    played = run([event], acts, {"continue": False, "stopReason": "enough"})

    assert len(played.performed) == calls
    assert played.endings[0].how == how


def test_the_order_of_keys(run):
    """The turn is the second key on all events of a turn, and a call's result comes before its identifier."""
    played = run(["SessionStart", "PostToolUse", "SessionEnd"], [GO, CALL, DONE])

    start, after, end = (list(request.payload) for request in played.asked())
    common = [
        "session_id",
        "turn_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "model",
        "permission_mode",
    ]
    assert after == [*common, "tool_name", "tool_input", "tool_response", "tool_use_id"]
    assert start == [*(key for key in common if key != "turn_id"), "source"]
    assert end == ["session_id", "transcript_path", "cwd", "hook_event_name", "reason"]
    assert played.asked("PostToolUse")[0].payload["tool_use_id"] == "call_0_0"


NEEDS = {"command": "echo hi", "sandbox_permissions": "require_escalated", "justification": "need it"}
ASKING = Tools(calls=(ToolCall(name="Bash", input=NEEDS),))


def test_permission_hooks_run_for_commands_that_ask(run):
    """In the default mode permission hooks run for a command that asks, and only they get its reason."""
    mode = {"permission_mode": "default"}
    events = ["PreToolUse", "PermissionRequest"]

    asked = run(events, [GO, ASKING, DONE], options=mode)
    unasked = [run(events, [GO, CALL, DONE], options=mode), run(events, [GO, ASKING, DONE])]

    inputs = [request.payload["tool_input"] for request in asked.asked()]
    assert inputs == [{"command": "echo hi"}, {"command": "echo hi", "description": "need it"}]
    assert {request.payload["permission_mode"] for request in asked.asked()} == {"default"}
    assert [played.events for played in unasked] == [["PreToolUse"]] * 2


@pytest.mark.parametrize(
    "answer, expected", [(grant(behavior="deny", message="never"), "never"), (grant(behavior="allow"), "")]
)
def test_a_permission_is_granted_or_denied(run, answer, expected):
    """The decision of a permission request allows the call, or refuses it with the given reason."""
    played = run(["PermissionRequest"], [GO, ASKING, DONE], answer, options={"permission_mode": "default"})

    assert [one.refused for one in played.performed] == [bool(expected)]
    assert not expected or expected in played.seen()


def test_exit_code_2_denies_a_permission(run, ended):
    """Exit code 2 with text denies a permission request too."""
    mode = {"permission_mode": "default"}
    played = run(["PermissionRequest"], [GO, ASKING, DONE], ended(2, "", "never"), options=mode)

    assert [one.refused for one in played.performed] == [True]


@pytest.mark.parametrize("matcher, fits", [("default", True), ("general-purpose", False), (None, True)])
def test_a_subagent_without_a_kind(run, matcher, fits):
    """A subagent that is started without a kind is a default one for matchers and on standard input."""
    group = {"hooks": [{"type": "command", "command": "x"}], **({"matcher": matcher} if matcher else {})}

    played = run({"SubagentStart": [group]}, [GO, Subagent(prompt="look", texts=("seen",)), DONE])

    assert [request.payload["agent_type"] for request in played.asked()] == ["default"] * fits


def test_a_subagent_with_a_kind(run):
    """A kind that a scenario names is in the call and on standard input."""
    played = run(["PreToolUse", "SubagentStop"], [GO, Subagent(kind="explorer", prompt="look"), DONE])

    before, stop = (request.payload for request in played.asked())
    assert before["tool_input"] == {"message": "look", "agent_type": "explorer"}
    assert stop["agent_type"] == "explorer"


def test_a_subagent_has_a_turn_and_a_transcript_of_its_own(run):
    """The input of hooks about a subagent has the subagent's own turn and transcript."""
    events = ["SubagentStart", "UserPromptSubmit", "PostToolUse", "SubagentStop"]

    played = run(events, [GO, Subagent(prompt="look", texts=("seen",)), DONE])

    first, start, prompt, after, stop = (request.payload for request in played.asked())
    agent = prompt["agent_id"]
    assert played.events == ["UserPromptSubmit", *events]
    assert (prompt["prompt"], prompt["agent_type"]) == ("look", "default")
    assert "agent_id" not in first
    assert first["turn_id"] == after["turn_id"] != prompt["turn_id"] == start["turn_id"] == stop["turn_id"]
    assert first["transcript_path"] == stop["transcript_path"] == after["transcript_path"]
    assert prompt["transcript_path"] == start["transcript_path"] == stop["agent_transcript_path"]
    assert start["transcript_path"] == first["transcript_path"].replace(first["session_id"], agent)
    assert json.loads(after["tool_response"])["agent_id"] == agent


def test_a_compaction(run):
    """Hooks before and after a compaction get its trigger and no permission mode."""
    played = run(["PreCompact", "PostCompact"], [GO, DONE, Compact(trigger="auto")])

    assert played.events == ["PreCompact", "PostCompact"]
    for request in played.asked():
        assert request.payload["trigger"] == "auto"
        assert "permission_mode" not in request.payload


@pytest.mark.parametrize(
    "operation, name, command",
    [
        (RunCommand(command="ls -l"), "Bash", "ls -l"),
        (Read(file="my notes.txt"), "Bash", "cat 'my notes.txt'"),
        (Read(file="-n"), "Bash", "cat ./-n"),
        (Edit(file="a.txt", text="b\nc\n"), "apply_patch", PATCH.format("*** Add File: a.txt\n+b\n+c")),
        (Edit(file="a.txt", text=""), "apply_patch", PATCH.format("*** Add File: a.txt")),
        (
            Edit(file="a.txt", text="c\n", old="b\n"),
            "apply_patch",
            PATCH.format("*** Update File: a.txt\n@@\n-b\n+c"),
        ),
        (
            Edit(file="a.txt", text="", old="b\n"),
            "apply_patch",
            PATCH.format("*** Update File: a.txt\n@@\n-b"),
        ),
    ],
)
def test_operations_become_calls(codex, operation, name, command):
    """A command and a read become shell calls, and a change of a file becomes a patch."""
    made = codex.tools.call(operation, "/project")

    assert (made.name, made.input) == (name, {"command": command})


@pytest.mark.parametrize(
    "edit",
    [
        Edit(file="a.txt", text="b\nc\n"),
        Edit(file="a.txt", text=""),
        Edit(file="a.txt", text="\n"),
        Edit(file="a.txt", text="new", old="old"),
        Edit(file="a.txt", text="", old="within a line"),
        Edit(file="a.txt", text="", old="line\n"),
        Edit(file="a.txt", text="joined", old="line\n"),
        Edit(file="a.txt", text="x\n\ny", old="\n- x\n+ y\n z"),
        Edit(file="a.txt", text="*** End Patch", old="*** Begin Patch"),
    ],
)
def test_patches_are_read_as_they_are_written(codex, edit):
    """A patch for a change is read as the same change."""
    assert codex.tools.operation(codex.tools.call(edit, "/project"), "/project") == edit


@pytest.mark.parametrize(
    "patch, edit",
    [
        ("*** Add File: /project/a/b\n+x", Edit(file="a/b", text="x\n")),
        ("*** Add File: /etc/x\n+x", Edit(file="/etc/x", text="x\n")),
        (
            "*** Update File: ./a\n@@ def f():\n one\n-two\n+2\n\n",
            Edit(file="a", text="one\n2\n\n", old="one\ntwo\n\n"),
        ),
        ("*** Update File: a\n-two\n+2\n*** End of File", Edit(file="a", text="2", old="two")),
        ("*** Update File: a\n@@\n-1\n+2\n@@\n-3\n+4", None),
        ("*** Update File: a\n*** Move to: b\n@@\n-1\n+2", None),
        ("*** Update File: a\n@@\n+only new", None),
        ("*** Update File: a", None),
        ("*** Add File: a\n+x\n*** Add File: b\n+y", None),
        ("*** Add File: a\nx", None),
        ("*** Delete File: a", None),
        ("nothing", None),
    ],
)
def test_patches_of_a_model(codex, patch, edit):
    """A patch of one place in one file is a change, and any other patch is no operation."""
    made = ToolCall(name="apply_patch", input={"command": PATCH.format(patch)})

    assert codex.tools.operation(made, "/project") == edit


@pytest.mark.parametrize(
    "made",
    [
        ToolCall(name="apply_patch", input={"command": "rubbish"}),
        ToolCall(name="apply_patch", input={}),
        ToolCall(name="Bash", input={"command": 3}),
        ToolCall(name="web_search", input={"command": "x"}),
    ],
)
def test_other_calls_are_no_operations(codex, made):
    """A call that is no patch, no command and no tool of the host is no operation."""
    assert codex.tools.operation(made, "/project") is None


EXITED = "Process exited with code 3\nOriginal token count: 2"


@pytest.mark.parametrize(
    "operation, done, text, response, failed",
    [
        (CALL, Performance(exit=0, stdout="a\n", stderr="b\n"), "a\nb\n", "a\nb\n", False),
        (
            CALL,
            Performance(exit=3, stdout="seven.\n"),
            f"Chunk ID: 000000\nWall time: 0.0000 seconds\n{EXITED}\nOutput:\nseven.\n",
            "seven.\n",
            True,
        ),
        (CALL, Performance(stdout="a\n"), "command timed out\nOutput:\na\n", "a\n", True),
        (CALL, Performance(error="cut"), "cut", "cut", True),
        (Edit(file="a", text="x\n"), Performance(content="x\n"), "A a\n", "A a\n", False),
        (Edit(file="a", text="x", old="y"), Performance(content="x"), "M a\n", "M a\n", False),
        (Edit(file="a", text="x", old="y"), Performance(error="gone"), "failed: gone", "failed: gone", True),
    ],
)
def test_results(codex, operation, done, text, response, failed):
    """Hooks get plain text, and the agent also gets the exit code of a failed command."""
    result = codex.tools.result(codex.tools.call(operation, "/project"), done, "/project")

    assert result.text.endswith(text)
    assert isinstance(result.response, str)
    assert result.response.endswith(response)
    assert result.failed is failed


def test_the_result_of_a_patch(codex):
    """A patch gives an exit code and the files that it changed."""
    made = codex.tools.call(Edit(file="new.txt", text="abc\n"), "/project")

    result = codex.tools.result(made, Performance(content="abc\n"), "/project")

    begin = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\n"
    assert result.text == result.response == f"{begin}A new.txt\n"


@pytest.mark.parametrize(
    "supplied, response",
    [
        (ToolResult(text="x"), "x"),
        (ToolResult(text="x", failed=True), "x"),
        (ToolResult(text="x", response=[1]), [1]),
    ],
)
def test_given_results_are_plain_text(codex, supplied, response):
    """Hooks get a result that a scenario gives as plain text, unless it has a form of its own."""
    result = codex.tools.given(ToolCall(name="Bash", input={}), supplied)

    assert (result.text, result.response, result.failed) == ("x", response, supplied.failed)


@pytest.mark.parametrize(
    "handler, limits",
    [
        ({"timeout": 0}, [1.0]),
        ({"timeout": 7}, [7.0]),
        ({"args": ["x"]}, [None]),
        ({"foo": 1}, [None]),
        ({"timeout": -5}, []),
        ({"timeout": "30"}, []),
        ({"timeout": 1.5}, []),
        ({"type": "comand"}, []),
    ],
)
def test_flaws_of_a_handler(codex, handler, limits):
    """An invalid handler turns off its file, and a value that the host does not read has no effect."""
    groups = [{"hooks": [{"type": "command", "command": "x", **handler}]}]

    hooks = hosts.configure(codex, {SETTINGS: json.dumps({"hooks": {"Stop": groups}})}).hooks

    assert [hook.timeout for hook in hooks] == limits
    assert all(hook.args is None for hook in hooks)


def test_equal_commands_all_run(codex):
    """A command that is configured several times, in one file or in several, runs as often."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}] * 2}]}})

    made = hosts.configure(codex, {SETTINGS: text, "home/.codex/hooks.json": text})

    assert len(made.hooks) == 4


TOML = """
[features]
hooks = {}

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "x"
"""


@pytest.mark.parametrize("written, number", [("true", 1), ("false", 0)])
def test_hooks_in_config_toml(codex, written, number):
    """Hooks can be in config.toml, which can turn them all off."""
    made = hosts.configure(codex, {"workspace/.codex/config.toml": TOML.format(written)})

    assert len(made.hooks) == number


@pytest.mark.parametrize(
    "event, written, limit", [("SessionEnd", None, 1.0), ("SessionEnd", 20, 3.0), ("Stop", None, 600.0)]
)
def test_timeouts_of_events(codex, event, written, limit):
    """Hooks at the end of a session get one second, and three at most."""
    facts = hosts.facts(codex, workspace="/project", home="/home/dev", tmp="/tmp/x")
    hook = Hook(event=event, command="x", timeout=written)

    launch = hosts.launch(codex, hook, hosts.payload_for(codex, event, facts), facts, {"A": "b"}, 1000.0)

    assert launch.limit == limit
    assert launch.argv == ("/bin/bash", "-c", "x")
    assert launch.env == {"A": "b"}
    assert not launch.stdin.data.endswith(b"\n")


@pytest.mark.parametrize(
    "matcher, fits",
    [
        ("Write", True),
        ("Edit|X", True),
        ("Wri", False),
        ("Read", False),
        ("^(Write|Edit)$", True),
        ("^apply_patch$", True),
        ("^Read$", False),
    ],
)
def test_aliases_of_a_tool(codex, matcher, fits):
    """A matcher can name a patch as a write or an edit, by name and by regular expression."""
    hook = Hook(event="PreToolUse", command="x", matcher=matcher)

    assert bool(hosts.select(codex, (hook,), "PreToolUse", "apply_patch")) is fits


def test_the_transcript(run):
    """A transcript contains the items of the conversation: messages, calls and results."""
    supplied = ToolCall(name="Bash", input={"command": "ls"}, given=ToolResult(text="a.txt"))

    played = run([], [GO, Tools(calls=(supplied,), say="I look"), DONE])

    lines = played.lines
    kinds = [(line["payload"]["type"], line["payload"].get("role")) for line in lines]
    said = [("message", "user"), ("message", "assistant")]
    assert kinds == [*said, ("function_call", None), ("function_call_output", None), said[1]]
    assert lines[2]["payload"]["call_id"] == lines[3]["payload"]["call_id"]
    assert json.loads(lines[2]["payload"]["arguments"]) == {"command": "ls"}
    assert lines[3]["payload"]["output"] == "a.txt"
    assert {path.rpartition("/")[0] for written in played.written for path in written} == {
        "/home/dev/.codex/sessions/2026/01/05"
    }


@pytest.mark.parametrize("event", hosts.find("codex").events)
def test_every_event_has_an_input(codex, event):
    """A payload can be made for every event outside of a session, with a subagent where it needs one."""
    facts = hosts.facts(codex, workspace="/project", home="/home/dev", tmp="/tmp/x")

    payload = hosts.payload_for(codex, event, facts)

    assert payload["hook_event_name"] == event
    assert payload["transcript_path"] == facts.transcript_path
    assert payload.get("agent_type", "default") == "default"


def test_the_agent_gets_the_first_refusal_of_a_call(codex, ended):
    """The agent gets the first of several refusals of a call, even if another hook was faster."""
    replies = [
        hosts.read_reply(codex, Hook(event="PreToolUse", command="x"), "PreToolUse", one)
        for one in (ended(2, "", "first"), ended(2, "", "second"))
    ]

    decision = hosts.aggregate(
        codex, "PreToolUse", replies, (1, 0), target="Bash", tool_input={"command": "make"}
    )

    assert decision.ruling is Ruling.DENY
    assert decision.to_agent == ("Command blocked by PreToolUse hook: first. Command: make",)
